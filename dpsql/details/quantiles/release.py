"""Weights on a grid -> the bins of order statistics, and how dense the rows lie there."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpsql.detail_kinds import Draw
from dpsql.details.quantiles.detail import Histogram
from dpsql.ir.column import Value
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.mechanisms.density import chosen_distances
from dpsql.mechanisms.exponential import Choose, Integers
from dpsql.mechanisms.quantiles import Histograms, answers, beyond
from dpsql.release.groups import plain


def released(
    each: DetailPlan[Histogram],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    choose: Choose,
) -> Integers:
    """One row for every group that is shown: of each target its bin and its distance."""
    detail = each.detail
    if not groups:
        return np.zeros((0, detail.width), np.int64)
    found = _joined(weights, groups)
    most = each.sensitivity
    bins = answers(
        found,
        detail.grid.size,
        detail.targets,
        Fraction(each.epsilon),
        most,
        beyond(each.epsilon, most),
        choose,
    )
    away = np.full_like(bins, -1)
    if len(each.events) > each.choices:
        dense = each.events[-1]
        assert isinstance(dense, ChoiceEvent)
        away = chosen_distances(found, detail.grid, detail.targets, bins, dense.epsilon, most, choose)
    return np.stack((bins, away), axis=2).reshape(len(groups), detail.width)


def _joined(weights: Masses, groups: Sequence[tuple[Value, ...]]) -> Histograms:
    """The shown groups' bins, one group behind the other."""
    held = {plain(group): found for group, found in weights.items()}
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int64)
    parts = [held.get(plain(group), nothing) for group in groups]
    starts = np.cumsum([0, *(len(bins) for bins, _ in parts)])
    return Histograms(starts, *(np.concatenate([part[i] for part in parts]) for i in (0, 1)))
