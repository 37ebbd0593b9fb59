"""``dpsql audit --fuzz``: drawn queries on made-up rows, under an owner's policy and under drawn ones."""

from __future__ import annotations

import random
from pathlib import Path

import duckdb
import pytest

from dpsql.cli import main
from dpsql.dbapi import connect
from dpsql.errors import Error
from dpsql.fuzz.drawn_policies import draw
from dpsql.fuzz.judges import answered
from dpsql.fuzz.known_schema import schema_of
from dpsql.fuzz.long_run import long_run
from dpsql.fuzz.made_rows import fill
from dpsql.fuzz.owners_schema import empty_like
from dpsql.fuzz.run import Empty, fuzzing
from dpsql.fuzz.schemas import Sort
from dpsql.session.checks import load_policy

CANARY = "Zebedee Quartermaine"


def empty(seed: int) -> Empty:
    """A drawn schema in memory, and its policy."""
    drawn = draw(random.Random(f"schema {seed}"))
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(drawn.script)
    return Empty(connection, drawn.policy)


# ---- an owner's policy ---------------------------------------------------------------------------------


def test_an_owners_policy_is_fuzzed(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Twice with one seed: the same queries; no ledger comes to be."""
    said = []
    for _ in range(2):
        assert main(["audit", str(clinic), "--fuzz", "5", "--seed", "7"]) == 0
        said.append(capsys.readouterr().out)
    assert said[0] == said[1]
    assert said[0].startswith("seed 7\n")
    assert "PASSED: 0 violations." in said[0]
    assert sorted(path.name for path in clinic.parent.iterdir()) == ["clinic.duckdb", "clinic.toml"]


def test_no_private_row_is_copied(clinic: Path, tmp_path: Path) -> None:
    """Nor a word of one; public rows are."""
    with duckdb.connect(str(clinic)) as connection:
        connection.execute("UPDATE patients SET city = ?", [CANARY])
        wards = connection.execute("SELECT * FROM wards ORDER BY ALL").fetchall()
    copied = empty_like(clinic, load_policy(clinic.with_suffix(".toml")))
    assert copied.connection.execute("SELECT count(*) FROM patients").fetchall() == [(0,)]
    assert copied.connection.execute("SELECT * FROM wards ORDER BY ALL").fetchall() == wards
    with fuzzing(tmp_path / "w", copied, 3) as run:
        run.until(1)
    for path in (tmp_path / "w").iterdir():
        assert CANARY.encode() not in path.read_bytes(), path.name


def test_sequences_and_members_of_an_enum_are_not_copied(clinic: Path) -> None:
    """They tell how many rows there were, and names: what the policy does not name is left out."""
    with duckdb.connect(str(clinic)) as connection:
        connection.execute("CREATE SEQUENCE numbers START 4321")
        connection.execute("ALTER TABLE patients ADD COLUMN number INTEGER DEFAULT nextval('numbers')")
        connection.execute(f"CREATE TYPE names AS ENUM ('{CANARY}')")
        connection.execute("ALTER TABLE patients ADD COLUMN secret names")
    copied = empty_like(clinic, load_policy(clinic.with_suffix(".toml"))).connection
    for left in ("duckdb_sequences()", "duckdb_types() WHERE NOT internal"):
        assert copied.execute(f"FROM {left}").fetchall() == []
    columns = [name for name, *_ in copied.execute("DESCRIBE patients").fetchall()]
    assert "age" in columns
    assert not {"number", "secret"} & {*columns}


def test_texts_longer_than_declared_break_no_range(tmp_path: Path) -> None:
    """A length is a range, no promise: what is longer is out of it, as its length is out of its own."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE people (id INTEGER, town VARCHAR)")
    policy = (
        '[budget]\nepsilon = 100\ndelta = 1e-6\n[unit]\ntable = "people"\nkey = "id"\n'
        "[tables.people.columns]\nid = {}\ntown = { length = 1 }\n"
    )
    with fuzzing(tmp_path / "w", Empty(connection, policy), 3) as run:
        for sql in ("SELECT AVG(BIT_LENGTH(town)) FROM people", "SELECT DISTINCT LENGTH(town) FROM people"):
            assert run.judge_written(sql, run.world, 1.0), sql
        assert run.violations == []


def test_rows_against_a_check_break_no_range(tmp_path: Path) -> None:
    """The range of a difference may rest on a check, and ends where the check is broken."""
    connection = duckdb.connect(config={"threads": 1})
    connection.execute("CREATE TABLE people (id INTEGER, first DECIMAL(8, 2), last DECIMAL(8, 2))")
    policy = (
        '[budget]\nepsilon = 100\ndelta = 1e-6\n[unit]\ntable = "people"\nkey = "id"\n'
        "[tables.people]\ncheck = 'first <= last'\n[tables.people.columns]\nid = {}\n"
        "first = { range = [0, 50] }\nlast = { range = [0, 50] }\n"
    )
    with fuzzing(tmp_path / "w", Empty(connection, policy), 3) as run:
        broken = "SELECT count(*) FROM people WHERE first > last AND first <= 50 AND last >= 0"
        assert run.world.plain.execute(broken).fetchone() > (0,)
        assert run.judge_written("SELECT AVG(last - first) FROM people", run.world, 1.0)
        assert run.violations == []


