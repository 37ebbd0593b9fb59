"""Bitwise operations on whole numbers; a shift that overflows gives NULL.

i & 12    [0, 12] for i that is never negative
i << 3    NULL where DuckDB would overflow
"""

from __future__ import annotations

from dpsql.functions import Argument, ArgumentError, Arguments, Function
from dpsql.functions.core.conversion import converted, converted_fact
from dpsql.functions.core.ranges import any_null, known, possible, within
from dpsql.functions.core.types import TINYINT, adapted_types, bits, both_integers, signed
from dpsql.functions.numbers.operands import check_whole_numbers
from dpsql.ir.column import EVERYWHERE, Fact, Interval, Type, type_range


def _bits(sign: str, form: str, example: str) -> Function:
    def target_of(arguments: Arguments) -> Type:
        check_whole_numbers(arguments, sign)
        return both_integers(*adapted_types(*arguments)) if len(arguments) == 2 else arguments[0].type

    def result(arguments: Arguments, type: Type | None) -> Fact:
        target = target_of(arguments)
        nullable = any(converted_fact(argument, target).nullable for argument in arguments)
        ranges = [known(argument) for argument in arguments]
        bit_range = EVERYWHERE
        if all(interval.finite and interval.low >= 0 for interval in ranges) and sign != "~":
            size = 2 ** max(int(interval.high).bit_length() for interval in ranges) - 1
            bit_range = Interval(0, min(interval.high for interval in ranges) if sign == "&" else size)
        elif sign == "~":
            top = 0 if signed(target) else type_range(target).high
            bit_range = Interval(top - 1 - ranges[0].high, top - 1 - ranges[0].low)
            bit_range = bit_range if signed(target) else Interval(top - ranges[0].high, top - ranges[0].low)
        return within(target, bit_range, nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        target = target_of(arguments)
        parts = (converted(text, argument, target) for text, argument in zip(texts, arguments, strict=True))
        return form.format(*parts)

    return Function(sign, result, render, example, (1, 1) if sign == "~" else (2, 2))


def _count_of(arguments: Arguments) -> int:
    """Return the constant number of bits to shift by."""
    count = arguments[1].literal
    if count is None or not isinstance(count.value, int) or not 0 <= count.value < 64:
        raise ArgumentError("a shift takes a constant number of bits", "write x >> 3")
    return count.value


def _shift_right_result(arguments: Arguments, type: Type | None) -> Fact:
    check_whole_numbers(arguments, ">>")
    _count_of(arguments)
    interval = known(arguments[0])
    ends = Interval(min(interval.low, 0), max(interval.high, 0))
    return within(arguments[0].type, ends, any_null(arguments))


def _shift_right(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return f"({texts[0]} >> {texts[1]})"


def _shift_left_result(arguments: Arguments, type: Type | None) -> Fact:
    check_whole_numbers(arguments, "<<")
    result_type, factor = arguments[0].type, 1 << _count_of(arguments)
    interval, most = known(arguments[0]), int(type_range(result_type).high) // factor
    ends = Interval(*(max(min(end, most), 0) * factor for end in (interval.low, interval.high)))
    return within(result_type, ends, any_null(arguments) or not fits_below(arguments[0], most))


def fits_below(argument: Argument, most: int) -> bool:
    """Whether the argument is always between 0 and ``most``."""
    interval = possible(argument)
    return interval.low >= 0 and interval.high <= most


def _shift_left(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    argument, count = arguments[0], _count_of(arguments)
    most = int(type_range(argument.type).high) >> count
    number = f"CAST({count} AS {argument.type.sql})"
    if fits_below(argument, most):
        return f"({texts[0]} << {number})"
    return f"(CASE WHEN {texts[0]} BETWEEN 0 AND {most} THEN {texts[0]} << {number} END)"


def _bit_count_result(arguments: Arguments, type: Type | None) -> Fact:
    check_whole_numbers(arguments, "bit_count")
    if bits(arguments[0].type) == 128:  # a count of 128 overflows the TINYINT of DuckDB
        raise ArgumentError("bit_count takes numbers of 64 bits", "write CAST(... AS BIGINT)")
    return within(TINYINT, Interval(0, bits(arguments[0].type)), any_null(arguments))


FUNCTIONS = (
    _bits("&", "({} & {})", "i & 12"),
    _bits("|", "({} | {})", "i | 12"),
    _bits("xor", "xor({}, {})", "xor(i, 12)"),
    _bits("~", "(~{})", "~i"),
    Function("<<", _shift_left_result, _shift_left, "i << 2", (2, 2)),
    Function(">>", _shift_right_result, _shift_right, "i >> 2", (2, 2)),
    Function(
        "bit_count",
        _bit_count_result,
        lambda t, a, _: f"bit_count({t[0]})",
        "bit_count(i)",
        names=("bit_count",),
    ),
)
