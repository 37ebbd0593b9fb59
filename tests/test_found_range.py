"""The choice of a range: exact scores, the law over neighbours, and how far the sums are off with it."""

from __future__ import annotations

import math
import random
from collections import Counter
from fractions import Fraction

import pytest

from dpsql.ir.detail import Reaches
from dpsql.mechanisms.found_range import (
    Reach,
    allowed_outside,
    base,
    covering,
    limits,
    ranges,
    reach_at,
    scores,
    weights,
)

SIGNED = Reaches(None, -2, 4, True)
COUNTS = Reaches(None, 0, 4, False)


def reach(ladder: Reaches, values: list[float]) -> Reach:
    def far(value: float) -> int:
        return 0 if value <= 0 else 1 + sum(limit < value for limit in limits(ladder))

    return far(max(values)), far(-min(values))


def drawn_units(number: int, seed: int) -> list[list[float]]:
    source = random.Random(seed)
    exact = [0.0, 1.0, -1.0, 1.5, -1.5, 16.0, -16.0, 100.0, -100.0]
    return [
        [source.choice([source.gauss(0, 4), source.choice(exact)]) for _ in range(source.randint(1, 3))]
        for _ in range(number)
    ]


def test_limits_are_two_to_an_octave() -> None:
    assert limits(COUNTS) == [1, Fraction(3, 2), 2, 3, 4, 6, 8, 12, 16]
    assert ranges(SIGNED)[:4] == [
        (0, Fraction(1, 4)),
        (-Fraction(1, 4), 0),
        (-Fraction(1, 4), Fraction(1, 4)),
        (0, Fraction(3, 8)),
    ]


def test_weights_fall_with_the_width() -> None:
    """Four times as wide is a sixteenth for counts, an eighth for numbers, until all weigh alike."""
    assert weights(COUNTS)[::4] == [2**60, 2**56, 2**52]
    assert weights(SIGNED)[0] == 8 * weights(SIGNED)[12] == 8 * weights(SIGNED)[2]
    wide = weights(Reaches(None, -10, 48, True))
    assert max(wide) == 2**60
    assert wide[-3:] == [1, 1, 1]


@pytest.mark.parametrize("seed", range(20))
def test_scores_count_units_outside(seed: int) -> None:
    units = drawn_units(40, seed)
    found = scores(SIGNED, Counter(reach(SIGNED, unit) for unit in units), 3)
    for (low, high), score in zip(ranges(SIGNED), found, strict=True):
        outside = sum(min(unit) < low or max(unit) > high for unit in units)
        assert score == -abs(outside - 3)


@pytest.mark.parametrize("seed", range(20))
def test_a_unit_moves_every_score_by_one_at_most(seed: int) -> None:
    """And so the law of the choice: log ratios within epsilon, and their spread too (bounded range)."""
    units = drawn_units(30, seed)
    epsilon = 0.7
    laws = []
    for those in (units, units[1:]):
        held = scores(SIGNED, Counter(reach(SIGNED, unit) for unit in those), allowed_outside(epsilon))
        laws.append((held, _law(held, weights(SIGNED), epsilon)))
    (ours, law), (theirs, other) = laws
    assert all(abs(a - b) <= 1 for a, b in zip(ours, theirs, strict=True))
    losses = [math.log(a / b) for a, b in zip(law, other, strict=True)]
    assert max(losses) - min(losses) <= epsilon + 1e-9


def _law(held: list[int], sizes: list[int], epsilon: float) -> list[float]:
    masses = [size * math.exp(epsilon * score / 2) for size, score in zip(sizes, held, strict=True)]
    return [mass / sum(masses) for mass in masses]


def test_nobody_and_places() -> None:
    assert scores(SIGNED, {}, 5) == [-5] * len(ranges(SIGNED))
    for up in range(base(SIGNED)):
        for down in range(base(SIGNED)):
            assert reach_at(SIGNED, up * base(SIGNED) + down) == (up, down)


def test_covering_holds_all_and_no_more_than_needed() -> None:
    assert ranges(SIGNED)[covering(SIGNED, {(3, 0): 2, (0, 0): 1})] == (0, Fraction(1, 2))
    assert ranges(SIGNED)[covering(SIGNED, {(3, 1): 2})] == (-Fraction(1, 2), Fraction(1, 2))
    assert ranges(SIGNED)[covering(SIGNED, {(0, 2): 2})] == (-Fraction(3, 8), 0)


ERRORS = {"lognormal": (1000, 0.039), "pareto": (1000, 0.121), "age": (1000, 0.0089)}
"""Units, and the expected relative error of SUM over 30 data sets: epsilon 1, a fifth of it for the range.

A base measure of one over the width has .11, .18 and .05 here, and an exact clip .014, .062 and .0024.
"""


@pytest.mark.parametrize("name", ERRORS)
def test_error_of_a_sum_with_a_found_range(name: str) -> None:
    """Averaged over the whole law of the choice and the noise, on 20 data sets."""
    units, wanted = ERRORS[name]
    source = random.Random(7)
    drawing = {
        "lognormal": lambda: source.lognormvariate(3, 1),
        "pareto": lambda: source.paretovariate(1.5),
        "age": lambda: float(source.randint(1, 120)),
    }[name]
    ladder = Reaches(None, -10, 40, True)
    fractions, choices = (
        [float(limit) for limit in limits(ladder)],
        [(float(a), float(b)) for a, b in ranges(ladder)],
    )
    off = []
    for _ in range(20):
        values = [drawing() for _ in range(units)]
        held = Counter((1 + sum(c < v for c in fractions), 0) for v in values)
        law = _law(scores(ladder, held, allowed_outside(0.2)), weights(ladder), 0.2)
        off.append(0.0)
        for (low, high), chance in zip(choices, law, strict=True):
            if chance < 1e-12:
                continue
            bias = abs(sum(min(max(v, low), high) for v in values) - sum(values))
            scale = max(-low, high) / 0.8
            off[-1] += chance * (bias + scale * math.exp(-bias / scale)) / sum(values)
    assert sum(off) / len(off) <= 1.25 * wanted
