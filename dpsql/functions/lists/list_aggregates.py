"""Sums, means and distances over the items of lists that the query spells out.

list_sum([a, b, c])    NULL items take no part      list_distance([x, y], [1, 2])    NULL items give NULL
"""

from __future__ import annotations

import math
from functools import reduce

from dpsql.functions import MANY, ArgumentError, Arguments, Function, Render, Result, together
from dpsql.functions.core.conversion import converted, converted_fact, range_as
from dpsql.functions.core.logic import condition
from dpsql.functions.core.ranges import any_null, corners, outward, truth, within
from dpsql.functions.core.types import FLOAT, WIDEST, bits, common_type, decimal, digits
from dpsql.functions.numbers.operands import numbers, whole_numbers
from dpsql.ir.column import BIGINT, DOUBLE, EVERYWHERE, HUGEINT, Fact, Interval, Kind, Type, type_named


def _item_type(arguments: Arguments, name: str) -> Type:
    numbers(arguments, name)
    found = common_type(arguments)
    wide = found.kind is Kind.INTEGER and bits(found) > 64
    if wide or (found.kind is Kind.DECIMAL and digits(found)[0] > 34):
        raise ArgumentError(f"{name} of so wide numbers may overflow", "write CAST(... AS DOUBLE)")
    return found


def _sum_type(item: Type) -> Type:
    match item.kind:
        case Kind.INTEGER:
            return HUGEINT
        case Kind.DECIMAL:
            return decimal(WIDEST, digits(item)[1])
        case _:
            return DOUBLE


def _missing(arguments: Arguments, item: Type) -> bool:
    """Whether every item may be NULL."""
    return all(converted_fact(each, item).nullable for each in arguments)


def _or(whole: Interval, other: float) -> Interval:
    return Interval(min(whole.low, other), max(whole.high, other))


def _added(left: Interval, right: Interval) -> Interval:
    return Interval(left.low + right.low, left.high + right.high)


def _sum_result(arguments: Arguments, type: Type | None) -> Fact:
    item = _item_type(arguments, "list_sum")
    whole = reduce(_added, (_or(range_as(each, item), 0) for each in arguments))
    target = _sum_type(item)
    if target == DOUBLE:
        whole = outward(whole, 1e-6 if item == FLOAT else 1e-12)
    elif target.kind is Kind.DECIMAL:  # its ends are floats, which add up with an error
        whole = outward(whole)
    return within(target, whole, _missing(arguments, item))


def _mean_result(arguments: Arguments, type: Type | None) -> Fact:
    item = _item_type(arguments, "list_avg")
    ranges = [range_as(each, item) for each in arguments]
    whole = Interval(min(each.low for each in ranges), max(each.high for each in ranges))
    if item.kind is Kind.FLOAT and max(-whole.low, whole.high) > 1e300:  # the sum may be infinite
        whole = Interval(-math.inf, math.inf)
    return within(DOUBLE, outward(whole, 1e-6 if item == FLOAT else 1e-12), _missing(arguments, item))


def _product_result(arguments: Arguments, type: Type | None) -> Fact:
    item = _item_type(arguments, "list_product")
    ranges = (_or(range_as(each, item), 1) for each in arguments)
    doubles = (Interval(float(each.low), float(each.high)) for each in ranges)
    whole = reduce(lambda left, right: corners(lambda a, b: a * b, left, right), doubles)
    return within(DOUBLE, outward(whole, 1e-6 if item == FLOAT else 1e-12), _missing(arguments, item))


def _count_result(arguments: Arguments, type: Type | None) -> Fact:
    common_type(arguments)
    return within(BIGINT, Interval(0, len(arguments)), nullable=False)


def _unlike_result(arguments: Arguments, type: Type | None) -> Fact:
    common_type(arguments)
    return within(type_named("UBIGINT"), Interval(0, len(arguments)), nullable=False)


def _bits_result(arguments: Arguments, type: Type | None) -> Fact:
    whole_numbers(arguments, "bits of a list")
    item = common_type(arguments)
    ranges, whole = [range_as(each, item) for each in arguments], EVERYWHERE
    if all(each.finite and each.low >= 0 for each in ranges):
        whole = Interval(0, 2 ** max(int(each.high).bit_length() for each in ranges) - 1)
    return within(item, whole, _missing(arguments, item))


