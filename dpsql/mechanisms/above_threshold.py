"""Whether numbers are above a threshold: any number of questions until the first true, for one epsilon.

    threshold  100 + noise of scale 2 D / epsilon       drawn once, never shown
    question   count + noise of scale 2 D / epsilon     monotone; 4 D / epsilon where numbers move both ways
    outcome    whether the second is at least the first     false ... true, and no more questions

Claim   for questions that one unit moves by at most D each, all outcomes up to the first true together are
        epsilon-differentially private, whoever chooses the next question after seeing the outcomes before.
        Monotone questions all move the same way when a unit leaves.
Proof   Let Z be the noise of the threshold T and q, q' the numbers with and without the unit. Given Z = z,
        the outcomes false ... false, true have the probability  prod F(T + z - q_i) (1 - F(T + z - q_n)),
        F the law of a question's noise: each factor is between 0 and 1, and F rises.
        q' <= q    From q to q' every F grows, at the same z; so false costs nothing. True needs q_n' + noise
                   at least T + z, which is at most D further: a factor of at most e^(D / scale).
        q' >= q    Compare z with z + D: the threshold's law changes by at most e^(D / its scale), no F gets
                   smaller, and for true the distance changes by D - (q_n' - q_n), in [0, D].
        Monotone questions are always in one of the two cases: D / (2 D / epsilon) twice is epsilon. Otherwise
        the second holds with a distance in [0, 2 D]: epsilon / 2, and 2 D / (4 D / epsilon). Without a true
        the last factor is missing. All questions are chosen from outcomes, so that this holds for each z and
        every way of asking (Lyu, Su and Li 2017, theorems 2 and 5).
        Noise is rounded on the grids of the numbers and of the threshold. The threshold's grid has D as a
        whole multiple, so that z + D is on it. A question's grid of step h has not: distances change by at
        most ceil(D / h) steps, which is what its scale is for.
        After each true the next threshold has noise of its own: ``times`` mechanisms, one after the other.
Test    tests/privacy/test_above_threshold.py: the law of four questions exactly, both ways
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpsql.mechanisms import at_least

STEPS = 2**20
"""Steps of a threshold's grid in what a unit may add to a number by its declaration."""

SLACK = 2**4
"""Steps beside them: the grids of questions round what a unit adds up."""

Draw = Callable[[float, int], Any]
"""(scale, how many) -> whole numbers with Laplace noise of this scale, from the operating system."""


def step_of(most: Fraction) -> Fraction:
    """Return the step of a threshold's grid."""
    return most / STEPS


def most_of(step: Fraction) -> Fraction:
    """Return D: what a unit moves a question at most."""
    return (STEPS + SLACK) * step


def scale_of_threshold(epsilon: float) -> float:
    """Return the scale of a threshold's noise, in steps of its grid."""
    return at_least(2 * (STEPS + SLACK) / Fraction(epsilon))


def scale_of_question(most: Fraction, step: Fraction, monotone: bool, epsilon: float) -> float:
    """Return the scale of a question's noise, in steps of its own grid."""
    return at_least((2 if monotone else 4) * math.ceil(most / step) / Fraction(epsilon))


def thresholds(above: float, step: Fraction, scale: float, times: int, draw: Draw) -> list[int]:
    """Draw one threshold for each true, in steps of their grid."""
    middle = math.ceil(Fraction(above) / step)
    return [middle + int(noise) for noise in draw(scale, times)]


def is_above(number: int, its_step: Fraction, threshold: int, step: Fraction) -> bool:
    """Whether a number with its noise is at least a threshold with its noise."""
    return number * its_step >= threshold * step
