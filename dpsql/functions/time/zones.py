"""Offsets of time zones, from the engine's own tables: the range of a local time, and of the instant back.

    local_range("Europe/Oslo", [t, t + 1 day])     what clocks in Oslo can show in that time
    instant_range("Europe/Oslo", [l, l + 1 day])   when they show it

Claim   every instant of a range has its local time in ``local_range``, and every local time of a range, as
        DuckDB turns it into an instant, lies in ``instant_range``.
Proof   A clock shows the time plus an offset between -16 and +16 hours, so what it shows 48 hours before the
        range's end is less than at the end. In these 48 hours the offset is asked at the range's end and at
        every quarter of an hour. Clocks are set at most once between two of these (in every zone, days pass
        between two settings), so every moment of a quarter has the offset of its beginning or of its end: its
        value is at most the quarter's end with either offset, and a microsecond less with the first one,
        which no longer holds there. From the range's beginning likewise. Nothing is taken to be monotone:
        clocks are set back, and across the date line.
Test    tests/unit/test_functions_zones.py, over all zones of the engine

The engine is asked because Python's tables differ from DuckDB's: they are newer or older, and have other
histories before 1970.
"""

from __future__ import annotations

import datetime
import math
import os
import threading
from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

from dpsql.driver import connect, duckdb
from dpsql.functions.core.literals import quoted
from dpsql.functions.core.ranges import DAY, ordinal
from dpsql.ir.column import Interval, Number

FIRST, LAST = -62_135_596_800_000_000, 253_402_214_400_000_000
"""The instants from 0001-01-01 to 9999-12-31 in UTC: local times of others are NULL."""

_WINDOW, _QUARTER = 2 * DAY, DAY // 96

_LOCK = threading.RLock()
_ENGINES: dict[int, duckdb.DuckDBPyConnection] = {}
"""An engine without tables, by the process that started it: a forked child cannot use its parent's."""


def _replace_lock() -> None:
    """Replace the lock in a forked child, where the thread that holds it does not exist."""
    global _LOCK
    _LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_lock)


def instant_of(zone: str, local: datetime.datetime) -> datetime.datetime | None:
    """Return when clocks show a time; None where no Python datetime holds it."""
    number = int(ordinal(local))
    try:
        return local.replace(tzinfo=datetime.UTC) + datetime.timedelta(
            microseconds=_offsets(zone, (number,), True)[0]
        )
    except OverflowError:
        return None


def local_range(zone: str, interval: Interval) -> Interval:
    """Return the range of the local times of instants."""
    return _moved(zone, interval, back=False)


def instant_range(zone: str, interval: Interval) -> Interval:
    """Return the range of the instants of local times."""
    return _moved(zone, interval, back=True)


def _moved(zone: str, interval: Interval, *, back: bool) -> Interval:
    low, high = interval.low, interval.high
    if low == high and math.isfinite(low):
        (offset,) = _offsets(zone, (int(low),), back)
        return Interval(low + offset, low + offset)
    return Interval(_low_end(zone, low, interval, back), _high_end(zone, high, interval, back))


def _low_end(zone: str, low: Number, interval: Interval, back: bool) -> Number:
    if math.isinf(low):
        return low
    start, end = int(low), int(min(low + _WINDOW, interval.high))
    points = (start, *range(start // _QUARTER * _QUARTER + _QUARTER, end, _QUARTER), end)
    offsets = _offsets(zone, points, back)
    pairs = zip(points[:-1], pairwise(offsets), strict=True)
    ends: list[int] = [point + min(two) for point, two in pairs]
    return min(ends)


def _high_end(zone: str, high: Number, interval: Interval, back: bool) -> Number:
    if math.isinf(high):
        return high
    start, end = int(max(high - _WINDOW, interval.low)), int(high)
    points = (start, *range(start // _QUARTER * _QUARTER + _QUARTER, end, _QUARTER), end)
    offsets = _offsets(zone, points, back)
    pairs = zip(points[1:], pairwise(offsets), strict=True)
    ends: list[int] = [point + end for point, (one, other) in pairs for end in (one - 1, other)]
    return max(ends)


@lru_cache(maxsize=500)
def _offsets(zone: str, points: tuple[int, ...], back: bool) -> tuple[int, ...]:
    """Return what is added to each instant for its local time, or to local times for their instants."""
    moment = "make_timestamp(m)" if back else "make_timestamptz(m)"
    inside = (max(FIRST, min(point, LAST)) for point in points)
    sql = (
        f"SELECT epoch_us(timezone({quoted(zone)}, {moment})) - m "
        f"FROM unnest([{', '.join(map(str, inside))}]) AS t(m)"
    )
    return tuple(int(row[0]) for row in _asked(sql))


@cache
def zone_names() -> frozenset[str]:
    """Return the names of all zones that the engine knows."""
    return frozenset(str(row[0]) for row in _asked("SELECT name FROM pg_timezone_names()"))


def _asked(sql: str) -> list[tuple[Any, ...]]:
    with _LOCK:
        if os.getpid() not in _ENGINES:
            _ENGINES[os.getpid()] = connect(":memory:", {"threads": 1})
        return _ENGINES[os.getpid()].execute(sql).fetchall()
