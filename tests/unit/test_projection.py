"""SQL that only picks columns and orders rows is answered without an engine: the same rows and types.

The engine answers ``SELECT * FROM (the same SQL) AS q``, which is no longer only a choice of columns.
"""

from __future__ import annotations

import datetime
import math
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.finished import Finished
from dpsql.ir.plan import StagePlan
from dpsql.post.projection import picked_columns, picked_rows

NUMBERS = [math.nan, math.inf, -0.0, 0.1, 5e-324, 1.7e308]
KEPT: dict[str, list[Any]] = {
    "SELECT COUNT(*) AS n, COUNT(DISTINCT patient_id) FROM patients": [0, -1, 2**63 - 1, -(2**63), None],
    "SELECT SUM(age) AS s FROM patients": [0, 5, -(2**63), 2**63 - 1, None],
    "SELECT SUM(height) AS s FROM patients": [Decimal("0.00"), Decimal("-170.25"), None],
    'SELECT AVG(income) AS "a ""quoted"" AS name" FROM patients': [*NUMBERS, None],
    "SELECT ward FROM patients GROUP BY ward": ["", "it's", '"', "a\0b", "é", "\U0001f600", None],
    "SELECT smoker FROM patients GROUP BY smoker": [True, False, None],
    "SELECT age FROM patients GROUP BY age": [2**31 - 1, -(2**31), None],
    "SELECT born FROM patients GROUP BY born": [datetime.date.min, datetime.date.max, None],
    "SELECT score FROM patients GROUP BY score": [*NUMBERS, None],
}
GIVEN_UP: dict[str, list[Any]] = {
    "SELECT COUNT(*) FROM patients": [2**63],
    "SELECT SUM(age) FROM patients": [2**100],
    "SELECT SUM(height) FROM patients": [Decimal("1.5")],
    "SELECT AVG(income) FROM patients": [1],
    "SELECT age FROM patients GROUP BY age": [True],
    "SELECT born FROM patients GROUP BY born": ["1950-03-01"],
    "SELECT seen FROM patients GROUP BY seen": [datetime.datetime(2023, 1, 1)],
}


def stage_of(db: dpsql.Connection, sql: str) -> StagePlan:
    return plan_of(db._open(), sql, 1.0).stages[-1]


def filled(stage: StagePlan, values: list[Any]) -> list[Finished]:
    """Return a released table with these values in every column."""
    (planned,) = stage.measures
    margins = np.array([*NUMBERS, *[2.0] * len(values)])[: len(values)]
    keys = [Finished(column.name, column.fact.type, values, None) for column in planned.keys]
    return keys + [
        Finished(finish.call.name, finish.type, values, margins, margins, margins)
        for finish in planned.measure.finishes
    ]


@pytest.mark.parametrize("sql", KEPT)
def test_it_gives_what_the_engine_gives(db: dpsql.Connection, sql: str) -> None:
    stage, sealed = stage_of(db, sql), db._open().sealed
    measures, tables = [each.measure for each in stage.measures], [filled(stage, KEPT[sql])]
    rows = picked_rows(stage.post, measures, tables)
    engines = replace(stage.post, sql=f"SELECT * FROM ({stage.post.sql}) AS q")
    assert picked_columns(engines.sql, measures) is None
    types = sealed.check(stage.post.sql, (), measures)
    assert types == sealed.check(engines.sql, (), measures)
    assert rows is not None
    assert repr(rows) == repr(sealed.run(engines, measures, tables, types))


WRAPPED = {
    'SELECT "s"."n", "s"."k" FROM ({}) AS "s"': True,
    'SELECT "s"."n", "s"."n" FROM ({}) AS "s"': True,
    'SELECT "a ""b"."k" FROM ({}) AS "a ""b"': True,
    'SELECT "t"."k" FROM ({}) AS "s"': False,
    'SELECT "s"."x" FROM ({}) AS "s"': False,
    'SELECT "s"."k" FROM ({} LIMIT 1) AS "s"': False,
    'SELECT "s"."k" FROM ({} ORDER BY 1) AS "s"': False,
    'SELECT "s"."k" FROM ({}) AS "s" LIMIT 1': False,
    'SELECT "s"."k" FROM ({0}) AS "s", ({0}) AS "s"': False,
    'SELECT "s"."k" AS "a" FROM ({}) AS "s"': False,
}


