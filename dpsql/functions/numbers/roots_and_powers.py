"""Functions of a DOUBLE: roots, logarithms, angles, powers.

    sqrt(x)     rises: the range of the ends        sin(x)     [-1, 1]
    ln(0)       -infinity, and sqrt(-1) is NaN, as in DuckDB 2.0

Ranges of functions that come from a library of mathematics are taken a little wider than computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsql.functions import Arguments, Function
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import any_null, corners, known, outward, within
from dpsql.functions.core.types import FLOAT
from dpsql.functions.numbers.operands import numbers
from dpsql.ir.column import DOUBLE, EVERYWHERE, Fact, Interval, Number, Type

Curve = Callable[[Interval], Interval]


def _double(name: str, curve: Curve, example: str | None = None) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        numbers(arguments, name)
        whole = known(arguments[0])
        return within(DOUBLE, curve(Interval(float(whole.low), float(whole.high))), any_null(arguments))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({converted(texts[0], arguments[0], DOUBLE)})"

    return Function(name, result, render, example or f"{name}(x)", names=(name,))


def rising(function: Callable[[float], float], low: float = -math.inf, high: float = math.inf) -> Curve:
    """The curve of a rising function on [low, high]; it is NaN elsewhere."""

    def curve(whole: Interval) -> Interval:
        left, right = max(float(whole.low), low), min(float(whole.high), high)
        if left > right:
            return Interval(0.0, 0.0)
        return outward(Interval(*(_at(function, end) for end in (left, right))))

    return curve


def _at(function: Callable[[float], float], end: float) -> float:
    try:
        return function(end)
    except OverflowError:
        return math.copysign(math.inf, end)
    except ValueError:  # a pole: ln(0), atanh(-1)
        return math.inf if end == 1 else -math.inf


def falling(function: Callable[[float], float], low: float, high: float) -> Curve:
    mirrored = rising(lambda end: -function(end), low, high)

    def curve(whole: Interval) -> Interval:
        found = mirrored(whole)
        return Interval(-found.high, -found.low)

    return curve


def even_curve(function: Callable[[float], float]) -> Curve:
    """The curve of a function that falls to zero and rises from there."""
    rise = rising(function, 0.0)

    def curve(whole: Interval) -> Interval:
        size = max(abs(whole.low), abs(whole.high))
        least = 0.0 if whole.low <= 0 <= whole.high else min(abs(whole.low), abs(whole.high))
        return rise(Interval(least, size))

    return curve


def within_bounds(low: float, high: float) -> Curve:
    return lambda whole: Interval(low, high)


def _everywhere(whole: Interval) -> Interval:
    return EVERYWHERE


def _scaled_by(factor: float) -> Curve:
    return lambda whole: outward(Interval(whole.low * factor, whole.high * factor))


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
    numbers(arguments, "pow")
    base, exponent = known(arguments[0]), known(arguments[1])
    whole = EVERYWHERE
    power = exponent.low
    if power == exponent.high and float(power).is_integer() and 0 < power < 1_000:
        whole = outward((even_curve if power % 2 == 0 else rising)(_raised(int(power)))(base))
    elif base.low > 0 or (base.low == 0 and exponent.low >= 0):
        whole = outward(corners(_power, base, exponent))
        if exponent.low <= 0 <= exponent.high or base.low <= 1 <= base.high:
            whole = Interval(min(whole.low, 1.0), max(whole.high, 1.0))
    return within(DOUBLE, whole, any_null(arguments))


def _raised(power: int) -> Callable[[float], float]:
    return lambda end: _power(end, power)


def _power(base: Number, exponent: Number) -> Number:
    try:
        return math.pow(base, exponent)
    except (OverflowError, ValueError):
        return -math.inf if base < 0 and exponent % 2 == 1 else math.inf


def _log_result(arguments: Arguments, type: Type | None) -> Fact:
    """log(3, x): to a base above 1 it rises."""
    numbers(arguments, "log")
    base, whole = known(arguments[0]), EVERYWHERE
    if base.low == base.high and 1 < base.low < math.inf:
        scale = math.log(base.low)
        whole = outward(rising(lambda end: math.log(end) / scale, 0.0)(known(arguments[1])), 1e-12)
    return within(DOUBLE, whole, any_null(arguments))


def _atan2_result(arguments: Arguments, type: Type | None) -> Fact:
    numbers(arguments, "atan2")
    return within(DOUBLE, Interval(-math.pi, math.pi), any_null(arguments))


def _pi_result(arguments: Arguments, type: Type | None) -> Fact:
    return Fact(DOUBLE, Interval(math.pi, math.pi), nullable=False)


def _next_type(arguments: Arguments) -> Type:
    numbers(arguments, "nextafter")
    return FLOAT if any(each.type == FLOAT for each in arguments) and not any(
        each.type == DOUBLE for each in arguments
    ) else DOUBLE  # fmt: skip


def _next_result(arguments: Arguments, type: Type | None) -> Fact:
    target, whole = _next_type(arguments), known(arguments[0])
    step = 1e-6 if target == FLOAT else 1e-14
    ends = outward(whole, step)
    tiny = 1e-44 if target == FLOAT else 5e-324
    return within(target, Interval(ends.low - tiny, ends.high + tiny), any_null(arguments))


def _next(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    target = _next_type(arguments)
    parts = (converted(text, each, target) for text, each in zip(texts, arguments, strict=True))
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
