"""What the policy does not list for an analyst does not exist for them: in no refusal, list or explanation.

The oracle is a policy that leaves the same tables and columns out: whatever is asked, an analyst who may not
see them must be told the same as everybody under that policy. What cannot be left out, paths to the unit and
keys, must not be named.
"""

from __future__ import annotations

import re
import tomllib
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb
import pytest
from cases import HERE, Case, all_cases, script

import dpsql
from dpsql.cli import main
from dpsql.shell.completion import completions_at

WORLD = (HERE / "world.toml").read_text(encoding="utf-8")
CASES = [case for case in all_cases() if not case.options.get("policy")]

TABLES = ("referrals", "calls", "journeys", "reactions", "sales.refunds", "age_bands", "tariffs", "holidays")
COLUMNS = {
    "patients": ("income", "score", "smoker"),
    "visits": ("minutes", "kind"),
    "sales.orders": ("amount",),
}


def some(part: int) -> list[Case]:
    """One case in so many, chosen by its name."""
    return [case for case in CASES if zlib.crc32(case.id.encode()) % part == 0]


def reduced() -> str:
    """The policy of the worlds without these tables, columns and any view; each line keeps its number."""
    kept, header = [], ""
    for line in WORLD.split("\n"):
        header = line.strip("[]").replace('"', "") if line.startswith("[") else header
        table = header.removeprefix("tables.").removesuffix(".columns")
        column = line.partition(" = ")[0]
        gone = header.startswith("views.") or table in TABLES
        gone |= header.endswith(".columns") and column in COLUMNS.get(table, ())
        kept.append("" if gone else line)
    return "\n".join(kept)


def for_ana(tables: list[str], policy: str = WORLD) -> str:
    """The policy with what exists for ana, each line in its place."""
    before = "[analysts.ana]\nepsilon = 1000.0\n"
    assert before in policy
    return policy.replace(before, f"[analysts]\nana = {{ epsilon = 1000.0, tables = {tables} }}\n")


def listed(policy: str) -> list[str]:
    """All of a policy's tables, or the columns where some are left out."""
    tables: dict[str, Any] = tomllib.loads(policy)["tables"]
    return [
        entry
        for table, rule in tables.items()
        for entry in ([f"{table}.{column}" for column in rule["columns"]] if table in COLUMNS else [table])
    ]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("seen") / "world.duckdb"
    with duckdb.connect(str(path)) as owner:
        owner.execute(script("world"))
    return path


def opened(world: Path, name: str, policy: str, analyst: str | None) -> dpsql.Connection:
    folder = world.parent / name
    folder.mkdir(exist_ok=True)
    (folder / "world.toml").write_text(policy)
    return dpsql.connect(world, folder / "world.toml", folder / "world.ledger", analyst)


def told(db: dpsql.Connection, case: Case) -> tuple[str, object]:
    """What is said of a query before it is paid for, but for the SQL that the engine runs."""
    try:
        explanation = db.explain(case.sql, epsilon=case.epsilon)
    except dpsql.Error as error:
        return str(error), None
    return "", without(explanation.to_dict(), {"sql", "digest"})


def without(value: object, names: set[str]) -> object:
    match value:
        case dict():
            return {name: without(each, names) for name, each in value.items() if name not in names}
        case list() | tuple():
            return [without(each, names) for each in value]
        case _:
            return value


def test_what_is_not_listed_is_as_if_the_policy_left_it_out(world: Path) -> None:
    policy = reduced()
    assert len(tomllib.loads(policy)["tables"]) == len(tomllib.loads(WORLD)["tables"]) - len(TABLES)
    with (
        opened(world, "ana", for_ana(listed(policy)), "ana") as ana,
        opened(world, "reduced", policy, None) as owner,
    ):
        assert ana.tables == owner.tables
        asked = some(16)
        said = [told(ana, case) for case in asked]
        for case, ours in zip(asked, said, strict=True):
            assert ours == told(owner, case), case.id
    codes = [re.findall(r"^error\[(D\d+)\]", text) for text, _ in said]
    assert sum(code == [] for code in codes) > 15, "some are answered"
    assert sum(code in (["D201"], ["D202"]) for code in codes) > 10, "and some meet what does not exist"


HIDDEN = re.compile(
    r"\b(patients|patient_id|visit_id|treatments?|treatment_id|income|born|city|wards|beds)\b"
)
SEEN = [
    "visits.cost",
    "visits.place_id",
    "visits.kind",
    "visits.visited_on",
    "reactions.severity",
    "places.kind",
]


