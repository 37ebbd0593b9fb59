"""Bits of whole numbers.

i & 12    [0, 12] for i that is never negative
i << 3    NULL where DuckDB would overflow
"""

from __future__ import annotations

from dpsql.functions import Argument, ArgumentError, Arguments, Function
from dpsql.functions.core.conversion import converted, converted_fact
from dpsql.functions.core.ranges import any_null, known, possible, within
from dpsql.functions.core.types import TINYINT, adapted, bits, both_integers, signed
from dpsql.functions.numbers.operands import whole_numbers
from dpsql.ir.column import EVERYWHERE, Fact, Interval, Type, type_range


def _bits(sign: str, form: str, example: str) -> Function:
    def target_of(arguments: Arguments) -> Type:
        whole_numbers(arguments, sign)
        return both_integers(*adapted(*arguments)) if len(arguments) == 2 else arguments[0].type

    def result(arguments: Arguments, type: Type | None) -> Fact:
        target = target_of(arguments)
        nullable = any(converted_fact(each, target).nullable for each in arguments)
        ranges = [known(each) for each in arguments]
        whole = EVERYWHERE
        if all(each.finite and each.low >= 0 for each in ranges) and sign != "~":
            size = 2 ** max(int(each.high).bit_length() for each in ranges) - 1
            whole = Interval(0, min(each.high for each in ranges) if sign == "&" else size)
        elif sign == "~":
            top = 0 if signed(target) else type_range(target).high
            whole = Interval(top - 1 - ranges[0].high, top - 1 - ranges[0].low)
            whole = whole if signed(target) else Interval(top - ranges[0].high, top - ranges[0].low)
        return within(target, whole, nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        target = target_of(arguments)
        parts = (converted(text, each, target) for text, each in zip(texts, arguments, strict=True))
        return form.format(*parts)

    return Function(sign, result, render, example, (1, 1) if sign == "~" else (2, 2))


def _count_of(arguments: Arguments) -> int:
    """The constant number of bits to shift by."""
    count = arguments[1].literal
    if count is None or not isinstance(count.value, int) or not 0 <= count.value < 64:
        raise ArgumentError("a shift takes a constant number of bits", "write x >> 3")
    return count.value


def _shift_result(arguments: Arguments, type: Type | None) -> Fact:
    whole_numbers(arguments, ">>")
    _count_of(arguments)
    whole = known(arguments[0])
    ends = Interval(min(whole.low, 0), max(whole.high, 0))
    return within(arguments[0].type, ends, any_null(arguments))


def _shift(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return f"({texts[0]} >> {texts[1]})"


def _left_result(arguments: Arguments, type: Type | None) -> Fact:
    whole_numbers(arguments, "<<")
    own, factor = arguments[0].type, 1 << _count_of(arguments)
    whole, most = known(arguments[0]), int(type_range(own).high) // factor
    ends = Interval(*(max(min(end, most), 0) * factor for end in (whole.low, whole.high)))
    return within(own, ends, any_null(arguments) or not holds_all(arguments[0], most))


def holds_all(argument: Argument, most: int) -> bool:
    """Whether every number that the argument can be lies between 0 and this."""
    whole = possible(argument)
    return whole.low >= 0 and whole.high <= most


def _left(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    one, count = arguments[0], _count_of(arguments)
    most = int(type_range(one.type).high) >> count
    number = f"CAST({count} AS {one.type.sql})"
    if holds_all(one, most):
        return f"({texts[0]} << {number})"
    return f"(CASE WHEN {texts[0]} BETWEEN 0 AND {most} THEN {texts[0]} << {number} END)"


def _bit_count_result(arguments: Arguments, type: Type | None) -> Fact:
    whole_numbers(arguments, "bit_count")
    if bits(arguments[0].type) == 128:  # 128 bits overflow the TINYINT that DuckDB counts in
        raise ArgumentError("bit_count takes numbers of 64 bits", "write CAST(... AS BIGINT)")
    return within(TINYINT, Interval(0, bits(arguments[0].type)), any_null(arguments))


FUNCTIONS = (
    _bits("&", "({} & {})", "i & 12"),
    _bits("|", "({} | {})", "i | 12"),
    _bits("xor", "xor({}, {})", "xor(i, 12)"),
    _bits("~", "(~{})", "~i"),
    Function("<<", _left_result, _left, "i << 2", (2, 2)),
    Function(">>", _shift_result, _shift, "i >> 2", (2, 2)),
    Function(
        "bit_count",
        _bit_count_result,
        lambda t, a, _: f"bit_count({t[0]})",
        "bit_count(i)",
        names=("bit_count",),
    ),
)
