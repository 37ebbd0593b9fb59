"""Operands of arithmetic: the result type, and casts that keep a computation from overflowing.

arithmetic_type("*", DECIMAL(15,2), DECIMAL(4,2))    DECIMAL(18,4)
type_for([0, 70], i, j, INTEGER)                     INTEGER: it holds both operands and every result
with_digits("h", HUGEINT, 37)                        h as a HUGEINT of at most 37 digits, else NULL
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from dpsql.functions import Argument, ArgumentError, Arguments
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import as_double, corners, known, possible, within
from dpsql.functions.core.types import (
    FLOAT,
    WIDEST,
    adapted_types,
    bits,
    decimal,
    digits,
    holds,
    named,
    sum_of_integers,
)
from dpsql.ir.column import (
    BIGINT,
    DOUBLE,
    HUGEINT,
    INTEGER,
    Interval,
    Kind,
    Number,
    Type,
    type_named,
    type_range,
)

Operation = Callable[[Number, Number], Number]

OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
WIDER = (INTEGER, BIGINT, HUGEINT, type_named("UHUGEINT"))


def check_numbers(arguments: Arguments, sign: str) -> None:
    """Refuse arguments that are not numbers."""
    for argument in arguments:
        if not argument.type.numeric:
            instead = "write CAST(... AS ...) around it"
            if argument.kind is Kind.INTERVAL:
                instead = "make one of a number: to_days(n), to_hours(n), to_seconds(n)"
            raise ArgumentError(f"{sign} takes numbers, not {named(argument.type)}", instead)


def check_whole_numbers(arguments: Arguments, name: str) -> None:
    for argument in arguments:
        if argument.kind is not Kind.INTEGER:
            raise ArgumentError(f"{name} takes whole numbers, not {named(argument.type)}")


def arithmetic_type(sign: str, left: Argument, right: Argument) -> Type:
    """Return DuckDB's type of ``left sign right``."""
    if Kind.FLOAT in (left.kind, right.kind):
        return DOUBLE if DOUBLE in (left.type, right.type) else FLOAT
    if sign == "/":
        return DOUBLE
    if left.kind is right.kind is Kind.INTEGER:
        return sum_of_integers(*adapted_types(left, right))
    if sign == "//" or (sign == "%" and any(_is_128_bits(argument.type) for argument in (left, right))):
        return DOUBLE
    width, scale = exact_size(sign, left.type, right.type)
    if sign == "*" and width > 18 and scale < 18 and max(digits(left.type)[0], digits(right.type)[0]) <= 18:
        return decimal(18, scale)
    if scale > WIDEST:
        raise ArgumentError("this product has more than 38 decimal places", "write CAST(... AS DOUBLE)")
    fractions = sign in "*%" and 0 not in (digits(left.type)[1], digits(right.type)[1])
    if scale == WIDEST < width and not fractions:  # no digit is left for what stands before the point
        raise ArgumentError(f"{sign} of these numbers takes more than 38 digits", "write CAST(... AS DOUBLE)")
    return decimal(min(WIDEST, width), scale)


def _is_128_bits(type: Type) -> bool:
    return type.kind is Kind.INTEGER and bits(type) == 128


def exact_size(sign: str, left: Type, right: Type) -> tuple[int, int]:
    """Return the width and scale that hold every result on two DECIMALs."""
    (w1, s1), (w2, s2) = digits(left), digits(right)
    if sign == "*":
        return w1 + w2, s1 + s2
    scale = max(s1, s2)
    return max(w1 - s1, w2 - s2) + scale + (sign != "%"), scale


def type_for(result: Interval, left: Argument, right: Argument, target: Type) -> Type | None:
    """Return the target or the narrowest wider type that holds both operands and the result."""
    for wide in (target, *(wider for wider in WIDER if bits(wider) > bits(target))):
        if all(holds(wide, interval) for interval in (result, possible(left), possible(right))):
            return wide
    return None


def fits(type: Type, interval: Interval) -> bool:
    if type.kind is Kind.INTEGER:
        return holds(type, interval)
    limit = limit_of(type)
    return max(-interval.low, interval.high) < limit


def limit_of(type: Type) -> float:
    """Return slightly less than the smallest number that overflows a DECIMAL."""
    width, scale = digits(type)
    return 10.0 ** (width - scale) * (1 - 1e-9)


def in_kind(
    operation: Operation, target: Type, left: Argument, right: Argument, ask: Callable[[Argument], Interval]
) -> Interval:
    """Return the range of the operation, computed in numbers of the target's kind."""
    if target.kind is Kind.FLOAT:
        facts = [within(target, as_double(argument.type, ask(argument)), True) for argument in (left, right)]
        return corners(operation, *(known(Argument(fact)) for fact in facts))
    return corners(operation, ask(left), ask(right))


def in_type(sign: str, texts: tuple[str, ...], arguments: Arguments, target: Type) -> str:
    left, right = (converted(t, a, target) for t, a in zip(texts, arguments, strict=True))
    return f"({left} {sign} {right})"


def narrowed(sql: str, wide: Type, target: Type) -> str:
    return sql if wide == target else f"TRY_CAST({sql} AS {target.sql})"


def width_of(argument: Argument) -> int:
    """Return the maximum number of digits of a whole number."""
    interval = possible(argument)
    return len(str(max(abs(int(interval.low)), abs(int(interval.high)))))


def before_point(argument: Argument) -> int:
    """Return the maximum number of digits before the decimal point."""
    if argument.kind is Kind.INTEGER:
        return width_of(argument)
    width, scale = digits(argument.type)
    return width - scale


def with_digits(text: str, argument: Argument, width: int) -> str:
    """Return SQL for a whole number as HUGEINT; NULL if it has more than ``width`` digits."""
    if width_of(argument) <= width and holds(HUGEINT, possible(argument)):
        return converted(text, argument, HUGEINT)
    return f"CAST(TRY_CAST({text} AS DECIMAL({width},0)) AS HUGEINT)"


def split_width(widths: tuple[int, int], pair: tuple[Argument, Argument], total: int) -> tuple[int, int]:
    """Reduce two widths to a sum of ``total``; a literal keeps its width, the wider operand gives first."""
    first, second = widths
    if first + second <= total:
        return first, second
    keeps_second = pair[1].literal is not None or (pair[0].literal is None and second <= total // 2)
    if keeps_second:
        return max(0, total - second), min(total, second)
    if pair[0].literal is not None or first <= total // 2:
        return min(total, first), max(0, total - first)
    return total // 2, total // 2


def safe_divisor(text: str, right: Argument, target: Type) -> str:
    divisor = possible(right)
    text = converted(text, right, target)
    return f"NULLIF({text}, 0)" if divisor.low <= 0 <= divisor.high else text


def may_overflow(left: Argument, right: Argument, target: Type) -> bool:
    """Whether the minimum of the type may be divided by -1: DuckDB raises for // and %."""
    divisor = possible(right)
    return possible(left).low <= type_range(target).low < 0 and divisor.low <= -1 <= divisor.high
