"""Conversions between dates, text and numbers; last day of a month; tests for infinity.

make_date(2020, 2, 30)       NULL
strftime(born, '%Y-%m')      the format must be a constant
"""

from __future__ import annotations

import re

from dpsql.functions import Argument, ArgumentError, Arguments, Function
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.literals import quoted
from dpsql.functions.core.ranges import any_null, known, truth, within
from dpsql.functions.core.types import named
from dpsql.functions.time.calendar import civil, days, months_later
from dpsql.functions.time.common import (
    as_timestamp,
    as_timestamp_fact,
    check_date,
    day_of,
    ends_of,
    far_from_limits,
    guarded,
    in_microseconds,
)
from dpsql.ir.column import ANYTHING, DATE, EVERYWHERE, TIMESTAMP, VARCHAR, Fact, Interval, Kind, Type


def _last_day_result(arguments: Arguments, type: Type | None) -> Fact:
    (argument,) = arguments
    check_date(argument, "last_day")
    fact = as_timestamp_fact(argument)
    interval = in_microseconds(Argument(fact))
    ends = EVERYWHERE
    if interval.finite:
        ends = Interval(*(months_later(days(*civil(day_of(end))[:2], 1), 1) - 1 for end in ends_of(interval)))
    return within(DATE, ends, fact.nullable or not far_from_limits(Argument(fact)))


def _last_day(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    text = as_timestamp(texts[0], arguments[0])
    return guarded(text, arguments[0], f"last_day({text})")


def make_date_result(arguments: Arguments, type: Type | None) -> Fact:
    for argument in arguments:
        if argument.kind is not Kind.INTEGER:
            raise ArgumentError(
                f"make_date takes whole numbers, not {named(argument.type)}", "write CAST(... AS INTEGER)"
            )
    years = known(arguments[0])
    ends = EVERYWHERE
    if years.finite:
        clipped = sorted(max(1, min(9999, int(end))) for end in ends_of(years))
        ends = Interval(days(clipped[0], 1, 1), days(clipped[1], 12, 31))
    return within(DATE, ends, nullable=True)


def make_date_sql(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    # make_date raises on the 30th of February; TRY_CAST of text gives NULL
    parts = " || '-' || ".join(f"CAST({text} AS VARCHAR)" for text in texts)
    return f"(CASE WHEN {texts[0]} BETWEEN 1000 AND 9999 THEN TRY_CAST({parts} AS DATE) END)"


_FORMAT = re.compile(r"(?:[^%\0]|%-?[dmyHIMSj]|%[aAbBYpfgUWwuGV%])+")


def _format(argument: Argument) -> str:
    literal = argument.literal
    if literal is None or not isinstance(literal.value, str):
        raise ArgumentError("the format must be a constant", "write '%Y-%m-%d'")
    if len(literal.value) > 100 or not _FORMAT.fullmatch(literal.value):
        raise ArgumentError(
            f"the format {literal.value[:40]!r} is not supported", "use %Y %m %d %H %M %S %b %a %j and text"
        )
    return literal.value


def _strftime_result(arguments: Arguments, type: Type | None) -> Fact:
    check_date(arguments[0], "strftime")
    _format(arguments[1])
    fact = as_timestamp_fact(arguments[0])
    return Fact(VARCHAR, ANYTHING, fact.nullable or not far_from_limits(Argument(fact)))


def _strftime(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    text = as_timestamp(texts[0], arguments[0])
    return guarded(text, arguments[0], f"strftime({text}, {quoted(_format(arguments[1]))})")


def _strptime_result(arguments: Arguments, type: Type | None) -> Fact:
    if arguments[0].kind is not Kind.TEXT:
        raise ArgumentError(f"strptime takes text, not {named(arguments[0].type)}")
    _format(arguments[1])
    return Fact(TIMESTAMP, ANYTHING, nullable=True)


def _finiteness_result(arguments: Arguments, type: Type | None) -> Fact:
    (argument,) = arguments
    moments = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)
    if argument.kind not in moments and not argument.type.numeric:
        raise ArgumentError(f"{named(argument.type)} is never infinite")
    return truth(any_null(arguments))


FUNCTIONS = (
    Function("last_day", _last_day_result, _last_day, "last_day(d)"),
    Function(
        "make_date", make_date_result, make_date_sql, "make_date(2020, i, 1)", (3, 3), names=("make_date",)
    ),
    Function(
        "strftime",
        _strftime_result,
        _strftime,
        "strftime(d, '%Y-%m')",
        (2, 2),
    ),
    Function(
        "try_strptime",
        _strptime_result,
        lambda t, a, _: f"try_strptime({converted(t[0], a[0], VARCHAR)}, {quoted(_format(a[1]))})",
        "try_strptime(s, '%Y-%m-%d')",
        (2, 2),
        names=("try_strptime",),
    ),
    Function(
        "isfinite",
        _finiteness_result,
        lambda t, a, _: f"isfinite({t[0]})",
        "isfinite(x)",
        names=("isfinite",),
    ),
    Function("isinf", _finiteness_result, lambda t, a, _: f"isinf({t[0]})", "isinf(x)"),
)
