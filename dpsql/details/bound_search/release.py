"""Counts of units by the reach of their values -> one range, chosen among the candidates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from dpsql.detail_kinds import Draw
from dpsql.ir.column import Value
from dpsql.ir.detail import BoundSearch
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.late_numpy import np
from dpsql.mechanisms.exponential import Choose, one_choice
from dpsql.mechanisms.found_range import SENSITIVITY, Reach, handicaps, reach_at, scores

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def released(
    detail_plan: DetailPlan[BoundSearch],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    choose: Choose,
) -> NDArray[np.int64]:
    """Return the index of the chosen candidate as the only number of the only group.

    The index behind the last range means: no range.
    """
    ladder = detail_plan.detail
    rate = Fraction(detail_plan.epsilon) / SENSITIVITY  # adding a unit decreases no score
    utilities = [*scores(ladder, units_at(ladder, weights)), 0]
    chosen, _ = choose(one_choice(utilities, [*handicaps(ladder), 0.0], rate), rate)
    return chosen.reshape(1, 1)


def units_at(ladder: BoundSearch, weights: Masses) -> dict[Reach, int]:
    """Return the number of units for each reach."""
    places, units = weights.get((), (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    return {reach_at(ladder, int(place)): int(n) for place, n in zip(places, units, strict=True)}
