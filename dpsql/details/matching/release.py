"""Claimed values, counted by group -> the counts with noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpsql.detail_kinds import Draw
from dpsql.details.matching.detail import Matching
from dpsql.ir.column import Value
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.mechanisms.exponential import Choose
from dpsql.release.groups import plain

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def released(
    each: DetailPlan[Matching],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    choose: Choose,
) -> NDArray[np.int64]:
    """What lies in a group, with noise; nothing lies in a group without weights."""
    assert each.noise is not None
    held = {plain(group): int(found.sum()) for group, (_, found) in weights.items()}
    counts = np.array([held.get(plain(group), 0) for group in groups], dtype=np.int64)
    return (counts + draw(each.noise, len(groups))).reshape(-1, 1)