@pytest.mark.sweep
def test_files_in_a_folder_are_fuzzed(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "data"
    folder.mkdir()
    with duckdb.connect(str(clinic)) as connection:
        for (name,) in connection.execute("SELECT table_name FROM duckdb_tables()").fetchall():
            connection.execute(f"COPY {name} TO '{folder / name}.parquet'")
    (tmp_path / "data.toml").write_text(clinic.with_suffix(".toml").read_text())
    assert main(["audit", str(folder), "--fuzz", "10", "--seed", "2"]) == 0
    assert "PASSED" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words",
    [
        ["--fuzz", "0"],
        ["--fuzz", "5", "--attack"],
        ["questions.sql", "--fuzz", "5"],
        ["questions.sql", "--seed", "5"],
        [],
    ],
)
def test_wrong_usage(words: list[str], clinic: Path) -> None:
    assert main(["audit", str(clinic), *words]) == 2


# ---- drawn policies ------------------------------------------------------------------------------------


def test_drawn_policies_are_clean(capsys: pytest.CaptureFixture[str]) -> None:
    """A few triples on each of two schemas under a fixed seed."""
    found = []
    tally = long_run(
        empty, 40, 120, lambda seed, violation: found.append((seed, str(violation))), per_world=60, drawn=True
    )
    with capsys.disabled():
        print(f"\n{tally.triples} triples on {tally.worlds} drawn schemas, {len(found)} violations")
    assert found == []
    assert tally.worlds >= 2
    assert tally.alive > tally.accepted / 3


@pytest.mark.sweep
def test_many_drawn_policies_are_clean() -> None:
    """4,000 triples of seeds of their own; a failure names its seed."""
    found = []
    seed = random.SystemRandom().randrange(10**6)
    long_run(
        empty, seed, 4_000, lambda seed, said: found.append((seed, str(said))), per_world=100, drawn=True
    )
    assert found == []


def test_drawn_policies_are_of_all_kinds() -> None:
    """Of 300: every accountant, units of two columns and without a table, found bounds, checks, lists."""
    drawn = [draw(random.Random(f"schema {seed}")).policy for seed in range(300)]
    for word in (
        *('"pure"', '"approx"', '"zcdp"', '"rdp"', 'key = ["id", "club"]', 'column = "id"'),
        *('column = ["id", "club"]', "find_bounds = true", "check = ", "values = ", "null = false"),
        *("tells_unit", "length", "min_units", "references", "public = true", "rows_per_unit = 200"),
    ):
        assert 3 <= sum(word in policy for policy in drawn) < 300, word


def test_made_up_rows_are_odd_and_keep_their_keys(clinic: Path, tmp_path: Path) -> None:
    """NaN, infinity, NULL, the ends of types, rows of nobody; and one unit with more rows than count."""
    with connect(clinic, ledger=tmp_path / "l.ledger") as db:
        known = db._open().known
    ages, costs, owners = set[object](), set[str](), list[object]()
    for seed in range(12):
        with duckdb.connect() as made:
            made.execute(f"ATTACH '{clinic}' AS whole (READ_ONLY)")
            made.execute("COPY FROM DATABASE whole TO memory (SCHEMA)")
            made.execute("DETACH whole")
            fill(made, known, random.Random(seed))
            ages |= {age for (age,) in made.execute("SELECT age FROM patients").fetchall()}
            costs |= {str(cost) for (cost,) in made.execute("SELECT cost FROM visits").fetchall()}
            owners += made.execute("SELECT patient_id, count(*) FROM visits GROUP BY 1").fetchall()
    assert {0, 120, 121, -1, None, 2**31 - 1} <= ages
    assert {"nan", "inf", "None", "1e+300"} <= costs
    assert {None, 1 - 2**31, 2**31 - 2} <= {owner for owner, _ in owners}
    assert max(rows for _, rows in owners) > 20


def test_a_policy_is_read_as_what_queries_are_drawn_from(clinic: Path, tmp_path: Path) -> None:
    with connect(clinic, ledger=tmp_path / "l.ledger") as db:
        schema = schema_of(db._open().known)
    visits = {column.name: column for column in schema.private["visits"].columns}
    assert visits["patient_id"].sort is Sort.UNIT
    assert (visits["cost"].sort, visits["cost"].bounded) == (Sort.FLOAT, True)
    assert "ward" in schema.listed
    assert "visits" in schema.many_rows
    assert "wards" in schema.public
    assert ("patients", "visits") in schema.chains


def test_models_are_drawn(clinic: Path, tmp_path: Path) -> None:
    """Most of them are answered, and judged like any other query."""
    copied = empty_like(clinic, load_policy(clinic.with_suffix(".toml")))
    with copied.connection, fuzzing(tmp_path / "w", copied, 5) as run:
        for _ in range(3):
            run.judge_written(run.queries.model(), run.world, 1.0)
        assert run.accepted > 1
        assert run.violations == []


def test_what_would_show_nothing_is_judged_too(clinic: Path, tmp_path: Path) -> None:
    """Of about five patients no city is shown, so analysts are refused: the judge asks all the same."""
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace("[unit]\n", "[unit]\nabout = 5\n", 1))
    sql = "SELECT city, COUNT(*) FROM patients GROUP BY city"
    with fuzzing(tmp_path / "w", empty_like(clinic, load_policy(policy)), 3) as run:
        with pytest.raises(Error, match="D511"):
            run.world.connection.execute(sql, epsilon=1.0)
        assert answered(sql, run.world) == []
