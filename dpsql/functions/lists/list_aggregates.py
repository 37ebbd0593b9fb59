"""Sums, means and distances over the items of literal lists.

list_sum([a, b, c])    NULL items are ignored      list_distance([x, y], [1, 2])    NULL items give NULL
"""

from __future__ import annotations

import math
from functools import reduce

from dpsql.functions import MANY, ArgumentError, Arguments, Function, Render, Result, together
from dpsql.functions.core.conversion import converted, converted_fact, range_as
from dpsql.functions.core.logic import check_condition
from dpsql.functions.core.ranges import any_null, corners, outward, truth, within
from dpsql.functions.core.types import FLOAT, WIDEST, bits, common_type, decimal, digits
from dpsql.functions.numbers.operands import check_numbers, check_whole_numbers
from dpsql.ir.column import BIGINT, DOUBLE, EVERYWHERE, HUGEINT, Fact, Interval, Kind, Type, type_named


def _item_type(arguments: Arguments, name: str) -> Type:
    check_numbers(arguments, name)
    item = common_type(arguments)
    wide = item.kind is Kind.INTEGER and bits(item) > 64
    if wide or (item.kind is Kind.DECIMAL and digits(item)[0] > 34):
        raise ArgumentError(f"{name} may overflow for numbers this wide", "write CAST(... AS DOUBLE)")
    return item


def _sum_type(item: Type) -> Type:
    match item.kind:
        case Kind.INTEGER:
            return HUGEINT
        case Kind.DECIMAL:
            return decimal(WIDEST, digits(item)[1])
        case _:
            return DOUBLE


def _may_be_null(arguments: Arguments, item: Type) -> bool:
    """Whether all items may be NULL at once."""
    return all(converted_fact(argument, item).nullable for argument in arguments)


def _including(interval: Interval, number: float) -> Interval:
    return Interval(min(interval.low, number), max(interval.high, number))


def _interval_sum(left: Interval, right: Interval) -> Interval:
    return Interval(left.low + right.low, left.high + right.high)


def _sum_result(arguments: Arguments, type: Type | None) -> Fact:
    item = _item_type(arguments, "list_sum")
    interval = reduce(_interval_sum, (_including(range_as(argument, item), 0) for argument in arguments))
    target = _sum_type(item)
    if target == DOUBLE:
        interval = outward(interval, 1e-6 if item == FLOAT else 1e-12)
    elif target.kind is Kind.DECIMAL:  # the ends are floats; their sum has a rounding error
        interval = outward(interval)
    return within(target, interval, _may_be_null(arguments, item))


def _mean_result(arguments: Arguments, type: Type | None) -> Fact:
    item = _item_type(arguments, "list_avg")
    ranges = [range_as(argument, item) for argument in arguments]
    mean = Interval(min(interval.low for interval in ranges), max(interval.high for interval in ranges))
    if item.kind is Kind.FLOAT and max(-mean.low, mean.high) > 1e300:  # the sum may overflow to infinity
        mean = Interval(-math.inf, math.inf)
    return within(DOUBLE, outward(mean, 1e-6 if item == FLOAT else 1e-12), _may_be_null(arguments, item))


def _product_result(arguments: Arguments, type: Type | None) -> Fact:
    item = _item_type(arguments, "list_product")
    ranges = (_including(range_as(argument, item), 1) for argument in arguments)
    doubles = (Interval(float(interval.low), float(interval.high)) for interval in ranges)
    product = reduce(lambda left, right: corners(lambda a, b: a * b, left, right), doubles)
    return within(DOUBLE, outward(product, 1e-6 if item == FLOAT else 1e-12), _may_be_null(arguments, item))


def _count_result(arguments: Arguments, type: Type | None) -> Fact:
    common_type(arguments)
    return within(BIGINT, Interval(0, len(arguments)), nullable=False)


def _unique_result(arguments: Arguments, type: Type | None) -> Fact:
    common_type(arguments)
    return within(type_named("UBIGINT"), Interval(0, len(arguments)), nullable=False)


def _bits_result(arguments: Arguments, type: Type | None) -> Fact:
    check_whole_numbers(arguments, "bits of a list")
    item = common_type(arguments)
    ranges, result = [range_as(argument, item) for argument in arguments], EVERYWHERE
    if all(interval.finite and interval.low >= 0 for interval in ranges):
        result = Interval(0, 2 ** max(int(interval.high).bit_length() for interval in ranges) - 1)
    return within(item, result, _may_be_null(arguments, item))


