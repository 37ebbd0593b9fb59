"""Fields of structs, home.town or home['town'], and values of maps by a constant key.

A field has no declared range: clamp it where it is summed, SUM(home.rooms CLAMPED BETWEEN 0 AND 20).
"""

from __future__ import annotations

from dpsql.functions import Argument, ArgumentError, Arguments, Function
from dpsql.functions.core.literals import coerce
from dpsql.functions.core.types import named
from dpsql.functions.text.common import constant_text
from dpsql.ir.column import ANYTHING, Fact, Type, entry_types, field_types


def _field(arguments: Arguments) -> str:
    """Return the name of a field as the struct spells it; names are compared as DuckDB compares them."""
    fields = field_types(arguments[0].type)
    name = constant_text(arguments[1], "the name of a field")
    found = next((field for field in fields if field.casefold() == name.casefold()), None)
    if found is None:
        raise ArgumentError(
            f"there is no field {name} here", f"the fields are {', '.join(fields)}", code="D202"
        )
    return found


def _result(arguments: Arguments, type: Type | None) -> Fact:
    whole = arguments[0].type
    entry = entry_types(whole)
    if entry is not None:
        _check_key(arguments[1], entry[0])
        return Fact(entry[1], ANYTHING, nullable=True)
    if not field_types(whole):
        raise ArgumentError(
            f"a field is taken of a struct or a map, not of {named(whole)}", "name a STRUCT column"
        )
    return Fact(field_types(whole)[_field(arguments)], ANYTHING, nullable=True)


def _check_key(key: Argument, type: Type) -> None:
    if key.literal is None or coerce(key.literal, type) is None:
        raise ArgumentError(f"a map's key must be a constant of type {type.said}", "write it as a literal")


def _render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    entry = entry_types(arguments[0].type)
    if entry is not None:
        return f"map_extract_value({texts[0]}, CAST({texts[1]} AS {entry[0].sql}))"
    name = _field(arguments).replace("'", "''")
    return f"struct_extract({texts[0]}, '{name}')"


FUNCTIONS = (Function("struct_extract", _result, _render, "st['a']", (2, 2), opens=True),)
