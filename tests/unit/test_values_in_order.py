"""Orders: which differences are not negative, and what is declared of a table's columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import measure, plan_of
from dpsql.ir.statistic import Part
from dpsql.policy.checks import comparisons

SCHEMA = """
CREATE TABLE people (id INTEGER PRIMARY KEY);
CREATE TABLE stays (
    id INTEGER, t INTEGER, x DOUBLE,
    came TIMESTAMP, went TIMESTAMP, paid DATE, "a b" TIMESTAMPTZ, z TIMESTAMPTZ,
    CHECK (came <= went AND t > 0), CHECK (paid >= went OR t = 1), CHECK (NOT (paid < came))
);
INSERT INTO people VALUES (1);
INSERT INTO stays VALUES (1, 1, 1, '2020-01-01', '2020-01-03', '2020-01-02', NULL, NULL);
"""

POLICY = """
timezone = "Europe/Oslo"
[budget]
epsilon = 10
delta = 1e-6
[unit]
table = "people"
key = "id"
[tables.people]
[tables.stays]
unit = { column = "id" }
rows_per_unit = 4
CHECK
[tables.stays.columns]
t = { range = [0, 10] }
x = { range = [-5, 5] }
came = { range = [2020-01-01, 2020-01-11] }
went = { range = [2020-01-01, 2020-01-11] }
paid = { range = [2020-01-01, 2020-01-11] }
"a b" = { range = [2020-01-01, 2020-01-11] }
z = { range = [2020-01-01, 2020-01-11] }
"""

DAY = 86_400


@pytest.fixture
def database(tmp_path: Path) -> Path:
    path = tmp_path / "stays.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(SCHEMA)
    return path


def connected(database: Path, check: str) -> dpsql.Connection:
    policy = database.with_suffix(".toml")
    policy.write_text(POLICY.replace("CHECK", check))
    return dpsql.connect(database, policy)


@pytest.fixture
def db(database: Path) -> Iterator[dpsql.Connection]:
    with connected(database, """check = 'paid >= came AND "a b" <= z'""") as connection:
        yield connection


def ends(db: dpsql.Connection, argument: str, source: str = "stays") -> tuple[float, float]:
    """Return the range that AVG of an argument is clamped to."""
    (measure,) = plan_of(db._open(), f"SELECT AVG({argument}) AS m FROM {source}", 1.0).stages[0].measures
    value = next(each for each in measure.measure.statistics if each.part is Part.VALUE)
    return value.low, value.high


W = "OVER (PARTITION BY id ORDER BY t)"


@pytest.mark.parametrize(
    ("argument", "source", "expected"),
    [
        ("a - b", "(SELECT id, MAX(t) AS a, MIN(t) AS b FROM stays GROUP BY id)", (0, 10)),
        ("a - b", "(SELECT id, MAX(x) AS a, MIN(x) AS b FROM stays GROUP BY id)", (0, 10)),
        ("b - a", "(SELECT id, MAX(t) AS a, MIN(t) AS b FROM stays GROUP BY id)", (-10, 0)),
        ("a - b", "(SELECT id, MAX(t) AS a, MIN(t) FILTER (t > 5) AS b FROM stays GROUP BY 1)", (-10, 4)),
        ("a - b", "(SELECT id, t, MAX(x) AS a, MIN(x) AS b FROM stays GROUP BY id, t) WHERE t > 3", (0, 10)),
        ("c - d", "(SELECT id, MAX(a) AS c, MIN(b) AS d FROM (SELECT id, t a, x b FROM stays) GROUP BY 1)",
         (-5, 15)),
        ("a - b", "(FROM (SELECT id, MAX(t) a, MIN(t) b FROM stays GROUP BY id) GROUP BY ALL)", (0, 10)),
        ("t - p", f"(SELECT t, LAG(t) {W} AS p FROM stays)", (0, 10)),
        ("t - p", f"(SELECT t, LAG(t, 3) {W} AS p FROM stays)", (0, 10)),
        ("t - p", f"(SELECT t, LEAD(t) {W} AS p FROM stays)", (-10, 0)),
        ("t - p", f"(SELECT t, LAG(x) {W} AS p FROM stays)", (-5, 15)),
        ("t - p", "(SELECT t, LAG(t) OVER (PARTITION BY id ORDER BY x, t) AS p FROM stays)", (-10, 10)),
        ("u - p", f"(SELECT t + 1 AS u, LAG(t) {W} AS p FROM stays)", (-9, 11)),
        ("t - p", f"(SELECT t, MIN(t) {W} AS p FROM stays)", (0, 10)),
        ("t - p", f"(SELECT t, MIN(t) FILTER (WHERE x > 0) {W} AS p FROM stays)", (-10, 10)),
        ("v.t - w.t", "stays v JOIN stays w ON v.id = w.id AND v.t >= w.t", (0, 10)),
        ("v.t - w.t", "stays v JOIN stays w ON v.id = w.id", (-10, 10)),
        ("v.t - w.t", "stays v JOIN stays w ON v.id = w.id WHERE NOT v.t < w.t AND v.x > 0", (0, 10)),
        ("v.t - w.t", "stays v JOIN stays w ON v.id = w.id WHERE v.t >= w.t OR v.x > 0", (-10, 10)),
        ("w.t - v.t", "stays v LEFT JOIN stays w ON v.id = w.id AND v.t < w.t", (0, 10)),
        ("v.t - v.x", "stays v LEFT JOIN stays w ON v.id = w.id AND v.t >= v.x", (-5, 15)),
    ],
)  # fmt: skip
def test_differences_of_values_in_order(
    db: dpsql.Connection, argument: str, source: str, expected: tuple[int, int]
) -> None:
    assert ends(db, argument, source) == expected


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        ("epoch(went - came)", (0, 11 * DAY)),  # CHECK (came <= went AND ...)
        ("epoch(went) - epoch(came)", (0, 11 * DAY)),
        ("went::DATE - came::DATE", (0, 10)),
        ("date_diff('hour', came, went)", (0, 264)),
        ("epoch(came - went)", (-11 * DAY, 0)),
        ("epoch(paid - came)", (0, 11 * DAY)),  # of the policy
        ("epoch(paid - went)", (-11 * DAY, 11 * DAY)),  # one branch of an OR
        ('epoch(z) - epoch("a b")', (0, 11 * DAY)),
        ("date_diff('minute', \"a b\", z)", (0, 15_840)),
        ('epoch(z - "a b")', (-11 * DAY, 11 * DAY)),  # of local clocks, which go back
        ("epoch((z AT TIME ZONE 'UTC') - (\"a b\" AT TIME ZONE 'UTC'))", (0, 11 * DAY)),
        ("epoch(z - came)", (-11 * DAY, 11 * DAY)),
    ],
)
def test_differences_of_columns_that_a_check_compares(
    db: dpsql.Connection, argument: str, expected: tuple[int, int]
) -> None:
    low, high = ends(db, argument)
    assert (low, high) == pytest.approx(expected, abs=DAY)
    assert (low == 0, high == 0) == (expected[0] == 0, expected[1] == 0)


def test_a_row_that_violates_a_check_is_clamped(database: Path) -> None:
    """It is paid a day before they leave: -1 without a check, and 0 with one."""
    for check, expected in (("", -1), ('check = "went <= paid"', 0)):
        with connected(database, check) as db:
            (measured,) = measure(db, "SELECT SUM(epoch(paid - went)) AS s FROM stays", epsilon=1)
            assert {(total > 0) - (total < 0) for (total,) in measured.rows.values()} == {expected}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a <= b", (("a", "b"),)),
        ('A>b and ("c d" < e AND f >= g)', (("b", "A"), ("c d", "e"), ("g", "f"))),
        ("((a <= b) AND (t > 0))", (("a", "b"),)),
        ("((a <= b) OR (t > 0))", ()),
        ("a <= b AND c <= d OR e", ()),
        ("(a <= b) AND ((c <= d) OR (e < f))", (("a", "b"),)),
        ("(NOT (a <= b))", ()),
        ("a != b AND a = c AND a <= a AND a <= 'b' AND a <= b + 1", ()),
        ("(a <= b", ()),
        ("a <= b) AND (c <= d", ()),
        ("'a <= b AND c <= d'", ()),
        ("CASE WHEN x AND a <= b THEN y END", ()),
        ("a BETWEEN b AND c <= d", ()),
        ("CASE WHEN x THEN y AND a <= b AND z END", ()),
        ("[x AND a <= b AND y]", ()),
        ("", ()),
    ],
)
def test_comparisons_of_a_check(text: str, expected: tuple[tuple[str, str], ...]) -> None:
    assert comparisons(text) == expected


@pytest.mark.parametrize(
    ("check", "code", "says"),
    [
        ('check = "came <= 5"', "D803", "compares two columns"),
        ('check = "came <= went OR t = 1"', "D803", "compares two columns"),
        ('check = "came <= gone"', "D804", "gone"),
        ('check = "came <= t"', "D804", "not compared as they are"),
    ],
)
def test_checks_that_mean_nothing_are_refused(database: Path, check: str, code: str, says: str) -> None:
    with pytest.raises(dpsql.Error, match=says) as refusal:
        connected(database, check)
    assert refusal.value.code == code
