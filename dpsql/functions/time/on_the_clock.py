"""Calls over TIMESTAMP WITH TIME ZONE, on the clock of one zone: calls over TIMESTAMP, and AT TIME ZONE.

    year(tz)                    year(tz AT TIME ZONE 'Europe/Oslo')
    date_trunc('day', tz)       date_trunc('day', tz AT TIME ZONE 'Europe/Oslo') AT TIME ZONE 'Europe/Oslo'
    tz + INTERVAL '2' HOUR      (tz AT TIME ZONE 'UTC' + INTERVAL '2' HOUR) AT TIME ZONE 'UTC'
    tz >= '2024-01-01'          tz >= TIMESTAMP '2024-01-01' AT TIME ZONE 'Europe/Oslo'

The zone stands in the call, so that no setting of a session changes the result, and ranges, types and the
proof that nothing raises are those of the functions for TIMESTAMP and of AT TIME ZONE.

The values are DuckDB's for a session in that zone, except near the moments where clocks are set:

- a day added to a time, if clocks show the result twice, gives the later one; DuckDB keeps the offset
- ``tz - tz``, and the days of date_diff, are differences of clocks; DuckDB counts whole days, then what is
  left: within a day after clocks are set the two may differ by as much as clocks are set
- the months of date_sub, from a later to an earlier moment, count the last days of months as for TIMESTAMP
- minutes are those of UTC: where the offset has seconds (before 1972), they begin elsewhere
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence

from dpsql.functions import ArgumentError
from dpsql.functions.core.literals import coerce
from dpsql.functions.core.meaning import Lookup, call, fact_of
from dpsql.functions.time.common import ZONE_HELP
from dpsql.functions.time.date_arithmetic import interval_parts
from dpsql.functions.time.date_parts import PARTS
from dpsql.functions.time.periods import part_name
from dpsql.functions.time.zones import instant_of
from dpsql.ir.column import INTERVAL, TIMESTAMP, TIMESTAMPTZ, VARCHAR, Kind, Type
from dpsql.ir.scalar import Call, Literal, Scalar
from dpsql.ir.source import Span

_IN_ONE_TYPE = frozenset(
    "= <> < <= > >= between in is_distinct_from is_not_distinct_from coalesce greatest least".split()
)
_OF_DAYS = frozenset(
    "year quarter month week day dayofweek isodow dayofyear isoyear yearweek decade century".split()
)
_OF_CLOCKS = frozenset(part.name for part in PARTS) - {"epoch_us"} | {
    *("dayname", "monthname", "last_day", "strftime", "nanosecond")
}
_OF_INSTANTS = frozenset(("epoch", "epoch_ms", "epoch_us", "epoch_ns"))
_SHORT = frozenset(("minute", "second", "millisecond", "microsecond"))
_LONG_STEPS = frozenset(
    f"to_{unit}" for unit in "days weeks months quarters years decades centuries millennia".split()
)
_SHORT_STEPS = frozenset(f"to_{unit}" for unit in "hours minutes seconds milliseconds microseconds".split())


def call_on_the_clock(
    function: str,
    scalars: Sequence[Scalar],
    lookup: Lookup,
    zone: str | None,
    type: Type | None = None,
    span: Span | None = None,
) -> Scalar:
    """Return a checked call; times with time zone are read on the clock of the zone."""
    kinds = [fact_of(scalar, lookup).type.kind for scalar in scalars]
    if Kind.TIMESTAMPTZ not in kinds and (function, type) != ("cast", TIMESTAMPTZ):
        return call(function, scalars, lookup, type, span)
    return _Clock(lookup, zone, span).call(function, tuple(scalars), kinds, type)


class _Clock:
    """Rewrites the calls of one place in the text."""

    def __init__(self, lookup: Lookup, zone: str | None, span: Span | None) -> None:
        self.lookup, self.zone, self.span = lookup, zone, span

    def call(self, name: str, scalars: tuple[Scalar, ...], kinds: list[Kind], type: Type | None) -> Scalar:
        match name, scalars:
            case _ if name in _OF_DAYS:
                return self._plain(name, self._day(scalars[0]))
            case _ if name in _OF_CLOCKS:
                return self._plain(name, self._local(scalars[0]), *scalars[1:])
            case _ if name in _OF_INSTANTS:
                return self._plain(name, self._in_utc(scalars[0]), *scalars[1:])
            case _ if name in _IN_ONE_TYPE:
                return self._plain(name, *map(self._instant, scalars))
            case "cast", (moment,):
                assert type is not None
                return self._cast(moment, type)
            case "date_trunc", (unit, moment):
                return self._truncated(unit, moment)
            case "date_diff" | "date_sub", (unit, start, end):
                return self._difference(name, unit, self._instant(start), self._instant(end))
            case "-", (left, right) if Kind.INTERVAL not in kinds:
                left, right = self._instant(left), self._instant(right)
                return self._plain("-", self._local(left), self._local(right))
            case "+" | "-", (moment, step) if kinds[1] is Kind.INTERVAL:
                return self._moved(name, moment, step)
            case "+", (step, moment) if kinds[0] is Kind.INTERVAL:
                return self._moved(name, moment, step)
            case "time_bucket", (width, moment):  # DuckDB's buckets begin at midnights of UTC, in any zone
                return self._from_utc(self._plain(name, width, self._in_utc(moment)))
            case _:
                return self._plain(name, *scalars, type=type)

    def _plain(self, name: str, *scalars: Scalar, type: Type | None = None) -> Call:
        return call(name, scalars, self.lookup, type, self.span)

    # ---- between instants and local times ----------------------------------------------------------

    def _at(self, moment: Scalar, zone: str | None) -> Scalar:
        if zone is None:
            raise ArgumentError("a TIMESTAMP WITH TIME ZONE depends on a time zone here", ZONE_HELP)
        return self._plain("timezone", moment, Literal(zone, VARCHAR))

    def _local(self, moment: Scalar) -> Scalar:
        return self._at(moment, self.zone)

    def _day(self, moment: Scalar) -> Scalar:
        """Return a local time of the same day: of the first moment of a day, without the way back."""
        match moment:
            case Call("timezone", (Call("date_trunc", (unit, _)) as local, Literal(zone))):
                if zone == self.zone and _unit(unit) not in _SHORT | {"hour"}:
                    return local
            case _:
                pass
        return self._local(moment)

    def _in_utc(self, moment: Scalar) -> Scalar:
        return self._at(moment, "UTC")

    def _from_utc(self, local: Scalar) -> Scalar:
        return self._at(local, "UTC")

    def _instant(self, scalar: Scalar) -> Scalar:
        """Return a date, a time or a text as an instant, as the zone's clocks read it; others unchanged."""
        kind = fact_of(scalar, self.lookup).type.kind
        if isinstance(scalar, Literal) and scalar.type == VARCHAR:
            return self._read(scalar)
        if kind is Kind.DATE or kind is Kind.TIMESTAMP:
            read = coerce(scalar, TIMESTAMP) if isinstance(scalar, Literal) else None
            return self._shown(read) if read else self._local(self._plain("cast", scalar, type=TIMESTAMP))
        return scalar

    def _read(self, text: Literal) -> Scalar:
        zoned, local = coerce(text, TIMESTAMPTZ), coerce(text, TIMESTAMP)
        if zoned is not None or local is None:
            return zoned or text  # no moment at all: refused as a text
        return self._shown(local)

    def _shown(self, local: Literal) -> Scalar:
        """Return when the zone's clocks show a constant, as a constant."""
        if self.zone is None or not isinstance(local.value, datetime.datetime):
            return self._local(local)
        instant = instant_of(self.zone, local.value)
        return self._local(local) if instant is None else Literal(instant, TIMESTAMPTZ, local.span)

    # ---- the calls ---------------------------------------------------------------------------------

    def _cast(self, moment: Scalar, type: Type) -> Scalar:
        if type == TIMESTAMPTZ:
            instant = self._instant(moment)
            done = fact_of(instant, self.lookup).type == TIMESTAMPTZ
            return instant if done else self._plain("cast", moment, type=type)
        if type.kind is Kind.DATE:
            return self._plain("cast", self._day(moment), type=type)
        if type.kind is Kind.TIMESTAMP:
            return self._plain("cast", self._local(moment), type=type)
        return self._plain("cast", moment, type=type)

    def _truncated(self, unit: Scalar, moment: Scalar) -> Scalar:
        if _unit(unit) in _SHORT:
            return self._from_utc(self._plain("date_trunc", unit, self._in_utc(moment)))
        return self._local(self._plain("date_trunc", unit, self._local(moment)))

    def _difference(self, name: str, unit: Scalar, start: Scalar, end: Scalar) -> Scalar:
        if name == "date_diff" and _unit(unit) == "hour":  # hours begin where the zone's do
            name, start, end = "date_sub", self._truncated(unit, start), self._truncated(unit, end)
        if _unit(unit) in _SHORT or _unit(unit) == "hour":
            return self._plain(name, unit, self._in_utc(start), self._in_utc(end))
        return self._plain(name, unit, self._local(start), self._local(end))

    def _moved(self, sign: str, moment: Scalar, step: Scalar) -> Scalar:
        """Add days and months on the local clock, then hours and less to the instant, as DuckDB does."""
        match step:
            case Literal(str(text)):
                months, days, micros = interval_parts(text)
                if months or days:
                    long = Literal(f"{months} MONTH {days} DAY", INTERVAL) if micros else step
                    moment = self._local(self._plain(sign, self._local(moment), long))
                if not micros and (months or days):
                    return moment
                short = Literal(f"{micros} MICROSECOND", INTERVAL) if months or days else step
                return self._from_utc(self._plain(sign, self._in_utc(moment), short))
            case Call(function) if function in _LONG_STEPS:
                return self._local(self._plain(sign, self._local(moment), step))
            case Call(function) if function in _SHORT_STEPS:
                return self._from_utc(self._plain(sign, self._in_utc(moment), step))
            case _:
                raise ArgumentError(
                    "only an INTERVAL of one unit is added to a TIMESTAMP WITH TIME ZONE",
                    "write x + INTERVAL 3 DAY, or x + to_days(n)",
                )


def _unit(scalar: Scalar) -> str:
    """Return the name of a date part; empty if it is no constant, which its function refuses."""
    return part_name(scalar.value) if isinstance(scalar, Literal) and isinstance(scalar.value, str) else ""
