"""Clocks of all zones: the range of what they show, and calls on the clock of a zone beside DuckDB's own.

Each zone is asked around the moments where its clocks are set, found as the hours that move its offset.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator

import duckdb
import pytest
import sqlglot
from test_functions import domain, quoted

from dpsql.functions import ArgumentError
from dpsql.functions.core.literals import literal_sql
from dpsql.functions.core.printing import sql_of
from dpsql.functions.core.ranges import DAY
from dpsql.functions.reading import literal_of, read
from dpsql.functions.time.on_the_clock import call_on_the_clock
from dpsql.functions.time.zones import instant_of, instant_range, local_range
from dpsql.ir.column import TIMESTAMPTZ, VARCHAR, Interval
from dpsql.ir.scalar import Literal, Ref, Scalar

HOUR = DAY // 24

# across the date line (Apia, Kwajalein), half an hour (Lord Howe), at midnight (Santiago), no summer
# time, and offsets with seconds
SOME = ("Europe/Oslo", "America/New_York", "Pacific/Apia", "Pacific/Kwajalein", "Australia/Lord_Howe",
        "America/Santiago", "Africa/Monrovia", "UTC")  # fmt: skip


@pytest.fixture(scope="module")
def plain() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect() as connection:
        yield connection


def settings(plain: duckdb.DuckDBPyConnection, zone: str) -> list[int]:
    """The last whole hours before clocks are set, from 1890 to 2040: at most the first and last two."""

    def before(first: int, last: int, step: int) -> list[int]:
        offset = f"epoch_us(timezone('{zone}', make_timestamptz(m))) - m"
        rows = plain.execute(
            f"SELECT m FROM (SELECT m, lead({offset}) OVER (ORDER BY m) - ({offset}) AS jump "
            f"FROM unnest(range({first}, {last} + 1, {step})) AS r(m)) WHERE jump <> 0 ORDER BY m"
        )
        return [m for (m,) in rows.fetchall()]

    found = before(-29_200 * DAY, 25_600 * DAY, 4 * DAY)
    spans = [*found[:2], *found[-2:]] if len(found) > 4 else found
    days = [day for span in spans for day in before(span, span + 4 * DAY, DAY)]
    return [hour for day in days for hour in before(day, day + DAY, HOUR)]


def test_every_zone_keeps_the_ranges_where_its_clocks_are_set(plain: duckdb.DuckDBPyConnection) -> None:
    """Both ways, for ranges that begin and end around it; and none is wider than by what clocks are set."""
    zones = [zone for (zone,) in plain.execute("SELECT name FROM pg_timezone_names() ORDER BY 1").fetchall()]
    assert len(zones) > 500
    seen = 0
    for zone in zones[:: len(zones) // 30]:
        for at in settings(plain, zone):
            seen += 1
            for low, high in ((at - 30 * HOUR, at), (at - HOUR, at + HOUR // 2), (at + 1, at + 50 * HOUR)):
                for function, moved in ((local_range, "make_timestamptz"), (instant_range, "make_timestamp")):
                    found = function(zone, Interval(low, high))
                    least, greatest = plain.execute(
                        f"SELECT min(v), max(v) FROM (SELECT epoch_us(timezone('{zone}', {moved}(m))) AS v "
                        f"FROM (SELECT unnest(range({low}, {high}, 300000000)) AS m UNION SELECT {high}))"
                    ).fetchall()[0]
                    assert found.low <= least
                    assert greatest <= found.high, (zone, at, low, high, found, greatest)
                    assert least - found.low <= DAY + 2 * HOUR
                    assert found.high - greatest <= DAY + 2 * HOUR
    assert seen > 50


@pytest.mark.parametrize(
    ("zone", "first", "last", "low", "high"),
    [
        # a year in Oslo begins and ends at midnight, on its clocks
        ("Europe/Oslo", "2023-12-31 23:00", "2024-12-31 22:59:59", "2024-01-01", "2024-12-31 23:59:59"),
        # clocks go back on the last day: the hour before 03:00 comes twice, and the day ends at midnight
        ("Europe/Oslo", "2024-10-26 22:00", "2024-10-27 22:59:59", "2024-10-27", "2024-10-27 23:59:59"),
        # ... and the greatest time of a range that ends just after it is that before clocks are set
        ("Europe/Oslo", "2024-10-26 22:00", "2024-10-27 01:00", "2024-10-27", "2024-10-27 02:59:59.999999"),
        # Samoa has no 30 December 2011
        ("Pacific/Apia", "2011-12-30 09:00", "2011-12-30 11:00", "2011-12-29 23:00", "2011-12-31 01:00"),
        # Kwajalein's clocks went back by a day, less an hour; a range begins up to a quarter of an hour early
        ("Pacific/Kwajalein", "1969-09-30 12:00", "1969-09-30 13:30", "1969-09-30 00:45",
         "1969-09-30 23:59:59.999999"),
    ],
)  # fmt: skip
def test_what_clocks_show(zone: str, first: str, last: str, low: str, high: str) -> None:
    def number(text: str) -> int:
        moment = datetime.datetime.fromisoformat(text)
        return (moment - datetime.datetime(1970, 1, 1)) // datetime.timedelta(microseconds=1)

    assert local_range(zone, Interval(number(first), number(last))) == Interval(number(low), number(high))


def bind(text: str, zone: str | None) -> Scalar:
    def bound(node: sqlglot.exp.Expr) -> Scalar:
        if isinstance(node, sqlglot.exp.Paren):
            return bound(node.this)
        if isinstance(node, sqlglot.exp.Column):
            return Ref(node.name)
        literal = literal_of(node)
        if literal is not None:
            return literal
        reading = read(node)
        assert reading is not None
        return call_on_the_clock(
            reading.name, [bound(each) for each in reading.arguments], domain, zone, reading.type
        )

    node = sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").expressions[0]
    assert isinstance(node, sqlglot.exp.Expr)
    return bound(node)


EXACT = (
    *(f"{part}(tz)" for part in ("year", "month", "week", "day", "dayofweek", "isoyear", "hour", "minute",
                                 "microsecond", "epoch", "epoch_ms", "dayname", "last_day", "julian")),
    *(f"date_trunc('{unit}', tz)" for unit in ("year", "month", "week", "day", "hour", "second")),
    "tz::DATE", "tz::TIMESTAMP", "strftime(tz, '%Y-%m-%d %H:%M')", "tz::TIMESTAMP::TIMESTAMPTZ",
    "tz::DATE::TIMESTAMPTZ", "tz < d", "tz >= '2024-03-31 02:30'", "tz < '2024-10-27 02:30'", "tz = ts",
    "tz BETWEEN '1969-09-30' AND DATE '2011-12-30'", "tz + INTERVAL '90' MINUTE", "tz - INTERVAL 36 HOUR",
    "date_diff('second', tz, '2024-06-01')", "date_sub('hour', tz, '2024-06-01')",
    "date_diff('hour', tz, TIMESTAMPTZ '2024-06-01')", "time_bucket(INTERVAL '1' MONTH, tz)",
    "time_bucket(INTERVAL '36' HOUR, tz)", "date_trunc('day', tz)::DATE",
)  # fmt: skip


@pytest.mark.parametrize("zone", SOME)
def test_calls_on_the_clock_give_what_duckdb_gives_in_that_zone(
    zone: str, plain: duckdb.DuckDBPyConnection
) -> None:
    """Around the moments where clocks are set, since 1973; the session's zone does not matter to ours."""
    around = [at for at in settings(plain, zone) if at > 1_100 * DAY] or [19_000 * DAY]
    plain.execute("CREATE OR REPLACE TABLE t (tz TIMESTAMPTZ, ts TIMESTAMP, d DATE)")
    for at in around:
        plain.execute(
            "INSERT INTO t SELECT make_timestamptz(m), make_timestamp(m), make_timestamp(m)::DATE "
            f"FROM unnest(range({at - DAY}, {at + DAY}, 1723000001)) AS r(m)"
        )
    for text in EXACT:
        sql = sql_of(bind(text, zone), domain, quoted)
        plain.execute("SET TimeZone = 'Asia/Tokyo'")
        mine = plain.execute(f"SELECT hash({sql}) FROM t").fetchall()
        plain.execute(f"SET TimeZone = '{zone}'")
        assert mine == plain.execute(f"SELECT hash({text}) FROM t").fetchall(), text


