"""Refuse an other group that would be empty or wrong.

GROUP BY ward                            every ward is shown: nothing is left for the other group
COUNT(DISTINCT patient_id) by place      a patient may be in two places: the total less the groups is wrong
"""

from __future__ import annotations

from dpsql.aggregates import shelf
from dpsql.errors import refuse
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.public_keys import public_keys
from dpsql.ir.measure import Measure, Split
from dpsql.ir.scalar import refs
from dpsql.policy.catalogue import Known
from dpsql.render.english import one


def check_other_groups(split: Split, known: Known) -> Split:
    """Check every measure; return the split unchanged."""
    for stage in split.stages:
        for measure in stage.measures:
            if measure.other is not None:
                _check(measure, known)
    return split


def _check(measure: Measure, known: Known) -> None:
    assert measure.other is not None
    if public_keys(measure, known).whole:
        raise refuse(
            "D252",
            "other_group means nothing here",
            measure.other.span,
            label="the values of these keys are public: every group is shown, and none is left for it",
            help="leave it out",
        )
    counted = next((call for call in measure.aggregates if shelf()[call.function].counts_units), None)
    if counted is not None and not _one_group(measure):
        raise refuse(
            "D252",
            f"the number of {known.unit}s in the other group is not known",
            counted.span,
            label=f"{one(known.unit)} may be in several groups: the total less the groups would be too small",
            help="count rows, COUNT(*); or leave other_group out",
        )


def _one_group(measure: Measure) -> bool:
    """Whether a unit is in at most one group (and in the total)."""
    owned = ownership_of(measure.relation)
    assert isinstance(owned, Owned)
    number = refs(measure.keys[0].scalar)
    settled = all(refs(key.scalar) - number <= owned.settled for key in measure.keys)
    return settled or owned.at_most == measure.copies
