"""Weights on a grid -> the bins of order statistics, and the density of rows around them."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.detail_kinds import Draw
from dpsql.details.quantiles.detail import Histogram
from dpsql.ir.column import Value
from dpsql.ir.event import ChoiceEvent
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.late_numpy import np
from dpsql.mechanisms.density import chosen_distances
from dpsql.mechanisms.exponential import Choose, Integers
from dpsql.mechanisms.quantiles import Histograms, answers, beyond
from dpsql.release.groups import weighed


def released(
    detail_plan: DetailPlan[Histogram],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    choose: Choose,
) -> Integers:
    """Return one row for every group that is shown: the bin and the distance of each target."""
    detail = detail_plan.detail
    if not groups:
        return np.zeros((0, detail.width), np.int64)
    histograms = _concatenate(weights, groups)
    most = detail_plan.sensitivity
    bins = answers(
        histograms,
        detail.grid.size,
        detail.targets,
        Fraction(detail_plan.epsilon),
        most,
        beyond(detail_plan.epsilon, most, detail.grid.size),
        choose,
    )
    away = np.full_like(bins, -1)
    if len(detail_plan.events) > detail_plan.choices:
        dense = detail_plan.events[-1]
        assert isinstance(dense, ChoiceEvent)
        away = chosen_distances(
            *(histograms, detail.grid, detail.targets, bins, dense.epsilon, most, choose),
            detail_plan.epsilon,
            most // detail_plan.rows,
        )
    return np.stack((bins, away), axis=2).reshape(len(groups), detail.width)


def _concatenate(weights: Masses, groups: Sequence[tuple[Value, ...]]) -> Histograms:
    """Concatenate the histograms of the shown groups."""
    parts = weighed(weights, groups)
    starts = np.cumsum([0, *(len(bins) for bins, _ in parts)])
    return Histograms(starts, *(np.concatenate([part[i] for part in parts]) for i in (0, 1)))
