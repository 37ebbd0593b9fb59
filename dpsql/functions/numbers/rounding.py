"""Rounding to whole numbers or to decimal places.

round(price, 1)    a DECIMAL with one decimal place
round(age, -1)     rounds to tens; overflow gives NULL
floor(x)           a DOUBLE, or a DECIMAL without decimal places
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsql.functions import Argument, ArgumentError, Arguments, Function, Render, Result
from dpsql.functions.core.conversion import converted, rounded_to
from dpsql.functions.core.ranges import any_null, known, outward, within
from dpsql.functions.core.types import FLOAT, WIDEST, bits, decimal, digits, signed
from dpsql.functions.numbers.operands import check_numbers, narrowed
from dpsql.ir.column import BIGINT, DOUBLE, HUGEINT, Fact, Interval, Kind, Number, Type


def _places(arguments: Arguments, name: str) -> int:
    """Return the constant number of decimal places."""
    if len(arguments) == 1:
        return 0
    literal = arguments[1].literal
    if literal is None or not isinstance(literal.value, int) or not -100 <= literal.value <= 100:
        raise ArgumentError(f"{name} takes a constant number of digits", f"write {name}(x, 2)")
    return literal.value


def rounded_type(argument: Argument, places: int, name: str) -> Type:
    """Return DuckDB's type of a number that is rounded to so many places."""
    match argument.kind:
        case Kind.DECIMAL:
            width, scale = digits(argument.type)
            upwards = scale == 0 and -width <= places < 0 and name != "trunc"  # 99 is 100
            return decimal(min(WIDEST, width + upwards), max(0, min(places, scale)))
        case Kind.INTEGER if name != "trunc" and not signed(argument.type):
            return {128: DOUBLE, 64: HUGEINT}.get(bits(argument.type), BIGINT)
        case _:
            return argument.type


def _overflows(argument: Argument, places: int, name: str) -> bool:
    """Whether a DECIMAL may be rounded to a power of ten that its widest type does not hold."""
    widest = argument.kind is Kind.DECIMAL and digits(argument.type) == (WIDEST, 0)
    return widest and -WIDEST <= places < 0 and name != "trunc"


def _rounding_result(name: str) -> Result:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_numbers(arguments, name)
        places, argument = _places(arguments, name), arguments[0]
        target, interval = rounded_type(argument, places, name), known(argument)
        if argument.kind is Kind.INTEGER and places >= 0:
            return within(target, interval, any_null(arguments))
        slack = 0.0 if places > 300 else 10.0 ** -max(places, -300)
        if argument.kind is Kind.FLOAT or name == "trunc" or places < 0:
            ends = Interval(interval.low - slack, interval.high + slack)
            if (
                argument.kind is Kind.FLOAT
            ):  # DuckDB scales up, rounds and scales down: the last digit may change
                ends = outward(ends, 1e-6 if argument.type == FLOAT else 1e-14)
            if name == "trunc" or places < 0:
                ends = Interval(min(ends.low, 0), max(ends.high, 0))
            if argument.kind is Kind.INTEGER:
                ends = Interval(*(end if math.isinf(end) else int(end) for end in (ends.low, ends.high)))
        else:
            ends = Interval(rounded_to(interval.low, places).low, rounded_to(interval.high, places).high)
        fails = argument.kind is Kind.INTEGER and name != "trunc"
        return within(target, ends, any_null(arguments) or fails or _overflows(argument, places, name))

    return result


def _rounding(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        argument, places = arguments[0], _places(arguments, name)
        target = rounded_type(argument, places, name)
        if argument.kind is Kind.INTEGER and places >= 0:
            return converted(texts[0], argument, target)
        digits_behind = f", {places}" if len(arguments) > 1 else ""
        if argument.kind is Kind.INTEGER and name != "trunc":  # may overflow near the limits of the type
            if bits(argument.type) >= 64:
                size = f"{converted(texts[0], argument, DOUBLE)}{digits_behind}"
                return f"TRY_CAST({name}({size}) AS {target.sql})"
            return narrowed(f"{name}({converted(texts[0], argument, BIGINT)}{digits_behind})", BIGINT, target)
        plain = f"{name}({texts[0]}{digits_behind})"
        if not _overflows(argument, places, name):
            return plain
        limit = 10**WIDEST - 5 * 10 ** (-places - 1)  # from half a step below 10^38 on, it is rounded to that
        return f"(CASE WHEN abs({texts[0]}) < CAST('{limit}' AS {decimal(WIDEST, 0).sql}) THEN {plain} END)"

    return render


def _integral_result(function: Callable[[Number], int], name: str) -> Result:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_numbers(arguments, name)
        (argument,) = arguments
        interval = known(argument)
        ends = Interval(*(e if math.isinf(e) else float(function(e)) for e in (interval.low, interval.high)))
        return within(_integral_type(argument), ends, any_null(arguments))

    return result


def _integral_type(argument: Argument) -> Type:
    if argument.kind is Kind.DECIMAL:
        return decimal(digits(argument.type)[0], 0)
    return FLOAT if argument.type == FLOAT else DOUBLE


FUNCTIONS = (
    Function("round", _rounding_result("round"), _rounding("round"), "round(x, 1)", (1, 2)),
    Function("trunc", _rounding_result("trunc"), _rounding("trunc"), "trunc(x)", (1, 2)),
    Function(
        "round_even",
        _rounding_result("round_even"),
        _rounding("round_even"),
        "round_even(x, 1)",
        (2, 2),
        names=("round_even", "roundbankers"),
    ),
    Function("floor", _integral_result(math.floor, "floor"), lambda t, a, _: f"floor({t[0]})", "floor(x)"),
    Function("ceil", _integral_result(math.ceil, "ceil"), lambda t, a, _: f"ceil({t[0]})", "ceil(x)"),
)
