"""The lists of group keys: right at the edges, and the same for every row that could have them."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

import dpsql
from dpsql.audit import measure, plan_of
from dpsql.engines.measure_sql import measure_sql
from dpsql.ir.column import Value
from dpsql.ir.plan import MeasurePlan, PublicKeys

POLICY = """
[budget]
epsilon = 100.0
delta = 1e-6

[unit]
name = "person"
table = "people"
key = "id"

[tables.people.columns]
id = {}
age = { range = [0, 120] }
born = { range = [1990-01-01, 1999-12-31] }
seen = { range = [2020-01-01T00:00:00, 2021-12-31T23:59:59] }
wage = { range = [0, 1000] }
small = { range = [-1, 1] }
name = { values = ["a", "B", "é"] }
free = {}
"""
ROWS = """
    (1, 33, '1990-05-05', '2020-02-03 04:05:06', 99.5, -0.0, 'a', 1),
    (2, 300, '2300-01-01', '1999-01-01', 5000, 'nan', 'A', 2),
    (3, -7, 'infinity', 'infinity', 'infinity', 'nan', 'other', 3),
    (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
    (5, 120, '1999-12-31', '2021-12-31 23:59:59.999999', 1000, 0.0, 'é', 5),
    (6, 2147483647, '99999-01-01', '290000-01-01', '-infinity', '-infinity', '', 6)
"""


@pytest.fixture(scope="module")
def db(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    folder = tmp_path_factory.mktemp("lists")
    with duckdb.connect(str(folder / "people.duckdb")) as connection:
        connection.execute(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER, born DATE, seen TIMESTAMP, "
            "wage DOUBLE, small FLOAT, name VARCHAR, free DOUBLE)"
        )
        connection.execute(f"INSERT INTO people VALUES {ROWS}")
    (folder / "people.toml").write_text(POLICY, encoding="utf-8")
    with dpsql.connect(folder / "people.duckdb") as found:
        yield found


def listed(db: dpsql.Connection, key: str, where: str = "true") -> tuple[Value, ...] | None:
    """The list of a key, or None where it is private."""
    sql = f"SELECT {key} AS k, COUNT(*) FROM people WHERE {where} GROUP BY k"
    (each,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    return each.rule.domains[0] if isinstance(each.rule, PublicKeys) else None


def counted(db: dpsql.Connection, key: str) -> dict[Value, int]:
    """The groups that rows are in, with their exact counts; every group of a public key is measured."""
    (found,) = measure(db, f"SELECT {key} AS k, COUNT(*) FROM people GROUP BY k")
    assert found.public_keys
    return {group[0]: sums[0] // 2**20 for group, sums in found.rows.items() if sums[0]}


@pytest.mark.parametrize(
    ("key", "size"),
    [
        ("age // 10", 13 + 1),
        ("year(born)", 10 + 1),
        ("date_trunc('month', born)", 120 + 1),
        ("date_trunc('week', seen)", 105 + 1),
        ("month(seen)", 12 + 1),
        ("strftime(seen, '%Y-%m')", 24 + 1),
        ("CAST(seen AS DATE)", 731 + 1),
        ("hour(seen)", 24 + 1),
        ("floor(wage / 100)", 11 + 1),
        ("round(wage)", None),
        ("trunc(wage)", None),
        ("round(wage, -1)", 101 + 1),
        ("CAST(wage AS INTEGER)", None),
        ("CAST(wage / 2 AS INTEGER)", 501 + 1),
        ("lower(name)", 3 + 1),
        ("length(name)", 1 + 1),
        ("name || (age // 60)", 9 + 1),
        ("free", None),
        ("floor(free)", None),
        ("wage", None),
        ("wage / 2", None),
        ("age", 121 + 1),
        ("seen", None),
        ("date_trunc('hour', seen)", None),
        ("1 / age", None),
        ("CAST(small AS INTEGER)", 3 + 1),
    ],
)
def test_the_size_of_a_list(db: dpsql.Connection, key: str, size: int | None) -> None:
    """The distinct values over the declared range, worked out by hand, and NULL."""
    found = listed(db, key)
    assert (None if found is None else len(found)) == size


def test_a_filter_makes_a_list_shorter(db: dpsql.Connection) -> None:
    assert listed(db, "age // 10", "age >= 95") == (9, 10, 11, 12)
    assert listed(db, "age // 10", "age IN (7, 44)") == (0, 4)
    assert listed(db, "year(seen)", "seen < TIMESTAMP '2021-01-01 00:00:00'") in ((2020,), (2020, 2021))


@pytest.mark.parametrize(
    ("key", "groups"),
    [
        ("age // 10", {0: 1, 3: 1, 12: 1, None: 1}),  # -7 // 10 is 0 in DuckDB
        ("age % 7", {0: 1, 1: 2, 5: 1, 6: 1, None: 1}),
        ("floor(wage / 100)", {0.0: 1, 10.0: 1, None: 1}),
        ("round(small)", {0.0: 2, None: 1}),
        ("-round(small)", {0.0: 2, None: 1}),
        ("lower(name)", {"a": 2, "é": 1, None: 1}),
    ],
)
def test_a_row_outside_of_the_list_is_in_no_group(
    db: dpsql.Connection, key: str, groups: dict[Value, int]
) -> None:
    """Rows 2, 3 and 6 break their declarations; NaN and infinity are on no list, both zeros are one."""
    assert counted(db, key) == groups


@pytest.mark.parametrize("grouped", ["{}", "ROLLUP({})"])
@pytest.mark.parametrize(("key", "rest"), [("age", {33, 120}), ("100 - age", {67, -20})])
def test_a_long_list_of_whole_numbers_is_one_text(
    db: dpsql.Connection, key: str, rest: set[int], grouped: str
) -> None:
    """As if each number was compared: ages of 300 and -7 are in no group."""
    sql = f"SELECT {key} AS k, COUNT(*) FROM people GROUP BY {grouped.format(key)}"
    [planned] = plan_of(db._open(), sql, 1.0).measures
    assert isinstance(planned, MeasurePlan)
    printed = measure_sql(planned)
    assert "contains(" in printed
    place = len(planned.keys) - 1
    assert {row[place] for row in db._open().engine._all(printed)} == {*rest, None}  # type: ignore[attr-defined]  # as DuckDB answers


@pytest.mark.parametrize(
    "key", ["year(born)", "date_trunc('month', seen)", "strftime(born, '%Y')", "last_day(born)"]
)
def test_dates_beyond_the_list(db: dpsql.Connection, key: str) -> None:
    """Rows 1 and 5 are in range; row 4 is NULL, and so may be what is infinite or thousands of years away."""
    found = counted(db, key)
    missing = found.pop(None)
    assert sorted(found.values()) == [1, 1]
    assert missing in (1, 2, 3)


def test_a_threshold_is_paid_by_private_keys_alone(db: dpsql.Connection) -> None:
    (private,) = measure(db, "SELECT wage, COUNT(*) FROM people GROUP BY wage")
    (public,) = measure(db, "SELECT age // 10, COUNT(*) FROM people GROUP BY 1")
    assert private.threshold is not None
    assert public.threshold is None
