"""Numbers that details released -> the columns that the analyst asked for.

Histogram   the value of a bin, with the half-width of its choice
"""

from __future__ import annotations

from typing import assert_never

from dpsql.ir.plan import Blocks, Finish, Histogram, Matching, Planned, Reaches
from dpsql.ir.table import ReleasedTable
from dpsql.post.finished import Finished
from dpsql.post.order import margins_of, values_of


def detailed(each: Finish, released: ReleasedTable, planned: Planned) -> Finished:
    """A column of numbers that stand behind the statistics."""
    detail = planned.detail_at(each.places[0])
    match detail.detail:
        case Histogram():
            values = values_of(each, detail.detail, released, planned)
            first = len(planned.measure.statistics) + each.places[0]
            margins = margins_of(each, detail, detail.detail, released, first)
            return Finished(each.call.name, each.type, values, margins)
        case Matching():
            raise NotImplementedError
        case Blocks():
            raise NotImplementedError
        case Reaches():
            raise AssertionError("bounds are read where they are found: post/findings.py")
        case _:
            assert_never(detail.detail)
