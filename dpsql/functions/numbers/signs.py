"""Signs of numbers: turned, dropped, asked for.

    -x    abs(x)    sign(x)    signbit(x)    isnan(x)

The least value of a signed type has no counterpart: turned, it is NULL.
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.functions import Argument, Arguments, Function, Result
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import any_null, known, possible, truth, within
from dpsql.functions.core.types import TINYINT, bits, holds
from dpsql.functions.numbers.operands import WIDER, narrowed, numbers
from dpsql.ir.column import Fact, Interval, Kind, Type, type_range


def _negated_result(arguments: Arguments, type: Type | None) -> Fact:
    numbers(arguments, "-")
    (one,) = arguments
    whole, all_of_it = known(one), possible(one)
    fails = one.kind is Kind.INTEGER and not holds(one.type, Interval(-all_of_it.high, -all_of_it.low))
    return within(one.type, Interval(-whole.high, -whole.low), any_null(arguments) or fails)


def _absolute_result(arguments: Arguments, type: Type | None) -> Fact:
    numbers(arguments, "abs")
    (one,) = arguments
    whole = known(one)
    fails = one.kind is Kind.INTEGER and -possible(one).low > type_range(one.type).high
    high = max(abs(whole.low), abs(whole.high))
    low = 0 if whole.low <= 0 <= whole.high else min(abs(whole.low), abs(whole.high))
    return within(one.type, Interval(low, high), any_null(arguments) or fails)


def _widened(form: str, result: Result) -> Callable[..., str]:
    """``-x`` or ``abs(x)``, which fail on the least value of a signed type alone."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (one,) = arguments
        fails = result((Argument(Fact(one.type, one.fact.domain, nullable=False)),), None).nullable
        if not fails:
            return form.format(texts[0])
        if one.type.sql in ("HUGEINT", "UHUGEINT"):
            part = f"CAST(TRY_CAST({texts[0]} AS DECIMAL(38,0)) AS HUGEINT)"
            return f"TRY_CAST({form.format(part)} AS {one.type.sql})"
        wide = next(each for each in WIDER if bits(each) > bits(one.type))
        return narrowed(form.format(converted(texts[0], one, wide)), wide, one.type)

    return render


def _sign_result(arguments: Arguments, type: Type | None) -> Fact:
    numbers(arguments, "sign")
    whole = known(arguments[0])
    low, high = (
        (-1 if whole.low < 0 else 0 if whole.low == 0 else 1),
        (1 if whole.high > 0 else 0 if whole.high == 0 else -1),
    )
    low = min(low, 0)  # the sign of NaN is 0
    return within(TINYINT, Interval(low, max(high, 0)), any_null(arguments))


def _test_result(arguments: Arguments, type: Type | None) -> Fact:
    numbers(arguments, "this test")
    return truth(any_null(arguments))


FUNCTIONS = (
    Function("negate", _negated_result, _widened("(-{})", _negated_result), "-i"),
    Function("abs", _absolute_result, _widened("abs({})", _absolute_result), "abs(i)"),
    Function("sign", _sign_result, lambda t, a, _: f"sign({t[0]})", "sign(i)"),
    Function("isnan", _test_result, lambda t, a, _: f"isnan({t[0]})", "isnan(x)"),
    Function("signbit", _test_result, lambda t, a, _: f"signbit({t[0]})", "signbit(x)", names=("signbit",)),
)
