"""Plain calls, by name: what sqlglot has no syntax of its own for.

lcm(a, b)              lcm, by the names that it has on the shelf
date_part('dow', d)    dayofweek(d)
timezone('UTC', d)     timezone(d, 'UTC')
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sqlglot import exp

from dpsql.functions import shelf
from dpsql.functions.reading.lists import entries_of, folded, looked_up, paired, taken
from dpsql.functions.reading.shapes import Reading, only
from dpsql.functions.reading.times import extracted, word

Arguments = tuple[exp.Expr, ...]


@cache
def _by_name() -> dict[str, str]:
    return {name: function.name for function in shelf().values() for name in function.names}


def named(node: exp.Expr) -> Reading | None:
    """A call that sqlglot does not know, by its name."""
    if not isinstance(node.this, str) or not only(node, "this", "expressions"):
        return None
    name, arguments = node.this.lower(), tuple(node.expressions)
    if not all(isinstance(each, exp.Expr) for each in arguments):
        return None
    special = _SPECIAL.get((name, len(arguments)))
    if special is not None:
        return special(*arguments)
    found = _by_name().get(name)
    return None if found is None else Reading(found, arguments)


def _part(unit: exp.Expr, value: exp.Expr) -> Reading | None:
    return extracted(unit, value) if isinstance(unit, exp.Literal) else None


def _whole_periods(unit: exp.Expr, start: exp.Expr, end: exp.Expr) -> Reading | None:
    named_unit = word(unit)
    return Reading("date_sub", (named_unit, start, end)) if named_unit else None


def _chosen(*arguments: exp.Expr) -> Reading:
    return Reading("case", arguments)


def _zoned(zone: exp.Expr, value: exp.Expr) -> Reading:
    return Reading("timezone", (value, zone))


def _escaped(name: str, negated: bool) -> Callable[..., Reading]:
    kind = exp.Like if name == "like" else exp.ILike

    def read(subject: exp.Expr, pattern: exp.Expr, escape: exp.Expr) -> Reading:
        if not negated:
            return Reading(name, (subject, pattern, escape))
        inner = kind(this=subject.copy(), expression=pattern.copy())
        return Reading("not", (exp.Escape(this=inner, expression=escape.copy()),))

    return read


def _take(name: str) -> Callable[..., Reading | None]:
    return lambda source, value: taken(name, source, value)


def _fold(name: str) -> Callable[..., Reading | None]:
    return lambda source: folded(name, source)


def _pair(name: str) -> Callable[..., Reading | None]:
    return lambda one, other: paired(name, one, other)


def _key(source: exp.Expr, key: exp.Expr) -> Reading | None:
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
    **{(name, 2): _part for name in ("date_part", "datepart")},
    **{(name, 3): _whole_periods for name in ("date_sub", "datesub")},
    **{(name, count): _chosen for name in ("iff", "if") for count in (2, 3)},
    ("timezone", 2): _zoned,
    ("like_escape", 3): _escaped("like", negated=False),
    ("ilike_escape", 3): _escaped("ilike", negated=False),
    ("not_like_escape", 3): _escaped("like", negated=True),
    ("not_ilike_escape", 3): _escaped("ilike", negated=True),
    **{(name, 2): _take("list_contains") for name in ("list_contains", "list_has", "array_contains")},
    **{(name, 2): _take("list_position") for name in ("list_position", "list_indexof", "array_indexof")},
    **{(name, 2): _take("list_extract") for name in ("list_extract", "list_element", "array_extract")},
    **{(name, 1): _fold(kind) for name, kind in _FOLDS.items()},
    **{(name, 2): _pair(kind) for name, kind in _PAIRS.items()},
    ("list_first", 1): lambda source: taken("list_extract", source, exp.Literal.number("1")),
    ("list_last", 1): lambda source: taken("list_extract", source, exp.Neg(this=exp.Literal.number("1"))),
    ("map_extract_value", 2): looked_up,
    ("map_contains", 2): _key,
}
