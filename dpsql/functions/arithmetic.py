"""+ - * / // % and the sign functions, in DuckDB's types and without its errors.

    i + j        TRY_CAST(CAST(i AS BIGINT) + CAST(j AS BIGINT) AS INTEGER)     overflow is NULL
    i // 7       i // 7;   u // v of unsigned numbers: u // NULLIF(v, 0)
    price * tax  a DECIMAL of both widths together, narrowed to DuckDB's type with TRY_CAST

Whole numbers are computed in a type that holds every result of the operands' types. Where there is
none (HUGEINT, wide DECIMAL), the operands are narrowed until there is: what is lost has more than 18
digits. DOUBLE does not raise.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

from dpsql.functions import Argument, Arguments, Function, Unfit
from dpsql.functions.conversion import converted
from dpsql.functions.intervals import minus_result, minus_sql, plus_result, plus_sql
from dpsql.functions.ranges import (
    any_null,
    as_double,
    corners,
    in_decimals,
    known,
    possible,
    within,
)
from dpsql.functions.types import (
    FLOAT,
    TINYINT,
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
    EVERYWHERE,
    HUGEINT,
    INTEGER,
    Fact,
    Interval,
    Kind,
    Number,
    Type,
    type_named,
    type_range,
)

Operation = Callable[[Number, Number], Number]

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {"+": operator.add, "-": operator.sub, "*": operator.mul}
_WIDER = (INTEGER, BIGINT, HUGEINT, type_named("UHUGEINT"))
_SHORT = 200
"""Operands this short may be written twice."""


def numbers(arguments: Arguments, sign: str) -> None:
    """All arguments must be numbers."""
    for each in arguments:
        if not each.type.numeric:
            raise Unfit(f"{sign} takes numbers, not {named(each.type)}", "write CAST(... AS ...) around it")


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
        raise Unfit("this product has more than 38 digits behind the point", "write CAST(... AS DOUBLE)")
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


def _plain_result(sign: str) -> Callable[[Arguments, Type | None], Fact]:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        numbers(arguments, sign)
        left, right = arguments
        target = arithmetic_type(sign, left, right)
        operation = _OPERATIONS[sign]
        exact = in_decimals(operation) if target.kind is Kind.DECIMAL else operation
        fails = _may_fail(sign, target, left, right)
        return within(target, _in(exact, target, left, right, known), any_null(arguments) or fails)

    return result


def _may_fail(sign: str, target: Type, left: Argument, right: Argument) -> bool:
    """Whether the rendered SQL gives NULL for some numbers of the arguments' types."""
    operation = _OPERATIONS[sign]
    match target.kind:
        case Kind.INTEGER:
            whole = corners(operation, possible(left), possible(right))
            return not holds(target, whole) or _room(whole, left, right, target) is None
        case Kind.DECIMAL:
            if needed(sign, left.type, right.type)[0] <= digits(target)[0]:
                return False
            whole = corners(in_decimals(operation), possible(left), possible(right))
            return digits(target)[0] == WIDEST or not _fits(target, whole)
        case _:
            return False


def _room(whole: Interval, left: Argument, right: Argument, target: Type) -> Type | None:
    """The narrowest type, from the target's on, that holds both operands and the result."""
    for wide in (target, *(each for each in _WIDER if bits(each) > bits(target))):
        if all(holds(wide, each) for each in (whole, possible(left), possible(right))):
            return wide
    return None


def _fits(type: Type, interval: Interval) -> bool:
    if type.kind is Kind.INTEGER:
        return holds(type, interval)
    limit = _limit(type)
    return max(-interval.low, interval.high) < limit


def _limit(type: Type) -> float:
    """A little less than the first number that a DECIMAL does not hold."""
    width, scale = digits(type)
    return 10.0 ** (width - scale) * (1 - 1e-9)


def _in(
    operation: Operation, target: Type, left: Argument, right: Argument, ask: Callable[[Argument], Interval]
) -> Interval:
    """The operation's range, computed in numbers of the target's kind."""
    if target.kind is Kind.FLOAT:
        facts = [within(target, as_double(each.type, ask(each)), True) for each in (left, right)]
        return corners(operation, *(known(Argument(fact)) for fact in facts))
    return corners(operation, ask(left), ask(right))


def _plain_sql(sign: str) -> Callable[[tuple[str, ...], Arguments, Type | None], str]:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        left, right = arguments
        target = arithmetic_type(sign, left, right)
        match target.kind:
            case Kind.INTEGER:
                return _in_integers(sign, texts, left, right, target)
            case Kind.DECIMAL:
                return _in_decimals(sign, texts, left, right, target)
            case _:
                return _as(sign, texts, arguments, target)

    return render


def _as(sign: str, texts: tuple[str, ...], arguments: Arguments, target: Type) -> str:
    left, right = (converted(t, a, target) for t, a in zip(texts, arguments, strict=True))
    return f"({left} {sign} {right})"