@pytest.mark.parametrize("form", WRAPPED)
@pytest.mark.parametrize("key", ["ward", "smoker", "age", "score", "height"])
def test_columns_of_a_subquery_are_picked(db: dpsql.Connection, key: str, form: str) -> None:
    """As they are shown, and as they are handed down."""
    stage, sealed = (
        stage_of(db, f"SELECT {key} AS k, COUNT(*) AS n FROM patients GROUP BY {key}"),
        db._open().sealed,
    )
    values = KEPT.get(f"SELECT {key} FROM patients GROUP BY {key}", [Decimal("1.50"), None])
    keys, counts = filled(stage, values)
    counts = replace(counts, values=[*range(len(values))])
    measures, tables = [each.measure for each in stage.measures], [[keys, counts]]
    post = replace(stage.post, sql=form.format(stage.post.sql))
    found = picked_rows(post, measures, tables)
    assert (found is not None) is WRAPPED[form]
    if found is not None:
        engines = replace(post, sql=f"SELECT * FROM ({post.sql}) AS q")
        types = sealed.check(post.sql, (), measures)
        assert types == sealed.check(engines.sql, (), measures)
        for texted in (False, True):
            rows = sealed.run(engines, measures, tables, types, texted)
            assert repr(sealed.run(post, measures, tables, types, texted)) == repr(rows)


def test_dates_are_handed_down_as_texts(db: dpsql.Connection) -> None:
    stage = stage_of(db, "SELECT born AS k, COUNT(*) AS n FROM patients GROUP BY born")
    tables = [filled(stage, [datetime.date(2000, 1, 1)])]
    measures = [each.measure for each in stage.measures]
    assert picked_rows(stage.post, measures, tables, native=True) is None
    [row] = db._open().sealed.run(stage.post, measures, tables, ["DATE", "BIGINT"], texted=True)
    assert row[0] == "2000-01-01"


ORDERS = [
    "1",
    "1 DESC",
    "k NULLS FIRST",
    '"K" DESC NULLS FIRST',
    '"k" DESC, n',
    "n, k",
    "2 DESC, 1 LIMIT 3",
    "COUNT(*), k LIMIT 2 OFFSET 2",
    "COUNT(*) DESC, k DESC LIMIT 1",
]


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("key", ["ward", "smoker", "age", "born", "score"])
def test_it_orders_as_the_engine_does(db: dpsql.Connection, key: str, order: str) -> None:
    sql = f"SELECT {key} AS k, COUNT(*) AS n FROM patients GROUP BY {key} ORDER BY {order}"
    stage, sealed = stage_of(db, sql), db._open().sealed
    values = [each for each in KEPT[f"SELECT {key} FROM patients GROUP BY {key}"] if each == each]
    keys, counts = filled(stage, values)
    counts = replace(counts, values=[place // 2 for place in range(len(values))])
    measures, tables = [each.measure for each in stage.measures], [[keys, counts]]
    rows = picked_rows(stage.post, measures, tables)
    engines = replace(stage.post, sql=f"SELECT * FROM ({stage.post.sql}) AS q")
    types = sealed.check(stage.post.sql, (), measures)
    assert types == sealed.check(engines.sql, (), measures)
    assert rows is not None
    assert repr(rows) == repr(sealed.run(engines, measures, tables, types))


@pytest.mark.parametrize("order", ["2 DESC, 1", "2, 1 DESC", "n DESC, k LIMIT 4 OFFSET 3"])
@pytest.mark.parametrize("most", [1, 3, 7, 20])
def test_the_first_of_many_rows(db: dpsql.Connection, order: str, most: int) -> None:
    limit = "" if "LIMIT" in order else f" LIMIT {most}"
    stage = stage_of(db, f"SELECT age AS k, COUNT(*) AS n FROM patients GROUP BY age ORDER BY {order}{limit}")
    keys, counts = filled(stage, [*range(22)])
    counts = replace(counts, values=[place * 7 % 10 for place in range(20)] + [4, 5])
    keys = replace(keys, values=[*range(20), 99, 99])
    measures, tables = [each.measure for each in stage.measures], [[keys, counts]]
    sealed = db._open().sealed
    engines = replace(stage.post, sql=f"SELECT * FROM ({stage.post.sql}) AS q")
    types = sealed.check(stage.post.sql, (), measures)
    assert repr(picked_rows(stage.post, measures, tables)) == repr(
        sealed.run(engines, measures, tables, types)
    )


def test_ties_leave_one_answer_only_behind_the_last_row(db: dpsql.Connection) -> None:
    stage = stage_of(db, "SELECT age AS k, COUNT(*) AS n FROM patients GROUP BY age ORDER BY n DESC LIMIT 2")
    keys, counts = filled(stage, [1, 2, 3, 4])
    measures = [stage.measures[0].measure]
    behind, before = replace(counts, values=[9, 1, 1, 8]), replace(counts, values=[9, 8, 8, 1])
    rows = picked_rows(stage.post, measures, [[keys, behind]])
    assert rows is not None
    assert [row[:2] for row in rows] == [(1, 9), (4, 8)]
    assert picked_rows(stage.post, measures, [[keys, before]]) is None


@pytest.mark.parametrize("key", ["age", "born", "score", "seen", "height"])
def test_what_orders_is_looked_at_too(db: dpsql.Connection, key: str) -> None:
    """Dates that Python does not have are texts; they were ordered as such."""
    stage = stage_of(db, f"SELECT COUNT(*) AS n FROM patients GROUP BY {key} ORDER BY {key} DESC")
    keys, counts = filled(stage, ["200000-01-01", "30000-01-01"])
    counts = replace(counts, values=[1, 2])
    assert picked_rows(stage.post, [stage.measures[0].measure], [[keys, counts]]) is None


@pytest.mark.parametrize("name", ['"\u017f"', '"STRASSE"', "CAFÉ", '"k"'])
def test_names_that_the_engine_does_not_fold_are_refused_unpaid(db: dpsql.Connection, name: str) -> None:
    sql = (
        "SELECT ward AS s, smoker AS straße, COUNT(*) AS café, SUM(age) AS \u212a FROM patients GROUP BY ALL"
    )
    with pytest.raises(dpsql.ProgrammingError, match="D202"):
        db.execute(f"{sql} ORDER BY {name}")
    assert db.budget.spent == 0


@pytest.mark.parametrize(("values", "order"), [([1, 2, 2], "1"), ([0.5, math.nan], "1"), ([None, None], "1")])
def test_rows_without_one_order_go_to_the_engine(db: dpsql.Connection, values: list[Any], order: str) -> None:
    key = "score" if 0.5 in values else "age"
    stage = stage_of(db, f"SELECT {key}, COUNT(*) FROM patients GROUP BY {key} ORDER BY {order}")
    keys, counts = filled(stage, values)
    counts = replace(counts, values=[0] * len(values))
    assert picked_rows(stage.post, [stage.measures[0].measure], [[keys, counts]]) is None


@pytest.mark.parametrize("sql", GIVEN_UP)
def test_values_of_other_types_go_to_the_engine(db: dpsql.Connection, sql: str) -> None:
    stage = stage_of(db, sql)
    assert picked_rows(stage.post, [stage.measures[0].measure], [filled(stage, GIVEN_UP[sql])]) is None


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) + 1 FROM patients",
        "SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY n + 1",
        "SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY lower(ward)",
        "SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY ALL",
        'SELECT ward, COUNT(*) AS "all" FROM patients GROUP BY ward ORDER BY ALL',
        'SELECT ward AS "null", COUNT(*) FROM patients GROUP BY ward ORDER BY NULL',
        "SELECT ward, COUNT(*) AS n, SUM(age) AS N FROM patients GROUP BY ward ORDER BY n",
        "SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward LIMIT 50%",
        "SELECT ward, COUNT(*) AS n FROM patients GROUP BY ward ORDER BY 2 LIMIT 1 + 1",
        "SELECT DISTINCT COUNT(*) FROM patients",
        "SELECT COUNT(*) AS n FROM patients HAVING n > 3",
        "SELECT COUNT(*) FROM patients UNION ALL SELECT COUNT(*) FROM visits",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM patients)",
        "SELECT floor FROM wards",
    ],
)
def test_whatever_else_is_asked_goes_to_the_engine(db: dpsql.Connection, sql: str) -> None:
    stage = stage_of(db, sql)
    assert picked_columns(stage.post.sql, [each.measure for each in stage.measures]) is None


