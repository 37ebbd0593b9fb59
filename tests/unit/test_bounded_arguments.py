"""Clips from conditions: their ends fit the argument's type, and move no value of a row that is counted."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.relation import Aggregate
from dpsql.ir.scalar import Call

POLICY = """
[budget]
epsilon = 1000
delta = 1e-6
[query]
find_bounds = false
[unit]
name = "person"
table = "people"
key = "id"
[tables.people]
[tables.rows]
unit = { column = "id" }
rows_per_unit = 3
[tables.people.columns]
id = {}
m = {}
u = {}
b = {}
w = {}
x = {}
age = { range = [0, 120] }
[tables.rows.columns]
id = {}
n = {}
"""
ROWS = """
CREATE TABLE people AS SELECT
    i AS id, (i % 50)::DECIMAL(6, 2) AS m, (i % 50)::UINTEGER AS u, i * 4e15::BIGINT AS b,
    (i % 50)::DECIMAL(38, 20) AS w, (i % 50 - 25)::DOUBLE AS x, (i % 90)::INTEGER AS age
FROM range(300) AS t(i);
CREATE TABLE rows AS SELECT i % 100 AS id, (i % 7)::INTEGER AS n FROM range(2000) AS t(i);
"""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    path = tmp_path_factory.mktemp("bounded") / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(ROWS)
    path.with_suffix(".toml").write_text(POLICY)
    with dpsql.connect(path) as opened:
        yield opened


def refusal_of(db: dpsql.Connection, sql: str) -> str:
    """The code that a query is refused with before it is paid for; '' if it is not."""
    try:
        db.price(sql)
    except dpsql.Error as refusal:
        return refusal.code
    return ""


@pytest.mark.parametrize(
    ("argument", "condition"),
    [
        ("abs(m)", "abs(m) <= 10000"),
        ("abs(m)", "abs(m) BETWEEN -1e30 AND 1e30"),
        ("abs(m)", "abs(m) BETWEEN 0 AND 99.5"),
        ("m / 3", "m / 3 BETWEEN 0 AND 1e300"),
        ("u // 2", "u // 2 BETWEEN -5 AND 100"),
        ("u // 2", "u // 2 BETWEEN 0 AND 1e19"),
        ("abs(age - u)", "abs(age - u) BETWEEN -0.5 AND 1e10"),
        ("abs(b)", "abs(b) BETWEEN 0 AND 1e19"),
        ("b - 1", "b - 1 BETWEEN -9223372036854775808 AND 9223372036854775807"),
        ("-w", "-w BETWEEN -1 AND 0.30000000000000000001"),
        ("x * 2", "x * 2 BETWEEN -1e308 AND 0.1"),
    ],
)
@pytest.mark.parametrize("rest", ["", " AND id = 3", " AND id = 1003"])
def test_whether_it_is_answered_depends_on_no_row(
    db: dpsql.Connection, argument: str, condition: str, rest: str
) -> None:
    """An end that the type does not hold failed where a row had a value, after it was paid for."""
    whole, spent = f"SELECT SUM({argument}) FROM people WHERE {condition}", db.budget.spent
    code = refusal_of(db, whole)
    if code:
        assert code in ("D301", "D305")
        with pytest.raises(dpsql.Error, match=code):
            db.execute(whole + rest)
        assert db.budget.spent == spent
    else:
        assert len(db.execute(whole + rest).rows) == 1


@pytest.mark.parametrize(
    ("sql", "bounded"),
    [
        ("SELECT AVG(u // 2) FROM people WHERE u // 2 BETWEEN -5 AND 100", True),
        ("SELECT AVG(m * 2) FROM people WHERE m * 2 BETWEEN 0 AND 98.5", True),
        ("SELECT AVG(m * 2) FROM people WHERE m * 2 BETWEEN 0 AND 98.5 OR age > 3", False),
        ("SELECT AVG(m * 2) FROM people WHERE (m * 2 BETWEEN 0 AND 9 OR age > 3) AND m * 2 >= 0", False),
        ("SELECT AVG(atan2(x, 0e0) * x) FROM people WHERE atan2(x, 0e0) * x BETWEEN 0 AND 90", True),
        ("SELECT AVG(atan2(x, 0e0) * x) FROM people WHERE atan2(x, -0e0) * x BETWEEN 0 AND 90", False),
        (
            "SELECT AVG(1 / k) FROM (SELECT id, x AS k FROM people WHERE 1 / x BETWEEN 0 AND 9 GROUP BY ALL)",
            False,
        ),
        ("SELECT AVG(-w) FROM people WHERE -w BETWEEN -1 AND 0.30000000000000000001", False),
    ],
)
def test_only_the_same_values_bound(db: dpsql.Connection, sql: str, bounded: bool) -> None:
    """One arm of an OR bounds nothing; 0.0 equals -0.0, and a group's key is one of both.

    A DECIMAL has values between doubles.
    """
    assert refusal_of(db, sql) == ("" if bounded else "D301")


def test_what_has_a_range_shares_its_sums(db: dpsql.Connection) -> None:
    sql = "SELECT AVG(age * 2), COUNT(age * 2), SUM(age * 2) FROM people WHERE age * 2 BETWEEN 10 AND 100"
    (planned,) = plan_of(db._open(), sql, 1.0).measures
    assert len(planned.measure.statistics) == 2


def test_a_guess_is_not_enforced(db: dpsql.Connection) -> None:
    """Each has 20 rows, where the policy says 3: their number is clipped where it is summed, not before."""
    sql = (
        "SELECT COUNT(m) FROM (SELECT id, MAX(g * 2) AS m FROM (SELECT id, n, COUNT(*) AS g FROM rows "
        "GROUP BY id, n) WHERE g * 2 BETWEEN 1 AND 80 GROUP BY id)"
    )
    (planned,) = plan_of(db._open(), sql, 1.0).measures
    relation = planned.measure.relation
    while not isinstance(relation, Aggregate):
        relation = relation.input  # type: ignore[union-attr]  # a projection or a filter
    (call,) = relation.aggregates
    assert isinstance(call.argument, Call)
    assert call.argument.function == "*"
