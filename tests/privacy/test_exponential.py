"""The exponential mechanism draws the law it claims, and the law keeps its promise.

All bytes are seeded, so no test fails by chance.
"""

import math
import random
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from dpsql.mechanisms import _exact, exponential
from dpsql.mechanisms.exponential import Choices, choose

FALSE_ALARM = 1e-6


def seeded(seed):
    return random.Random(seed).randbytes


def ints(*values):
    return np.array(values, np.int64)


def one(losses, sizes=None, parts=None, denominator=1):
    """A single choice."""
    return Choices(
        ints(0, len(losses)),
        ints(*(sizes or [1] * len(losses))),
        ints(*losses),
        ints(*(parts or [0] * len(losses))),
        denominator,
    )


def many(choices, times):
    """The same choice again and again."""
    return Choices(
        np.arange(times + 1) * len(choices.sizes),
        np.tile(choices.sizes, times),
        np.tile(choices.whole, times),
        np.tile(choices.part, times),
        choices.denominator,
    )


def law(losses, rate, sizes=None):
    weights = [
        size * math.exp(-rate * loss) for loss, size in zip(losses, sizes or [1] * len(losses), strict=True)
    ]
    return [weight / sum(weights) for weight in weights]


def p_value(observed, expected):
    chi2 = sum((o - e) ** 2 / e for o, e in zip(observed, expected, strict=True))
    return float(mpmath.gammainc((len(observed) - 1) / 2, chi2 / 2, mpmath.inf, regularized=True))


def shares(choices, rate, size, seed):
    runs, inside = choose(many(choices, size), Fraction(rate), seeded(seed))
    assert (inside >= 0).all()
    assert (inside < choices.sizes[runs % len(choices.sizes)]).all()
    return np.bincount(runs % len(choices.sizes), minlength=len(choices.sizes))


def test_reference_values():
    """Scores 10, 8, 5 at epsilon 1 and sensitivity 1."""
    wanted = [0.689672, 0.253716, 0.056612]
    assert law([0, 2, 5], 0.5) == pytest.approx(wanted, abs=1e-6)
    observed = shares(one([0, 2, 5]), 0.5, 100_000, "reference")
    assert p_value(observed, [100_000 * p for p in wanted]) > FALSE_ALARM


@pytest.mark.parametrize("rate", [Fraction(1, 2**20), Fraction(1, 7), Fraction(3)])
def test_law_of_runs(rate):
    """Runs of several sizes, one of them empty, whose best loss is not 0, and fractions of a loss."""
    sizes, parts = [5, 0, 1, 300, 2], [0, 2, 1, 0, 2]
    losses = [4, 3, 4, 5 + round(6 / rate), 4]
    exact = [whole + part / 3 for whole, part in zip(losses, parts, strict=True)]
    expected = np.array(law([each - 4 for each in exact], float(rate), sizes)) * 60_000
    observed = shares(one(losses, sizes, parts, 3), rate, 60_000, str(rate))
    assert observed[1] == 0
    kept = expected >= 5
    assert p_value(observed[kept], expected[kept]) > FALSE_ALARM


def test_candidates_of_a_run_are_alike():
    _, inside = choose(many(one([0], [6]), 60_000), Fraction(1), seeded("alike"))
    assert p_value(np.bincount(inside, minlength=6), [10_000] * 6) > FALSE_ALARM


def test_the_exact_path_draws_the_same(monkeypatch):
    """With a hopeless bound every draw takes it; given the same bits it agrees with the fast path."""
    choices = many(one([0, 2, 5, 90], [3, 1, 7, 2]), 3_000)
    fast, _ = choose(choices, Fraction(1, 3), seeded("paths"))
    monkeypatch.setattr(exponential, "_ERROR", 2.0)
    exact, _ = choose(choices, Fraction(1, 3), seeded("paths"))
    assert (fast == exact).all()


def test_the_exact_path_reads_on_until_it_knows():
    """U begins with the first 64 bits of the border between two runs: the next bits decide."""
    total = 1 + mpmath.mpf(2) ** 0 * mpmath.exp(-1)
    with mpmath.workprec(300):
        border = int(mpmath.floor(1 / (1 + mpmath.exp(-1)) * 2**128))
    assert total > 1
    k, more = border >> 64, border & (2**64 - 1)
    exponents = [Fraction(0), Fraction(1)]
    below = (more - 1).to_bytes(8, "little") + b"\0" * 64
    above = (more + 1).to_bytes(8, "little") + b"\0" * 64
    for text, run in ((below, 0), (above, 1)):
        given = iter(text[i : i + 8] for i in range(0, len(text), 8))
        assert _exact.choice([1, 1], exponents, k, lambda size, given=given: next(given)) == run


def test_the_ends_of_the_uniform_number():
    """k = 0 is not always the first run: below it, a run may weigh less than 2^-64."""
    sizes, exponents = [1, 1], [Fraction(60), Fraction(0)]
    assert _exact.choice(sizes, exponents, 0, lambda size: b"\xff" * size) == 1
    assert _exact.choice(sizes, exponents, 0, lambda size: b"\0" * size) == 0
    assert _exact.choice(sizes, exponents, 2**64 - 1, lambda size: b"\xff" * size) == 1
    choices = one([60, 0])
    for word, run in ((b"\0", 0), (b"\xff", 1)):
        runs, _ = choose(choices, Fraction(1), lambda size, word=word: word * size)
        assert runs.tolist() == [run]


def test_losses_far_apart_do_not_overflow():
    runs, _ = choose(one([2**62, 0, 2**62 + 5], [1, 2**40, 1]), Fraction(10**6), seeded(1))
    assert runs.tolist() == [1]
    runs, _ = choose(one([2**62, 2**62 + 1]), Fraction(10**6), seeded(1))
    assert runs.tolist() == [0]


def test_add_one_neighbours():
    """Losses moved by at most 1 keep every ratio within epsilon; monotone ones do at twice the rate."""
    rng = np.random.default_rng(5)
    epsilon, worst, worst_monotone = 0.7, 0.0, 0.0
    for _ in range(1500):
        losses = rng.integers(0, 6, 8)
        moved = losses + rng.integers(-1, 2, 8)
        counted = losses + rng.integers(0, 2, 8)
        a, b = law(losses, epsilon / 2), law(moved, epsilon / 2)
        worst = max(worst, max(abs(math.log(x / y)) for x, y in zip(a, b, strict=True)))
        a, b = law(losses, epsilon), law(counted, epsilon)
        worst_monotone = max(worst_monotone, max(abs(math.log(x / y)) for x, y in zip(a, b, strict=True)))
    assert 0.6 < worst <= epsilon
    assert 0.6 < worst_monotone <= epsilon


def test_many_choices_are_made_in_parts():
    """Choices of different lengths on both sides of a part's end keep their own candidates."""
    rng = np.random.default_rng(9)
    lengths = rng.integers(1, 400, 700)
    starts = np.concatenate(((0,), np.cumsum(lengths)))
    whole = np.full(starts[-1], 10**9)
    wanted = starts[:-1] + rng.integers(0, lengths)
    whole[wanted] = 7
    choices = Choices(starts, np.ones(starts[-1], np.int64), whole, np.zeros(starts[-1], np.int64))
    assert starts[-1] > 2 * exponential._AT_ONCE
    runs, inside = choose(choices, Fraction(1), seeded("parts"))
    assert (runs == wanted).all()
    assert not inside.any()
