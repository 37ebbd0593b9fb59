"""Statements of a file that are measured together: one debit, consistent answers, resumed and repeated."""

from __future__ import annotations

import csv
import json
import math
import re
import shutil
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit.oracles import sensitivity
from dpsql.batch.bill import Bill, first_bill
from dpsql.batch.script import read
from dpsql.cli import main
from dpsql.engines.duckdb import DuckDB
from dpsql.errors import InterfaceError
from dpsql.plan import joint

POLICY = """
[budget]
epsilon = 10.0
delta = 1e-6
[query]
max_epsilon = 5.0
[unit]
table = "people"
key = "id"
[tables.people.columns]
age = { range = [0, 99] }
sex = { values = ["F", "M"] }
smoker = {}
"""

FILE = """
-- name: young
SELECT COUNT(*) AS n FROM people WHERE age < 30;
-- name: younger
SELECT COUNT(*) AS n FROM people WHERE age < 20;
-- name: old
SELECT COUNT(*) AS n FROM people p WHERE p.age >= 60;
-- name: by_sex
SELECT sex, COUNT(*) AS n FROM people GROUP BY sex;
-- name: by_decade
SELECT age // 10 AS decade, sex AS s, COUNT(*) AS n FROM people WHERE age BETWEEN 0 AND 99 GROUP BY 1, 2;
-- name: nested
SELECT COUNT(*) FILTER (WHERE age < 40) AS a, COUNT(*) FILTER (WHERE age < 50 AND smoker) AS b FROM people;
-- name: by_smoker
SELECT smoker, COUNT(*) AS n FROM people GROUP BY smoker;
-- name: middle
SELECT AVG(age) AS age FROM people;
-- name: all_of_them
SELECT COUNT(*) AS n FROM people;
"""
TOGETHER = {"young", "younger", "old", "by_sex", "by_decade", "nested", "by_smoker", "all_of_them"}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "data.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE people AS SELECT i AS id, (hash(i, 1) % 100)::INTEGER AS age, "
            "['F', 'M'][(hash(i, 2) % 2)::INTEGER + 1] AS sex, hash(i, 3) % 3 = 0 AS smoker "
            "FROM range(5000) AS t(i)"
        )
        for column in ("age", "sex", "smoker"):
            connection.execute(f"ALTER TABLE people ALTER {column} SET NOT NULL")
        connection.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
    path.with_suffix(".toml").write_text(POLICY)
    (tmp_path / "asked.sql").write_text(FILE)
    return path


