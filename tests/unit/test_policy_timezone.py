"""The policy's time zone decides what a TIMESTAMP WITH TIME ZONE shows: days, groups, constants."""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import duckdb
import pytest

import dpsql

POLICY = """
timezone = "Europe/Oslo"
[budget]
epsilon = 1e9
delta = 1e-6
[query]
epsilon = 1e5
max_epsilon = 1e6
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
id = {}
[tables.logins]
unit = { column = "id" }
rows_per_unit = 2
[tables.logins.columns]
id = {}
seen = { range = [2024-10-26, 2024-10-28] }
"""


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dpsql.Connection]:
    """A login of another person each half an hour, from midnight to midnight in Oslo: 73 hours."""
    folder = tmp_path_factory.mktemp("oslo")
    with duckdb.connect(str(folder / "data.duckdb")) as data:
        data.execute("CREATE TABLE people AS SELECT i::INTEGER AS id FROM range(146) AS r(i)")
        data.execute("ALTER TABLE people ADD PRIMARY KEY (id)")
        data.execute(
            "CREATE TABLE logins AS SELECT id, "
            "TIMESTAMPTZ '2024-10-25 22:00:00+00' + INTERVAL (30 * id) MINUTE AS seen FROM people"
        )
    (folder / "policy.toml").write_text(POLICY)
    with dpsql.connect(folder / "data.duckdb", folder / "policy.toml", folder / "ledger") as opened:
        yield opened


def rows(connection: dpsql.Connection, sql: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in connection.execute(sql) if None not in row]


def test_days_begin_at_its_midnights(connection: dpsql.Connection) -> None:
    """The day when clocks go back has 25 hours; no day beside the declared ones is listed."""
    for key in ("seen::DATE", "date_trunc('day', seen)::DATE"):
        found = rows(connection, f"SELECT {key} AS day, COUNT(*) FROM logins GROUP BY day ORDER BY day")
        days = [datetime.date(2024, 10, 26), datetime.date(2024, 10, 27), datetime.date(2024, 10, 28)]
        assert found == list(zip(days, (48, 50, 48), strict=True))


def test_truncated_moments_are_those_of_the_zone(connection: dpsql.Connection) -> None:
    found = rows(
        connection, "SELECT date_trunc('day', seen) AS day, COUNT(*) FROM logins GROUP BY day ORDER BY day"
    )
    utc = [
        datetime.datetime(2024, 10, day, hour, tzinfo=datetime.UTC)
        for day, hour in ((25, 22), (26, 22), (27, 23))
    ]
    assert found == list(zip(utc, (48, 50, 48), strict=True))


@pytest.mark.parametrize(
    ("condition", "count"),
    [
        ("hour(seen) = 2", 8),  # twice on the second day
        ("seen < '2024-10-27'", 48),
        ("seen >= '2024-10-27 02:00'", 146 - 48 - 6),  # the later one of two, as DuckDB reads it
        ("seen BETWEEN TIMESTAMP '2024-10-27' AND DATE '2024-10-28'", 51),
        ("seen >= TIMESTAMPTZ '2024-10-28'", 48),
        ("seen::TIMESTAMP < TIMESTAMP '2024-10-26 01:00'", 2),
        ("seen + INTERVAL 1 DAY >= '2024-10-28'", 98),
        ("seen + INTERVAL 24 HOUR >= '2024-10-28'", 96),
        ("seen - TIMESTAMPTZ '2024-10-26' < INTERVAL 1 DAY", 48),
    ],
)
def test_conditions_are_read_on_its_clock(connection: dpsql.Connection, condition: str, count: int) -> None:
    assert rows(connection, f"SELECT COUNT(*) FROM logins WHERE {condition}") == [(count,)]


def test_extremes_have_the_type_of_the_column(connection: dpsql.Connection) -> None:
    answer = connection.execute("SELECT MIN(seen), MEDIAN(seen) FROM logins")
    assert answer.types == ("TIMESTAMP WITH TIME ZONE",) * 2
    ((first, middle),) = [tuple(row) for row in answer]
    start = datetime.datetime(2024, 10, 25, 22, tzinfo=datetime.UTC)
    assert start <= first <= middle <= start + datetime.timedelta(hours=73)