def test_paths_and_keys_are_not_named_either(world: Path) -> None:
    policy = for_ana(SEEN).replace('name = "patient"', 'name = "soul"')  # else "patients" are what it says
    with opened(world, "paths", policy, "ana") as ana:
        assert [table.name for table in ana.tables] == ["visits", "reactions", "places"]
        assert all(not table.path and not table.keys for table in ana.tables)
        own = (
            "SELECT SUM(cost), COUNT(*) FROM visits",
            "SELECT MAX(severity) FROM reactions",
            "SELECT kind, COUNT(*) AS n FROM visits JOIN places USING (place_id, kind) GROUP BY kind",
            "SELECT SUM(severity * 1e30) FROM reactions GROUP BY",
            "SELECT severity, MEDIAN(severity) OVER () FROM reactions",
            "SELECT cost FROM visits",
            "SELECT ANY_VALUE(cost) FROM visits",
            "SELECT COUNT(DISTINCT cost), SUM(cost) OVER (ORDER BY cost) FROM visits",
            "SELECT v.kind, COUNT(*) FROM visits v JOIN reactions r ON v.cost > r.severity GROUP BY ALL",
            "SELECT * FROM visits LIMIT 3",
            "SELECT STRING_AGG(kind, ',' ORDER BY cost) FROM visits",
            "SELECT COUNT(*) FROM visit",
            "SELECT COUNT(cots) FROM visits",
        )
        asked = [*own, *(case.sql for case in some(16))]
        for sql in asked:
            for text in everything_said(ana, sql):
                new = set(HIDDEN.findall(text)) - set(HIDDEN.findall(sql))
                assert not new, (sql, text)
        assert str(ana.explain(own[1])).count("a key of the owner's is unique") == 0
        assert "relies on   a key of the owner's" in str(ana.explain(own[1]))


def everything_said(db: dpsql.Connection, sql: str) -> Iterator[str]:
    try:
        yield str(db.explain(sql))
        yield repr(db.explain(sql).to_dict())
    except dpsql.Error as error:
        yield str(error)
        yield repr(error.notes)


def test_lists_and_completions_show_what_exists(clinic: Path) -> None:
    limited(clinic, "visits.cost", "visits.patient_id", "wards.floor")
    with dpsql.connect(clinic, analyst="ana") as ana:
        assert {table.name: [column.name for column in table.columns] for table in ana.tables} == {
            "visits": ["patient_id", "cost"],
            "wards": ["floor"],
        }
        shown = {
            each.text
            for text in ("SELECT ", "SELECT COUNT(*) FROM ", "SELECT AVG(")
            for each in completions_at(text, len(text), ana.tables)
        }
        assert {"visits", "cost"} <= shown
        assert not shown & {"patients", "age", "drugs", "dose", "kind", "minutes", "visit_id", "ward"}
    with dpsql.connect(clinic, analyst="bob") as bob:
        assert len(bob.tables) == 4


def test_sqlalchemy_inspects_what_exists(clinic: Path) -> None:
    import sqlalchemy as alchemy

    limited(clinic, "visits.cost", "visits.patient_id", "drugs")
    engine = alchemy.create_engine(f"dpsql:///{clinic}?analyst=ana")
    inspector = alchemy.inspect(engine)
    assert inspector.get_table_names() == ["visits", "drugs"]
    assert [column["name"] for column in inspector.get_columns("visits")] == ["patient_id", "cost"]
    assert inspector.get_pk_constraint("visits")["constrained_columns"] == []
    assert inspector.get_foreign_keys("drugs") == []
    assert not inspector.has_table("patients")
    engine.dispose()


def limited(clinic: Path, *tables: str, more: str = "") -> None:
    policy = clinic.with_suffix(".toml")
    before = "[analysts.ana]\n"
    assert before in policy.read_text()
    policy.write_text(policy.read_text().replace(before, f"{before}tables = {list(tables)}\n") + more)


def refused(db: dpsql.Connection, sql: str) -> str:
    with pytest.raises(dpsql.Error) as caught:
        db.execute(sql)
    return caught.value.code


def test_a_repeat_does_not_cross_the_border(clinic: Path) -> None:
    """What others have paid for is served to who can ask for it, and to nobody else."""
    limited(clinic, "visits", "patients.age", "patients.ward")
    hidden = "SELECT SUM(income) FROM patients"
    shared = "SELECT SUM(cost) FROM visits"
    narrow = "SELECT COUNT(*) FROM patients WHERE age > 40"
    with dpsql.connect(clinic, analyst="bob") as bob:
        theirs = {sql: bob.execute(sql, epsilon=0.3).rows for sql in (hidden, shared, narrow)}
    with dpsql.connect(clinic, analyst="ana") as ana:
        for sql in (hidden, "SELECT patients FROM patients", "SELECT COUNT(*) FROM drugs"):
            assert refused(ana, sql) in ("D201", "D202"), sql
        assert ana.execute(shared, epsilon=0.3).rows == theirs[shared]
        assert ana.purchases[0].shared
        ana.execute(narrow, epsilon=0.3)
        assert not ana.purchases[1].shared, "whose columns differ, ask and pay for themselves"
        assert refused(ana, "SELECT * EXCLUDE (age, ward, income) FROM patients") == "D202"


