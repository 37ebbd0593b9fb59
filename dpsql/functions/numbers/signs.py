"""Negation, absolute value, and tests of sign and NaN.

    -x    abs(x)    sign(x)    signbit(x)    isnan(x)

The minimum of a signed type has no positive counterpart: its negation is NULL.
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.functions import Argument, Arguments, Function, Result
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import any_null, known, possible, truth, within
from dpsql.functions.core.types import TINYINT, bits, holds
from dpsql.functions.numbers.operands import WIDER, check_numbers, narrowed
from dpsql.ir.column import Fact, Interval, Kind, Type, type_range


def _negated_result(arguments: Arguments, type: Type | None) -> Fact:
    check_numbers(arguments, "-")
    (argument,) = arguments
    interval, possible_interval = known(argument), possible(argument)
    fails = argument.kind is Kind.INTEGER and not holds(
        argument.type, Interval(-possible_interval.high, -possible_interval.low)
    )
    return within(argument.type, Interval(-interval.high, -interval.low), any_null(arguments) or fails)


def _absolute_result(arguments: Arguments, type: Type | None) -> Fact:
    check_numbers(arguments, "abs")
    (argument,) = arguments
    interval = known(argument)
    fails = argument.kind is Kind.INTEGER and -possible(argument).low > type_range(argument.type).high
    high = max(abs(interval.low), abs(interval.high))
    low = 0 if interval.low <= 0 <= interval.high else min(abs(interval.low), abs(interval.high))
    return within(argument.type, Interval(low, high), any_null(arguments) or fails)


def _negation_sql(form: str, result: Result) -> Callable[..., str]:
    """Return a renderer of ``-x`` or ``abs(x)``, which overflow only on the minimum of a signed type."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (argument,) = arguments
        fails = result((Argument(Fact(argument.type, argument.fact.domain, nullable=False)),), None).nullable
        if not fails:
            return form.format(texts[0])
        if argument.type.sql in ("HUGEINT", "UHUGEINT"):
            part = f"CAST(TRY_CAST({texts[0]} AS DECIMAL(38,0)) AS HUGEINT)"
            return f"TRY_CAST({form.format(part)} AS {argument.type.sql})"
        wide = next(wider for wider in WIDER if bits(wider) > bits(argument.type))
        return narrowed(form.format(converted(texts[0], argument, wide)), wide, argument.type)

    return render


def _sign_result(arguments: Arguments, type: Type | None) -> Fact:
    check_numbers(arguments, "sign")
    interval = known(arguments[0])
    low, high = (
        (-1 if interval.low < 0 else 0 if interval.low == 0 else 1),
        (1 if interval.high > 0 else 0 if interval.high == 0 else -1),
    )
    low = min(low, 0)  # the sign of NaN is 0
    return within(TINYINT, Interval(low, max(high, 0)), any_null(arguments))


def _predicate_result(arguments: Arguments, type: Type | None) -> Fact:
    check_numbers(arguments, "this test")
    return truth(any_null(arguments))


FUNCTIONS = (
    Function("negate", _negated_result, _negation_sql("(-{})", _negated_result), "-i"),
    Function("abs", _absolute_result, _negation_sql("abs({})", _absolute_result), "abs(i)"),
    Function("sign", _sign_result, lambda t, a, _: f"sign({t[0]})", "sign(i)"),
    Function("isnan", _predicate_result, lambda t, a, _: f"isnan({t[0]})", "isnan(x)"),
    Function(
        "signbit", _predicate_result, lambda t, a, _: f"signbit({t[0]})", "signbit(x)", names=("signbit",)
    ),
)
