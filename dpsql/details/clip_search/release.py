"""Counts of units by their norm -> one clip, chosen among the candidates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpsql.detail_kinds import Draw
from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.column import Value
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.late_numpy import np
from dpsql.mechanisms.clip_ladder import handicaps, rate, scores
from dpsql.mechanisms.exponential import Choose, one_choice

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def released(
    detail_plan: DetailPlan[ClipSearch],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    choose: Choose,
) -> NDArray[np.int64]:
    """Return the place of the chosen clip as the only number of the only group.

    The place behind the last clip means: nothing is chosen.
    """
    detail, at_rate = detail_plan.detail, rate(detail_plan.epsilon)
    utilities = scores(units_at(detail, weights), detail.few)
    behind = handicaps(detail.limits, detail.few, detail_plan.epsilon)
    chosen, _ = choose(one_choice(utilities, behind, at_rate), at_rate)
    return chosen.reshape(1, 1)


def units_at(detail: ClipSearch, weights: Masses) -> list[int]:
    """Return the number of units at each place: below the first limit, then beyond each."""
    places, units = weights.get((), (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    counted = np.zeros(len(detail.limits) + 1, np.int64)
    np.add.at(counted, places, units)
    return [int(number) for number in counted]
