"""Divisors, multiples, factorials and binomial coefficients.

gcd(i, 12)    [0, 12] at most        factorial(i)    NULL beyond 33    binom(52, 5)    NULL beyond 128
"""

from __future__ import annotations

import math

from dpsql.functions import ArgumentError, Arguments, Function
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.ranges import any_null, known, possible, within
from dpsql.functions.core.types import holds
from dpsql.functions.numbers.operands import check_whole_numbers
from dpsql.ir.column import BIGINT, HUGEINT, INTEGER, Fact, Interval, Type, type_range


def _gcd_result(arguments: Arguments, type: Type | None) -> Fact:
    _check_64_bits(arguments, "gcd")
    size = max(max(abs(interval.low), abs(interval.high)) for interval in map(known, arguments))
    fails = any(possible(argument).low <= type_range(BIGINT).low for argument in arguments)
    return within(BIGINT, Interval(0, size), any_null(arguments) or fails)


def _gcd(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    parts = []
    for text, argument in zip(texts, arguments, strict=True):
        part = converted(text, argument, BIGINT)
        parts.append(part if possible(argument).low > type_range(BIGINT).low else f"NULLIF({part}, {_LEAST})")
    return f"gcd({', '.join(parts)})"


_LEAST = "-9223372036854775808"


def _lcm_result(arguments: Arguments, type: Type | None) -> Fact:
    _check_64_bits(arguments, "lcm")
    sizes = [max(abs(interval.low), abs(interval.high)) for interval in map(known, arguments)]
    top = math.prod(sizes) if all(math.isfinite(size) for size in sizes) else math.inf
    return within(BIGINT, Interval(0, top), nullable=True)


def _check_64_bits(arguments: Arguments, name: str) -> None:
    check_whole_numbers(arguments, name)
    if not all(holds(BIGINT, type_range(argument.type)) for argument in arguments):
        raise ArgumentError(f"{name} takes numbers of 64 bits", "write CAST(... AS BIGINT)")


def _lcm(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    parts = (converted(text, argument, HUGEINT) for text, argument in zip(texts, arguments, strict=True))
    return f"TRY_CAST(lcm({', '.join(parts)}) AS BIGINT)"


def _binom_result(arguments: Arguments, type: Type | None) -> Fact:
    check_whole_numbers(arguments, "binom")
    return within(HUGEINT, Interval(0, math.comb(128, 64)), nullable=True)


def _binom(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    of, taken = (converted(text, argument, INTEGER) for text, argument in zip(texts, arguments, strict=True))
    small = f"{of} >= 0 AND {taken} BETWEEN 0 AND 3"
    return f"(CASE WHEN {of} BETWEEN 0 AND 128 AND {taken} >= 0 OR {small} THEN binom({of}, {taken}) END)"


def _factorial_result(arguments: Arguments, type: Type | None) -> Fact:
    check_whole_numbers(arguments, "factorial")
    interval = known(arguments[0])
    top = int(max(0, min(interval.high, 33)))
    return within(HUGEINT, Interval(1, math.factorial(top)), nullable=True)


def _factorial(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    number = converted(texts[0], arguments[0], INTEGER)
    return f"(CASE WHEN {number} BETWEEN 0 AND 33 THEN factorial({number}) END)"


FUNCTIONS = (
    Function("gcd", _gcd_result, _gcd, "gcd(i, 12)", (2, 2), names=("gcd", "greatest_common_divisor")),
    Function("lcm", _lcm_result, _lcm, "lcm(i, 12)", (2, 2), names=("lcm", "least_common_multiple")),
    Function("binom", _binom_result, _binom, "binom(i, 2)", (2, 2), names=("binom",)),
    Function("factorial", _factorial_result, _factorial, "factorial(i)", names=("factorial",)),
)
