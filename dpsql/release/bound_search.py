"""How far the units reach -> the range that suits them, drawn among the candidates."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpsql.ir.detail import BoundSearch
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.mechanisms.exponential import Choices, Choose
from dpsql.mechanisms.found_range import SENSITIVITY, Reach, covering, handicaps, reach_at, scores

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


_PARTS = 1 << 20
"""Of a unit, in which losses are told: the base measure is public, and may be rounded."""


def chosen_range(planned: DetailPlan, ladder: BoundSearch, held: Masses, choose: Choose) -> NDArray[np.int64]:
    """The place of one candidate, as the only number of the only group; behind all ranges it is nothing."""
    rate = Fraction(planned.epsilon) / SENSITIVITY  # a unit moves no score downwards
    found = [*scores(ladder, units_at(ladder, held)), 0]
    behind = [round(Fraction(each) / rate * _PARTS) for each in (*handicaps(ladder), 0.0)]
    choices = Choices(
        np.array([0, len(found)], dtype=np.int64),
        np.ones(len(found), dtype=np.int64),
        np.array([each // _PARTS - score for each, score in zip(behind, found, strict=True)], dtype=np.int64),
        np.array([each % _PARTS for each in behind], dtype=np.int64),
        _PARTS,
    )
    runs, _ = choose(choices, rate)
    return runs.reshape(1, 1)


def covering_range(ladder: BoundSearch, held: Masses) -> int:
    """The place of the narrowest candidate that holds the most units: for the owner's audit alone."""
    return covering(ladder, units_at(ladder, held))


def units_at(ladder: BoundSearch, held: Masses) -> dict[Reach, int]:
    """How many units have which reach."""
    places, units = held.get((), (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    return {reach_at(ladder, int(place)): int(n) for place, n in zip(places, units, strict=True)}