def _bool_result(arguments: Arguments, type: Type | None) -> Fact:
    for argument in arguments:
        check_condition(argument)
    return truth(all(argument.fact.nullable for argument in arguments))


def _call_on_list(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        item = common_type(arguments)
        items = (converted(text, argument, item) for text, argument in zip(texts, arguments, strict=True))
        return f"{name}([{', '.join(items)}])"

    return render


def _aggregate(name: str, result: Result) -> Function:
    return Function(
        name, result, _call_on_list(name), f"{name}([i, j, 3])", (1, MANY), together, strict=False
    )


def _vector_function(name: str) -> Function:
    """Return a function of two lists: the first and the second half of the arguments."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        check_numbers(arguments, name)
        if any(argument.type == FLOAT for argument in arguments):
            raise ArgumentError(f"{name} takes DOUBLE here, not FLOAT", "write CAST(... AS DOUBLE)")
        return within(DOUBLE, _vector_range(name, arguments), any_null(arguments))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        items = [converted(text, argument, DOUBLE) for text, argument in zip(texts, arguments, strict=True)]
        nullable = [argument.fact.nullable for argument in arguments]
        tests = [f"{item} IS NOT NULL" for item, may in zip(items, nullable, strict=True) if may]
        # DuckDB finds a NULL in lists without one if a join repeats the row. Arrays do not have this bug.
        # Their items are coalesced, because DuckDB may compute a branch of a CASE that is not taken.
        filled = [f"coalesce({item}, 0)" if may else item for item, may in zip(items, nullable, strict=True)]
        half = len(items) // 2
        lists = (f"CAST([{', '.join(part)}] AS DOUBLE[{half}])" for part in (filled[:half], filled[half:]))
        call = f"{name.replace('list_', 'array_')}({', '.join(lists)})"
        return f"(CASE WHEN {' AND '.join(tests)} THEN {call} END)" if tests else call

    return Function(name, result, render, f"{name}([x, y], [1, 2])", (2, MANY))


def _vector_range(name: str, arguments: Arguments) -> Interval:
    half = len(arguments) // 2
    pairs = [
        (range_as(left, DOUBLE), range_as(right, DOUBLE))
        for left, right in zip(arguments[:half], arguments[half:], strict=True)
    ]
    match name:
        case "list_cosine_similarity":
            return Interval(-1 - 1e-9, 1 + 1e-9)
        case "list_cosine_distance":
            return Interval(-1e-9, 2 + 1e-9)
        case "list_distance":
            gaps = [float(max(a.high - b.low, b.high - a.low)) for a, b in pairs]
            squares = sum(gap * gap for gap in gaps)  # overflows to infinity as in DuckDB
            return outward(Interval(0, math.sqrt(squares)), 1e-9)
        case _:
            products = [corners(lambda a, b: float(a) * float(b), a, b) for a, b in pairs]
            size = sum(max(abs(interval.low), abs(interval.high)) for interval in products)
            if math.isinf(size):  # infinite of either sign, or NaN
                return Interval(-math.inf, math.inf)
            total = reduce(_interval_sum, products)
            total = Interval(total.low - size * 1e-9, total.high + size * 1e-9)
            return Interval(-total.high, -total.low) if name == "list_negative_inner_product" else total


FUNCTIONS = (
    _aggregate("list_sum", _sum_result),
    _aggregate("list_avg", _mean_result),
    _aggregate("list_product", _product_result),
    _aggregate("list_count", _count_result),
    _aggregate("list_unique", _unique_result),
    _aggregate("list_bit_and", _bits_result),
    _aggregate("list_bit_or", _bits_result),
    _aggregate("list_bit_xor", _bits_result),
    Function(
        "list_bool_and", _bool_result, _call_on_list("list_bool_and"), "list_bool_and([b, i > 2])", (1, MANY),
        together, strict=False,
    ),
    Function(
        "list_bool_or", _bool_result, _call_on_list("list_bool_or"), "list_bool_or([b, i > 2])", (1, MANY),
        together, strict=False,
    ),
    _vector_function("list_distance"),
    _vector_function("list_inner_product"),
    _vector_function("list_negative_inner_product"),
    _vector_function("list_cosine_similarity"),
    _vector_function("list_cosine_distance"),
)  # fmt: skip
