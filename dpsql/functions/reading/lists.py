"""Lists and maps written in the query, which stand only inside a function that takes them apart.

    list_contains(['a', 'b'], city)     list_contains(city, 'a', 'b')
    ['low', 'high'][band]               list_extract(band, 'low', 'high')
    MAP {'a': 1, 'b': 2}[ward]          map_extract_value(ward, 'a', 1, 'b', 2)

The list's items follow the value, so that a Call stays flat and no value of the shelf is a list.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.functions.reading.shapes import Reader, Readers, Reading, of, only

Items = tuple[exp.Expr, ...]


def items_of(node: object) -> Items | None:
    """The items of a list that the text spells out."""
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.Array) or not only(node, "expressions"):
        return None
    found = tuple(node.expressions)
    plain = all(isinstance(each, exp.Expr) and not isinstance(each, exp.Select) for each in found)
    return found if found and plain else None


def entries_of(node: object) -> Items | None:
    """The keys and values, in turns, of a map that the text spells out."""
    if isinstance(node, exp.ToMap) and isinstance(node.this, exp.Struct) and only(node, "this"):
        return _pairs(node.this)
    if isinstance(node, exp.Map) and only(node, "keys", "values"):
        keys, values = items_of(node.args.get("keys")), items_of(node.args.get("values"))
        if keys and values and len(keys) == len(values):
            return tuple(part for pair in zip(keys, values, strict=True) for part in pair)
    return None


def _pairs(node: exp.Struct) -> Items | None:
    parts: list[exp.Expr] = []
    for each in node.expressions:
        if not isinstance(each, exp.PropertyEQ) or isinstance(each.this, exp.Identifier):
            return None
        parts += [each.this, each.expression]
    return tuple(parts) or None


def taken(name: str, source: object, value: exp.Expr | None) -> Reading | None:
    """A function of a value and the items of a list."""
    items = items_of(source)
    return None if items is None or value is None else Reading(name, (value, *items))


def looked_up(source: object, key: exp.Expr) -> Reading | None:
    entries = entries_of(source)
    return None if entries is None else Reading("map_extract_value", (key, *entries))


def folded(name: str, source: object) -> Reading | None:
    """A function of the items alone."""
    items = items_of(source)
    return None if items is None else Reading(name, items)


def paired(name: str, one: object, other: object) -> Reading | None:
    """A function of two lists of one length."""
    left, right = items_of(one), items_of(other)
    if left is None or right is None or len(left) != len(right):
        return None
    return Reading(name, (*left, *right))


def _bracket(node: exp.Expr) -> Reading | None:
    if not only(node, "this", "expressions") or len(node.expressions) != 1:
        return None
    index = node.expressions[0]
    if isinstance(node.this, exp.Map | exp.ToMap):
        return looked_up(node.this, index)
    return taken("list_extract", node.this, _from_one(index))


def _from_one(index: exp.Expr) -> exp.Expr | None:
    """The index as written: sqlglot counts from 0 where it knows an index to be a whole number."""
    from sqlglot.optimizer.annotate_types import annotate_types  # an optimizer, for the few that index a list

    whole = annotate_types(index.copy(), dialect="duckdb").type
    if isinstance(index, exp.Slice | exp.Literal) or whole is None:
        return None
    if whole.this not in exp.DataType.INTEGER_TYPES:
        return index
    if not isinstance(index, exp.Add) or not isinstance(index.expression, exp.Literal | exp.Neg):
        return None
    moved = int(index.expression.to_py()) + 1
    one = exp.Literal.number(str(moved)) if moved >= 0 else exp.Neg(this=exp.Literal.number(str(-moved)))
    inner: exp.Expr = index.this
    return exp.Add(this=inner, expression=one) if moved else inner


def _map(node: exp.Expr) -> Reading | None:
    """MAP {...}[key] comes as the map of what stands in the brackets."""
    inner = node.this
    if not isinstance(inner, exp.Bracket) or not only(inner, "this", "expressions") or not only(node, "this"):
        return None
    if len(inner.expressions) != 1 or not isinstance(inner.this, exp.Struct):
        return None
    return looked_up(exp.ToMap(this=inner.this.copy()), inner.expressions[0])


def _pair(name: str) -> Reader:
    return lambda node: paired(name, node.this, node.expression) if only(node, "this", "expression") else None


def _fold(name: str) -> Reader:
    return lambda node: folded(name, node.this) if only(node, "this") else None


def _take(name: str) -> Reader:
    return lambda node: taken(name, node.this, node.expression) if only(node, "this", "expression") else None


def _length(node: exp.Expr) -> Reading | None:
    return folded("array_length", node.this) or of("length", "this")(node)


def _joined(node: exp.Expr) -> Reading | None:
    return taken("array_to_string", node.this, node.expression) if only(node, "this", "expression") else None


READERS: Readers = {
    exp.ArrayContains: _take("list_contains"),
    exp.ArrayPosition: _take("list_position"),
    exp.Bracket: _bracket,
    exp.ToMap: _map,
    exp.Length: _length,
    exp.ArraySize: _fold("array_length"),
    exp.ArrayMax: _fold("greatest"),
    exp.ArrayMin: _fold("least"),
    exp.ArrayToString: _joined,
    exp.CosineDistance: _pair("list_cosine_distance"),
    exp.EuclideanDistance: _pair("list_distance"),
    exp.Distance: _pair("list_distance"),
}
