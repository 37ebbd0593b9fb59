"""What many releases tell of the law that they are drawn by. Every statement here errs once in a billion.

    at_least(ours, theirs, delta)    the epsilon that two neighbours' releases prove, as a lower bound
    follows(noise, mechanism, scale) whether noise has the law that was planned
    uniform(numbers)                 whether numbers between 0 and 1 are equally likely everywhere

Claim   with probability 1 - 1e-9 no mechanism that is (epsilon, delta)-private has a larger epsilon than
        ``at_least`` says; and noise of the planned law is found odd with probability 1e-9 at most.
Proof   an event is chosen by the first half of the releases alone; on the second half, which is independent
        of it, its two chances lie within Clopper's and Pearson's bounds, four of them at a quarter of
        1e-9 each, and p <= e^epsilon q + delta. For the law: the distance of an empirical distribution
        from the true one exceeds t with probability 2 exp(-2 n t^2) at most (Dvoretzky, Kiefer and
        Wolfowitz 1956, with Massart's constant), for laws on whole numbers too.
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
    """The largest epsilon that scores of releases prove; scores are larger where ``ours`` are likelier."""
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
    """The score from which on the two differ most, as far as so many releases can tell."""
    best, found = -math.inf, math.inf
    for cut in np.unique(np.quantile(np.concatenate((first, second)), np.linspace(0.01, 0.99, 99))):
        p, q = (first >= cut).mean(), (second >= cut).mean()
        unsure = 5 / math.sqrt(len(first))
        low = p - unsure * math.sqrt(p * (1 - p)) - delta
        high = q + unsure * math.sqrt(q * (1 - q)) + unsure**2 / 2
        if low > 0 and math.log(low / high) > best:
            best, found = math.log(low / high), float(cut)
    return found if math.isfinite(found) else float(np.median(first))


def _bounds(hits: int, tries: int) -> tuple[float, float]:
    """Clopper's and Pearson's bounds of a chance, each wrong once in four billions."""
    return _least(hits, tries), 1.0 - _least(tries - hits, tries)


def _least(hits: int, tries: int) -> float:
    """The chance at which so many hits, or more, come with a probability of a quarter of 1e-9."""
    if hits == 0:
        return 0.0
    counts = np.arange(hits, tries + 1)
    ways = np.array([-math.lgamma(k + 1) - math.lgamma(tries - k + 1) for k in counts])
    ways += math.lgamma(tries + 1)
    low, high = 0.0, 1.0
    for _ in range(50):
        middle = (low + high) / 2
        logs = ways + counts * math.log(middle) + (tries - counts) * math.log1p(-middle)
        rare = logs.max() + math.log(np.exp(logs - logs.max()).sum()) < math.log(ERRS / 4)
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
    """Whether these are independent draws of numbers between 0 and 1."""
    found, n = np.sort(numbers), len(numbers)
    steps = np.arange(n + 1) / n
    distance = max(float(np.abs(found - steps[1:]).max()), float(np.abs(found - steps[:-1]).max()))
    return distance <= math.sqrt(math.log(2 / ERRS) / (2 * n))
