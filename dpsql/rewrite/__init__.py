"""Split -> Split: make every unit's contribution finite. One pass per file, in this order."""

from __future__ import annotations

from dpsql.errors import Error
from dpsql.ir.measure import Split
from dpsql.policy.catalogue import Known
from dpsql.rewrite.accuracy_weights import to_weights
from dpsql.rewrite.non_negative import check_non_negative
from dpsql.rewrite.other_group import check_other_groups
from dpsql.rewrite.statistics import to_statistics

PASSES = (check_other_groups, to_statistics, check_non_negative, to_weights)


def rewrite(split: Split, known: Known) -> Split:
    """Run all passes. If bounds are ``needed``, only they matter: an error after them is dropped."""
    try:
        for rewrite_pass in PASSES:
            split = rewrite_pass(split, known)
    except Error as error:
        if not split.needed:
            raise error.within(split.source.text, split.source.name) from None
    for needed in split.needed:
        needed.refusal.within(split.source.text, split.source.name)
    return split
