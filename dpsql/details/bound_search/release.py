"""How far the units reach -> the range that suits them, drawn among the candidates."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpsql.detail_kinds import Draw
from dpsql.ir.column import Value
from dpsql.ir.detail import BoundSearch
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.mechanisms.exponential import Choices, Choose
from dpsql.mechanisms.found_range import SENSITIVITY, Reach, handicaps, reach_at, scores

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


_PARTS = 1 << 20
"""Of a unit, in which losses are told: the base measure is public, and may be rounded."""


def released(
    each: DetailPlan[BoundSearch],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    choose: Choose,
) -> NDArray[np.int64]:
    """The place of one candidate, as the only number of the only group; behind all ranges it is nothing."""
    ladder = each.detail
    rate = Fraction(each.epsilon) / SENSITIVITY  # a unit moves no score downwards
    found = [*scores(ladder, units_at(ladder, weights)), 0]
    behind = [round(Fraction(cost) / rate * _PARTS) for cost in (*handicaps(ladder), 0.0)]
    choices = Choices(
        np.array([0, len(found)], dtype=np.int64),
        np.ones(len(found), dtype=np.int64),
        np.array([late // _PARTS - score for late, score in zip(behind, found, strict=True)], dtype=np.int64),
        np.array([late % _PARTS for late in behind], dtype=np.int64),
        _PARTS,
    )
    runs, _ = choose(choices, rate)
    return runs.reshape(1, 1)


def units_at(ladder: BoundSearch, held: Masses) -> dict[Reach, int]:
    """How many units have which reach."""
    places, units = held.get((), (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    return {reach_at(ladder, int(place)): int(n) for place, n in zip(places, units, strict=True)}
