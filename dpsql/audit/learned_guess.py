"""Learn from releases with and without a unit to guess, of others, whether the unit was in.

    score of a release    ... -2.1   -0.4 |  0.1   0.3  | 0.9   1.7 ...
    guess                        out      |  no guess   |     in

A score is one released number, a weighted sum of them, or a sum of their log ratios. The weights come from
the first part of the releases, by formulas (Fisher's, signs, ratios of histograms) and by trial and error:
nothing is assumed of the noise or of what is computed. The second part chooses among the scores, and where to
guess nothing.

Test    tests/privacy/test_audit_attack.py
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpsql.audit.whole_releases import Releases
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

Scores: TypeAlias = "NDArray[np.float64]"
Score: TypeAlias = "Callable[[NDArray[np.float64]], NDArray[np.float64]]"

_TELLING = 48
"""So many numbers, those that differ most with the unit, are summed up."""

_CELLS = 12
_STEPS = 60
_CUTS = np.linspace(0.0, 1.0, 61)
_SURE = 4.75
"""Deviations that a normal number exceeds once in a million times."""


@dataclass(frozen=True, slots=True)
class Guess:
    """Guess "in" where the score is at least ``high``, "out" where it is below ``low``, else nothing."""

    score: Score
    low: float
    high: float

    def right_and_wrong(self, releases: Releases) -> tuple[int, int]:
        scores = self.score(releases.numbers)
        inside, outside = scores >= self.high, scores < self.low
        right = (inside & releases.coins) | (outside & ~releases.coins)
        return int(right.sum()), int((inside | outside).sum()) - int(right.sum())


def learned(releases: Releases, later: int) -> Guess:
    """Learn a guess for ``later`` other releases."""
    half = len(releases.coins) // 2
    first, second = (
        Releases(releases.numbers[part], releases.coins[part]) for part in (slice(half), slice(half, None))
    )
    guesses = [_cut(score, first, later) for score in _candidates(first, later)]
    return max(guesses, key=lambda guess: _worth(guess, second, later))


def _candidates(drawn: Releases, later: int) -> list[Score]:
    """Return scores that are larger with the unit than without it."""
    inside, outside = drawn.numbers[drawn.coins], drawn.numbers[~drawn.coins]
    if min(len(inside), len(outside)) < 2:
        return [_weighted(np.zeros(drawn.numbers.shape[1]))]
    spread = np.sqrt((inside.var(axis=0) + outside.var(axis=0)) / 2)
    spread = np.where(spread > 0, spread, 1.0)
    apart = (inside.mean(axis=0) - outside.mean(axis=0)) / spread
    order = np.argsort(-np.abs(apart))[:_TELLING]
    linear = [np.zeros(len(apart))]
    for place in order[:8]:
        linear.append(_only(apart, order[order == place], np.sign(apart) / spread))
    for many in (2, 4, 16, _TELLING):
        linear.append(_only(apart, order[:many], np.sign(apart) / spread))
        linear.append(_only(apart, order[:many], apart / spread))
    for ridge in (1e-9, 1e-2):
        linear.append(_fisher(inside, outside, order, spread, ridge))
    linear.append(_climbed(linear, order, drawn, later))
    return [*map(_weighted, linear), _by_medians(inside, outside, order), _by_cells(inside, outside, order)]


def _only(apart: Scores, places: NDArray[np.intp], values: Scores) -> Scores:
    weights = np.zeros(len(apart))
    weights[places] = values[places]
    return weights


def _fisher(inside: Scores, outside: Scores, order: NDArray[np.intp], spread: Scores, ridge: float) -> Scores:
    """Weigh numbers by their covariance: those that share their noise are subtracted."""
    weights = np.zeros(inside.shape[1])
    a, b = (side[:, order] / spread[order] for side in (inside, outside))
    if not len(order):
        return weights
    covariance = np.atleast_2d((np.cov(a, rowvar=False) + np.cov(b, rowvar=False)) / 2)
    covariance = covariance + ridge * np.eye(len(order))
    weights[order] = np.linalg.solve(covariance, a.mean(axis=0) - b.mean(axis=0)) / spread[order]
    return weights


def _climbed(starts: list[Scores], order: NDArray[np.intp], drawn: Releases, later: int) -> Scores:
    """Change one weight of the best of these at a time, and keep what guesses better."""

    def worth(weights: Scores) -> float:
        return _worth(_cut(_weighted(weights), drawn, later), drawn, later)

    best = max(starts, key=worth)
    reached, chance = worth(best), random.Random(0)  # which tries come first is no secret
    for _ in range(_STEPS if len(order) > 1 else 0):
        tried = best.copy()
        tried[chance.choice(order.tolist())] *= chance.choice((0.0, -1.0, 0.5, 2.0))
        found = worth(tried)
        if found > reached:
            best, reached = tried, found
    return best


def _weighted(weights: Scores) -> Score:
    def score(numbers: Scores) -> Scores:
        return np.asarray(numbers @ weights)

    return score


def _by_medians(inside: Scores, outside: Scores, order: NDArray[np.intp]) -> Score:
    """Return the log ratio of Laplace and geometric noise around the medians, number by number."""
    a, b = np.median(inside[:, order], axis=0), np.median(outside[:, order], axis=0)
    wide = (np.abs(inside[:, order] - a).mean(axis=0) + np.abs(outside[:, order] - b).mean(axis=0)) / 2
    wide = np.where(wide > 0, wide, 1.0)

    def score(numbers: Scores) -> Scores:
        x = numbers[:, order]
        return np.asarray(((np.abs(x - b) - np.abs(x - a)) / wide).sum(axis=1))

    return score


def _by_cells(inside: Scores, outside: Scores, order: NDArray[np.intp]) -> Score:
    """Return the sum of the log ratios of histograms, number by number: of groups, whether they are shown."""
    tables = []
    for place in order:
        values = np.concatenate((inside[:, place], outside[:, place]))
        edges = np.unique(np.quantile(values, np.linspace(0, 1, _CELLS + 1)[1:-1]))
        counts = [
            np.bincount(np.searchsorted(edges, side[:, place], "right"), minlength=len(edges) + 1)
            for side in (inside, outside)
        ]
        ratio = np.log((counts[0] + 1) / (len(inside) + 1)) - np.log((counts[1] + 1) / (len(outside) + 1))
        tables.append((place, edges, ratio))

    def score(numbers: Scores) -> Scores:
        found = np.zeros(len(numbers))
        for place, edges, ratio in tables:
            found += ratio[np.searchsorted(edges, numbers[:, place], "right")]
        return found

    return score


def _cut(score: Score, drawn: Releases, later: int) -> Guess:
    """Choose where to guess, so that what the guesses prove is most."""
    scores = score(drawn.numbers)
    cuts = np.unique(np.append(np.quantile(scores, _CUTS), np.nextafter(scores.max(), np.inf)))
    inside, outside = np.sort(scores[drawn.coins]), np.sort(scores[~drawn.coins])
    # with the unit below each cut, without it, and the same from each cut on
    with_low, without_low = np.searchsorted(inside, cuts), np.searchsorted(outside, cuts)
    with_high, without_high = len(inside) - with_low, len(outside) - without_low
    right = without_low[:, None] + with_high[None, :]
    wrong = with_low[:, None] + without_high[None, :]
    worth = np.where(np.triu(np.ones(right.shape, bool)), _worths(right, wrong, later / len(scores)), -np.inf)
    low, high = np.unravel_index(int(np.argmax(worth)), worth.shape)
    return Guess(score, float(cuts[low]), float(cuts[high]))


def _worths(right: NDArray[np.int64], wrong: NDArray[np.int64], times: float) -> Scores:
    """Return what so many times these guesses prove, by Wilson's bound: log odds."""
    number = np.maximum(times * (right + wrong), 1e-9)
    p, z = times * right / number, _SURE
    low = p + z * z / (2 * number) - z * np.sqrt(p * (1 - p) / number + (z / (2 * number)) ** 2)
    low = np.clip(low / (1 + z * z / number), 1e-12, 1 - 1e-12)
    return np.asarray(np.log(low / (1 - low)))


def _worth(guess: Guess, drawn: Releases, later: int) -> float:
    """Return what a guess proves of ``later`` releases that are like these."""
    right, wrong = guess.right_and_wrong(drawn)
    return float(_worths(np.array([right]), np.array([wrong]), later / len(drawn.coins))[0])


__all__ = ["Guess", "learned"]
