"""The number of claimed values of each group -> the counts with noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dpsql.detail_kinds import Draw
from dpsql.details.matching.detail import Matching
from dpsql.ir.column import Value
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.late_numpy import np
from dpsql.mechanisms.exponential import Choose
from dpsql.release.groups import weighed

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def released(
    detail_plan: DetailPlan[Matching],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    choose: Choose,
) -> NDArray[np.int64]:
    """Return the noisy count of every group that is shown; a group without weights counts as 0."""
    assert detail_plan.noise is not None
    counts = np.array([numbers.sum() for _, numbers in weighed(weights, groups)], dtype=np.int64)
    return (counts + draw(detail_plan.noise, len(groups))).reshape(-1, 1)
