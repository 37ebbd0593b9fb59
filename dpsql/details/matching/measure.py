"""COUNT(DISTINCT x) -> a matching of units with values, and how many values a unit may claim.

The limit is what the query says (max_values_contributed), else the number of rows of a unit that the policy
or the query states, else five. It is never more than a unit can have: the number of rows that a key proves,
the number of values that exist, or one if the unit determines both the value and the group. Values of a key
are no more than the rows of its table, however many rows of another table each is joined with.

Claim   mechanisms/matching.py: the limit that is computed here, whatever it is, is the sensitivity.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from dpsql.detail_kinds import Bounds
from dpsql.details.matching.detail import Matching
from dpsql.facts.columns_read import stored_column
from dpsql.facts.ownership import Owned, least, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Categories, Fact, Interval, Kind
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Literal, Ref, Scalar, refs

USUAL = 5
"""Values that a unit may claim if its number of rows is not stated. With five, few stay unclaimed."""

MOST = 10_000
"""Most values that a unit may claim in a grouping set, unless the query says more."""


def made(
    measure: Measure, calls: Sequence[AggregateCall], bounds: Bounds
) -> tuple[Matching, dict[AggregateCall, tuple[int, ...]]]:
    """Return one detail per call: values are hashed, and need no range."""
    return _matching(measure, calls[0]), {calls[0]: (0,)}


def _matching(measure: Measure, call: AggregateCall) -> Matching:
    """Compute the limit of one grouping set and multiply it by the number of grouping sets."""
    assert call.argument is not None
    owned = ownership_of(measure.relation)
    assert isinstance(owned, Owned)
    likely = _likely(measure, call.argument, owned)
    most = USUAL if likely is None else min(likely, MOST)
    for option in call.others:
        assert isinstance(option, Literal)
        assert isinstance(option.value, int)
        most = option.value
    short = likely is None or most < likely
    most *= measure.copies
    if owned.at_most is not None and owned.at_most <= most:
        most, short = owned.at_most, False
    if _settled(measure, owned, (call.argument,)) and measure.copies <= most:
        most, short = measure.copies, False
    return Matching(call.argument, call.condition, most, short)


def _likely(measure: Measure, argument: Scalar, owned: Owned) -> int | None:
    """Return how many values a unit is likely to have in a grouping set; None if nothing states it."""
    rows = None if owned.rows is None else max(1, owned.rows // measure.copies)
    if measure.clip is not None:
        assert isinstance(measure.clip.value, int)
        rows = measure.clip.value
    else:
        rows = least(rows, _rows_of_key(measure, argument, owned))
    values = _values(fact_of(argument, facts_of(measure.relation)))
    if values is None or not _settled(measure, owned, ()):  # in several groups: every value in every group
        return rows
    return values if rows is None else min(rows, values)


def _rows_of_key(measure: Measure, argument: Scalar, owned: Owned) -> int | None:
    """Return how many rows of a unit the table has whose key is counted; None of other values or groups.

    FROM orders o JOIN items i USING (order_id): COUNT(DISTINCT o.order_id) GROUP BY o.shop, not by i.kind.
    """
    found = stored_column(measure.relation, argument.name) if isinstance(argument, Ref) else None
    if found is None or measure.sets:
        return None
    scan, column = found
    by = {name for key in measure.keys for name in refs(key.scalar)} - owned.settled
    beside = (stored_column(measure.relation, name) for name in by)
    if (column.name,) not in scan.keys or not all(other and other[0] is scan for other in beside):
        return None
    of_table = ownership_of(scan)
    return of_table.rows if isinstance(of_table, Owned) else None


def _values(fact: Fact) -> int | None:
    """Return how many values are declared, as a list or as a range of whole numbers; else None."""
    match fact.domain:
        case Categories(listed):
            return max(1, len(listed))
        case Interval(low, high) if fact.type.kind is Kind.INTEGER and fact.domain.finite:
            return max(1, math.floor(high) - math.ceil(low) + 1)
    return 2 if fact.type.kind is Kind.BOOLEAN else None


def _settled(measure: Measure, owned: Owned, more: tuple[Scalar, ...]) -> bool:
    """Whether the unit determines its group (in each grouping set) and the scalars ``more``."""
    numbers = refs(measure.keys[0].scalar) if measure.sets else frozenset()
    return all(
        refs(scalar) - numbers <= owned.settled for scalar in (*more, *(key.scalar for key in measure.keys))
    )
