"""Addition, subtraction and multiplication, in DuckDB's result types; overflow gives NULL.

    i + j        TRY_CAST(CAST(i AS BIGINT) + CAST(j AS BIGINT) AS INTEGER)     overflow is NULL
    price * tax  a DECIMAL with the sum of both widths, narrowed to DuckDB's type with TRY_CAST
    born + 3     date arithmetic: time/date_arithmetic.py

Whole numbers are computed in a type that holds every result of the operands' types. If there is none
(HUGEINT, wide DECIMAL), the operands are cast to fewer digits: operands with more than 18 digits may
then become NULL. Where 38 decimal places leave them no digit before the point, they are refused. DOUBLE
does not raise.
"""

from __future__ import annotations

from dpsql.functions import Argument, Arguments, Function, Render, Result
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.order import of_difference
from dpsql.functions.core.ranges import any_null, corners, in_decimals, known, possible, within
from dpsql.functions.core.types import WIDEST, decimal, digits, holds
from dpsql.functions.numbers.operands import (
    OPERATIONS,
    arithmetic_type,
    before_point,
    check_numbers,
    exact_size,
    fits,
    in_kind,
    in_type,
    limit_of,
    narrowed,
    split_width,
    type_for,
    width_of,
    with_digits,
)
from dpsql.functions.time.date_arithmetic import minus_result, minus_sql, plus_result, plus_sql
from dpsql.ir.column import DOUBLE, HUGEINT, Fact, Kind, Type

_SHORT = 200
"""Maximum characters of operands that may be repeated in the SQL."""


def _number_result(sign: str) -> Result:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_numbers(arguments, sign)
        left, right = arguments
        target = arithmetic_type(sign, left, right)
        operation = OPERATIONS[sign]
        exact = in_decimals(operation) if target.kind is Kind.DECIMAL else operation
        fails = _may_fail(sign, target, left, right)
        interval = in_kind(exact, target, left, right, known)
        if sign == "-":
            interval = of_difference(interval, left.fact, right.fact)
        return within(target, interval, any_null(arguments) or fails)

    return result


def _may_fail(sign: str, target: Type, left: Argument, right: Argument) -> bool:
    """Whether the rendered SQL may give NULL for numbers of the arguments' types."""
    operation = OPERATIONS[sign]
    match target.kind:
        case Kind.INTEGER:
            interval = corners(operation, possible(left), possible(right))
            return not holds(target, interval) or type_for(interval, left, right, target) is None
        case Kind.DECIMAL:
            if exact_size(sign, left.type, right.type)[0] <= digits(target)[0]:
                return False
            interval = corners(in_decimals(operation), possible(left), possible(right))
            return digits(target)[0] == WIDEST or not fits(target, interval)
        case _:
            return False


def _number_sql(sign: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        left, right = arguments
        target = arithmetic_type(sign, left, right)
        match target.kind:
            case Kind.INTEGER:
                return _in_integers(sign, texts, left, right, target)
            case Kind.DECIMAL:
                return _in_decimals(sign, texts, left, right, target)
            case _:
                return in_type(sign, texts, arguments, target)

    return render


def _in_integers(sign: str, texts: tuple[str, ...], left: Argument, right: Argument, target: Type) -> str:
    interval = corners(OPERATIONS[sign], possible(left), possible(right))
    wide = type_for(interval, left, right, target)
    if wide is not None:
        return narrowed(in_type(sign, texts, (left, right), wide), wide, target)
    widths = (WIDEST - 1, WIDEST - 1)
    if sign == "*":
        widths = split_width((width_of(left), width_of(right)), (left, right), WIDEST)
    parts = [with_digits(t, a, width) for t, a, width in zip(texts, (left, right), widths, strict=True)]
    return narrowed(f"({parts[0]} {sign} {parts[1]})", HUGEINT, target)


def _in_decimals(sign: str, texts: tuple[str, ...], left: Argument, right: Argument, target: Type) -> str:
    pair = (left, right)
    operation = in_decimals(OPERATIONS[sign])
    width, scale = exact_size(sign, left.type, right.type)
    plain = f"({texts[0]} {sign} {texts[1]})"
    if width <= digits(target)[0]:
        return plain
    if sign == "*" and width <= WIDEST:
        if fits(target, corners(operation, possible(left), possible(right))):
            return plain
        if sum(map(len, texts)) < _SHORT:  # takes half the time of the wide product
            size = " * ".join(converted(t, a, DOUBLE) for t, a in zip(texts, pair, strict=True))
            return f"(CASE WHEN abs({size}) < {limit_of(target)!r} THEN {plain} END)"
        if digits(target)[0] == WIDEST:
            return plain
        part = decimal(19, digits(left.type)[1]) if digits(left.type)[0] < 19 else left.type
        return f"TRY_CAST(({converted(texts[0], left, part)} * {texts[1]}) AS {target.sql})"
    if sign == "*":
        scales = [digits(argument.type)[1] for argument in pair]
        left_width, right_width = split_width((before_point(left), before_point(right)), pair, WIDEST - scale)
        room = WIDEST - scale
        first = room - right_width if right.literal is not None else left_width
        if first + scales[0] == 0:  # a DECIMAL has a digit
            first = 1
        elif room - first + scales[1] == 0:
            first = room - 1
        types = [decimal(w + s, s) for w, s in zip((first, room - first), scales, strict=True)]
        assert sum(digits(part)[0] for part in types) == WIDEST, "no product overflows"
    else:
        types = [decimal(WIDEST - 1, scale)] * 2
    parts = [converted(text, argument, part) for text, argument, part in zip(texts, pair, types, strict=True)]
    return f"({parts[0]} {sign} {parts[1]})"


def _sum_or_date_result(sign: str) -> Result:
    plain = _number_result(sign)
    dated = plus_result if sign == "+" else minus_result

    def result(arguments: Arguments, type: Type | None) -> Fact:
        if all(argument.type.numeric for argument in arguments):
            return plain(arguments, type)
        return dated(arguments)

    return result


def _sum_or_date_sql(sign: str) -> Render:
    plain = _number_sql(sign)
    dated = plus_sql if sign == "+" else minus_sql

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        if all(argument.type.numeric for argument in arguments):
            return plain(texts, arguments, type)
        return dated(texts, arguments)

    return render


FUNCTIONS = (
    Function("+", _sum_or_date_result("+"), _sum_or_date_sql("+"), "i + j", (2, 2), names=("+", "add")),
    Function("-", _sum_or_date_result("-"), _sum_or_date_sql("-"), "i - j", (2, 2), names=("-", "subtract")),
    Function("*", _number_result("*"), _number_sql("*"), "i * j", (2, 2), names=("*", "multiply")),
)
