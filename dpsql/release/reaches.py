"""How far the units reach -> the range that suits them, drawn among the candidates."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpsql.ir.detail import Reaches
from dpsql.ir.plan import PlannedDetail
from dpsql.ir.table import Weights
from dpsql.mechanisms.exponential import Choices, Choose
from dpsql.mechanisms.found_range import (
    SENSITIVITY,
    Reach,
    allowed_outside,
    covering,
    reach_at,
    scores,
    weights,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def chosen_range(planned: PlannedDetail, ladder: Reaches, held: Weights, choose: Choose) -> NDArray[np.int64]:
    """The place of one candidate, as the only number of the only group."""
    found = scores(ladder, units_at(ladder, held), allowed_outside(planned.epsilon))
    number = len(found)
    choices = Choices(
        np.array([0, number], dtype=np.int64),
        np.array(weights(ladder), dtype=np.int64),
        -np.array(found, dtype=np.int64),
        np.zeros(number, dtype=np.int64),
    )
    runs, _ = choose(choices, Fraction(planned.epsilon) / (2 * SENSITIVITY))
    return runs.reshape(1, 1)


def covering_range(ladder: Reaches, held: Weights) -> int:
    """The place of the narrowest candidate that holds the most units: for the owner's audit alone."""
    return covering(ladder, units_at(ladder, held))


def units_at(ladder: Reaches, held: Weights) -> dict[Reach, int]:
    """How many units have which reach."""
    places, units = held.get((), (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    return {reach_at(ladder, int(place)): int(n) for place, n in zip(places, units, strict=True)}