@pytest.mark.parametrize("zone", SOME)
def test_constants_are_read_as_duckdb_reads_them(zone: str, plain: duckdb.DuckDBPyConnection) -> None:
    plain.execute(f"SET TimeZone = '{zone}'")
    for text in ("2024-01-01", "2024-03-31 02:30", "2024-10-27 02:30:00", "2011-12-30 12:00", "1969-10-01",
                 "1890-01-01", "0001-01-02", "2024-06-01 07:00+02", "2024-06-01T07:00:00Z"):  # fmt: skip
        scalar = call_on_the_clock("cast", [Literal(text, VARCHAR)], domain, zone, TIMESTAMPTZ)
        assert isinstance(scalar, Literal)
        same = plain.execute(f"SELECT {literal_sql(scalar)} = CAST('{text}' AS TIMESTAMPTZ)").fetchone()
        assert same == (True,), text


def test_a_zone_must_be_known() -> None:
    with pytest.raises(ArgumentError, match="depends on a time zone"):
        bind("year(tz)", None)
    with pytest.raises(ArgumentError, match="a known name"):
        bind("year(tz)", "localtime")  # the system's own zone: Python knows it, DuckDB does not
    assert instant_of("Etc/GMT-14", datetime.datetime(1, 1, 1)) is None


def test_intervals_of_any_size_are_compared() -> None:
    """DuckDB counts a month as 30 days; nothing overflows."""
    texts = ("178956970 years", "-178956970 years", "2147483647 days", "-2147483648 days",
             "9223372036854775807 microseconds", "-9223372036854775807 microseconds",
             "31 days", "1 month", "0 days")  # fmt: skip
    with duckdb.connect() as connection:
        connection.execute("CREATE TABLE t (i INTERVAL)")
        for text in texts:
            connection.execute("INSERT INTO t VALUES (CAST(? AS INTERVAL))", [text])
        for sign in ("=", "<", "<=", ">", ">=", "<>", "IS DISTINCT FROM"):
            found = connection.execute(f"SELECT count(a.i {sign} b.i) FROM t a, t b").fetchone()
            assert found == (len(texts) ** 2,)
