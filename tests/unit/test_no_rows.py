"""Questions for columns, as tools ask them: names and types of the policy's columns, and nothing else."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest
import sqlglot
from sqlglot import exp

import dpsql
from dpsql.bind.headings import asks_for_no_rows
from dpsql.bind.scope.sources import Open

KINDS = """
CREATE TYPE color AS ENUM ('red', 'it''s');
CREATE TYPE price AS DECIMAL(7, 2);
CREATE TABLE people (
    id INTEGER PRIMARY KEY, small UTINYINT, wide UHUGEINT, real FLOAT, money price, yes BOOLEAN, word VARCHAR,
    folded VARCHAR COLLATE NOCASE, hue color, id2 UUID, day DATE, clock TIME, zoned TIMETZ, moment TIMESTAMP,
    fine TIMESTAMP_NS, there TIMESTAMPTZ, span INTERVAL, bytes BLOB, bits BIT, doc JSON, items INTEGER[],
    three INTEGER[3], hues color[], pair STRUCT(a INTEGER, "b c" color), either UNION(n INTEGER, s VARCHAR),
    found MAP(VARCHAR, INTEGER), any_one VARIANT, huge BIGNUM, "odd ""name" INTEGER, secret VARCHAR
);
INSERT INTO people (id, word, hue, secret) VALUES (1, 'Kari', 'red', 'kept');
"""
POLICY = """\
[budget]
epsilon = 10.0
delta = 1e-6
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
"""


@pytest.fixture
def kinds(tmp_path: Path) -> tuple[Path, list[tuple[str, str]]]:
    """A database with a private table of all types, and what DuckDB says of its columns but the last."""
    path = tmp_path / "kinds.duckdb"
    with duckdb.connect(str(path)) as owner:
        owner.execute(KINDS)
        said = owner.execute("SELECT * EXCLUDE (secret) FROM people LIMIT 0").description
    listed = "".join(f"'{name}' = {{}}\n" for name, *_ in said)
    path.with_suffix(".toml").write_text(POLICY + listed)
    return path, [(name, str(kind)) for name, kind, *_ in said]


@pytest.mark.parametrize("end", ["LIMIT 0", "WHERE 1 = 0", "WHERE FALSE", "WHERE (0 = 1) LIMIT 0"])
def test_types_are_duckdbs_but_enums_leave_as_text(
    kinds: tuple[Path, list[tuple[str, str]]], end: str
) -> None:
    path, said = kinds
    with dpsql.connect(path) as db:
        answer = db.execute(f"SELECT * FROM people {end}")
        cursor = db.cursor()
        cursor.execute(f"SELECT * FROM people {end}")
        assert (cursor.fetchall(), cursor.rowcount) == ([], 0)
        assert [(name, kind) for name, kind, *_ in cursor.description] == list(
            zip(answer.columns, answer.types, strict=True)
        )
        assert (list(answer), answer.cost, db.budget.spent, db.purchases) == ([], 0, 0, ())
    texts = {
        "hue": "VARCHAR",
        "hues": "VARCHAR[]",
        "pair": 'STRUCT(a INTEGER, "b c" VARCHAR)',
    }
    assert list(zip(answer.columns, answer.types, strict=True)) == [
        (name, texts.get(name, kind)) for name, kind in said
    ]


def test_a_list_of_enums_is_no_enum(kinds: tuple[Path, list[tuple[str, str]]]) -> None:
    with dpsql.connect(kinds[0]) as db:
        with pytest.raises(dpsql.Error, match="D205"):
            db.execute("SELECT enum_code(hues), COUNT(*) FROM people GROUP BY 1")
        assert db.budget.spent == 0


def test_a_parameter_may_say_how_many(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        assert db.execute("SELECT * FROM visits LIMIT ?", (0,)).columns[0] == "visit_id"
        with pytest.raises(dpsql.NotSupportedError, match="D402"):
            db.execute("SELECT * FROM visits LIMIT ?", (1,))


def test_what_explains_prices_and_measures_says_nothing_is_read(clinic: Path) -> None:
    asked = "SELECT * FROM (SELECT ward, AVG(age) AS a FROM patients GROUP BY ward) AS q WHERE 1 = 0"
    with dpsql.connect(clinic) as db:
        facts = db.explain(asked).to_dict()
        assert (facts["price"], [stage["measures"] for stage in facts["stages"]]) == (0, [[]])
        assert "patients" not in facts["stages"][0]["post"]
        price = db.price(asked)
        assert (price.cost, price.epsilon, price.share, price.expected) == (0, 0, 0, ())
        assert db.purchases == ()


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_of_files(tmp_path: Path, ending: str) -> None:
    """Columns of a csv file are the policy's, whatever stands in it."""
    data = tmp_path / "data"
    data.mkdir()
    with duckdb.connect() as owner:
        owner.execute(f"COPY (SELECT 1 AS id, 30 AS age, 'kept' AS secret) TO '{data}/people.{ending}'")
    kinds = {"csv": '{ type = "INTEGER" }', "parquet": "{}"}
    policy = tmp_path / "data.toml"
    policy.write_text(f"{POLICY}id = {kinds[ending]}\nage = {kinds[ending]}\n")
    with dpsql.connect(data, policy=policy, ledger=tmp_path / "data.ledger") as db:
        answer = db.execute("SELECT * FROM people WHERE 1=0")
    assert (answer.columns, answer.types) == (("id", "age"), ("INTEGER", "INTEGER"))


def test_no_aggregate_of_duckdb_is_taken_for_a_function_of_a_row() -> None:
    """Over a release, an aggregate of no rows is one row: that is no question for columns."""
    with duckdb.connect() as plain:
        known = plain.execute(
            "SELECT DISTINCT function_name FROM duckdb_functions() WHERE function_type = 'aggregate'"
        ).fetchall()
    released = Open(exp.select("*"), ("x",), ((),), released=True)
    names = [name for (name,) in known if name[0].isalpha()]
    assert len(names) > 60
    for name in names:
        for call in (f"{name}(x)", f"{name}(x, 2)", f"{name}(x, y)", f"{name}(DISTINCT x)", f"{name}()"):
            for listed in (call, f"x + ({call})", f"* REPLACE ({call} AS x)"):
                sql = f"SELECT {listed} FROM q WHERE FALSE"
                try:
                    tree = sqlglot.parse_one(sql, read="duckdb")
                except sqlglot.ParseError:
                    continue
                assert not asks_for_no_rows(tree, released), sql
