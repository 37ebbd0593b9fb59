"""Weights -> released numbers: what each detail's mechanism tells of the groups that are shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias, assert_never

import numpy as np

from dpsql.ir.column import Value
from dpsql.ir.detail import Blocks, BoundSearch, Histogram, Matching, Votes
from dpsql.ir.plan import DetailPlan, Noise
from dpsql.ir.table import Masses
from dpsql.mechanisms.exponential import Choices, Choose, Chosen, choose
from dpsql.release.blocks import median_blocks
from dpsql.release.bound_search import chosen_range
from dpsql.release.groups import plain
from dpsql.release.order_statistics import order_statistics
from dpsql.release.votes import most_frequent

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Draw: TypeAlias = "Callable[[Noise, int], NDArray[np.int64]]"
"""So many fresh draws of a planned noise."""


def released_detail(
    each: DetailPlan, weights: Masses, groups: list[tuple[Value, ...]], draw: Draw, select: Choose
) -> NDArray[np.int64]:
    """One row of numbers for every group that is shown."""
    match each.detail:
        case Histogram():
            return order_statistics(each, each.detail, weights, groups, select)
        case Votes():
            return most_frequent(each, each.detail, weights, groups, select)
        case Matching():
            return _counted(each, weights, groups, draw)
        case Blocks():
            return median_blocks(each, weights, groups, select)
        case BoundSearch():
            return chosen_range(each, each.detail, weights, select)
        case _:
            assert_never(each.detail)


def chosen_by_system(choices: Choices, rate: Fraction) -> Chosen:
    """Choices from the operating system's randomness. The session uses nothing else."""
    return choose(choices, rate, os.urandom)


def _counted(
    each: DetailPlan, weights: Masses, groups: list[tuple[Value, ...]], draw: Draw
) -> NDArray[np.int64]:
    """What lies in a group, with noise; nothing lies in a group without weights."""
    assert each.noise is not None
    held = {plain(group): int(found.sum()) for group, (_, found) in weights.items()}
    counts = np.array([held.get(plain(group), 0) for group in groups], dtype=np.int64)
    return (counts + draw(each.noise, len(groups))).reshape(-1, 1)
