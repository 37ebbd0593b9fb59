"""Casts between types: whether they can fail, the range of the result, and their SQL.

converted("a", INTEGER in [0, 100], DOUBLE)    CAST(a AS DOUBLE)
converted("a", DOUBLE, INTEGER)                TRY_CAST(a AS INTEGER)
"""

from __future__ import annotations

import math
from decimal import ROUND_HALF_DOWN, ROUND_HALF_UP, Decimal, localcontext

from dpsql.functions import Argument
from dpsql.functions.core.literals import coerce, literal_fact, literal_sql
from dpsql.functions.core.ranges import DAY, known, possible, within
from dpsql.functions.core.types import bits, digits, holds
from dpsql.ir.column import ANYTHING, Categories, Domain, Fact, Interval, Kind, Number, Type

FAR = 290_000 * 365
"""Days before and after 1970 that fit a TIMESTAMP with certainty."""


def sure(argument: Argument, target: Type) -> bool:
    """Whether the cast succeeds for every value in the argument's range."""
    source = argument.type
    if source == target or source.kind is Kind.NULL:
        return True
    match source.kind, target.kind:
        case _, Kind.TEXT:
            return target.sql == "VARCHAR"
        case Kind.BOOLEAN, Kind.INTEGER | Kind.FLOAT:
            return True
        case Kind.INTEGER, Kind.INTEGER:
            return holds(target, possible(argument))
        case ((Kind.INTEGER | Kind.DECIMAL), Kind.FLOAT):
            return target.sql == "DOUBLE" or source.kind is Kind.DECIMAL or bits(source) < 128
        case (Kind.FLOAT, Kind.FLOAT):
            return target.sql == "DOUBLE"
        case Kind.INTEGER | Kind.DECIMAL, Kind.DECIMAL:
            (width, scale), (wide, exact) = digits(source), digits(target)
            huge = source.kind is Kind.INTEGER and bits(source) == 128  # 39 digits
            if scale <= exact and width - scale <= wide - exact and not huge:
                return True
            interval, limit = possible(argument), 10.0 ** (wide - exact) * (1 - 1e-9) - 1
            return max(abs(interval.low), abs(interval.high)) < limit
        case ((Kind.INTEGER | Kind.DECIMAL), Kind.BOOLEAN):
            return True
        case Kind.DATE, Kind.TIMESTAMP:
            interval = known(argument)
            return target.sql == "TIMESTAMP" and max(-interval.low, interval.high) < FAR
        case Kind.TIMESTAMP, Kind.DATE:
            return source.sql == "TIMESTAMP"
        case _:
            return False


def converted(sql: str, argument: Argument, target: Type) -> str:
    """Return SQL for the argument as the target type; it is NULL where the cast fails."""
    if argument.type == target:
        return sql
    if argument.literal is not None:
        read = coerce(argument.literal, target)
        if read is not None:
            return literal_sql(read)
    return f"{'CAST' if sure(argument, target) else 'TRY_CAST'}({sql} AS {target.sql})"


def converted_fact(argument: Argument, target: Type) -> Fact:
    """Return the fact of the argument after the cast."""
    nullable = argument.fact.nullable or not sure(argument, target)
    if argument.type == target:
        return argument.fact
    if argument.literal is not None:
        read = coerce(argument.literal, target)
        if read is not None:
            return literal_fact(read)
    return within(target, range_as(argument, target), nullable) if _has_range(target) else Fact(
        target, _domain_as(argument, target), nullable
    )  # fmt: skip


def _has_range(type: Type) -> bool:
    return type.numeric or type.kind in (Kind.DATE, Kind.TIMESTAMP)


def _domain_as(argument: Argument, target: Type) -> Domain:
    if target.kind is Kind.BOOLEAN:
        return Categories((False, True))
    same = argument.kind is Kind.TEXT and target.kind is Kind.TEXT
    return argument.fact.domain if same else ANYTHING


_STEPS = {"TIMESTAMP_S": 1_000_000, "TIMESTAMP_MS": 1_000}
"""Microseconds per step of a type."""


def range_as(argument: Argument, target: Type) -> Interval:
    """Return the argument's range in units of the target type."""
    interval = known(argument)
    match argument.kind, target.kind:
        case Kind.DATE, Kind.TIMESTAMP:
            return Interval(interval.low * DAY, interval.high * DAY)
        case Kind.TIMESTAMP, Kind.DATE:
            return Interval(_floor_day(interval.low), _floor_day(interval.high))
        case Kind.TIMESTAMP, Kind.TIMESTAMP if target.sql in _STEPS:  # rounded up or down
            return Interval(interval.low - _STEPS[target.sql], interval.high + _STEPS[target.sql])
        case ((Kind.FLOAT | Kind.DECIMAL), Kind.INTEGER):  # halves may round up or down
            return Interval(_ceil(interval.low - 0.5), _floor(interval.high + 0.5))
        case ((Kind.FLOAT | Kind.DECIMAL), Kind.DECIMAL):
            scale = digits(target)[1]
            return Interval(rounded_to(interval.low, scale).low, rounded_to(interval.high, scale).high)
        case ((Kind.TEXT | Kind.UUID | Kind.TIME | Kind.NULL), _):
            return Interval(-math.inf, math.inf)
        case _:
            return interval


def rounded_to(end: Number, scale: int) -> Interval:
    """Round an end to ``scale`` decimal places; halves are rounded both up and down."""
    if math.isinf(end):
        return Interval(end, end)
    with localcontext() as context:
        context.prec = 400
        step, exact = Decimal(1).scaleb(-scale), Decimal(repr(end))
        ends = [float(exact.quantize(step, rounding)) for rounding in (ROUND_HALF_UP, ROUND_HALF_DOWN)]
    return Interval(min(ends), max(ends))


def _floor_day(end: Number) -> Number:
    return end if math.isinf(end) else int(end) // DAY


def _floor(end: Number) -> Number:
    return end if math.isinf(end) else math.floor(end)


def _ceil(end: Number) -> Number:
    return end if math.isinf(end) else math.ceil(end)