def _truth_result(arguments: Arguments, type: Type | None) -> Fact:
    for each in arguments:
        condition(each)
    return truth(all(each.fact.nullable for each in arguments))


def _all_of(name: str) -> Render:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        item = common_type(arguments)
        items = (converted(text, each, item) for text, each in zip(texts, arguments, strict=True))
        return f"{name}([{', '.join(items)}])"

    return render


def _fold(name: str, result: Result) -> Function:
    return Function(name, result, _all_of(name), f"{name}([i, j, 3])", (1, MANY), together, strict=False)


def _pair(name: str) -> Function:
    """The first half of the arguments is one list, the second half the other."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        numbers(arguments, name)
        if any(each.type == FLOAT for each in arguments):
            raise ArgumentError(f"{name} takes DOUBLE here, not FLOAT", "write CAST(... AS DOUBLE)")
        return within(DOUBLE, _reach(name, arguments), any_null(arguments))

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        items = [converted(text, each, DOUBLE) for text, each in zip(texts, arguments, strict=True)]
        nullable = [each.fact.nullable for each in arguments]
        some = [f"{item} IS NOT NULL" for item, may in zip(items, nullable, strict=True) if may]
        # DuckDB sees a NULL in lists that hold none, of rows that a join repeats: arrays are measured right,
        # and hold none even where the CASE does not ask for them.
        given = [f"coalesce({item}, 0)" if may else item for item, may in zip(items, nullable, strict=True)]
        half = len(items) // 2
        lists = (f"CAST([{', '.join(part)}] AS DOUBLE[{half}])" for part in (given[:half], given[half:]))
        call = f"{name.replace('list_', 'array_')}({', '.join(lists)})"
        return f"(CASE WHEN {' AND '.join(some)} THEN {call} END)" if some else call

    return Function(name, result, render, f"{name}([x, y], [1, 2])", (2, MANY))


def _reach(name: str, arguments: Arguments) -> Interval:
    half = len(arguments) // 2
    pairs = [
        (range_as(one, DOUBLE), range_as(other, DOUBLE))
        for one, other in zip(arguments[:half], arguments[half:], strict=True)
    ]
    match name:
        case "list_cosine_similarity":
            return Interval(-1 - 1e-9, 1 + 1e-9)
        case "list_cosine_distance":
            return Interval(-1e-9, 2 + 1e-9)
        case "list_distance":
            gaps = [float(max(a.high - b.low, b.high - a.low)) for a, b in pairs]
            squares = sum(gap * gap for gap in gaps)  # infinite where DuckDB's are
            return outward(Interval(0, math.sqrt(squares)), 1e-9)
        case _:
            products = [corners(lambda a, b: float(a) * float(b), a, b) for a, b in pairs]
            size = sum(max(abs(each.low), abs(each.high)) for each in products)
            if math.isinf(size):  # of either sign, or NaN
                return Interval(-math.inf, math.inf)
            whole = reduce(_added, products)
            whole = Interval(whole.low - size * 1e-9, whole.high + size * 1e-9)
            return Interval(-whole.high, -whole.low) if name == "list_negative_inner_product" else whole


FUNCTIONS = (
    _fold("list_sum", _sum_result),
    _fold("list_avg", _mean_result),
    _fold("list_product", _product_result),
    _fold("list_count", _count_result),
    _fold("list_unique", _unlike_result),
    _fold("list_bit_and", _bits_result),
    _fold("list_bit_or", _bits_result),
    _fold("list_bit_xor", _bits_result),
    Function(
        "list_bool_and", _truth_result, _all_of("list_bool_and"), "list_bool_and([b, i > 2])", (1, MANY),
        together, strict=False,
    ),
    Function(
        "list_bool_or", _truth_result, _all_of("list_bool_or"), "list_bool_or([b, i > 2])", (1, MANY),
        together, strict=False,
    ),
    _pair("list_distance"),
    _pair("list_inner_product"),
    _pair("list_negative_inner_product"),
    _pair("list_cosine_similarity"),
    _pair("list_cosine_distance"),
)  # fmt: skip
