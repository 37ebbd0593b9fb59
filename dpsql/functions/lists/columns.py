"""Lists that a row holds: the items of a text or a map, one item, whether a value is among them.

    [first, second]    string_split(choices, ';')    scores[1]    list_contains(tags, 'new')

A list is only taken apart: no group key, no released value is one. ``UNNEST`` makes rows of its items.
"""

from __future__ import annotations

from dpsql.functions import MANY, Argument, ArgumentError, Arguments, Function, together
from dpsql.functions.core.conversion import converted
from dpsql.functions.core.literals import coerce
from dpsql.functions.core.ranges import any_null, truth
from dpsql.functions.core.types import common_type, named
from dpsql.functions.text.common import check_text, constant_text, cut, spelled
from dpsql.ir.column import (
    ANYTHING,
    BIGINT,
    VARCHAR,
    Fact,
    Kind,
    Sized,
    Type,
    entry_types,
    item_type,
    list_of,
    type_named,
)


def items_of(argument: Argument, name: str) -> Type:
    """Return the type of a list's items; refuse what is no list."""
    item = item_type(argument.type)
    if item is None:
        raise ArgumentError(
            f"{name} takes a list, not {named(argument.type)}",
            "make a list of a text: string_split(x, ';'); or of a map: map_keys(x); a part of a text is "
            "substring(x, 1, 1)",
        )
    return item


def _value_result(arguments: Arguments, type: Type | None) -> Fact:
    return Fact(list_of(common_type(arguments)), Sized(len(arguments), exact=True), nullable=False)


def _value(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    item = common_type(arguments)
    items = (converted(text, argument, item) for text, argument in zip(texts, arguments, strict=True))
    return f"[{', '.join(items)}]"


def _split_result(arguments: Arguments, type: Type | None) -> Fact:
    check_text(arguments[0], "string_split")
    constant_text(arguments[1], "the separator")
    return Fact(list_of(VARCHAR), ANYTHING, arguments[0].fact.nullable)


def _split(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return f"string_split({cut(spelled(texts[0], arguments[0]))}, {texts[1]})"


def _item_result(arguments: Arguments, type: Type | None) -> Fact:
    item = items_of(arguments[0], "[]")
    if arguments[1].kind is not Kind.INTEGER:
        raise ArgumentError(
            f"a list position must be a whole number, not {named(arguments[1].type)}",
            "write CAST(... AS INTEGER)",
        )
    return Fact(item, ANYTHING, nullable=True)


def _item(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return f"list_extract({texts[0]}, {converted(texts[1], arguments[1], BIGINT)})"


def _contains_result(arguments: Arguments, type: Type | None) -> Fact:
    item, value = items_of(arguments[0], "list_contains"), arguments[1]
    if value.literal is None or coerce(value.literal, item) is None:
        raise ArgumentError(
            f"list_contains looks for a constant of type {item.said} here", "write it as a literal"
        )
    return truth(any_null(arguments))


def _contains(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    item, literal = items_of(arguments[0], "list_contains"), arguments[1].literal
    assert literal is not None
    return f"list_contains({texts[0]}, CAST({texts[1]} AS {item.sql}))"


def _of_map(name: str) -> Function:
    """Return a function that makes a list of a map: its keys, its values, or both together."""

    def result(arguments: Arguments, type: Type | None) -> Fact:
        entry = entry_types(arguments[0].type)
        if entry is None:
            raise ArgumentError(f"{name} takes a map, not {named(arguments[0].type)}", "name a MAP column")
        key, value = entry
        both = type_named(f'STRUCT("key" {key.sql}, "value" {value.sql})')
        item = {"map_keys": key, "map_values": value, "map_entries": both}[name]
        return Fact(list_of(item), ANYTHING, arguments[0].fact.nullable)

    names = () if name == "map_keys" else (name,)
    return Function(
        name, result, lambda texts, *_: f"{name}({texts[0]})", f"{name}(mp)", opens=True, names=names
    )


FUNCTIONS = (
    Function("list_value", _value_result, _value, "[i, j, 3]", (1, MANY), together, strict=False),
    Function("string_split", _split_result, _split, "string_split(s, '-')", (2, 2)),
    Function("list_item", _item_result, _item, "li[i]", (2, 2), opens=True),
    Function("list_has_item", _contains_result, _contains, "list_contains(li, 'ab')", (2, 2), opens=True),
    *(_of_map(name) for name in ("map_keys", "map_values", "map_entries")),
)