def _in_integers(sign: str, texts: tuple[str, ...], left: Argument, right: Argument, target: Type) -> str:
    whole = corners(_OPERATIONS[sign], possible(left), possible(right))
    wide = _room(whole, left, right, target)
    if wide is not None:
        return narrowed(_as(sign, texts, (left, right), wide), wide, target)
    widths = (WIDEST - 1, WIDEST - 1)
    if sign == "*":
        widths = _shared((_width_of(left), _width_of(right)), (left, right), WIDEST)
    parts = [_cut(t, a, width) for t, a, width in zip(texts, (left, right), widths, strict=True)]
    return narrowed(f"({parts[0]} {sign} {parts[1]})", HUGEINT, target)


def narrowed(sql: str, wide: Type, target: Type) -> str:
    return sql if wide == target else f"TRY_CAST({sql} AS {target.sql})"


def _width_of(argument: Argument) -> int:
    """How many digits a whole number can have."""
    whole = possible(argument)
    return len(str(max(abs(int(whole.low)), abs(int(whole.high)))))


def _before_point(argument: Argument) -> int:
    """How many digits before the point a number can have."""
    if argument.kind is Kind.INTEGER:
        return _width_of(argument)
    width, scale = digits(argument.type)
    return width - scale


def _cut(text: str, argument: Argument, width: int) -> str:
    """A whole number as HUGEINT, NULL where it has more digits."""
    if _width_of(argument) <= width and holds(HUGEINT, possible(argument)):
        return converted(text, argument, HUGEINT)
    return f"CAST(TRY_CAST({text} AS DECIMAL({width},0)) AS HUGEINT)"


def _shared(widths: tuple[int, int], pair: tuple[Argument, Argument], total: int) -> tuple[int, int]:
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


def _in_decimals(sign: str, texts: tuple[str, ...], left: Argument, right: Argument, target: Type) -> str:
    pair = (left, right)
    operation = in_decimals(_OPERATIONS[sign])
    width, scale = needed(sign, left.type, right.type)
    bare = f"({texts[0]} {sign} {texts[1]})"
    if width <= digits(target)[0]:
        return bare
    if sign == "*" and width <= WIDEST:
        if _fits(target, corners(operation, possible(left), possible(right))):
            return bare
        if sum(map(len, texts)) < _SHORT:  # half the time of the wide product
            size = " * ".join(converted(t, a, DOUBLE) for t, a in zip(texts, pair, strict=True))
            return f"(CASE WHEN abs({size}) < {_limit(target)!r} THEN {bare} END)"
        if digits(target)[0] == WIDEST:
            return bare
        part = decimal(19, digits(left.type)[1]) if digits(left.type)[0] < 19 else left.type
        return f"TRY_CAST(({converted(texts[0], left, part)} * {texts[1]}) AS {target.sql})"
    if sign == "*":
        scales = [digits(each.type)[1] for each in pair]
        one, other = _shared((_before_point(left), _before_point(right)), pair, WIDEST - scale)
        before = (WIDEST - scale - other, other) if right.literal is not None else (one, WIDEST - scale - one)
        types = [decimal(max(1, w + s), s) for w, s in zip(before, scales, strict=True)]
    else:
        types = [decimal(WIDEST - 1, scale)] * 2
    parts = [converted(text, each, part) for text, each, part in zip(texts, pair, types, strict=True)]
    return f"({parts[0]} {sign} {parts[1]})"


def _division_result(arguments: Arguments, type: Type | None) -> Fact:
    numbers(arguments, "/")
    left, right = arguments
    target = arithmetic_type("/", left, right)
    divisor = known(right)
    if divisor.low <= 0 <= divisor.high:
        return within(target, EVERYWHERE, any_null(arguments))
    return within(target, _in(operator.truediv, target, left, right, known), any_null(arguments))


