"""Timestamps and times of day from numbers, and epoch numbers of timestamps.

make_time(10, 30, 12.5)              NULL if it is not a time of day
make_timestamp(2020, 2, 30, 0, 0, 0) NULL
epoch_ms(seen)                       and epoch_ms(1577836800000) is a TIMESTAMP
"""

from __future__ import annotations

import math

from dpsql.functions import Argument, ArgumentError, Arguments, Function
from dpsql.functions.core.conversion import FAR, converted
from dpsql.functions.core.ranges import DAY, known, within
from dpsql.functions.core.types import named
from dpsql.functions.time.common import (
    as_timestamp,
    as_timestamp_fact,
    check_date,
    far_from_limits,
    guarded,
    in_microseconds,
)
from dpsql.functions.time.date_construction import make_date_result, make_date_sql
from dpsql.functions.time.date_parts import scaled
from dpsql.ir.column import (
    ANYTHING,
    BIGINT,
    DOUBLE,
    EVERYWHERE,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    Fact,
    Interval,
    Kind,
    Type,
    type_named,
)


def from_number(arguments: Arguments, micros: int) -> Fact:
    (argument,) = arguments
    if argument.kind is not Kind.INTEGER:
        raise ArgumentError(
            f"expected a whole number, not {named(argument.type)}", "write CAST(... AS BIGINT)"
        )
    interval = known(argument)
    fails = max(-interval.low, interval.high) * micros > FAR * DAY
    return within(
        TIMESTAMP, Interval(interval.low * micros, interval.high * micros), argument.fact.nullable or fails
    )


def from_number_sql(name: str, micros: int, text: str, argument: Argument) -> str:
    number = converted(text, argument, BIGINT)
    interval, limit = known(argument), FAR * DAY // micros
    if max(-interval.low, interval.high) <= limit:
        return f"{name}({number})"
    return f"(CASE WHEN {number} BETWEEN -{limit} AND {limit} THEN {name}({number}) END)"


def _epoch_ms_result(arguments: Arguments, type: Type | None) -> Fact:
    (argument,) = arguments
    if argument.kind is Kind.INTEGER:
        return from_number(arguments, 1_000)
    check_date(argument, "epoch_ms")
    fact = as_timestamp_fact(argument)
    interval = in_microseconds(Argument(fact))
    return within(BIGINT, scaled(1_000)(interval), fact.nullable or not far_from_limits(Argument(fact)))


