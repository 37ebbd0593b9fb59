"""DP_SAMPLE: one choice among the blocks' values, and the best number of blocks for it."""

from __future__ import annotations

from fractions import Fraction

from dpsql.detail_kinds import Ask
from dpsql.details.blocks.detail import BINS, Blocks
from dpsql.errors import refuse
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.measure import Measure
from dpsql.ir.plan import DetailPlan
from dpsql.mechanisms.blocks import how_many


def planned(
    detail: Blocks, measure: Measure, rows: int, groups: int | None, share: Fraction, ask: Ask
) -> DetailPlan[Blocks]:
    """Plan one choice per group; a unit changes the value of one block in each of its groups."""
    epsilon = ask(share).choice
    if groups is None:
        raise refuse(
            "D302",
            "the number of groups that one unit can be in is not bounded",
            measure.span,
            label="rows of one unit may be in any number of groups",
            help="take DP_SAMPLE of all rows, or group by columns that have one value per unit",
        )
    events = (ChoiceEvent(epsilon),)
    blocks = how_many(epsilon, groups, BINS)
    return DetailPlan(detail, 0, 2 * groups, events, epsilon=epsilon, choices=1, blocks=blocks)


def own_rows(detail: Blocks) -> int:
    """Return 0: all rows of a unit count, whatever their number."""
    return 0
