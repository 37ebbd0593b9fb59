"""The functions that are allowed here, by the names that one types: read off the shelves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from dpsql.aggregates import by_name
from dpsql.functions import shelf as functions_shelf
from dpsql.functions.core.windows import windows
from dpsql.parse.vocabulary import FUNCTIONS

_SYNTAX = frozenset(
    "and or not in case cast between like ilike glob is_null is_not_null is_distinct_from "
    "is_not_distinct_from negate xor".split()
)
_FIRST = ("count", "sum", "avg", "min", "max", "median", "stddev", "quantile_cont", "corr", "mode")


@dataclass(frozen=True, slots=True)
class Named:
    name: str
    help: str
    aggregate: bool


@cache
def private() -> tuple[Named, ...]:
    """What may be called over private rows."""
    names = [*by_name(), "approx_count_distinct"]
    names.sort(key=lambda each: (_FIRST.index(each) if each in _FIRST else len(_FIRST), each))
    found = [Named(each, "aggregate", True) for each in names]
    scalars = {
        name.casefold()
        for each in functions_shelf().values()
        for name in (each.name, *each.names)
        if name.isidentifier() and name not in _SYNTAX
    }
    found += [Named(each, "function", False) for each in sorted(scalars)]
    found += [Named(each, "window function", False) for each in sorted(windows())]
    found += [Named(each, "an end of a margin", False) for each in ("dp_interval_low", "dp_interval_high")]
    return tuple(found)


@cache
def free() -> tuple[Named, ...]:
    """What may be called over released and public tables: all that, and all that DuckDB has."""
    known = {each.name for each in private()}
    return (*private(), *(Named(each, "function", False) for each in sorted(FUNCTIONS - known)))


@cache
def amounts() -> frozenset[str]:
    """Aggregates of numbers whose range has to be known."""
    return frozenset(name for name, rule in by_name().items() if rule.summed)


@cache
def aggregates() -> frozenset[str]:
    return frozenset(each.name for each in private() if each.aggregate)


@cache
def allowed() -> frozenset[str]:
    return frozenset(each.name for each in free()) | {"cast", "try_cast", "coalesce", "extract", "options"}
