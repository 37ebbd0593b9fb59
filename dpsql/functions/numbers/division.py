"""Division and remainder, in DuckDB's result types; integer division by zero gives NULL.

i // 7       i // 7;   u // v of unsigned numbers: u // NULLIF(v, 0)
i / j        a DOUBLE; division by zero is infinite
i % j        |i % j| < |j|, with the sign of i
"""

from __future__ import annotations

import math
import operator

from dpsql.functions import Arguments, Function
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import any_null, corners, known, outward, possible, within
from dpsql.functions.core.types import WIDEST, bits
from dpsql.functions.numbers.operands import (
    WIDER,
    arithmetic_type,
    check_numbers,
    exact_size,
    in_kind,
    in_type,
    may_overflow,
    narrowed,
    safe_divisor,
    with_digits,
)
from dpsql.ir.column import DOUBLE, EVERYWHERE, HUGEINT, Fact, Interval, Kind, Number, Type


def _division_result(arguments: Arguments, type: Type | None) -> Fact:
    check_numbers(arguments, "/")
    left, right = arguments
    target = arithmetic_type("/", left, right)
    divisor = known(right)
    if divisor.low <= 0 <= divisor.high:
        return within(target, EVERYWHERE, any_null(arguments))
    return within(target, in_kind(operator.truediv, target, left, right, known), any_null(arguments))


def _division(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return in_type("/", texts, arguments, arithmetic_type("/", *arguments))


def _division_type(sign: str, arguments: Arguments) -> Type:
    check_numbers(arguments, sign)
    return arithmetic_type(sign, *arguments)


def _quotient_result(arguments: Arguments, type: Type | None) -> Fact:
    target = _division_type("//", arguments)
    left, right = arguments
    divisor = possible(right)
    touches = divisor.low <= 0 <= divisor.high
    if target.kind is Kind.FLOAT:
        interval = EVERYWHERE if touches else in_kind(operator.truediv, target, left, right, known)
        return within(target, interval, any_null(arguments) or touches)
    parts = _without_zero(known(right))
    interval = Interval(0, 0)
    for part in parts:
        interval = _hull(interval, corners(_truncated, known(left), part))
    return within(target, interval, any_null(arguments) or touches or may_overflow(left, right, target))


def _without_zero(interval: Interval) -> tuple[Interval, ...]:
    parts = []
    if interval.low <= -1:
        parts.append(Interval(interval.low, min(interval.high, -1)))
    if interval.high >= 1:
        parts.append(Interval(max(interval.low, 1), interval.high))
    return tuple(parts)


def _hull(left: Interval, right: Interval) -> Interval:
    return Interval(min(left.low, right.low), max(left.high, right.high))


def _truncated(left: Number, right: Number) -> Number:
    if math.isinf(right):
        return 0
    if math.isinf(left):
        return left if right > 0 else -left
    size = abs(int(left)) // abs(int(right))
    return size if (left < 0) == (right < 0) else -size


def _quotient(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    target = _division_type("//", arguments)
    if target.kind is Kind.INTEGER:
        return _integer_sql("//", texts, arguments, target)
    right = safe_divisor(texts[1], arguments[1], target)
    return f"({converted(texts[0], arguments[0], target)} // {right})"


def _integer_sql(sign: str, texts: tuple[str, ...], arguments: Arguments, target: Type) -> str:
    left, right = arguments
    if not may_overflow(left, right, target):
        divisor = safe_divisor(texts[1], right, target)
        return f"({converted(texts[0], left, target)} {sign} {divisor})"
    if target == HUGEINT:
        return f"({with_digits(texts[0], left, WIDEST)} {sign} {safe_divisor(texts[1], right, target)})"
    wide = next(wider for wider in WIDER if bits(wider) > bits(target))
    sql = f"({converted(texts[0], left, wide)} {sign} {safe_divisor(texts[1], right, wide)})"
    return narrowed(sql, wide, target)


def _remainder_result(arguments: Arguments, type: Type | None) -> Fact:
    target = _division_type("%", arguments)
    left, right = known(arguments[0]), known(arguments[1])
    size = max(abs(right.low), abs(right.high))  # |x % y| < |y|, with the sign of x
    if target.kind is Kind.INTEGER and not math.isinf(size):
        size = max(size - 1, 0)
    if Kind.FLOAT not in (arguments[0].kind, arguments[1].kind) and target.kind is not Kind.FLOAT:
        size = min(size, max(abs(left.low), abs(left.high)))
    low = 0 if left.low >= 0 else -size
    high = 0 if left.high <= 0 else size
    divisor = possible(arguments[1])
    fails = target.kind is not Kind.FLOAT and divisor.low <= 0 <= divisor.high
    if target.kind is Kind.DECIMAL:
        fails = fails or exact_size("%", arguments[0].type, arguments[1].type)[0] > WIDEST
    if target == HUGEINT:
        fails = fails or may_overflow(arguments[0], arguments[1], target)
    return within(target, Interval(low, high), any_null(arguments) or fails)


def _remainder(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    target = _division_type("%", arguments)
    if target.kind is Kind.INTEGER:
        return _integer_sql("%", texts, arguments, target)
    left = converted(texts[0], arguments[0], target)
    right = converted(texts[1], arguments[1], target)
    if target.kind is Kind.DECIMAL:
        right = safe_divisor(texts[1], arguments[1], target)
    return f"({left} % {right})"


def _floored_division(name: str) -> Function:
    """DuckDB's fdiv(x, y) is floor(x / y), and fmod(x, y) is x - y * fdiv(x, y)."""

    def parts(texts: tuple[str, ...], arguments: Arguments) -> tuple[str, ...]:
        target = arithmetic_type("/", *arguments)
        return tuple(
            converted(text, argument, target) for text, argument in zip(texts, arguments, strict=True)
        )

    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_numbers(arguments, name)
        left, right = arguments
        target, divisor = arithmetic_type("/", left, right), known(right)
        if divisor.low <= 0 <= divisor.high:
            return within(target, EVERYWHERE, any_null(arguments))
        slack = 1e-14 if target == DOUBLE else 1e-6  # a quotient may round up to the next integer
        quotient = outward(in_kind(operator.truediv, target, left, right, known), slack)
        if name == "fdiv":
            ends = (end if math.isinf(end) else math.floor(end) for end in (quotient.low, quotient.high))
            return within(target, Interval(*ends), any_null(arguments))
        exact = max(abs(quotient.low), abs(quotient.high)) < 1e6 and target == DOUBLE
        size = max(abs(divisor.low), abs(divisor.high)) * (1 + 1e-6)
        interval = Interval(-size, size) if exact else EVERYWHERE
        return within(target, interval, any_null(arguments))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"{name}({', '.join(parts(texts, arguments))})"

    return Function(name, result, render, f"{name}(x, y)", (2, 2), names=(name,))


FUNCTIONS = (
    Function("/", _division_result, _division, "i / j", (2, 2)),
    Function("//", _quotient_result, _quotient, "i // j", (2, 2), names=("//", "divide")),
    Function("%", _remainder_result, _remainder, "i % j", (2, 2), names=("%", "mod")),
    _floored_division("fdiv"),
    _floored_division("fmod"),
)
