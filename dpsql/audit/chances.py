"""The privacy loss of choices: the exact probability of every candidate on two neighbours.

    candidate           0     1     2     3
    ours               .10   .20   .40   .30
    theirs             .20   .20   .40   .20       the worst: log(.20 / .10) = .69

Claim   ``worst`` is the sum, over all choices of a detail, of the largest privacy loss of any answer, given
        the same answers to earlier choices. It is at most the sum of the epsilons of the detail's events.
Proof   The unchanged mechanisms run once on each side. What is drawn on our side is also chosen on their
        side, so both sides have the same candidates in later choices. The probabilities of each choice
        follow from its losses and its rate. ``drawn_by_law`` tests that draws have these probabilities.
Test    tests/privacy/test_audit_chances.py

A thousand draws could not prove a loss of one half, so the probabilities themselves are compared.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from dpsql.audit.noise_tests import uniform
from dpsql.ir.column import Value
from dpsql.ir.detail import Detail
from dpsql.ir.plan import DetailPlan
from dpsql.ir.table import Masses
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.exponential import Choices, Chosen
from dpsql.release.details import chosen_by_system, released_detail
from dpsql.release.release import from_system

if TYPE_CHECKING:
    from numpy.typing import NDArray

SLACK = 1e-6
"""Tolerance for rounding: the probabilities are floats."""

_AT_ONCE = 1 << 20  # runs of candidates in one test of draws


@dataclass(frozen=True, slots=True, repr=False)
class _Step:
    """A set of choices, and the candidates that were chosen."""

    choices: Choices
    rate: Fraction
    chosen: Chosen


def worst(
    detail: DetailPlan[Detail], groups: Sequence[tuple[Value, ...]], ours: Masses, theirs: Masses
) -> float:
    """Return the privacy loss along an answer drawn on our side; infinite if the candidates differ."""
    steps = iter(_steps(detail, groups, ours))
    most = [0.0, 0.0]

    def follow(choices: Choices, rate: Fraction) -> Chosen:
        step = next(steps)
        if rate != step.rate or not np.array_equal(_totals(choices), _totals(step.choices)):
            raise _AnotherListError
        for side, loss in enumerate(_losses(step.choices, choices, rate)):
            most[side] += loss
        return _same(step, choices)

    try:
        released_detail(detail, theirs, list(groups), from_system, follow)
    except _AnotherListError:
        return math.inf
    return max(most)


def drawn_by_law(
    detail: DetailPlan[Detail], groups: Sequence[tuple[Value, ...]], ours: Masses, trials: int
) -> bool:
    """Whether draws of the first choice follow its probabilities; a false alarm has probability 1e-9."""
    first, *_ = _steps(detail, groups, ours)
    end = int(first.choices.starts[1])
    sizes, whole, part = (
        values[:end] for values in (first.choices.sizes, first.choices.whole, first.choices.part)
    )
    times = max(1, min(trials, _AT_ONCE // end))
    sizes_of, whole_of, part_of = (np.tile(values, times) for values in (sizes, whole, part))
    many = Choices(np.arange(times + 1) * end, sizes_of, whole_of, part_of, first.choices.denominator)
    runs, inside = chosen_by_system(many, first.rate)
    single = Choices(np.array([0, end]), sizes, whole, part, first.choices.denominator)
    chances = np.exp(_logs(single, first.rate))
    below = np.concatenate(((0.0,), np.cumsum(chances * sizes)))
    runs = runs - many.starts[:-1]
    between = np.random.default_rng().random(times)
    return uniform(below[runs] + chances[runs] * (inside + between))


class _AnotherListError(Exception):
    """The candidates themselves depend on the data."""


def _steps(detail: DetailPlan[Detail], groups: Sequence[tuple[Value, ...]], ours: Masses) -> list[_Step]:
    steps: list[_Step] = []

    def note(choices: Choices, rate: Fraction) -> Chosen:
        steps.append(_Step(choices, rate, chosen_by_system(choices, rate)))
        return steps[-1].chosen

    released_detail(detail, ours, list(groups), from_system, note)
    return steps


def _totals(choices: Choices) -> NDArray[np.float64]:
    """Return the number of candidates of each choice."""
    return np.add.reduceat(choices.sizes.astype(np.float64), choices.starts[:-1])


def _alike(a: Choices, b: Choices) -> bool:
    """Whether the runs hold the same candidates on both sides; if not, candidates are counted."""
    return np.array_equal(a.sizes, b.sizes) and np.array_equal(a.starts, b.starts)


def _same(step: _Step, theirs: Choices) -> Chosen:
    """Return the chosen candidates by their runs on the other side."""
    runs, inside = step.chosen
    if _alike(step.choices, theirs):
        return runs, inside
    place = np.cumsum(step.choices.sizes)[runs] - step.choices.sizes[runs] + inside
    ends = np.cumsum(theirs.sizes)
    theirs_runs = np.searchsorted(ends, place, "right")
    return theirs_runs, place - (ends[theirs_runs] - theirs.sizes[theirs_runs])


def _losses(ours: Choices, theirs: Choices, rate: Fraction) -> tuple[float, float]:
    """Return the largest log ratio of a candidate's probabilities, per direction, summed over choices."""
    log, their_logs = _logs(ours, rate), _logs(theirs, rate)
    if _alike(ours, theirs):
        apart, starts = log - their_logs, ours.starts[:-1]
    else:
        ends = [np.cumsum(choices.sizes) for choices in (ours, theirs)]
        bounds = np.sort(np.concatenate(ends))
        lasts = bounds[np.diff(bounds, prepend=0) > 0] - 1  # of every stretch on which both are constant
        apart = (
            log[np.searchsorted(ends[0], lasts, "right")]
            - their_logs[np.searchsorted(ends[1], lasts, "right")]
        )
        first = ends[0][ours.starts[1:] - 1] - _totals(ours).astype(np.int64)
        starts = np.searchsorted(lasts, first)
    if not len(starts):
        return 0.0, 0.0
    return float(np.maximum.reduceat(apart, starts).sum()), float(np.maximum.reduceat(-apart, starts).sum())


def _logs(choices: Choices, rate: Fraction) -> NDArray[np.float64]:
    """Return for each run the log probability of each of its candidates; 0 for an empty run."""
    starts, lengths = choices.starts[:-1], np.diff(choices.starts)
    present = choices.sizes > 0
    whole = np.where(present, choices.whole, np.iinfo(np.int64).max)
    whole = np.where(present, whole - np.repeat(np.minimum.reduceat(whole, starts), lengths), 0)
    exponents = (whole + choices.part / choices.denominator) * float(rate)
    total = np.add.reduceat(choices.sizes * np.exp(-exponents), starts)
    return np.asarray(np.where(present, -exponents - np.repeat(np.log(total), lengths), 0.0))
