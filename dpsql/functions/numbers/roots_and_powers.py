"""Functions of a DOUBLE: roots, logarithms, trigonometry, powers.

    sqrt(x)     increasing: from sqrt(low) to sqrt(high)        sin(x)     [-1, 1]
    ln(0)       -infinity, and sqrt(-1) is NaN, as in DuckDB 2.0

Computed ranges are widened slightly: math libraries may differ in the last digits.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsql.functions import Arguments, Function
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import any_null, corners, known, outward, within
from dpsql.functions.core.types import FLOAT
from dpsql.functions.numbers.operands import check_numbers
from dpsql.ir.column import DOUBLE, EVERYWHERE, Fact, Interval, Number, Type

Curve = Callable[[Interval], Interval]


def _double(name: str, curve: Curve, example: str | None = None) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_numbers(arguments, name)
        interval = known(arguments[0])
        return within(DOUBLE, curve(Interval(float(interval.low), float(interval.high))), any_null(arguments))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({converted(texts[0], arguments[0], DOUBLE)})"

    return Function(name, result, render, example or f"{name}(x)", names=(name,))


def rising(function: Callable[[float], float], low: float = -math.inf, high: float = math.inf) -> Curve:
    """Return the range map of an increasing function on [low, high]; it is NaN elsewhere."""

    def curve(interval: Interval) -> Interval:
        left, right = max(float(interval.low), low), min(float(interval.high), high)
        if left > right:
            return Interval(0.0, 0.0)
        return outward(Interval(*(_limit_at(function, end) for end in (left, right))))

    return curve


def _limit_at(function: Callable[[float], float], end: float) -> float:
    try:
        return function(end)
    except OverflowError:
        return math.copysign(math.inf, end)
    except ValueError:  # a pole: ln(0), atanh(-1)
        return math.inf if end == 1 else -math.inf


def falling(function: Callable[[float], float], low: float, high: float) -> Curve:
    mirrored = rising(lambda end: -function(end), low, high)

    def curve(interval: Interval) -> Interval:
        negative = mirrored(interval)
        return Interval(-negative.high, -negative.low)

    return curve


def even_curve(function: Callable[[float], float]) -> Curve:
    """Return the range map of an even function that increases with |x|."""
    rise = rising(function, 0.0)

    def curve(interval: Interval) -> Interval:
        size = max(abs(interval.low), abs(interval.high))
        least = 0.0 if interval.low <= 0 <= interval.high else min(abs(interval.low), abs(interval.high))
        return rise(Interval(least, size))

    return curve


def within_bounds(low: float, high: float) -> Curve:
    return lambda interval: Interval(low, high)


def _everywhere(interval: Interval) -> Interval:
    return EVERYWHERE


def _scaled_by(factor: float) -> Curve:
    return lambda interval: outward(Interval(interval.low * factor, interval.high * factor))


_CURVES = (
    _double("sqrt", rising(math.sqrt, 0.0)),
    _double("cbrt", rising(math.cbrt)),
    _double("exp", rising(math.exp)),
    _double("ln", rising(math.log, 0.0)),
    _double("log10", rising(math.log10, 0.0), "log10(x)"),
    _double("log2", rising(math.log2, 0.0), "log2(x)"),
    _double("degrees", _scaled_by(180 / math.pi)),
    _double("radians", _scaled_by(math.pi / 180)),
    _double("sin", within_bounds(-1.0, 1.0)),
    _double("cos", within_bounds(-1.0, 1.0)),
    _double("tan", _everywhere),
    _double("cot", _everywhere),
    _double("asin", rising(math.asin, -1.0, 1.0)),
    _double("acos", falling(math.acos, -1.0, 1.0)),
    _double("atan", rising(math.atan)),
    _double("sinh", rising(math.sinh)),
    _double("cosh", even_curve(math.cosh)),
    _double("tanh", rising(math.tanh)),
    _double("asinh", rising(math.asinh)),
    _double("acosh", rising(math.acosh, 1.0)),
    _double("atanh", rising(math.atanh, -1.0, 1.0)),
    _double("gamma", _everywhere),
    _double("lgamma", _everywhere),
    _double("even", lambda whole: Interval(whole.low - 2, whole.high + 2)),
)


def _doubles(texts: tuple[str, ...], arguments: Arguments) -> str:
    return ", ".join(converted(t, a, DOUBLE) for t, a in zip(texts, arguments, strict=True))


def _power_result(arguments: Arguments, type: Type | None) -> Fact:
    check_numbers(arguments, "pow")
    base, exponent = known(arguments[0]), known(arguments[1])
    interval = EVERYWHERE
    power = exponent.low
    if power == exponent.high and float(power).is_integer() and 0 < power < 1_000:
        interval = outward((even_curve if power % 2 == 0 else rising)(_power_of(int(power)))(base))
    elif base.low > 0 or (base.low == 0 and exponent.low >= 0):
        interval = outward(corners(_power, base, exponent))
        if exponent.low <= 0 <= exponent.high or base.low <= 1 <= base.high:
            interval = Interval(min(interval.low, 1.0), max(interval.high, 1.0))
    return within(DOUBLE, interval, any_null(arguments))


def _power_of(power: int) -> Callable[[float], float]:
    return lambda end: _power(end, power)


def _power(base: Number, exponent: Number) -> Number:
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _log_result(arguments: Arguments, type: Type | None) -> Fact:
    """Return the fact of log(base, x), which is increasing if the base is a constant above 1."""
    check_numbers(arguments, "log")
    base, interval = known(arguments[0]), EVERYWHERE
    if base.low == base.high and 1 < base.low < math.inf:
        scale = math.log(base.low)
        interval = outward(rising(lambda end: math.log(end) / scale, 0.0)(known(arguments[1])), 1e-12)
    return within(DOUBLE, interval, any_null(arguments))


def _atan2_result(arguments: Arguments, type: Type | None) -> Fact:
    check_numbers(arguments, "atan2")
    return within(DOUBLE, Interval(-math.pi, math.pi), any_null(arguments))


def _pi_result(arguments: Arguments, type: Type | None) -> Fact:
    return Fact(DOUBLE, Interval(math.pi, math.pi), nullable=False)


def _next_type(arguments: Arguments) -> Type:
    check_numbers(arguments, "nextafter")
    return FLOAT if any(argument.type == FLOAT for argument in arguments) and not any(
        argument.type == DOUBLE for argument in arguments
    ) else DOUBLE  # fmt: skip


def _next_result(arguments: Arguments, type: Type | None) -> Fact:
    target, interval = _next_type(arguments), known(arguments[0])
    step = 1e-6 if target == FLOAT else 1e-14
    ends = outward(interval, step)
    tiny = 1e-44 if target == FLOAT else 5e-324
    return within(target, Interval(ends.low - tiny, ends.high + tiny), any_null(arguments))


def _next(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    target = _next_type(arguments)
    parts = (converted(text, argument, target) for text, argument in zip(texts, arguments, strict=True))
    return f"nextafter({', '.join(parts)})"


FUNCTIONS = (
    *_CURVES,
    Function(
        "pow",
        _power_result,
        lambda t, a, _: f"pow({_doubles(t, a)})",
        "pow(x, 2)",
        (2, 2),
        names=("pow", "power"),
    ),
    Function("log", _log_result, lambda t, a, _: f"log({_doubles(t, a)})", "log(3, x)", (2, 2)),
    Function("atan2", _atan2_result, lambda t, a, _: f"atan2({_doubles(t, a)})", "atan2(x, y)", (2, 2)),
    Function("nextafter", _next_result, _next, "nextafter(x, y)", (2, 2), names=("nextafter",)),
    Function("pi", _pi_result, lambda t, a, _: "pi()", "pi()", (0, 0)),
)
