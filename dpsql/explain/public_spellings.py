"""Which spelling makes a private key public, so that its groups need no threshold.

    city                        WHERE city IN ('...', '...')
    upper(city)                 WHERE upper(city) IN ('...', '...')
    income * 2                  CASE income * 2 WHEN 1 THEN 1 WHEN 2 THEN 2 END
    cost, in [0, 5000]          floor(cost / 10)
    seen_at, in six years       date_trunc('month', seen_at)
    steps, in no range          WHERE steps BETWEEN 0 AND 99

Claim   a query with these spellings, and constants in the place of the dots, has public groups.
Test    tests/unit/test_public_spellings.py

Only facts on the keys are read: declared ranges and lists, and types.
"""

from __future__ import annotations

import math
import re

from dpsql.facts.public_keys import MOST_OF_RANGES
from dpsql.facts.row_guesses import guessed
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.ranges import DAY
from dpsql.ir.column import Fact, Interval, Kind
from dpsql.ir.measure import Measure
from dpsql.ir.scalar import Call, Ref, Scalar

_FEW = 900
"""Values that a spelling leaves at most: a list may have one or two more at its ends."""

_NAME = r"[A-Za-z_]\w*"
_PERIODS = (("day", 1), ("week", 7), ("month", 28), ("year", 365))
_TIMES = (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)
_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


def spellings(measure: Measure) -> tuple[str, ...]:
    """Return a spelling for each private key; or that the lists of all keys have too many combinations."""
    lists = measure.lists[1:] if measure.sets else measure.lists
    keys = measure.keys[1:] if measure.sets else measure.keys
    listed = zip(lists, keys, measure.titles, strict=True)
    private = [(key.scalar, title) for key_list, key, title in listed if key_list is None]
    if private:
        return tuple(_spelling(measure, scalar, title) for scalar, title in private)
    if any(key_list is not None and key_list.of_range for key_list in lists):
        if not measure.aggregates:
            return ("a COUNT(*) beside the keys, whose ranges are declared",)
        return (f"coarser keys: with at most {MOST_OF_RANGES:,} combinations of their values",)
    return ("coarser keys: their lists have too many combinations",)


def _spelling(measure: Measure, scalar: Scalar, title: str) -> str:
    relation, scalar = measure.uncopied, _in_its_sets(scalar) if measure.sets else scalar
    fact, name, plain = fact_of(scalar, facts_of(relation)), title, isinstance(scalar, Ref)
    if guessed(relation, scalar):
        fact = Fact(fact.type)
    if plain and not re.fullmatch(_NAME, title):
        name = '"' + title.replace('"', '""') + '"'
    coarser = _coarser(name, fact)
    if coarser is not None:
        return coarser
    return _where(name, fact) if plain else _cases(name, fact)


def _in_its_sets(scalar: Scalar) -> Scalar:
    """Return a key as it is within the grouping sets that have it."""
    match scalar:
        case Call("case", (Call("in", _), inner)):
            return inner
        case _:
            return scalar


def _coarser(name: str, fact: Fact) -> str | None:
    """Return an expression of a number or a time in a finite range that has few values."""
    if not isinstance(fact.domain, Interval) or not _narrow(fact.domain):
        return None
    width = float(fact.domain.high) - float(fact.domain.low)
    step = _step(width)
    if fact.type.kind is Kind.INTEGER:
        return f"{name} // {step}"
    if fact.type.kind in _NUMBERS:
        return f"floor({name} / {step})" if step > 1 else f"floor({name})"
    if fact.type.kind in _TIMES:
        days = width if fact.type.kind is Kind.DATE else width / DAY
        period = next((word for word, length in _PERIODS if days / length <= _FEW), None)
        return None if period is None else f"date_trunc('{period}', {_untruncated(name)})"
    return None


def _narrow(range: Interval) -> bool:
    """Whether a range is more than that of a wide type."""
    return range.finite and float(range.high) - float(range.low) < 2.0**62


def _step(width: float) -> int:
    """Return the least of 1, 2, 5, 10, 20, ... that leaves few values of a range."""
    least = max(1.0, width / _FEW)
    power = int(10 ** math.floor(math.log10(least)))
    return next(step * power for step in (1, 2, 5, 10) if step * power >= least)


def _untruncated(name: str) -> str:
    truncated = re.fullmatch(r"date_trunc\('\w+', (.*)\)", name)
    return name if truncated is None else truncated[1]


def _where(name: str, fact: Fact) -> str:
    match fact.type.kind:
        case Kind.INTEGER:
            return f"WHERE {name} IN (1, 2, 3)"
        case Kind.DECIMAL | Kind.FLOAT:
            return f"floor({name} / 10) with WHERE {name} BETWEEN 0 AND 1000"
        case Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            return f"date_trunc('month', {name}) with WHERE {name} BETWEEN '2024-01-01' AND '2024-12-31'"
        case Kind.TIME:
            return f"hour({name})"
        case _:
            return f"WHERE {name} IN ('...', '...')"


def _cases(name: str, fact: Fact) -> str:
    if fact.type.kind in _TIMES:
        column = _untruncated(name)
        return _where(column, fact) if re.fullmatch(_NAME, column) else f"month({column})"
    if fact.type.kind is Kind.TIME:
        return f"hour({name})"
    if fact.type.kind in (Kind.DECIMAL, Kind.FLOAT):  # a condition bounds these, and lists nothing
        return f"CASE {name} WHEN 1 THEN 1 WHEN 2 THEN 2 END"
    return _where(name, fact)
