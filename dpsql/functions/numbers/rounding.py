"""Rounding, to the whole or to digits behind the point.

round(price, 1)    a DECIMAL of one digit behind the point
round(age, -1)     whole numbers round to tens; near the ends of a type to NULL
floor(x)           a DOUBLE, or a DECIMAL without digits behind the point
"""

from __future__ import annotations

import math
from collections.abc import Callable

from dpsql.functions import Argument, ArgumentError, Arguments, Function, Render, Result
from dpsql.functions.core.conversion import converted, rounded_to
from dpsql.functions.core.ranges import any_null, known, outward, within
from dpsql.functions.core.types import FLOAT, bits, decimal, digits, signed
from dpsql.functions.numbers.operands import narrowed, numbers
from dpsql.ir.column import BIGINT, DOUBLE, HUGEINT, Fact, Interval, Kind, Number, Type


def _places(arguments: Arguments, name: str) -> int:
    """The constant number of digits behind the point."""
    if len(arguments) == 1:
        return 0
    literal = arguments[1].literal
    if literal is None or not isinstance(literal.value, int) or not -100 <= literal.value <= 100:
        raise ArgumentError(f"{name} takes a constant number of digits", f"write {name}(x, 2)")
    return literal.value


def _rounded_type(argument: Argument, places: int, name: str) -> Type:
    match argument.kind:
        case Kind.DECIMAL:
            width, scale = digits(argument.type)
            return decimal(width, max(0, min(places, scale)))
        case Kind.INTEGER if name != "trunc" and not signed(argument.type):
            return {128: DOUBLE, 64: HUGEINT}.get(bits(argument.type), BIGINT)
        case _:
            return argument.type


def _rounding_result(name: str) -> Result:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        numbers(arguments, name)
        places, one = _places(arguments, name), arguments[0]
        target, whole = _rounded_type(one, places, name), known(one)
        if one.kind is Kind.INTEGER and places >= 0:
            return within(target, whole, any_null(arguments))
        slack = 0.0 if places > 300 else 10.0 ** -max(places, -300)
        if one.kind is Kind.FLOAT or name == "trunc" or places < 0:
            ends = Interval(whole.low - slack, whole.high + slack)
            if one.kind is Kind.FLOAT:  # DuckDB scales up, rounds and scales down: the last digit may move
                ends = outward(ends, 1e-6 if one.type == FLOAT else 1e-14)
            if name == "trunc" or places < 0:
                ends = Interval(min(ends.low, 0), max(ends.high, 0))
            if one.kind is Kind.INTEGER:
                ends = Interval(*(end if math.isinf(end) else int(end) for end in (ends.low, ends.high)))
        else:
            ends = Interval(rounded_to(whole.low, places).low, rounded_to(whole.high, places).high)
        fails = one.kind is Kind.INTEGER and name != "trunc"
        return within(target, ends, any_null(arguments) or fails or (one.kind is Kind.DECIMAL and fails))

    return result


def _rounding(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        one, places = arguments[0], _places(arguments, name)
        target = _rounded_type(one, places, name)
        if one.kind is Kind.INTEGER and places >= 0:
            return converted(texts[0], one, target)
        digits_behind = f", {places}" if len(arguments) > 1 else ""
        if one.kind is Kind.INTEGER and name != "trunc":  # near the type's ends it would overflow
            if bits(one.type) >= 64:
                size = f"{converted(texts[0], one, DOUBLE)}{digits_behind}"
                return f"TRY_CAST({name}({size}) AS {target.sql})"
            return narrowed(f"{name}({converted(texts[0], one, BIGINT)}{digits_behind})", BIGINT, target)
        return f"{name}({texts[0]}{digits_behind})"

    return render


def _whole_result(function: Callable[[Number], int], name: str) -> Result:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        numbers(arguments, name)
        (one,) = arguments
        whole = known(one)
        ends = Interval(*(e if math.isinf(e) else float(function(e)) for e in (whole.low, whole.high)))
        return within(_whole_type(one), ends, any_null(arguments))

    return result


def _whole_type(argument: Argument) -> Type:
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
    Function("floor", _whole_result(math.floor, "floor"), lambda t, a, _: f"floor({t[0]})", "floor(x)"),
    Function("ceil", _whole_result(math.ceil, "ceil"), lambda t, a, _: f"ceil({t[0]})", "ceil(x)"),
)
