"""Plain calls, read by name: functions that sqlglot has no node type for.

lcm(a, b)              lcm, by its registered names
date_part('dow', d)    dayofweek(d)
timezone('UTC', d)     timezone(d, 'UTC')
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sqlglot import exp

from dpsql.functions import shelf
from dpsql.functions.reading.lists import entries_of, items_only, map_lookup, two_lists, value_and_items
from dpsql.functions.reading.nested import at_path, field
from dpsql.functions.reading.shapes import Reading, only
from dpsql.functions.reading.times import date_part, part_literal

Arguments = tuple[exp.Expr, ...]


@cache
def _by_name() -> dict[str, str]:
    return {name: function.name for function in shelf().values() for name in function.names}


def named(node: exp.Expr) -> Reading | None:
    """Read a call that sqlglot does not know, by its name."""
    if not isinstance(node.this, str) or not only(node, "this", "expressions"):
        return None
    name, arguments = node.this.lower(), tuple(node.expressions)
    if not all(isinstance(argument, exp.Expr) for argument in arguments):
        return None
    special = _SPECIAL.get((name, len(arguments)))
    if special is not None:
        return special(*arguments)
    function = _by_name().get(name)
    return None if function is None else Reading(function, arguments)


def _date_part(unit: exp.Expr, value: exp.Expr) -> Reading | None:
    return date_part(unit, value) if isinstance(unit, exp.Literal) else None


def _date_sub(unit: exp.Expr, start: exp.Expr, end: exp.Expr) -> Reading | None:
    named_unit = part_literal(unit)
    return Reading("date_sub", (named_unit, start, end)) if named_unit else None


def _case(*arguments: exp.Expr) -> Reading:
    return Reading("case", arguments)


def _timezone(zone: exp.Expr, value: exp.Expr) -> Reading:
    return Reading("timezone", (value, zone))


def _like_escape(name: str, negated: bool) -> Callable[..., Reading]:
    kind = exp.Like if name == "like" else exp.ILike

    def read(subject: exp.Expr, pattern: exp.Expr, escape: exp.Expr) -> Reading:
        if not negated:
            return Reading(name, (subject, pattern, escape))
        inner = kind(this=subject.copy(), expression=pattern.copy())
        return Reading("not", (exp.Escape(this=inner, expression=escape.copy()),))

    return read


def _value_and_list(name: str) -> Callable[..., Reading | None]:
    return lambda source, value: value_and_items(name, source, value)


def _one_list(name: str) -> Callable[..., Reading | None]:
    return lambda source: items_only(name, source)


def _two_lists(name: str) -> Callable[..., Reading | None]:
    return lambda one, other: two_lists(name, one, other)


def _by_key(source: exp.Expr, key: exp.Expr) -> Reading | None:
    """Read a value of a map: of one that is spelled out, or of one that a row holds by a constant key."""
    reading = map_lookup(source, key)
    constant = isinstance(key, exp.Literal) and not isinstance(source, exp.Map | exp.ToMap)
    return field(source, key) if reading is None and constant else reading


def _of_json(name: str) -> Callable[..., Reading | None]:
    return lambda subject, path=None: at_path(name, subject, path)


def _map_contains(source: exp.Expr, key: exp.Expr) -> Reading | None:
    entries = entries_of(source)
    return None if entries is None else Reading("list_contains", (key, *entries[::2]))


_FOLDS = {
    "list_sum": "list_sum", "list_avg": "list_avg", "list_count": "list_count",
    "list_product": "list_product", "list_any_value": "coalesce", "list_unique": "list_unique",
    "array_unique": "list_unique", "list_bit_and": "list_bit_and", "list_bit_or": "list_bit_or",
    "list_bit_xor": "list_bit_xor", "list_bool_and": "list_bool_and", "list_bool_or": "list_bool_or",
}  # fmt: skip
_PAIRS = {
    "list_distance": "list_distance", "list_inner_product": "list_inner_product",
    "list_dot_product": "list_inner_product", "list_cosine_similarity": "list_cosine_similarity",
    "list_cosine_distance": "list_cosine_distance",
    "list_negative_inner_product": "list_negative_inner_product",
    "list_negative_dot_product": "list_negative_inner_product",
}  # fmt: skip

_SPECIAL: dict[tuple[str, int], Callable[..., Reading | None]] = {
    **{(name, 2): _date_part for name in ("date_part", "datepart")},
    **{(name, 3): _date_sub for name in ("date_sub", "datesub")},
    **{(name, count): _case for name in ("iff", "if") for count in (2, 3)},
    ("timezone", 2): _timezone,
    ("like_escape", 3): _like_escape("like", negated=False),
    ("ilike_escape", 3): _like_escape("ilike", negated=False),
    ("not_like_escape", 3): _like_escape("like", negated=True),
    ("not_ilike_escape", 3): _like_escape("ilike", negated=True),
    **{
        (name, 2): _value_and_list("list_contains")
        for name in ("list_contains", "list_has", "array_contains")
    },
    **{
        (name, 2): _value_and_list("list_position")
        for name in ("list_position", "list_indexof", "array_indexof")
    },
    **{
        (name, 2): _value_and_list("list_extract")
        for name in ("list_extract", "list_element", "array_extract")
    },
    **{(name, 1): _one_list(kind) for name, kind in _FOLDS.items()},
    **{(name, 2): _two_lists(kind) for name, kind in _PAIRS.items()},
    ("list_first", 1): lambda source: value_and_items("list_extract", source, exp.Literal.number("1")),
    ("list_last", 1): lambda source: value_and_items(
        "list_extract", source, exp.Neg(this=exp.Literal.number("1"))
    ),
    ("map_extract_value", 2): _by_key,
    ("element_at", 2): _by_key,
    **{(name, count): _of_json(name) for name in ("json_array_length", "json_exists") for count in (1, 2)},
    ("map_contains", 2): _map_contains,
}
