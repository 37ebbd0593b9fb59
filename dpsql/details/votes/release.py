"""Weights of declared values -> the one that has the most, or nearly."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from dpsql.detail_kinds import Draw
from dpsql.details.votes.detail import Votes
from dpsql.ir.column import Value
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.mechanisms.exponential import Choices, Choose, Integers
from dpsql.release.groups import plain


def released(
    each: DetailPlan[Votes],
    weights: Masses,
    groups: Sequence[tuple[Value, ...]],
    draw: Draw,
    choose: Choose,
) -> Integers:
    """One row for every group that is shown: the place of a value.

    One unit moves the weights, and so the losses, in one direction only (the monotone case of the mechanism).
    """
    if not groups:
        return np.zeros((0, 1), np.int64)
    held = {plain(group): found for group, found in weights.items()}
    votes = np.zeros((len(groups), len(each.detail.values)), np.int64)
    for i, group in enumerate(groups):
        if (found := held.get(plain(group))) is not None:
            votes[i, found[0]] = found[1]
    losses = (votes.max(axis=1, keepdims=True) - votes).reshape(-1)
    starts = np.arange(len(groups) + 1) * len(each.detail.values)
    choices = Choices(starts, np.ones_like(losses), losses, np.zeros_like(losses))
    runs, _ = choose(choices, Fraction(each.epsilon) / each.sensitivity)
    return np.asarray(runs - starts[:-1], np.int64).reshape(-1, 1)