def _divided(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return _as("/", texts, arguments, arithmetic_type("/", *arguments))


def _safe_divisor(text: str, right: Argument, target: Type) -> str:
    divisor = possible(right)
    text = converted(text, right, target)
    return f"NULLIF({text}, 0)" if divisor.low <= 0 <= divisor.high else text


def _whole_type(sign: str, arguments: Arguments) -> Type:
    numbers(arguments, sign)
    return arithmetic_type(sign, *arguments)


def _quotient_result(arguments: Arguments, type: Type | None) -> Fact:
    target = _whole_type("//", arguments)
    left, right = arguments
    divisor = possible(right)
    touches = divisor.low <= 0 <= divisor.high
    if target.kind is Kind.FLOAT:
        whole = EVERYWHERE if touches else _in(operator.truediv, target, left, right, known)
        return within(target, whole, any_null(arguments) or touches)
    parts = _without_zero(known(right))
    whole = Interval(0, 0)
    for part in parts:
        whole = _joined(whole, corners(_truncated, known(left), part))
    return within(target, whole, any_null(arguments) or touches or _lowest(left, right, target))


def _without_zero(interval: Interval) -> tuple[Interval, ...]:
    found = []
    if interval.low <= -1:
        found.append(Interval(interval.low, min(interval.high, -1)))
    if interval.high >= 1:
        found.append(Interval(max(interval.low, 1), interval.high))
    return tuple(found)


def _joined(one: Interval, other: Interval) -> Interval:
    return Interval(min(one.low, other.low), max(one.high, other.high))


def _truncated(left: Number, right: Number) -> Number:
    if math.isinf(right):
        return 0
    if math.isinf(left):
        return left if right > 0 else -left
    size = abs(int(left)) // abs(int(right))
    return size if (left < 0) == (right < 0) else -size


def _quotient(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    target = _whole_type("//", arguments)
    if target.kind is Kind.INTEGER:
        return _whole_sql("//", texts, arguments, target)
    right = _safe_divisor(texts[1], arguments[1], target)
    return f"({converted(texts[0], arguments[0], target)} // {right})"


def _lowest(left: Argument, right: Argument, target: Type) -> bool:
    """Whether the least number may meet -1: DuckDB raises, for // and % alike."""
    divisor = possible(right)
    return possible(left).low <= type_range(target).low < 0 and divisor.low <= -1 <= divisor.high


def _whole_sql(sign: str, texts: tuple[str, ...], arguments: Arguments, target: Type) -> str:
    left, right = arguments
    if not _lowest(left, right, target):
        divisor = _safe_divisor(texts[1], right, target)
        return f"({converted(texts[0], left, target)} {sign} {divisor})"
    if target == HUGEINT:
        return f"({_cut(texts[0], left, WIDEST)} {sign} {_safe_divisor(texts[1], right, target)})"
    wide = next(each for each in _WIDER if bits(each) > bits(target))
    sql = f"({converted(texts[0], left, wide)} {sign} {_safe_divisor(texts[1], right, wide)})"
    return narrowed(sql, wide, target)


def _remainder_result(arguments: Arguments, type: Type | None) -> Fact:
    target = _whole_type("%", arguments)
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
        fails = fails or needed("%", arguments[0].type, arguments[1].type)[0] > WIDEST
    if target == HUGEINT:
        fails = fails or _lowest(arguments[0], arguments[1], target)
    return within(target, Interval(low, high), any_null(arguments) or fails)


def _remainder(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    target = _whole_type("%", arguments)
    if target.kind is Kind.INTEGER:
        return _whole_sql("%", texts, arguments, target)
    left = converted(texts[0], arguments[0], target)
    right = converted(texts[1], arguments[1], target)
    if target.kind is Kind.DECIMAL:
        right = _safe_divisor(texts[1], arguments[1], target)
    return f"({left} % {right})"


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


def _widened(form: str, result: Callable[[Arguments, Type | None], Fact]) -> Callable[..., str]:
    """``-x`` or ``abs(x)``, which fail on the least value of a signed type alone."""

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        (one,) = arguments
        fails = result((Argument(Fact(one.type, one.fact.domain, nullable=False)),), None).nullable
        if not fails:
            return form.format(texts[0])
        if one.type.sql in ("HUGEINT", "UHUGEINT"):
            part = f"CAST(TRY_CAST({texts[0]} AS DECIMAL(38,0)) AS HUGEINT)"
            return f"TRY_CAST({form.format(part)} AS {one.type.sql})"
        wide = next(each for each in _WIDER if bits(each) > bits(one.type))
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


def _sum_result(sign: str) -> Callable[[Arguments, Type | None], Fact]:
    plain = _plain_result(sign)
    dated = plus_result if sign == "+" else minus_result

    def result(arguments: Arguments, type: Type | None) -> Fact:
        if all(each.type.numeric for each in arguments):
            return plain(arguments, type)
        return dated(arguments)

    return result


def _sum_sql(sign: str) -> Callable[[tuple[str, ...], Arguments, Type | None], str]:
    plain = _plain_sql(sign)
    dated = plus_sql if sign == "+" else minus_sql

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        if all(each.type.numeric for each in arguments):
            return plain(texts, arguments, type)
        return dated(texts, arguments)

    return render


FUNCTIONS = (
    Function("+", _sum_result("+"), _sum_sql("+"), "i + j", (2, 2)),
    Function("-", _sum_result("-"), _sum_sql("-"), "i - j", (2, 2)),
    Function("*", _plain_result("*"), _plain_sql("*"), "i * j", (2, 2)),
    Function("/", _division_result, _divided, "i / j", (2, 2)),
    Function("//", _quotient_result, _quotient, "i // j", (2, 2)),
    Function("%", _remainder_result, _remainder, "i % j", (2, 2)),
    Function("negate", _negated_result, _widened("(-{})", _negated_result), "-i"),
    Function("abs", _absolute_result, _widened("abs({})", _absolute_result), "abs(i)"),
    Function("sign", _sign_result, lambda t, a, _: f"sign({t[0]})", "sign(i)"),
)
