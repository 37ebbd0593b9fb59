"""The search of a clip: how long the vectors of units are, on a ladder of clips in grid steps."""

from __future__ import annotations

from dataclasses import field
from typing import ClassVar

from dpsql.ir.detail import Detail
from dpsql.ir.plan import MeasurePlan, Norm, PublicKeys, Shape
from dpsql.ir.relation import Named, Relation
from dpsql.ir.statistic import Statistic
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class ClipSearch(Detail):
    """The number of units by the norm of what they add to a measure, between the ``limits`` of a ladder.

    A unit counts at one place of the ladder. ``few`` is how many units may exceed the clip that fits best.
    ``vector`` is what is printed, without its own clip; the fields before it are what norms depend on.
    """

    kind: ClassVar[str] = "clip_search"
    written: ClassVar[str] = "Clips relation keys statistics listed shape norm limits few"

    relation: Relation
    keys: tuple[Named, ...]
    statistics: tuple[Statistic, ...]
    listed: PublicKeys | None
    shape: Shape
    norm: Norm
    limits: tuple[int, ...]
    few: int
    vector: MeasurePlan = field(repr=False)

    @property
    def width(self) -> int:
        return 1


def clip_search(vector: MeasurePlan, limits: tuple[int, ...], few: int) -> ClipSearch:
    """Return the search of a clip for a measure, planned at any clip."""
    measure, rule, noise = vector.measure, vector.rule, vector.noise
    listed = rule if isinstance(rule, PublicKeys) else None
    added = (measure.relation, measure.keys, measure.statistics)
    return ClipSearch(*added, listed, vector.shape, noise.norm, limits, few, vector)
