"""The two sides of an arithmetic sign: the type they meet in, and how they are made to fit it.

arithmetic_type("*", DECIMAL(15,2), DECIMAL(4,2))    DECIMAL(18,4)
room([0, 70], i, j, INTEGER)                         INTEGER: it holds both sides and every result
shortened("h", HUGEINT, 37)                                h as a HUGEINT of at most 37 digits, else NULL
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
    adapted,
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


def numbers(arguments: Arguments, sign: str) -> None:
    """All arguments must be numbers."""
    for each in arguments:
        if not each.type.numeric:
            raise ArgumentError(
                f"{sign} takes numbers, not {named(each.type)}", "write CAST(... AS ...) around it"
            )


def whole_numbers(arguments: Arguments, name: str) -> None:
    for each in arguments:
        if each.kind is not Kind.INTEGER:
            raise ArgumentError(f"{name} takes whole numbers, not {named(each.type)}")


def arithmetic_type(sign: str, left: Argument, right: Argument) -> Type:
    """DuckDB's type of ``left sign right``."""
    if Kind.FLOAT in (left.kind, right.kind):
        return DOUBLE if DOUBLE in (left.type, right.type) else FLOAT
    if sign == "/":
        return DOUBLE
    if left.kind is right.kind is Kind.INTEGER:
        return sum_of_integers(*adapted(left, right))
    if sign == "//" or (sign == "%" and any(_huge(each.type) for each in (left, right))):
        return DOUBLE
    width, scale = needed(sign, left.type, right.type)
    if sign == "*" and width > 18 and scale < 18 and max(digits(left.type)[0], digits(right.type)[0]) <= 18:
        return decimal(18, scale)
    if scale > WIDEST:
        raise ArgumentError(
            "this product has more than 38 digits behind the point", "write CAST(... AS DOUBLE)"
        )
    return decimal(min(WIDEST, width), scale)


def _huge(type: Type) -> bool:
    return type.kind is Kind.INTEGER and bits(type) == 128


def needed(sign: str, left: Type, right: Type) -> tuple[int, int]:
    """Width and scale that hold every result on two DECIMALs."""
    (w1, s1), (w2, s2) = digits(left), digits(right)
    if sign == "*":
        return w1 + w2, s1 + s2
    scale = max(s1, s2)
    return max(w1 - s1, w2 - s2) + scale + (sign != "%"), scale


def room(whole: Interval, left: Argument, right: Argument, target: Type) -> Type | None:
    """The narrowest type, from the target's on, that holds both operands and the result."""
    for wide in (target, *(each for each in WIDER if bits(each) > bits(target))):
        if all(holds(wide, each) for each in (whole, possible(left), possible(right))):
            return wide
    return None


def fits(type: Type, interval: Interval) -> bool:
    if type.kind is Kind.INTEGER:
        return holds(type, interval)
    limit = limit_of(type)
    return max(-interval.low, interval.high) < limit


def limit_of(type: Type) -> float:
    """A little less than the first number that a DECIMAL does not hold."""
    width, scale = digits(type)
    return 10.0 ** (width - scale) * (1 - 1e-9)


def in_kind(
    operation: Operation, target: Type, left: Argument, right: Argument, ask: Callable[[Argument], Interval]
) -> Interval:
    """The operation's range, computed in numbers of the target's kind."""
    if target.kind is Kind.FLOAT:
        facts = [within(target, as_double(each.type, ask(each)), True) for each in (left, right)]
        return corners(operation, *(known(Argument(fact)) for fact in facts))
    return corners(operation, ask(left), ask(right))


def in_type(sign: str, texts: tuple[str, ...], arguments: Arguments, target: Type) -> str:
    left, right = (converted(t, a, target) for t, a in zip(texts, arguments, strict=True))
    return f"({left} {sign} {right})"


def narrowed(sql: str, wide: Type, target: Type) -> str:
    return sql if wide == target else f"TRY_CAST({sql} AS {target.sql})"


def width_of(argument: Argument) -> int:
    """How many digits a whole number can have."""
    whole = possible(argument)
    return len(str(max(abs(int(whole.low)), abs(int(whole.high)))))


def before_point(argument: Argument) -> int:
    """How many digits before the point a number can have."""
    if argument.kind is Kind.INTEGER:
        return width_of(argument)
    width, scale = digits(argument.type)
    return width - scale


def shortened(text: str, argument: Argument, width: int) -> str:
    """A whole number as HUGEINT, NULL where it has more digits."""
    if width_of(argument) <= width and holds(HUGEINT, possible(argument)):
        return converted(text, argument, HUGEINT)
    return f"CAST(TRY_CAST({text} AS DECIMAL({width},0)) AS HUGEINT)"


def shared(widths: tuple[int, int], pair: tuple[Argument, Argument], total: int) -> tuple[int, int]:
    """Widths of together at most ``total``; a constant keeps its own, the wider one gives first."""
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


def lowest(left: Argument, right: Argument, target: Type) -> bool:
    """Whether the least number may meet -1: DuckDB raises, for // and % alike."""
    divisor = possible(right)
    return possible(left).low <= type_range(target).low < 0 and divisor.low <= -1 <= divisor.high