def test_purchases_that_join_have_ones_own_text(clinic: Path) -> None:
    """Another's text of the same plan may name views, public tables and values that do not exist for ana."""
    limited(clinic, "visits", more='\n[views.dear]\nsql = "SELECT cost AS c FROM visits WHERE cost > 18"\n')
    pairs = {
        "SELECT COUNT(*) FROM dear": "SELECT COUNT(*) FROM (SELECT cost AS c FROM visits WHERE cost > 18)",
        "SELECT floor, n FROM (SELECT kind, COUNT(*) AS n FROM visits GROUP BY 1), wards WHERE ward <> 'B'": (
            "SELECT kind, COUNT(*) AS n FROM visits GROUP BY kind"
        ),
        "SELECT COUNT(*) AS drugs FROM visits WHERE kind <> ?": (
            "SELECT COUNT(*) FROM visits WHERE kind <> 'surgery'"
        ),
    }
    with dpsql.connect(clinic, analyst="bob") as bob:
        for sql in pairs:
            bob.execute(sql, ("surgery",) if "?" in sql else (), epsilon=0.3)
    with dpsql.connect(clinic, analyst="ana") as ana:
        for sql in pairs.values():
            ana.execute(sql, epsilon=0.3)
        for purchases in (ana.purchases, ana.latest_purchases(9)):
            assert [each.sql for each in purchases] == list(pairs.values())
            assert all(each.shared and not each.parameters for each in purchases)


