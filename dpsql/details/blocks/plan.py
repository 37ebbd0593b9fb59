"""DP_SAMPLE: one choice among the blocks' values, and how many blocks that is best for."""

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
    """One choice in each group; a unit moves one block's value in each of its groups."""
    epsilon = ask(share).choice
    if groups is None:
        raise refuse(
            "D302",
            "nothing says in how many groups one unit's blocks are",
            measure.span,
            label="rows of one unit may be in any number of groups",
            help="take DP_SAMPLE of all rows, or group by what each unit has one of",
        )
    events = (ChoiceEvent(epsilon),)
    blocks = how_many(epsilon, groups, BINS)
    return DetailPlan(detail, 0, 2 * groups, events, epsilon=epsilon, choices=1, blocks=blocks)


def own_rows(detail: Blocks) -> int:
    """All rows of a unit count, whatever their number."""
    return 0
