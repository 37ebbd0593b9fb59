"""Literal lists and maps: membership, position, length, and lookup by index or key.

    list_contains(['a', 'b'], city)    [10, 20, 30][band]    MAP {'a': 1, 'b': 2}[ward]

A Call has the value first and the items after it. List columns are not supported.
"""

from __future__ import annotations

from dpsql.functions import MANY, Argument, ArgumentError, Arguments, Function, Groups, together
from dpsql.functions.core.comparison import comparison_type, in_one_type
from dpsql.functions.core.conditional import domain_of
from dpsql.functions.core.conversion import converted, sure
from dpsql.functions.core.ranges import truth, within
from dpsql.functions.core.types import common_type, named
from dpsql.ir.column import BIGINT, INTEGER, Fact, Interval, Kind, Type


def _contains_result(arguments: Arguments, type: Type | None) -> Fact:
    target = comparison_type(arguments)
    return truth(arguments[0].fact.nullable or not sure(arguments[0], target))


def _in_one_type(texts: tuple[str, ...], arguments: Arguments) -> tuple[str, ...]:
    """Cast the value and the items to one type."""
    target = comparison_type(arguments)
    return tuple(converted(text, argument, target) for text, argument in zip(texts, arguments, strict=True))


def _contains(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, *items = _in_one_type(texts, arguments)
    return f"list_contains([{', '.join(items)}], {value})"


def _position_result(arguments: Arguments, type: Type | None) -> Fact:
    comparison_type(arguments)
    return within(INTEGER, Interval(1, len(arguments) - 1), nullable=True)


def _position(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    value, *items = _in_one_type(texts, arguments)
    return f"list_position([{', '.join(items)}], {value})"


def _items(count: int) -> Groups:
    return (tuple(range(1, count)),)


def _extract_result(arguments: Arguments, type: Type | None) -> Fact:
    place, *items = arguments
    if place.kind is not Kind.INTEGER:
        raise ArgumentError(
            f"a list position must be a whole number, not {named(place.type)}", "write CAST(... AS INTEGER)"
        )
    target = common_type(items)
    return Fact(target, domain_of(items, target), nullable=True)


def _extract(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    target = common_type(arguments[1:])
    items = (
        converted(text, argument, target) for text, argument in zip(texts[1:], arguments[1:], strict=True)
    )
    return f"list_extract([{', '.join(items)}], {converted(texts[0], arguments[0], BIGINT)})"


def _length_result(arguments: Arguments, type: Type | None) -> Fact:
    common_type(arguments)
    return within(BIGINT, Interval(len(arguments), len(arguments)), nullable=False)


def _entries(count: int) -> Groups:
    return ((0, *range(1, count, 2)), tuple(range(2, count, 2)))


def _keys_and_values(arguments: Arguments) -> tuple[list[Argument], list[Argument]]:
    return list(arguments[1::2]), list(arguments[2::2])


def _map_lookup_result(arguments: Arguments, type: Type | None) -> Fact:
    keys, values = _keys_and_values(arguments)
    comparison_type((arguments[0], *keys))
    constants = [key.literal.value for key in keys if key.literal is not None]
    if len(constants) < len(keys) or None in constants or len(set(constants)) < len(keys):
        raise ArgumentError("the keys of a map must be distinct constants", "write MAP {'a': 1, 'b': 2}")
    target = common_type(values)
    return Fact(target, domain_of(values, target), nullable=True)


def _map_lookup(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    """Render a CASE: DuckDB would build a map for every row."""
    keys, values = _keys_and_values(arguments)
    key, *compared = in_one_type((texts[0], *texts[1::2]), (arguments[0], *keys))
    target = common_type(values)
    whens = " ".join(
        f"WHEN {key} = {constant} THEN {converted(text, value, target)}"
        for constant, text, value in zip(compared, texts[2::2], values, strict=True)
    )
    return f"(CASE {whens} END)"


FUNCTIONS = (
    Function(
        "list_contains", _contains_result, _contains, "list_contains([1, 5], i)", (2, MANY), together,
        strict=False,
    ),
    Function(
        "list_position", _position_result, _position, "list_position([1, 5], i)", (2, MANY), together,
        strict=False,
    ),
    Function(
        "list_extract", _extract_result, _extract, "['a', 'b', 'c'][i]", (2, MANY), _items, strict=False
    ),
    Function(
        "array_length", _length_result, lambda t, a, _: f"CAST({len(t)} AS BIGINT)", "len([1, 5])", (1, MANY),
        together, strict=False,
    ),
    Function(
        "map_extract_value", _map_lookup_result, _map_lookup, "MAP {'Ab': 1, 'cD': 2}[c]", (3, MANY),
        _entries, strict=False,
    ),
)  # fmt: skip
