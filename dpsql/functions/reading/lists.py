"""Lists and maps as arguments of functions that return a scalar, literal ones and those that a row holds.

    list_contains(['a', 'b'], city)     list_contains(city, 'a', 'b')
    ['low', 'high'][band]               list_extract(band, 'low', 'high')
    MAP {'a': 1, 'b': 2}[ward]          map_extract_value(ward, 'a', 1, 'b', 2)

    tags[1], list_extract(tags, 1)      list_item(tags, 1)
    list_contains(tags, 'a')            list_has_item(tags, 'a')

The items of a literal list follow the value, so that a Call stays flat.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.functions.reading.nested import field
from dpsql.functions.reading.shapes import Reader, Readers, Reading, of, only

Items = tuple[exp.Expr, ...]


def items_of(node: object) -> Items | None:
    """Return the items of a literal list; None for anything else."""
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.Array) or not only(node, "expressions"):
        return None
    items = tuple(node.expressions)
    plain = all(isinstance(item, exp.Expr) and not isinstance(item, exp.Select) for item in items)
    return items if items and plain else None


def entries_of(node: object) -> Items | None:
    """Return the keys and values of a literal map in alternation; None for anything else."""
    if isinstance(node, exp.ToMap) and isinstance(node.this, exp.Struct) and only(node, "this"):
        return _struct_entries(node.this)
    if isinstance(node, exp.Map) and only(node, "keys", "values"):
        keys, values = items_of(node.args.get("keys")), items_of(node.args.get("values"))
        if keys and values and len(keys) == len(values):
            return tuple(part for pair in zip(keys, values, strict=True) for part in pair)
    return None


def _struct_entries(node: exp.Struct) -> Items | None:
    parts: list[exp.Expr] = []
    for entry in node.expressions:
        if not isinstance(entry, exp.PropertyEQ) or isinstance(entry.this, exp.Identifier):
            return None
        parts += [entry.this, entry.expression]
    return tuple(parts) or None


_OF_HELD_LISTS = {"list_extract": "list_item", "list_contains": "list_has_item"}
"""Functions of a value and a literal list, and those of a list that a row holds and a value."""


def value_and_items(name: str, source: object, value: exp.Expr | None) -> Reading | None:
    """Read a function of a value and a list."""
    items = items_of(source)
    if items is None and isinstance(source, exp.Expr) and value is not None and name in _OF_HELD_LISTS:
        literal = isinstance(source, exp.Array | exp.Map | exp.ToMap | exp.Struct)
        return None if literal else Reading(_OF_HELD_LISTS[name], (source, value))
    return None if items is None or value is None else Reading(name, (value, *items))


def map_lookup(source: object, key: exp.Expr) -> Reading | None:
    entries = entries_of(source)
    return None if entries is None else Reading("map_extract_value", (key, *entries))


def items_only(name: str, source: object) -> Reading | None:
    """Read a function of one list."""
    items = items_of(source)
    return None if items is None else Reading(name, items)


def two_lists(name: str, first: object, second: object) -> Reading | None:
    """Read a function of two lists of equal length."""
    left, right = items_of(first), items_of(second)
    if left is None or right is None or len(left) != len(right):
        return None
    return Reading(name, (*left, *right))


def _bracket(node: exp.Expr) -> Reading | None:
    if not only(node, "this", "expressions") or len(node.expressions) != 1:
        return None
    index = node.expressions[0]
    if isinstance(node.this, exp.Map | exp.ToMap):
        return map_lookup(node.this, index)
    if items_of(node.this) is None and isinstance(index, exp.Literal) and index.is_string:
        return None if isinstance(node.this, exp.Struct) else field(node.this, index)
    if items_of(node.this) is None and (place := _constant(index)) is not None:
        return value_and_items("list_extract", node.this, place)
    return value_and_items("list_extract", node.this, _one_based(index))


def _constant(index: exp.Expr) -> exp.Expr | None:
    """Restore a constant index as written: sqlglot has subtracted 1."""
    number = index.this if isinstance(index, exp.Neg) else index
    if not isinstance(number, exp.Literal) or number.is_string or not number.name.isdigit():
        return None
    place = 1 + int(number.name) * (-1 if isinstance(index, exp.Neg) else 1)
    return exp.Literal.number(str(place)) if place >= 0 else exp.Neg(this=exp.Literal.number(str(-place)))


def _one_based(index: exp.Expr) -> exp.Expr | None:
    """Restore the index as written: sqlglot subtracts 1 if it infers an integer."""
    from sqlglot.optimizer.annotate_types import annotate_types  # slow to import, and rarely needed

    inferred = annotate_types(index.copy(), dialect="duckdb").type
    if isinstance(index, exp.Slice | exp.Literal) or inferred is None:
        return None
    if inferred.this not in exp.DataType.INTEGER_TYPES:
        return index
    if not isinstance(index, exp.Add) or not isinstance(index.expression, exp.Literal | exp.Neg):
        return None
    moved = int(index.expression.to_py()) + 1
    position = exp.Literal.number(str(moved)) if moved >= 0 else exp.Neg(this=exp.Literal.number(str(-moved)))
    inner: exp.Expr = index.this
    return exp.Add(this=inner, expression=position) if moved else inner


def _map(node: exp.Expr) -> Reading | None:
    """Read MAP {...}[key], which sqlglot parses as a map of the bracket expression."""
    inner = node.this
    if not isinstance(inner, exp.Bracket) or not only(inner, "this", "expressions") or not only(node, "this"):
        return None
    if len(inner.expressions) != 1 or not isinstance(inner.this, exp.Struct):
        return None
    return map_lookup(exp.ToMap(this=inner.this.copy()), inner.expressions[0])


def _two_lists(name: str) -> Reader:
    return lambda node: (
        two_lists(name, node.this, node.expression) if only(node, "this", "expression") else None
    )


def _one_list(name: str) -> Reader:
    return lambda node: items_only(name, node.this) if only(node, "this") else None


def _value_and_list(name: str) -> Reader:
    return lambda node: (
        value_and_items(name, node.this, node.expression) if only(node, "this", "expression") else None
    )


def _length(node: exp.Expr) -> Reading | None:
    return items_only("array_length", node.this) or of("length", "this")(node)


def _size(node: exp.Expr) -> Reading | None:
    if isinstance(node.this, exp.Array):
        return _one_list("array_length")(node)
    return of("length", "this")(node)


def _array_to_string(node: exp.Expr) -> Reading | None:
    return (
        value_and_items("array_to_string", node.this, node.expression)
        if only(node, "this", "expression")
        else None
    )


READERS: Readers = {
    exp.Array: lambda node: items_only("list_value", node),
    exp.ArrayContains: _value_and_list("list_contains"),
    exp.ArrayPosition: _value_and_list("list_position"),
    exp.Bracket: _bracket,
    exp.ToMap: _map,
    exp.Length: _length,
    exp.ArraySize: _size,
    exp.Split: of("string_split", "this", "expression"),
    exp.MapKeys: of("map_keys", "this"),
    exp.ArrayMax: _one_list("greatest"),
    exp.ArrayMin: _one_list("least"),
    exp.ArrayToString: _array_to_string,
    exp.CosineDistance: _two_lists("list_cosine_distance"),
    exp.EuclideanDistance: _two_lists("list_distance"),
    exp.Distance: _two_lists("list_distance"),
}
