"""COUNT(DISTINCT x) -> a matching of units with values, and how many values a unit may claim.

As many as the query says (max_values_contributed), or five; never more than a unit can have: the rows
that a key proves, or one where the unit determines both the value and the group.
"""

from __future__ import annotations

from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.detail import Matching
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Literal, refs

USUAL = 5
"""Values that a unit may claim where nothing is said. With five, few values stay unclaimed."""


def matching(measure: Measure, call: AggregateCall) -> Matching:
    """In every grouping set a unit claims as many again."""
    assert call.argument is not None
    owned = ownership_of(measure.relation)
    assert isinstance(owned, Owned)
    most = USUAL
    for said in call.others:
        assert isinstance(said, Literal)
        assert isinstance(said.value, int)
        most = said.value
    most *= measure.copies
    if owned.at_most is not None:
        most = min(most, owned.at_most)
    numbers = refs(measure.keys[0].scalar) if measure.sets else frozenset()
    if all(
        refs(each) - numbers <= owned.settled for each in (call.argument, *(k.scalar for k in measure.keys))
    ):
        most = min(most, measure.copies)
    return Matching(call.argument, call.condition, most)
