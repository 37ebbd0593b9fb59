"""COUNT(DISTINCT x) -> a matching of units with values, and how many values a unit may claim.

As many as the query says (max_values_contributed), or as a unit has rows, by the policy or by the query;
five where nobody says that. Never more than a unit can have: the rows that a key proves, the values that
there are, or one where the unit determines both the value and the group.

Claim   mechanisms/matching.py, for whatever number stands here: that number is the sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpsql.detail_kinds import Bounds
from dpsql.details.matching.detail import Matching
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Categories, Fact, Interval, Kind
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Literal, Scalar, refs

USUAL = 5
"""Values that a unit may claim where nothing says how many rows it has. With five, few stay unclaimed."""

MOST = 10_000
"""Values that a unit may claim in a grouping set."""


def made(
    measure: Measure, calls: Sequence[AggregateCall], bounds: Bounds
) -> tuple[Matching, dict[AggregateCall, tuple[int, ...]]]:
    """A detail for each call: values have hashes, and need no range."""
    return _matching(measure, calls[0]), {calls[0]: (0,)}


def _matching(measure: Measure, call: AggregateCall) -> Matching:
    """In every grouping set a unit claims as many again."""
    assert call.argument is not None
    owned = ownership_of(measure.relation)
    assert isinstance(owned, Owned)
    likely = _likely(measure, call.argument, owned)
    most = USUAL if likely is None else min(likely, MOST)
    for said in call.others:
        assert isinstance(said, Literal)
        assert isinstance(said.value, int)
        most = said.value
    short = likely is None or most < likely
    most *= measure.copies
    if owned.at_most is not None and owned.at_most <= most:
        most, short = owned.at_most, False
    if _settled(measure, owned, (call.argument,)) and measure.copies <= most:
        most, short = measure.copies, False
    return Matching(call.argument, call.condition, most, short)


def _likely(measure: Measure, argument: Scalar, owned: Owned) -> int | None:
    """How many values a unit may well have in a grouping set; None where nothing says it."""
    rows = None if owned.rows is None else max(1, owned.rows // measure.copies)
    if measure.clip is not None:
        assert isinstance(measure.clip.value, int)
        rows = measure.clip.value
    values = _values(fact_of(argument, facts_of(measure.relation)))
    if values is None or not _settled(measure, owned, ()):  # in several groups, it may have each in each
        return rows
    return values if rows is None else min(rows, values)


def _values(fact: Fact) -> int | None:
    """How many values are declared, where that is a list or a range of whole numbers."""
    match fact.domain:
        case Categories(listed):
            return max(1, len(listed))
        case Interval(low, high) if fact.type.kind is Kind.INTEGER and fact.domain.finite:
            return max(1, math.floor(high) - math.ceil(low) + 1)
    return 2 if fact.type.kind is Kind.BOOLEAN else None


def _settled(measure: Measure, owned: Owned, more: tuple[Scalar, ...]) -> bool:
    """Whether the unit determines its group (of each grouping set), and what is asked beside it."""
    numbers = refs(measure.keys[0].scalar) if measure.sets else frozenset()
    return all(refs(each) - numbers <= owned.settled for each in (*more, *(k.scalar for k in measure.keys)))