def _epoch_ms(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if arguments[0].kind is Kind.INTEGER:
        return from_number_sql("epoch_ms", 1_000, texts[0], arguments[0])
    text = as_timestamp(texts[0], arguments[0])
    return guarded(text, arguments[0], f"epoch_ms({text})")


def _time_of_day(texts: tuple[str, ...], arguments: Arguments) -> str:
    hour, minute = (converted(t, a, BIGINT) for t, a in zip(texts[:2], arguments[:2], strict=True))
    second = converted(texts[2], arguments[2], DOUBLE)
    inside = f"{hour} BETWEEN 0 AND 23 AND {minute} BETWEEN 0 AND 59 AND {second} BETWEEN 0 AND 60"
    return f"(CASE WHEN {inside} THEN make_time({hour}, {minute}, {second}) END)"


def _check_time_of_day(arguments: Arguments, name: str) -> None:
    for argument in arguments[:-1]:
        if argument.kind is not Kind.INTEGER:
            raise ArgumentError(
                f"{name} takes whole numbers, not {named(argument.type)}", "write CAST(... AS INTEGER)"
            )
    if not arguments[-1].type.numeric:
        raise ArgumentError(f"{name} takes a number of seconds, not {named(arguments[-1].type)}")


def _make_time_result(arguments: Arguments, type: Type | None) -> Fact:
    _check_time_of_day(arguments, "make_time")
    return Fact(TIME, ANYTHING, nullable=True)


def _make_timestamp_result(arguments: Arguments, type: Type | None) -> Fact:
    if len(arguments) == 1:
        return from_number(arguments, 1)
    if len(arguments) != 6:
        raise ArgumentError(
            "make_timestamp takes microseconds, or a year, a month, a day and a time of day",
            "write make_timestamp(2020, 1, 31, 10, 30, 0)",
        )
    _check_time_of_day(arguments, "make_timestamp")
    day = known(Argument(make_date_result(arguments[:3], None)))
    return within(TIMESTAMP, Interval(day.low * DAY, (day.high + 1) * DAY), nullable=True)


def _make_zoned_result(arguments: Arguments, type: Type | None) -> Fact:
    fact = from_number(arguments, 1)
    return Fact(TIMESTAMPTZ, fact.domain, fact.nullable)


def _make_timestamp(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    if len(texts) == 1:
        return from_number_sql("make_timestamp", 1, texts[0], arguments[0])
    return f"({make_date_sql(texts[:3], arguments[:3], None)} + {_time_of_day(texts[3:], arguments[3:])})"


_SECONDS = 290_000 * 365 * 86_400


def _to_timestamp_result(arguments: Arguments, type: Type | None) -> Fact:
    (argument,) = arguments
    if not argument.type.numeric:
        raise ArgumentError(f"to_timestamp takes a number of seconds, not {named(argument.type)}")
    interval = known(argument)
    clipped = (max(-_SECONDS, min(end, _SECONDS)) for end in (interval.low, interval.high))  # NULL beyond
    low, high = (int(end * 1_000_000) for end in clipped)
    ends = Interval(low - 1, high + 1) if interval.finite else EVERYWHERE
    return Fact(TIMESTAMPTZ, ANYTHING if ends == EVERYWHERE else ends, nullable=True)


def _to_timestamp(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    number = converted(texts[0], arguments[0], DOUBLE)
    return f"(CASE WHEN {number} BETWEEN -{_SECONDS} AND {_SECONDS} THEN to_timestamp({number}) END)"


_MOST_NANOS = 9_200_000_000_000_000_000


def _make_timestamp_ns_result(arguments: Arguments, type: Type | None) -> Fact:
    (argument,) = arguments
    if argument.kind is not Kind.INTEGER:
        raise ArgumentError(f"make_timestamp_ns takes a whole number, not {named(argument.type)}")
    interval = known(argument)
    ends = (end if math.isinf(end) else int(end) // 1_000 for end in (interval.low, interval.high + 999))
    return within(type_named("TIMESTAMP_NS"), Interval(*ends), nullable=True)


def _make_timestamp_ns(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    number = converted(texts[0], arguments[0], BIGINT)
    inside = f"{number} BETWEEN -{_MOST_NANOS} AND {_MOST_NANOS}"
    return f"(CASE WHEN {inside} THEN make_timestamp_ns({number}) END)"


FUNCTIONS = (
    Function("epoch_ms", _epoch_ms_result, _epoch_ms, "epoch_ms(ts)"),
    Function(
        "make_timestamp_ms",
        lambda a, _: from_number(a, 1_000),
        lambda t, a, _: from_number_sql("make_timestamp_ms", 1_000, t[0], a[0]),
        "make_timestamp_ms(l)",
        names=("make_timestamp_ms",),
    ),
    Function(
        "make_time", _make_time_result, lambda t, a, _: _time_of_day(t, a), "make_time(i, 5, 1.5)", (3, 3)
    ),
    Function("make_timestamp", _make_timestamp_result, _make_timestamp, "make_timestamp(l)", (1, 6)),
    Function(
        "make_timestamp_ns",
        _make_timestamp_ns_result,
        _make_timestamp_ns,
        "make_timestamp_ns(l)",
        names=("make_timestamp_ns",),
    ),
    Function("to_timestamp", _to_timestamp_result, _to_timestamp, "to_timestamp(x)"),
    Function(
        "make_timestamptz",
        _make_zoned_result,
        lambda t, a, _: from_number_sql("make_timestamptz", 1, t[0], a[0]),
        "make_timestamptz(l)",
        names=("make_timestamptz",),
    ),
)
