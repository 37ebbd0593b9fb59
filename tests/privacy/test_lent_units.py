"""Units that one side of a join has from the other: no number is another one than with two whole paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.engines import relation_sql
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.measure_sql import measure_sql
from dpsql.engines.special_units import EVERYTHING
from dpsql.facts import lent_units
from dpsql.facts.lent_units import LentUnit
from dpsql.ir.column import type_named
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import Join, Scan

SCHEMA = """
CREATE TABLE people (person BIGINT);
INSERT INTO people SELECT range FROM range(1, 31);
CREATE TABLE visits (visit BIGINT UNIQUE, line_visit BIGINT, person BIGINT, ward VARCHAR);
INSERT INTO visits SELECT range, 121 - range, 1 + range % 30, ['a', 'b'][1 + range % 2] FROM range(1, 121);
INSERT INTO visits VALUES (NULL, 1, 3, 'a'), (900, 2, NULL, 'a'), (901, 3, 777, 'b');
CREATE TABLE lines (visit BIGINT, amount DOUBLE, ward VARCHAR, code VARCHAR);
INSERT INTO lines SELECT 1 + n % 120, n % 10, ['a', 'b'][1 + n % 2], 'c' || n % 7 FROM range(400) AS r(n);
INSERT INTO lines VALUES (NULL, 1, 'a', 'c1'), (900, 2, 'a', 'c1'), (900, 3, 'b', 'c2'), (950, 4, 'a', 'c0');
CREATE TABLE bills (visit INTEGER, line_visit BIGINT, amount DOUBLE);
INSERT INTO bills SELECT 1 + (7 * n) % 120, 1 + (11 * n) % 120, n % 7 FROM range(200) AS r(n);
INSERT INTO bills VALUES (NULL, NULL, 1), (900, 900, 2), (950, 950, 3);
"""
POLICY = """
[budget]
epsilon = 1000
delta = 1e-6
[query]
epsilon = 1.0
max_epsilon = 10.0
[unit]
name = "person"
table = "people"
key = "person"
[tables.people.columns]
person = {}
[tables.visits]
key = "visit"
unit = { column = "person" }
rows_per_unit = 5
[tables.visits.columns]
visit = {}
line_visit = {}
person = {}
ward = { values = ["a", "b"] }
[tables.lines]
unit = { column = "visit", references = "visits.visit" }
rows_per_unit = 8
[tables.lines.columns]
visit = {}
amount = { range = [0, 10] }
ward = { values = ["a", "b"] }
code = {}
[tables.bills]
unit = { column = "visit", references = "visits.visit" }
rows_per_unit = 8
[tables.bills.columns]
visit = {}
line_visit = {}
amount = { range = [0, 10] }
"""
OTHER = "SELECT 1 FROM lines AS k WHERE l.visit = k.visit AND l.code > k.code"
LENT = (
    f"SELECT ward, COUNT(*) FROM lines AS l WHERE EXISTS ({OTHER}) GROUP BY ward",
    f"SELECT ward, COUNT(*) FROM lines AS l WHERE NOT EXISTS ({OTHER}) GROUP BY ward",
    "SELECT v.ward, SUM(l.amount) FROM lines AS l JOIN visits AS v ON l.visit = v.visit "
    f"WHERE NOT EXISTS ({OTHER} AND k.amount > 5) GROUP BY v.ward",
    "SELECT ward, COUNT(*) FROM lines AS l WHERE EXISTS "
    "(SELECT 1 FROM bills AS b WHERE b.visit = l.visit AND b.amount > 3) GROUP BY ward",
    "SELECT COUNT(*), SUM(l.amount * b.amount) FROM lines AS l JOIN bills AS b ON l.visit = b.visit",
    "SELECT COUNT(*) FROM bills AS b JOIN bills AS c ON b.visit = c.visit AND b.amount < c.amount",
)
"""Here a unit is lent along equal links. ``bills`` has these in another type of whole numbers."""

OWN = (
    "SELECT COUNT(*) FROM bills AS b WHERE EXISTS (SELECT 1 FROM lines AS k WHERE k.visit = b.line_visit)",
    "SELECT COUNT(*) FROM visits AS v WHERE EXISTS (SELECT 1 FROM lines AS k WHERE k.visit = v.line_visit)",
    "SELECT COUNT(*) FROM lines AS l JOIN bills AS b ON l.visit = b.line_visit",
)
"""Here the columns that are compared do not both lead to the unit."""


@pytest.fixture
def db(tmp_path: Path) -> Iterator[dpsql.Connection]:
    import duckdb

    with duckdb.connect(str(tmp_path / "clinic.duckdb")) as connection:
        connection.execute(SCHEMA)
    (tmp_path / "dpsql.toml").write_text(POLICY)
    with dpsql.connect(tmp_path / "clinic.duckdb", tmp_path / "dpsql.toml") as connected:
        yield connected


@pytest.mark.parametrize("sql", LENT)
def test_lent_units_change_no_sum(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    planned, lent = measure_of(db, sql), sums(db, sql)
    assert all(lent)
    assert any(found is not None and not found.one for found in map(lent_units.lent_unit, joins(planned)))
    monkeypatch.setattr(relation_sql, "lent_unit", lambda join: None)
    assert sums(db, sql)[0] == lent[0], "the statement per unit"
    monkeypatch.setattr(lent_units, "lent_unit", lambda join: None)
    assert sums(db, sql) == lent


@pytest.mark.parametrize("sql", OWN)
def test_other_columns_lend_no_unit(db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    whole = sums(db, sql)
    assert all(found is None or found.one for found in map(lent_units.lent_unit, joins(measure_of(db, sql))))
    monkeypatch.setattr(lent_units, "_same_links", any_column)
    assert sums(db, sql) != whole, "planted: any column leads to the unit"


def test_a_link_that_is_read_as_another_type_lends_no_unit(db: dpsql.Connection) -> None:
    """Texts and numbers are equal after a cast, which need not be the cast along the path."""
    [join] = joins(measure_of(db, LENT[3]))
    [lender], [scan] = scans(join.left), scans(join.right)
    assert lent_units._same_links(lender, scan) == {lender.columns[0].name}
    columns = tuple(
        replace(column, fact=replace(column.fact, type=type_named("VARCHAR"))) for column in scan.columns
    )
    assert lent_units._same_links(lender, replace(scan, columns=columns)) == set()


def any_column(lender: Scan, scan: Scan) -> set[str]:
    return {column.name for column in lender.columns}


def measure_of(db: dpsql.Connection, sql: str) -> MeasurePlan:
    [measure] = plan_of(db._open(), sql, 1.0).measures
    return measure


def sums(db: dpsql.Connection, sql: str) -> list[list[tuple[object, ...]]]:
    """Return the sums by the statement per unit, and by that for tables of many rows."""
    engine, planned = db._open().engine, measure_of(db, sql)
    assert isinstance(engine, DuckDB)
    fast = FastSums(engine._all, EVERYTHING)
    width, texts = len(planned.keys), (measure_sql(planned), fast.statement(planned))
    return [sorted(row for row in engine._all(text) if any(row[width:])) for text in texts]


def joins(planned: MeasurePlan) -> list[Join]:
    found, left = [], [planned.measure.relation]
    while left:
        relation = left.pop()
        if isinstance(relation, Join):
            found.append(relation)
        below = (getattr(relation, name, None) for name in ("input", "left", "right"))
        left += [each for each in below if each is not None]
    return found


def scans(relation: Any) -> list[Scan]:
    return lent_units._plain_scans(relation)


def test_a_lent_unit_says_that_units_are_equal_and_no_more() -> None:
    from dpsql.ir.scalar import Call, Ref

    lent = LentUnit(False, "u2", "u1", False, frozenset(("u1", "key")))
    assert lent.says(Call("=", (Ref("u2"), Ref("key"))))
    assert not lent.says(Call("=", (Ref("u2"), Ref("day"))))
    assert not lent.says(Call("<", (Ref("u2"), Ref("u1"))))
