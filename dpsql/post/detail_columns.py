"""Numbers that details released -> the columns that the analyst asked for.

Histogram   the value of a bin, with the half-width of its choice
Votes       a value of the list
Matching    a count of values, with the half-width of its noise
Blocks      the middle of a bin: how far off the choice is depends on the blocks, and they are private
"""

from __future__ import annotations

from typing import assert_never

import numpy as np

from dpsql.ir.column import Value
from dpsql.ir.detail import Blocks, BoundSearch, Histogram, Matching, Votes
from dpsql.ir.measure import Finish
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.mechanisms import mechanism
from dpsql.post.dp_sample import middles
from dpsql.post.finished import Finished
from dpsql.post.order_statistics import ends_of, margins_of, values_of


def detailed(each: Finish, released: ReleasedTable, planned: MeasurePlan) -> Finished:
    """A column of numbers that stand behind the statistics."""
    detail = planned.detail_at(each.places[0])
    first = len(planned.measure.statistics) + each.places[0]
    match detail.detail:
        case Histogram():
            chosen = values_of(each, detail.detail, released, planned)
            margins = margins_of(each, detail, detail.detail, released, first)
            return Finished(each.call.name, each.type, chosen, margins, *ends_of(chosen, margins))
        case Votes(values=listed):
            names: list[Value] = [listed[place].value for place in released.sums[:, first].tolist()]
            return Finished(each.call.name, each.type, names, np.full(len(names), np.nan))
        case Matching():
            assert detail.noise is not None
            numbers = released.sums[:, first]
            width = mechanism(detail.noise.mechanism).half_width(detail.noise.scale)
            half = np.full(len(numbers), np.ceil(width - 0.5) + 0.0)
            values: list[Value] = numbers.tolist()
            return Finished(each.call.name, each.type, values, half, numbers - half, numbers + half)
        case Blocks():
            found = middles(detail.detail, released.sums[:, first])
            nothing = np.full(len(found), np.nan)
            return Finished(each.call.name, each.type, [*found], nothing, nothing, nothing)
        case BoundSearch():
            raise AssertionError("a bound is no column: plan/bound_search.py")
        case _:
            assert_never(detail.detail)
