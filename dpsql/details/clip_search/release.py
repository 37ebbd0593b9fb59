"""Counts of units by their norm -> one clip, chosen among the candidates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpsql.detail_kinds import Draw
from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.column import Value
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.mechanisms.clip_ladder import handicaps, rate, scores
from dpsql.mechanisms.exponential import Choices, Choose

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


_PARTS = 1 << 20
"""Fractions of a unit in which losses are expressed: the base measure is public, and may be rounded."""


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
    penalties = [round(Fraction(cost) / at_rate * _PARTS) for cost in handicaps(detail.limits)]
    choices = Choices(
        np.array([0, len(utilities)], dtype=np.int64),
        np.ones(len(utilities), dtype=np.int64),
        np.array(
            [penalty // _PARTS - score for penalty, score in zip(penalties, utilities, strict=True)],
            dtype=np.int64,
        ),
        np.array([penalty % _PARTS for penalty in penalties], dtype=np.int64),
        _PARTS,
    )
    runs, _ = choose(choices, at_rate)
    return runs.reshape(1, 1)


def units_at(detail: ClipSearch, weights: Masses) -> list[int]:
    """Return the number of units at each place: below the first limit, then beyond each."""
    places, units = weights.get((), (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    counted = np.zeros(len(detail.limits) + 1, np.int64)
    np.add.at(counted, places, units)
    return [int(number) for number in counted]
