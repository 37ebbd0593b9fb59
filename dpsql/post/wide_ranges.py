"""The note on numbers lost in noise that is for a wider range than the values are known to have.

    AVG(date_diff('minute', started, finished))      -3000 ± 16000: minutes of all declared years, either way
    AVG(pieces), a SMALLINT without a range            140 ± 270: of all that the type holds

The bounds that the query names are the noise that it pays for: the note says how to name them. It is made of
the plan and of the answer, which are released.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from decimal import Decimal
from typing import Any

from dpsql.facts.columns_read import stored_column
from dpsql.facts.schema import facts_of
from dpsql.facts.subtractions import below_by_subtraction
from dpsql.ir.column import ANYTHING, SMALL, Kind
from dpsql.ir.plan import Plan
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Scalar, refs


def note_of_wide_ranges(
    plan: Plan, rows: Sequence[tuple[Any, ...]], margins: Sequence[tuple[float | None, ...]]
) -> str:
    """Return how to ask with less noise, if it may be half of most numbers of an output."""
    if not rows or not any(_lost(at, rows, margins) for at in range(len(margins[0]))):
        return ""
    read = [
        (measure.measure.relation, finish.call.argument)
        for measure in plan.stages[-1].measures
        for finish in measure.measure.finishes
        if finish.call.argument is not None
    ]
    if any(below_by_subtraction(relation, argument) for relation, argument in read):
        return f"Noise is for all differences that the ranges of both columns allow: if they {_HELP}"
    by_type = _by_type(read)
    return by_type and f"Noise is for all that the type of {by_type} holds: if its values {_HELP}"


_HELP = "are known to be smaller, AVG(x CLAMPED BETWEEN 0 AND 300) has less."


def _lost(at: int, rows: Sequence[tuple[Any, ...]], margins: Sequence[tuple[float | None, ...]]) -> bool:
    pairs = [(row[at], margin[at]) for row, margin in zip(rows, margins, strict=True)]
    return 2 * sum(_half_noise(value, margin) for value, margin in pairs) > len(pairs)


def _half_noise(value: object, margin: float | None) -> bool:
    return isinstance(value, int | float | Decimal) and margin is not None and abs(float(value)) <= 2 * margin


def _by_type(read: Iterable[tuple[Relation, Scalar]]) -> str:
    """Return the first column that is read whose only range is that of its small type; '' if none is."""
    for relation, argument in read:
        facts = facts_of(relation)
        for name in sorted(refs(argument)):
            fact = facts[name]
            if fact.domain == ANYTHING and fact.type.kind is Kind.INTEGER and fact.type.sql in SMALL:
                stored = stored_column(relation, name)
                return name if stored is None else stored[1].source
    return ""