def rows(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def entries(folder: Path) -> dict[str, dict[str, object]]:
    manifest = json.loads((folder / "manifest.json").read_text())
    return {entry["name"]: entry for entry in manifest["statements"]}


def run(data: Path, out: str, *options: str) -> int:
    asked = data.with_name("asked.sql")
    return main(["run", str(data), str(asked), "--epsilon", "1", "--out", str(data.with_name(out)), *options])


def test_one_measurement_answers_them_all(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(data, "first") == 0
    folder = data.with_name("first")
    by_name = entries(folder)
    assert {name for name, entry in by_name.items() if entry["together"]} == TOGETHER
    assert len({by_name[name]["digest"] for name in TOGETHER}) == 1
    assert [name for name, entry in by_name.items() if entry["paid"]] == ["young", "middle"]
    with dpsql.connect(str(data)) as db:
        assert len(db.purchases) == 2
        assert db.budget.spent == pytest.approx(1, rel=2e-3)
    # all answers are sums of the same cells
    smokers = [int(row["n"]) for row in rows(folder, "by_smoker")]
    assert sum(smokers) == int(rows(folder, "all_of_them")[0]["n"])
    with duckdb.connect() as plain:
        plain.execute(f"ATTACH '{data}' AS d (READ_ONLY)")
        for name, condition in (("young", "age < 30"), ("old", "age >= 60"), ("all_of_them", "true")):
            counted = plain.execute(f"SELECT COUNT(*) FROM d.people WHERE {condition}").fetchall()
            assert abs(int(rows(folder, name)[0]["n"]) - counted[0][0]) < 200, name
    capsys.readouterr()


def test_the_same_file_is_free_again(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(data, "first") == 0
    assert run(data, "second") == 0
    assert "paid epsilon 0," in capsys.readouterr().out
    for name in TOGETHER:
        assert rows(data.with_name("first"), name) == rows(data.with_name("second"), name)


def test_a_run_that_was_stopped_is_resumed(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dpsql.batch import run as batch_run

    ask, asked = batch_run._ask, []

    def stop(*arguments: object) -> object:
        asked.append(1)
        if len(asked) == 4:
            raise InterfaceError("the disk is full")
        return ask(*arguments)  # type: ignore[arg-type]  # as it is called

    monkeypatch.setattr(batch_run, "_ask", stop)
    assert run(data, "out") == 1
    monkeypatch.undo()
    assert run(data, "out", "--resume") == 0
    by_name = entries(data.with_name("out"))
    assert {entry["state"] for entry in by_name.values()} == {"answered"}
    with dpsql.connect(str(data)) as db:
        assert len(db.purchases) == 2
        assert db.budget.spent == pytest.approx(1, rel=2e-3)


KILLED = """
import os, signal, sys
from dpsql import releasing
from dpsql.cli import main

measured = releasing._measured

def killed(*given):
    if sys.argv[1] == "not read yet":
        os.kill(os.getpid(), signal.SIGKILL)
    measured(*given)()
    os.kill(os.getpid(), signal.SIGKILL)

def at_a_file(event, given):
    if event == "os.rename" and str(given[1]).endswith(".csv"):
        os.kill(os.getpid(), signal.SIGKILL)

if sys.argv[1] == "stored":
    sys.addaudithook(at_a_file)
else:
    releasing._measured = killed
sys.exit(main(sys.argv[2:]))
"""


@pytest.mark.parametrize("moment", ["not read yet", "not stored yet", "stored"])
def test_kill_9_between_the_debit_and_the_answers(
    data: Path, moment: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The joint measurement is paid for already: resumed, it is measured if no answer was kept, and free."""
    options = [str(data), str(data.with_name("asked.sql")), "--epsilon", "1", "--out"]
    command = [sys.executable, "-c", KILLED, moment, "run", *options, str(data.with_name("out"))]
    assert subprocess.run(command, stdout=subprocess.DEVNULL, check=False).returncode == -signal.SIGKILL
    with dpsql.connect(str(data)) as db:
        assert len(db.purchases) == 1
        spent = db.budget.spent
        answered = [each.answered for each in db._open().ledger.entries() if each.kind == "debit"]
    assert answered == [moment == "stored"]
    assert not list(data.with_name("out").glob("*.csv"))
    assert run(data, "out", "--resume") == 0
    with dpsql.connect(str(data)) as db:
        assert len(db.purchases) == 2
        assert db.budget.spent > spent
        assert db.budget.spent == pytest.approx(1, rel=2e-3)
    assert run(data, "again") == 0
    first, again = (
        {path.name: path.read_text() for path in sorted(data.with_name(out).glob("*.csv"))}
        for out in ("out", "again")
    )
    assert len(first) == 9
    assert first == again
    capsys.readouterr()


def test_two_runs_at_once_pay_once_and_agree(data: Path) -> None:
    """Whoever comes second waits, and is told what the first was."""
    command = [sys.executable, "-m", "dpsql.cli", "run", str(data), str(data.with_name("asked.sql"))]
    runs = [
        subprocess.Popen(
            [*command, "--epsilon", "1", "--out", str(data.with_name(out))], stdout=subprocess.DEVNULL
        )
        for out in ("first", "second")
    ]
    assert [each.wait(timeout=120) for each in runs] == [0, 0]
    ours, theirs = (
        {path.name: path.read_text() for path in sorted(data.with_name(out).glob("*.csv"))}
        for out in ("first", "second")
    )
    assert len(ours) == 9
    assert ours == theirs
    with dpsql.connect(str(data)) as db:
        assert db.budget.spent == pytest.approx(1.0, rel=0.01)
        assert len(db.purchases) == 2


def test_a_table_that_does_not_exist_for_an_analyst_is_refused_as_any_other(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Planned with the statements around it, or not at all."""
    said = []
    for hidden in ("people", "nobodys"):
        text = POLICY.replace("[unit]", '[analysts.ana]\ntables = ["places"]\n[unit]') + PLACES
        data.with_suffix(".toml").write_text(text)
        with duckdb.connect(str(data)) as connection:
            connection.execute("CREATE TABLE IF NOT EXISTS places AS SELECT 1 AS place")
        data.with_name("asked.sql").write_text(f"SELECT COUNT(*) FROM {hidden} WHERE age < 5; SELECT 1;")
        assert run(data, hidden, "--analyst", "ana") == 1
        said.append(capsys.readouterr().err.replace(hidden, "it").replace("^" * len(hidden), "^^"))
    assert said[0] == said[1]


def test_statements_may_stay_apart(data: Path) -> None:
    asked = data.with_name("asked.sql")
    asked.write_text(FILE.replace("-- name: old", "-- workload: off\n-- name: old"))
    assert run(data, "out") == 0
    assert {
        name for name, entry in entries(data.with_name("out")).items() if entry["together"]
    } == TOGETHER - {"old"}
    asked.write_text("SET workload = off;\n" + FILE)
    assert run(data, "off") == 0
    assert not any(entry["together"] for entry in entries(data.with_name("off")).values())
    asked.write_text(FILE)
    assert run(data, "apart", "--apart") == 0
    assert not any(entry["together"] for entry in entries(data.with_name("apart")).values())


def test_a_dry_run_says_what_is_gained(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", str(data), str(data.with_name("asked.sql")), "--epsilon", "1", "--dry-run"]) == 0
    said = re.search(
        r"8 of 9 together, .*: usually ± ([\d.]+), one by one ± ([\d.]+)", capsys.readouterr().out
    )
    assert said is not None
    assert float(said[1]) < float(said[2])


def billed(data: Path, text: str, total: float, apart: bool = False) -> Bill:
    with dpsql.connect(str(data)) as db:
        return first_bill(db, read(text, "asked"), total, apart)


def deviations(bill: Bill) -> list[float]:
    return [joint.deviation_of(item.plan.measures[0]) for item in bill.items]


@pytest.mark.parametrize("total", [1.0, 4.0])
def test_no_statement_becomes_much_less_exact(data: Path, total: float) -> None:
    text = FILE.replace(
        "SELECT AVG(age) AS age FROM people", "SELECT COUNT(age) AS n FROM people WHERE smoker"
    )
    ours, theirs = (deviations(billed(data, text, total, apart)) for apart in (False, True))
    assert all(mine <= 1.05 * alone * 1.001 for mine, alone in zip(ours, theirs, strict=True))
    assert math.dist(ours, [0.0] * len(ours)) < 0.6 * math.dist(theirs, [0.0] * len(theirs))


def test_one_select_of_many_counts_is_as_exact_as_a_file_of_them(data: Path) -> None:
    conditions = [f"age < {age}" for age in range(3, 99, 3)] + [
        f"sex = 'F' AND age >= {age}" for age in range(5, 90, 5)
    ]
    one = "SELECT " + ", ".join(f"COUNT(*) FILTER (WHERE {c})" for c in conditions) + " FROM people"
    many = ";\n".join(f"SELECT COUNT(*) FROM people WHERE {c}" for c in conditions)
    (single,) = deviations(billed(data, one, 2.0))
    several = deviations(billed(data, many, 2.0))
    together = math.sqrt(sum(each**2 for each in several) / len(several))
    assert together == pytest.approx(single, rel=0.02)


def test_what_is_declared_differently_is_not_joined(data: Path) -> None:
    """A clip of its own, thresholds, units, details and other tables stay as they are."""
    text = (
        FILE
        + "-- name: clipped\nSELECT OPTIONS(max_rows_contributed = 1) COUNT(*) FROM people WHERE age < 5;"
    )
    bill = billed(data, text, 1.0)
    assert {item.task.name for item in bill.items if item.alone is not None} == TOGETHER


PLACES = """
[tables.places]
public = true
"""

SUMS = """
-- name: in_all
SELECT SUM(age) AS years FROM people;
-- name: years_by_sex
SELECT sex, SUM(age) AS years FROM people GROUP BY sex;
-- name: smoked
SELECT SUM(age) FILTER (WHERE smoker) AS s, SUM(age) FILTER (WHERE NOT smoker AND sex = 'F') AS o FROM people;
-- name: of_men
SELECT SUM(p.age) AS years FROM people p WHERE sex = 'M';
-- name: of_the_young
SELECT SUM(age) AS years FROM people WHERE age < 30;
"""


def test_sums_of_one_argument_are_one_measurement_and_counts_another(data: Path) -> None:
    """The sum over the young has a range of its own: it stays outside."""
    bill = billed(data, FILE + SUMS, 2.0)
    sets: dict[str, set[str]] = {}
    for item in bill.items:
        if item.alone is not None:
            sets.setdefault(item.plan.digest, set()).add(item.task.name)
    assert sorted(sets.values(), key=len) == [{"in_all", "years_by_sex", "smoked", "of_men"}, TOGETHER]


def test_sums_agree_with_their_parts(data: Path) -> None:
    data.with_name("asked.sql").write_text(SUMS)
    assert run(data, "out") == 0
    folder = data.with_name("out")
    (whole,) = (float(row["years"]) for row in rows(folder, "in_all"))
    by_sex = {row["sex"]: float(row["years"]) for row in rows(folder, "years_by_sex")}
    (men,) = (float(row["years"]) for row in rows(folder, "of_men"))
    assert by_sex["M"] == men
    assert abs(whole - 247_500) < 30_000


JOINED = """
-- name: by_kind
SELECT kind, COUNT(*) AS n FROM visits JOIN people ON visits.id = people.id GROUP BY kind ORDER BY kind;
-- name: of_women
SELECT COUNT(*) AS n FROM visits v JOIN people p ON p.id = v.id WHERE sex = 'F' AND day < 50;
-- name: of_the_young
SELECT kind, sex, COUNT(*) AS n FROM visits JOIN people USING (id) WHERE age < 30
GROUP BY kind, sex ORDER BY ALL;
-- name: nested
SELECT COUNT(*) FILTER (WHERE age < 20 OR kind = 'x') AS a, COUNT(*) FILTER (WHERE day < 10) AS b
FROM visits JOIN people USING (id);
-- name: of_many
SELECT COUNT(*) AS n FROM people JOIN visits USING (id) WHERE age >= 60;
-- name: of_one_table
SELECT COUNT(*) AS n FROM visits WHERE day < 20;
"""
VISITS = """
[tables.visits]
unit = { column = "id" }
rows_per_unit = 4
[tables.visits.columns]
day = { range = [0, 99] }
kind = { values = ["x", "y"] }
"""


@pytest.fixture
def joined(data: Path) -> Path:
    with duckdb.connect(str(data)) as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT id, (hash(id, k, 5) % 100)::INTEGER AS day, "
            "['x', 'y'][(hash(id, k, 6) % 2)::INTEGER + 1] AS kind FROM people, range(4) AS t(k) "
            "WHERE k <= id % 5"
        )
        for column in ("id", "day", "kind"):
            connection.execute(f"ALTER TABLE visits ALTER {column} SET NOT NULL")
    policy = POLICY.replace("epsilon = 10.0", "epsilon = 1e7").replace("epsilon = 5.0", "epsilon = 1e7")
    data.with_suffix(".toml").write_text(policy + VISITS)
    data.with_name("asked.sql").write_text(JOINED)
    return data


def test_the_same_joins_are_measured_together(joined: Path) -> None:
    """However the sides of a condition and the tables are called; planted: a filter that is forgotten."""
    bill = billed(joined, JOINED, 2.0)
    together = {"by_kind", "of_women", "of_the_young", "nested"}
    assert {item.task.name for item in bill.items if item.alone is not None} == together
    asked, out = joined.with_name("asked.sql"), joined.with_name("out")
    assert main(["run", str(joined), str(asked), "--epsilon", "1e6", "--out", str(out)]) == 0
    wrong = [name for name, sql in named(JOINED).items() if not agrees(joined, name, sql)]
    assert wrong == []
    assert not agrees(joined, "of_women", named(JOINED)["of_women"].replace("AND day < 50", ""))


def named(text: str) -> dict[str, str]:
    parts = re.split(r"-- name: (\w+)\n", text)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def agrees(data: Path, name: str, sql: str) -> bool:
    """Whether the rows of a file are DuckDB's, but for noise that is far below one."""
    with duckdb.connect(str(data), read_only=True) as plain:
        expected = [[str(value) for value in row] for row in plain.execute(sql).fetchall()]
    numbers = [
        [value for key, value in row.items() if not key.endswith("_margin")]
        for row in rows(data.with_name("out"), name)
    ]
    return numbers == expected


def test_a_person_moves_the_cells_of_a_join_by_no_more_than_is_declared(joined: Path, tmp_path: Path) -> None:
    """Planted: a declared sensitivity of a quarter."""
    fewer = []
    for person in (4, 9, 4994):
        path = tmp_path / f"without{person}.duckdb"
        shutil.copy(joined, path)
        with duckdb.connect(str(path)) as connection:
            connection.execute(f"DELETE FROM visits WHERE id = {person}")
            connection.execute(f"DELETE FROM people WHERE id = {person}")
        fewer.append((f"person {person}", DuckDB(path)))
    (plan,) = {
        item.plan.digest: item.plan for item in billed(joined, JOINED, 2.0).items if item.alone
    }.values()
    inner = plan.measures[0].measured
    short = replace(inner, noise=replace(inner.noise, sensitivity=inner.noise.sensitivity // 4))
    (stage,) = plan.stages
    for measure, moves in ((inner, False), (short, True)):
        made = replace(plan, stages=(replace(stage, measures=(measure,)),))
        assert bool(sensitivity(made, DuckDB(joined), fewer)) is moves


def test_a_statement_without_any_group_stays_outside(data: Path) -> None:
    """Its conditions leave none of the listed keys, so it has no number."""
    file = data.with_name("asked.sql")
    file.write_text(
        f"{FILE}-- name: empty\nSELECT sex, COUNT(*) AS n FROM people WHERE sex = 'X' GROUP BY sex;\n"
    )
    assert run(data, "out") == 0
    assert {name for name, entry in entries(data.with_name("out")).items() if entry["together"]} == TOGETHER
    assert rows(data.with_name("out"), "empty") == []


def test_a_statement_with_its_own_price_stays_outside(data: Path) -> None:
    bill = billed(
        data, FILE.replace("-- name: old\nSELECT", "-- name: old\nSELECT OPTIONS(epsilon = 0.2)"), 1.0
    )
    assert {item.task.name for item in bill.items if item.alone is not None} == TOGETHER - {"old"}


def test_what_was_asked_alone_stays_with_the_others(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The same statements are the same measurement, whatever the ledger holds beside it."""
    assert run(data, "first") == 0
    share = entries(data.with_name("first"))["old"]["epsilon"]
    assert isinstance(share, float)
    with dpsql.connect(str(data)) as db:
        db.execute("SELECT COUNT(*) AS n FROM people p WHERE p.age >= 60", epsilon=share)
        spent = db.budget.spent
    assert run(data, "second") == 0
    assert "paid epsilon 0," in capsys.readouterr().out
    with dpsql.connect(str(data)) as db:
        assert db.budget.spent == spent


@pytest.mark.parametrize("before", ["-- workload: off\n", "SET epsilon = 0.3;\n"])
def test_a_statement_apart_has_its_own_price(data: Path, before: str) -> None:
    """The same text stands twice: once by itself, and once among the others."""
    twin = "SELECT COUNT(*) AS n FROM people p WHERE p.age >= 60;\n"
    after = "SET epsilon = default;\n" if before.startswith("SET") else ""
    data.with_name("asked.sql").write_text(f"{before}-- name: twin\n{twin}{after}{FILE}")
    assert run(data, "out") == 0
    by_name = entries(data.with_name("out"))
    assert by_name["twin"]["together"] is False
    assert by_name["twin"]["paid"] == by_name["twin"]["price"]
    assert by_name["old"]["together"] is True
    assert by_name["twin"]["digest"] != by_name["old"]["digest"]


def test_a_page_shows_the_answers_of_an_earlier_call(data: Path) -> None:
    assert run(data, "out") == 0
    page = data.with_name("page.html")
    assert run(data, "out", "--resume", "--report", str(page)) == 0
    assert "The answer is in" not in page.read_text()


def test_numbers_without_conditions_are_no_cells(data: Path) -> None:
    counts = "SELECT COUNT(*) AS n FROM people; SELECT COUNT(1) AS n FROM people; SELECT COUNT(*) FROM people"
    assert not any(item.alone for item in billed(data, counts, 1.0).items)
    with dpsql.connect(str(data)) as db:
        assert len(list(db.execute("SELECT COUNT(*) FROM people GROUP BY GROUPING SETS ((), (), ())"))) == 3
