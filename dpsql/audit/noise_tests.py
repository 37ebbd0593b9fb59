"""Statistical tests of repeated releases; each has an error probability of at most 1e-9.

    at_least(ours, theirs, delta)    a lower bound on epsilon, from releases of two neighbours
    follows(noise, mechanism, scale) whether noise has the planned distribution
    uniform(numbers)                 whether numbers are uniform on [0, 1]

Claim   with probability 1 - 1e-9, ``at_least`` is at most epsilon for every mechanism that is (epsilon,
        delta)-private; and noise of the planned distribution fails a test with probability 1e-9 at most.
Proof   an event is chosen from the first half of the releases alone. The second half is independent of that
        choice. There, both probabilities of the event lie within Clopper-Pearson bounds, four of them at a
        quarter of 1e-9 each, and p <= e^epsilon q + delta. For the distribution: an empirical distribution
        function differs from the true one by more than t with probability 2 exp(-2 n t^2) at most
        (Dvoretzky, Kiefer and Wolfowitz 1956, with Massart's constant), also for integers.
Test    tests/privacy/test_audit_command.py
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from dpsql.mechanisms import mechanism

if TYPE_CHECKING:
    from numpy.typing import NDArray

ERRS = 1e-9


def at_least(ours: NDArray[np.float64], theirs: NDArray[np.float64], delta: float) -> float:
    """Return a lower bound on epsilon from scores of releases; higher scores are likelier under ``ours``."""
    half = len(ours) // 2
    proven = [0.0]
    for first, second in ((ours, theirs), (-theirs, -ours)):
        cut = _cut(first[:half], second[:half], delta)
        p = _bounds(int((first[half:] >= cut).sum()), len(first) - half)[0]
        q = _bounds(int((second[half:] >= cut).sum()), len(second) - half)[1]
        if p > delta:
            proven.append(math.log((p - delta) / q))
    return max(proven)


def _cut(first: NDArray[np.float64], second: NDArray[np.float64], delta: float) -> float:
    """Return the cut at which the tail probabilities differ most, allowing for sampling error."""
    best, best_cut = -math.inf, math.inf
    for cut in np.unique(np.quantile(np.concatenate((first, second)), np.linspace(0.01, 0.99, 99))):
        p, q = (first >= cut).mean(), (second >= cut).mean()
        unsure = 5 / math.sqrt(len(first))
        low = p - unsure * math.sqrt(p * (1 - p)) - delta
        high = q + unsure * math.sqrt(q * (1 - q)) + unsure**2 / 2
        if low > 0 and math.log(low / high) > best:
            best, best_cut = math.log(low / high), float(cut)
    return best_cut if math.isfinite(best_cut) else float(np.median(first))


def _bounds(hits: int, tries: int) -> tuple[float, float]:
    """Return Clopper-Pearson bounds of a probability, each wrong with probability 1e-9 / 4."""
    return least(hits, tries, ERRS / 4), 1.0 - least(tries - hits, tries, ERRS / 4)


def least(hits: int, tries: int, errs: float) -> float:
    """Return the success probability at which at least ``hits`` hits have probability ``errs``."""
    if hits == 0:
        return 0.0
    counts = np.arange(hits, tries + 1)
    ways = np.array([-math.lgamma(k + 1) - math.lgamma(tries - k + 1) for k in counts])
    ways += math.lgamma(tries + 1)
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        logs = ways + counts * math.log(middle) + (tries - counts) * math.log1p(-middle)
        rare = logs.max() + math.log(np.exp(logs - logs.max()).sum()) < math.log(errs)
        low, high = (middle, high) if rare else (low, middle)
    return low


def follows(noise: NDArray[np.int64], name: str, scale: float) -> bool:
    """Whether integers are draws of this mechanism at this scale."""
    values, counts = np.unique(noise, return_counts=True)
    law = np.array([1 - mechanism(name).above(scale, int(value) + 0.5) for value in values])
    until = np.cumsum(counts) / len(noise)
    before = np.concatenate(([0.0], until[:-1]))
    left = np.array([1 - mechanism(name).above(scale, int(value) - 0.5) for value in values])
    distance = max(float(np.abs(until - law).max()), float(np.abs(before - left).max()))
    return distance <= math.sqrt(math.log(2 / ERRS) / (2 * len(noise)))


def uniform(numbers: NDArray[np.float64]) -> bool:
    """Whether numbers are independent uniform draws on [0, 1]."""
    ordered, n = np.sort(numbers), len(numbers)
    steps = np.arange(n + 1) / n
    distance = max(float(np.abs(ordered - steps[1:]).max()), float(np.abs(ordered - steps[:-1]).max()))
    return distance <= math.sqrt(math.log(2 / ERRS) / (2 * n))