def test_a_search_that_others_began_is_completed_with_what_they_see(
    clinic: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the bound of a column that does not exist for ana is found among nothing, and kept for all."""
    limited(clinic, "patients.score")
    policy = clinic.with_suffix(".toml")
    text = policy.read_text().replace("income = { range = [-1000, 5000] }", "income = {}")
    policy.write_text(text.replace("epsilon = 2.0", "epsilon = 100.0"))
    sql = "SELECT SUM(score), SUM(income) FROM patients"

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with dpsql.connect(clinic, analyst="bob") as bob, monkeypatch.context() as patched:
        patched.setattr("dpsql.pipeline.released", killed)
        with pytest.raises(KeyboardInterrupt):
            bob.execute(sql, epsilon=20.0)
    with dpsql.connect(clinic, analyst="ana") as ana:
        ana.execute("SELECT SUM(score) FROM patients", epsilon=1.0)
        assert [each.sql for each in ana.purchases] == ["SELECT SUM(score) FROM patients"]
    with dpsql.connect(clinic, analyst="bob") as bob:
        found = {column.name: column.range for column in bob.tables[0].columns}["income"]
        assert found is not None
        assert float(found[1]) > 500, "and not the 1 or 2 that counts of rows are"
        assert bob.execute(sql, epsilon=20.0).cost < 20.0, "the search was paid before"


def test_who_may_no_longer_ask_is_shown_no_repeat(clinic: Path) -> None:
    sql = "SELECT SUM(income) FROM patients"
    with dpsql.connect(clinic, analyst="ana") as ana:
        ana.execute(sql)
    limited(clinic, "patients.age", "visits")
    with dpsql.connect(clinic, analyst="ana") as ana:
        assert refused(ana, sql) == "D202"
        assert ana.purchases[0].sql == sql, "what they asked themselves stays in their account"


def test_a_public_table_has_the_columns_that_are_listed(clinic: Path) -> None:
    limited(clinic, "wards.ward", "patients.ward", "patients.age")
    with dpsql.connect(clinic, analyst="ana") as ana:
        assert sorted(ana.execute("SELECT * FROM wards").rows) == [("A",), ("B",), ("C",)]
        assert ana.execute("FROM wards w SELECT w.*, ward AS again").columns == ("ward", "again")
        for sql in (
            "SELECT floor FROM wards",
            "SELECT w.floor FROM wards w",
            "SELECT ward FROM wards WHERE floor = 1",
            "SELECT ward FROM wards ORDER BY floor",
            "SELECT x.floor FROM (SELECT * FROM wards) x",
            "SELECT p.ward, w.floor, COUNT(*) FROM patients p JOIN wards w USING (ward) GROUP BY ALL",
            "SELECT (SELECT MAX(floor) FROM wards), COUNT(*) FROM patients",
        ):
            assert refused(ana, sql) == "D202", sql
        rows = ana.execute(
            "SELECT w.ward, COUNT(*) FROM patients p JOIN wards w USING (ward) GROUP BY ALL"
        ).rows
        assert [row[0] for row in rows] == ["A", "B", "C"]


ADULTS = '\n[views.adults]\nsql = "SELECT age, ward FROM patients WHERE age >= 18"\n'


def test_a_view_exists_if_all_that_it_reads_does(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limited(clinic, "adults", "patients.age", "patients.ward", more=ADULTS)
    with dpsql.connect(clinic, analyst="ana") as ana:
        assert [table.name for table in ana.tables] == ["patients", "adults"]
        assert len(ana.execute("SELECT AVG(age) FROM adults").rows) == 1
    policy = clinic.with_suffix(".toml")
    given = policy.read_text()
    policy.write_text(given.replace("'adults', ", ""))
    with dpsql.connect(clinic, analyst="ana") as ana:
        assert refused(ana, "SELECT AVG(age) FROM adults") == "D201"
    policy.write_text(given.replace(", 'patients.ward'", ""))
    with pytest.raises(dpsql.Error, match=r"D808.*the view adults: there is no column ward here"):
        dpsql.connect(clinic, analyst="ana")
    dpsql.connect(clinic, analyst="bob").close()
    assert main(["policy", "check", str(clinic)]) == 1
    assert "error[D808]: the view adults" in capsys.readouterr().err


def test_the_owner_is_told_what_exists_for_whom(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    limited(clinic, "visits", "patients.age")
    assert main(["policy", "check", str(clinic)]) == 0
    assert "analyst   ana: epsilon 50; only visits, patients.age exist for them\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('["visit"]', "D803.*visit is no table of the policy(.|\n)*did you mean visits?"),
        ('["visits.cots"]', "D804.*there is no column cots in visits(.|\n)*did you mean cost?"),
        ('["visits", "visits.cost"]', "D803.*visits.cost is listed twice(.|\n)*visits is listed before"),
        ('["visits.cost", "VISITS"]', "D803.*VISITS is listed twice"),
        ('["visits.cost", "visits.COST"]', "D803.*visits.COST is listed twice"),
        ("[]", "D803.*tables must be a list of tables and columns"),
        ('"visits"', "D803.*tables must be a list of tables and columns"),
        ("[1]", "D803.*tables must be a list of names"),
        ('["visits."]', "D803.*visits. is no table of the policy"),
    ],
)
def test_a_list_is_of_what_there_is(clinic: Path, said: str, told: str) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("[analysts.ana]\n", f"[analysts.ana]\ntables = {said}\n"))
    with pytest.raises(dpsql.DatabaseError, match=told):
        dpsql.connect(clinic, analyst="ana")


GROUP = '\n[groups.trainees]\ntables = ["visits", "patients.age"]\n'


def test_a_group_lists_what_exists_for_its_analysts(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    policy = clinic.with_suffix(".toml")
    text = policy.read_text().replace("[analysts.ana]\n", '[analysts.ana]\ngroup = "trainees"\n') + GROUP
    policy.write_text(text)
    with dpsql.connect(clinic, analyst="ana") as ana, dpsql.connect(clinic, analyst="bob") as bob:
        assert [table.name for table in ana.tables] == ["patients", "visits"]
        assert [column.name for column in ana.tables[0].columns] == ["age"]
        with pytest.raises(dpsql.ProgrammingError, match="income"):
            ana.explain("SELECT SUM(income) FROM patients")
        assert bob.explain("SELECT SUM(income) FROM patients")
    assert main(["policy", "check", str(clinic)]) == 0
    assert "analyst   ana: epsilon 50; only visits, patients.age exist for them\n" in capsys.readouterr().out
    policy.write_text(text.replace('"patients.age"', '"patients.agee"'))
    with pytest.raises(dpsql.DatabaseError, match=r"D804.*no column agee in patients(.|\n)*mean age?"):
        dpsql.connect(clinic, analyst="ana")


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ('group = "trainee"', "D803.*there is no group trainee(.|\n)*did you mean trainees?"),
        ('group = "trainees"\ntables = ["visits"]', "D803.*an analyst has tables, or a group"),
        ("group = 3", "D803.*group must be a string"),
    ],
)
def test_a_group_is_one_that_there_is(clinic: Path, said: str, told: str) -> None:
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("[analysts.ana]\n", f"[analysts.ana]\n{said}\n") + GROUP)
    with pytest.raises(dpsql.DatabaseError, match=told):
        dpsql.connect(clinic, analyst="ana")
