"""Weights of declared values -> a value with the largest weight, or nearly the largest."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dpsql.detail_kinds import Draw
from dpsql.details.votes.detail import Votes
from dpsql.ir.column import Value
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.late_numpy import np
from dpsql.mechanisms.exponential import Choices, Choose, Integers
from dpsql.release.groups import weighed


def released(
    detail_plan: DetailPlan[Votes],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    choose: Choose,
) -> Integers:
    """Return the index of the chosen value for every group that is shown.

    One unit changes the weights, and so the losses, in one direction only (the mechanism's monotone case).
    """
    if not groups:
        return np.zeros((0, 1), np.int64)
    votes = np.zeros((len(groups), len(detail_plan.detail.values)), np.int64)
    for i, (places, numbers) in enumerate(weighed(weights, groups)):
        votes[i, places] = numbers
    losses = (votes.max(axis=1, keepdims=True) - votes).reshape(-1)
    starts = np.arange(len(groups) + 1) * len(detail_plan.detail.values)
    choices = Choices(starts, np.ones_like(losses), losses, np.zeros_like(losses))
    runs, _ = choose(choices, Fraction(detail_plan.epsilon) / detail_plan.sensitivity)
    return np.asarray(runs - starts[:-1], np.int64).reshape(-1, 1)
