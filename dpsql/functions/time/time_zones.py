"""AT TIME ZONE: from an instant to the local time of a zone, and back.

tz AT TIME ZONE 'Europe/Oslo'    a TIMESTAMP: what clocks there show
ts AT TIME ZONE 'Europe/Oslo'    a TIMESTAMP WITH TIME ZONE: when clocks there show it

Both are NULL before the year 1 and after 9999, and so is infinity. Where clocks are set back, DuckDB takes
the later of two instants; a time that clocks skip it reads with the offset before. The ranges are those of
zones.py.
"""

from __future__ import annotations

from dpsql.functions import Argument, ArgumentError, Arguments, Function
from dpsql.functions.core.literals import quoted
from dpsql.functions.core.ranges import known, within
from dpsql.functions.core.types import named
from dpsql.functions.time.zones import instant_range, local_range, zone_names
from dpsql.ir.column import TIMESTAMP, TIMESTAMPTZ, Fact, Kind, Type


def _zone(argument: Argument) -> str:
    literal = argument.literal
    name = literal.value if literal is not None else None
    if not isinstance(name, str) or name not in zone_names():
        raise ArgumentError(
            "the time zone must be a constant with a known name", "write 'UTC' or 'Europe/Berlin'"
        )
    return name


def _result(arguments: Arguments, type: Type | None) -> Fact:
    argument, zone = arguments[0], _zone(arguments[1])
    if argument.kind is Kind.TIMESTAMPTZ:
        return within(TIMESTAMP, local_range(zone, known(argument)), nullable=True)
    if argument.type == TIMESTAMP:
        return within(TIMESTAMPTZ, instant_range(zone, known(argument)), nullable=True)
    raise ArgumentError(
        f"AT TIME ZONE takes a TIMESTAMP, with or without time zone, not {named(argument.type)}",
        "write CAST(... AS TIMESTAMP)" if argument.kind in (Kind.DATE, Kind.TIMESTAMP) else "",
    )


def _render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    zone, argument = quoted(_zone(arguments[1])), arguments[0]
    low, high = (
        f"CAST('{day} 00:00:00{'+00' if argument.kind is Kind.TIMESTAMPTZ else ''}' AS {argument.type.sql})"
        for day in ("0001-01-01", "9999-12-31")
    )
    return f"(CASE WHEN {texts[0]} BETWEEN {low} AND {high} THEN timezone({zone}, {texts[0]}) END)"


FUNCTIONS = (Function("timezone", _result, _render, "tz AT TIME ZONE 'UTC'", (2, 2)),)
