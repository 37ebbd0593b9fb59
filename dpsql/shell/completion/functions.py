"""The names of all functions that a query may call."""

from __future__ import annotations

from functools import cache

from dpsql.aggregates import by_name
from dpsql.functions import shelf as functions_shelf
from dpsql.functions.core.windows import windows
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.allow_list import MODELS, POSTERIORS
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
def private_functions() -> tuple[Named, ...]:
    """Return the functions for private rows."""
    names = [*by_name(), "approx_count_distinct"]
    names.sort(key=lambda name: (_FIRST.index(name) if name in _FIRST else len(_FIRST), name))
    functions = [Named(name, "aggregate", True) for name in names]
    scalars = {
        name.casefold()
        for rule in functions_shelf().values()
        for name in (rule.name, *rule.names)
        if name.isidentifier() and name not in _SYNTAX
    }
    functions += [Named(name, "function", False) for name in sorted(scalars)]
    functions += [Named(name, "window function", False) for name in sorted(windows())]
    functions += [Named(name, "margin bound", False) for name in ("dp_interval_low", "dp_interval_high")]
    functions += [Named(name, "model", False) for name in MODELS]
    functions += [Named(name, "posterior", False) for name in POSTERIORS]
    return tuple(functions)


@cache
def public_functions() -> tuple[Named, ...]:
    """Return the functions for released and public tables: also all other functions of DuckDB."""
    known = {function.name for function in private_functions()}
    return (*private_functions(), *(Named(name, "function", False) for name in sorted(FUNCTIONS - known)))


@cache
def summing_aggregates() -> frozenset[str]:
    """Return the aggregates of numbers that need a range."""
    return frozenset(name for name, rule in by_name().items() if rule.summed)


@cache
def aggregates() -> frozenset[str]:
    return frozenset(function.name for function in private_functions() if function.aggregate)


@cache
def known_functions() -> frozenset[str]:
    names = frozenset(function.name for function in public_functions())
    return names | {"cast", "try_cast", "coalesce", "extract", "options"}
