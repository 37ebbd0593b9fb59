"""CAST and TRY_CAST: both give NULL if the value does not fit the type.

CAST(name AS INTEGER)      TRY_CAST(name AS INTEGER)
CAST(age AS DOUBLE)        CAST(age AS DOUBLE), which cannot fail
"""

from __future__ import annotations

from dpsql.functions import ArgumentError, Arguments, Function
from dpsql.functions.core.conversion import converted, converted_fact
from dpsql.functions.core.types import named
from dpsql.ir.column import VARCHAR, Fact, Kind, Type

_NUMBERS = {Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.BOOLEAN}
_TARGETS: dict[Kind, set[Kind]] = {
    **{kind: {*_NUMBERS, Kind.TEXT} for kind in _NUMBERS},
    Kind.TEXT: {*_NUMBERS, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP, Kind.TIME, Kind.UUID},
    Kind.DATE: {Kind.DATE, Kind.TIMESTAMP, Kind.TEXT},
    Kind.TIMESTAMP: {Kind.DATE, Kind.TIMESTAMP, Kind.TIME, Kind.TEXT},
    Kind.TIMESTAMPTZ: {Kind.TIMESTAMPTZ},
    Kind.TIME: {Kind.TIME, Kind.TEXT},
    Kind.UUID: {Kind.UUID, Kind.TEXT},
    Kind.INTERVAL: set(),
    Kind.OPAQUE: set(),
}


def _result(arguments: Arguments, type: Type | None) -> Fact:
    (argument,) = arguments
    assert type is not None
    if argument.kind is Kind.NULL and type.kind not in (Kind.OPAQUE, Kind.INTERVAL):
        return converted_fact(argument, type)
    if type.kind not in _TARGETS.get(argument.kind, set()) or (type.kind is Kind.TEXT and type != VARCHAR):
        way_out = ""
        if argument.kind is Kind.TIMESTAMPTZ:
            way_out = f"cast its local time: CAST(CAST(x AS TIMESTAMP) AS {named(type)})"
        elif type.kind is Kind.TIMESTAMPTZ:
            way_out = "write CAST(... AS TIMESTAMP) AT TIME ZONE 'UTC' (or another zone)"
        raise ArgumentError(f"{named(argument.type)} cannot be cast to {named(type)} here", way_out)
    return converted_fact(argument, type)


def _render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    assert type is not None
    return converted(texts[0], arguments[0], type)


FUNCTIONS = (Function("cast", _result, _render, "CAST(x AS INTEGER)"),)
