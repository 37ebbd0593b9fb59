"""What residuals of answers say about their noise: tests with bounds on their p-values that hold at any size.

    law             the largest distance to the declared distribution function   Dvoretzky, Kiefer, Wolfowitz
    columns         products of two columns of a group                           Bernstein
    groups          products of two groups of a column                           Bernstein
    queries         products of an answer and the next one                       Bernstein
    low-order bits  how many of the last bits, and of their differences, are 1   Hoeffding
    values          how many numbers were there before                           binomial

A number is turned into its place u in the declared law F, which is uniform on [0, 1] where the law holds: of
a whole number n, anywhere between F(n - 1/2) and F(n + 1/2) by chance. Products are of u - 1/2; where the two
are independent they have the mean 0, the variance 1/144, and a size of 1/4 at most.
"""

from __future__ import annotations

import itertools
import math
import random
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsql.attacks.chances import at_least
from dpsql.mechanisms import mechanism

FALSE_ALARM = 1e-9
"""Of all tests of a set of residuals together."""

_BITS = 8


@dataclass(frozen=True)
class Residuals:
    """Released numbers minus exact ones, in grid steps: by answer, group and column; and the declared law."""

    steps: NDArray[np.int64]
    mechanism: str
    scale: float

    def places(self) -> NDArray[np.float64]:
        """Where each lies in the law."""
        law, chance = mechanism(self.mechanism), random.SystemRandom()
        above = {
            int(n): (law.above(self.scale, n + 0.5), law.above(self.scale, n - 0.5))
            for n in np.unique(self.steps)
        }
        flat = [1 - chance.uniform(*above[n]) for n in self.steps.ravel().tolist()]
        return np.array(flat).reshape(self.steps.shape)

    def likeliest(self) -> float:
        """The probability of the likeliest number, 0."""
        above = mechanism(self.mechanism).above
        return above(self.scale, -0.5) - above(self.scale, 0.5)


def found(residuals: Residuals) -> set[str]:
    """The names of the tests that the residuals fail."""
    tests = p_values(residuals)
    return {name.partition(":")[0] for name, p in tests.items() if p < FALSE_ALARM / len(tests)}


def p_values(residuals: Residuals) -> dict[str, float]:
    places = residuals.places()
    tests = {"law": law(places.ravel()), "values": values(residuals)}
    _, groups, columns = places.shape
    for group in range(groups):
        for one, other in itertools.combinations(range(columns), 2):
            p = dependence(places[:, group, one], places[:, group, other])
            tests[f"columns: {one} and {other} of {group}"] = p
    for column in range(columns):
        for one, other in itertools.combinations(range(groups), 2):
            p = dependence(places[:, one, column], places[:, other, column])
            tests[f"groups: {one} and {other} of {column}"] = p
        even = len(places) // 2 * 2
        for group in range(groups):
            p = dependence(places[:even:2, group, column], places[1:even:2, group, column])
            tests[f"queries: {column} of {group}"] = p
    for bit in range(_BITS):
        tests[f"low-order bits: {bit}"] = even_bits(residuals.steps.ravel() >> bit)
        difference = (residuals.steps >> bit) ^ (residuals.steps >> (bit + 1))
        tests[f"low-order bits: {bit} and the next"] = even_bits(difference.ravel())
    return tests


def law(places: NDArray[np.float64]) -> float:
    ordered, n = np.sort(places), len(places)
    steps = np.arange(n + 1) / n
    distance = max(float(np.abs(ordered - steps[1:]).max()), float(np.abs(ordered - steps[:-1]).max()))
    return min(1.0, 2 * math.exp(-2 * n * distance**2))


def dependence(one: NDArray[np.float64], other: NDArray[np.float64]) -> float:
    """Bernstein: P(|sum| >= t) <= 2 exp(-t^2 / 2 / (n variance + size t / 3))."""
    total = abs(float(((one - 0.5) * (other - 0.5)).sum()))
    return min(1.0, 2 * math.exp(-(total**2) / 2 / (len(one) / 144 + total / 12)))


def even_bits(bits: NDArray[np.int64]) -> float:
    """Half are 1: of a law that is wide, the last bits are uniform but for far less than its own error."""
    excess = abs(float((bits & 1).sum()) - len(bits) / 2)
    return min(1.0, 2 * math.exp(-2 * excess**2 / len(bits)))


def values(residuals: Residuals) -> float:
    """Whatever came before, a number was there with at most n times the probability of the likeliest."""
    n = residuals.steps.size
    repeated = n - len(np.unique(residuals.steps))
    return at_least(repeated, n, min(1.0, n * residuals.likeliest()))
