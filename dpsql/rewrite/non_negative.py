"""Refuse non_negative where no number is known to be 0 or more.

SUM(balance), balance in [-100, 100]    may be below 0
MEDIAN(age)                             is in its range already
"""

from __future__ import annotations

from dpsql.errors import refuse
from dpsql.ir.measure import Split
from dpsql.policy.catalogue import Known


def check_non_negative(split: Split, known: Known) -> Split:
    """Check every measure; return the split unchanged."""
    for stage in split.stages:
        for measure in stage.measures:
            option = measure.non_negative
            if option is not None and not any(each.never_negative for each in measure.statistics):
                raise refuse(
                    "D252",
                    "non_negative means nothing here",
                    option.span,
                    label="none of these numbers is a count, or a sum of values that are 0 or more",
                    help="leave it out",
                )
    return split