def test_the_engine_is_not_started_for_it(db: dpsql.Connection) -> None:
    db.execute("SELECT ward, COUNT(*), AVG(age) FROM patients GROUP BY ward")
    assert db._open().sealed._process is None
    db.execute("SELECT COUNT(*) + 1 FROM patients")
    assert db._open().sealed._process is not None


@pytest.mark.parametrize("order", ["k", "k DESC", "k NULLS FIRST LIMIT 2", "n, k DESC"])
def test_members_of_an_enum_are_ordered_as_the_engine_does(tmp_path: Path, order: str) -> None:
    """What is no member is no value of its type: the engine would make it NULL."""
    with duckdb.connect(str(tmp_path / "d.duckdb")) as connection:
        connection.execute("CREATE TABLE people (id INTEGER, size ENUM('small', 'it''s', 'big'))")
    (tmp_path / "d.toml").write_text(
        '[budget]\nepsilon = 1\ndelta = 1e-6\n[unit]\ntable = "people"\nkey = "id"\n'
        "[tables.people]\n[tables.people.columns]\nsize = {}\n"
    )
    with dpsql.connect(tmp_path / "d.duckdb") as db:
        sql = f"SELECT size AS k, COUNT(*) AS n FROM people GROUP BY size ORDER BY {order}"
        stage, sealed = stage_of(db, sql), db._open().sealed
        keys, counts = filled(stage, ["big", "small", None, "it's"])
        measures, tables = [stage.measures[0].measure], [[keys, replace(counts, values=[1, 1, 2, 2])]]
        rows = picked_rows(stage.post, measures, tables)
        engines = replace(stage.post, sql=f"SELECT * FROM ({stage.post.sql}) AS q")
        types = sealed.check(stage.post.sql, (), measures)
        assert types == sealed.check(engines.sql, (), measures)
        assert rows is not None
        assert repr(rows) == repr(sealed.run(engines, measures, tables, types))
        tables = [[replace(keys, values=["big", "small", None, "its"]), counts]]
        assert picked_rows(stage.post, measures, tables) is None
