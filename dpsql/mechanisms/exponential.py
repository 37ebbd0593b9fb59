"""The exponential mechanism: one of many public candidates, drawn exactly in proportion to exp(-rate * loss).

    losses 0, 2, 5 of three candidates, rate 1/2  ->  one of them, with chances .690, .254, .057

Candidates come in runs of equal loss (the empty bins between two filled ones are one run), and many
choices are made at once: one for every group.

Claim   a candidate is drawn with probability exp(-rate * loss) / sum of the same over all candidates,
        exactly, ``rate`` and ``losses`` being rational numbers. With rate = epsilon / (2 D) and losses that
        one unit moves by at most D, a choice is epsilon-bounded-range: epsilon-differentially private, and
        epsilon^2/8-zCDP. Where a unit moves no loss upwards (a count's), rate = epsilon / D does the same.
Proof   1. Between two neighbours, log(weight) of a candidate moves by at most epsilon / 2 in either direction
           (by 0 to epsilon where the losses are monotone), so the logarithms of all ratios lie within an
           interval of length epsilon, which contains 0 after normalisation: bounded range, and with it the
           price in pure and in concentrated privacy (Dong, Durfee, Rogers 2020; Cesar and Rogers 2021).
        2. The draw. A uniform real U in [0, 1], an endless sequence of random bits, chooses the run with
           the part of the cumulative weights that contains it; inside the run, candidates are equal. If all
           reals that begin with the 64 bits read so far, and all weights within their error bounds, choose
           the same run, that run is the answer: the other bits cannot change it. Else ``_exact`` adds bits
           and precision until intervals decide. It ends almost surely.
        3. The float bound. The exponent x is off by less than x 2^-50, its exponential by another 2^-50 of
           itself, and weights below 2^-1074 (x > 745) are lost, so every share of the total is off by less
           than 2^-40 of itself and so is their sum; ``_ERROR`` covers numerator and denominator.
           A running sum of n numbers that reaches s is off by at most n s 2^-53; ``_SUM`` covers it, the
           rounding of U and of the sum to which U is added.
        4. The number inside a run: words below the largest multiple of the run's size, others dropped.
Test    tests/privacy/test_exponential.py

The work depends on the number of runs alone, except for one draw in many millions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Words: TypeAlias = Callable[[int], bytes]
"""Returns that many fresh random bytes: os.urandom."""

Integers: TypeAlias = "NDArray[np.int64]"

_AT_ONCE = 1 << 16  # runs: bounds memory, and the length of sums
_ERROR = 2.0**-38
_SUM = 2.0**-51


@dataclass(frozen=True, slots=True, eq=False)
class Choices:
    """Candidates of many choices, in runs of equal loss, one choice after the other.

    ``starts`` holds the first run of every choice, and at its end the number of all runs. A run has
    ``sizes`` candidates, perhaps none, each of loss whole + part / denominator with 0 <= part < denominator.
    """

    starts: Integers
    sizes: Integers
    whole: Integers
    part: Integers
    denominator: int = 1

    def __len__(self) -> int:
        return len(self.starts) - 1


_PARTS = 1 << 20
"""Parts of a unit in which the losses of one choice are expressed."""


def one_choice(scores: Sequence[int], costs: Sequence[float | Fraction], rate: Fraction) -> Choices:
    """Return one choice among candidates that weigh exp(rate * score - cost), each a run of its own.

    The costs are public, and may be rounded: they are a base measure, which no unit moves.
    """
    penalties = [round(Fraction(cost) / rate * _PARTS) for cost in costs]
    whole = [penalty // _PARTS - score for penalty, score in zip(penalties, scores, strict=True)]
    return Choices(
        np.array([0, len(scores)], dtype=np.int64),
        np.ones(len(scores), dtype=np.int64),
        np.array(whole, dtype=np.int64),
        np.array([penalty % _PARTS for penalty in penalties], dtype=np.int64),
        _PARTS,
    )


Chosen: TypeAlias = tuple[Integers, Integers]
"""For every choice, the chosen run and the position of the candidate in it, from 0."""

Choose: TypeAlias = Callable[[Choices, Fraction], Chosen]
"""Draws all choices at a rate."""


def choose(choices: Choices, rate: Fraction, words: Words) -> Chosen:
    """Draw one candidate of each choice; every choice must have one."""
    runs = np.empty(len(choices), np.int64)
    first = 0
    while first < len(choices):
        limit = choices.starts[first] + _AT_ONCE
        last = max(first + 1, int(np.searchsorted(choices.starts, limit, "right")) - 1)
        runs[first:last] = _draw_runs(choices, first, last, rate, words)
        first = last
    return runs, _uniform_below(choices.sizes[runs], words)


def best(choices: Choices) -> Integers:
    """Return the least whole part of a loss in every choice."""
    huge = np.iinfo(np.int64).max
    return np.minimum.reduceat(np.where(choices.sizes > 0, choices.whole, huge), choices.starts[:-1])


def _draw_runs(choices: Choices, first: int, last: int, rate: Fraction, words: Words) -> Integers:
    offset = int(choices.starts[first])
    part = _slice(choices, first, last)
    starts, lengths = part.starts[:-1], np.diff(part.starts)
    losses = part.whole - np.repeat(best(part), lengths)  # the law is unchanged
    exponents = (losses + part.part / part.denominator) * float(rate)
    weights = part.sizes * np.exp(-exponents)
    shares = weights / np.repeat(np.add.reduceat(weights, starts), lengths)
    ends = np.concatenate(((0.0,), np.cumsum(shares)))
    k = np.frombuffer(words(8 * len(part)), "<u8")
    reached = ends[starts] + k.astype(np.float64) * 2.0**-64
    runs = np.clip(np.searchsorted(ends[1:], reached, "right"), starts, part.starts[1:] - 1)
    error = _ERROR + (len(shares) + 1) * (len(part) + 1) * _SUM
    decided = (runs == starts) | (ends[runs] < reached - error)
    decided &= (runs == part.starts[1:] - 1) | (reached + error < ends[runs + 1])
    for i in np.flatnonzero(~decided | (part.sizes[runs] == 0)):
        runs[i] = _exactly(part, int(i), rate, int(k[i]), words)
    return np.asarray(runs + offset, np.int64)


def _slice(choices: Choices, first: int, last: int) -> Choices:
    inside = slice(int(choices.starts[first]), int(choices.starts[last]))
    return Choices(
        choices.starts[first : last + 1] - inside.start,
        choices.sizes[inside],
        choices.whole[inside],
        choices.part[inside],
        choices.denominator,
    )


def _exactly(choices: Choices, which: int, rate: Fraction, k: int, words: Words) -> int:
    """Take the exact path of one choice; mpmath is imported when first needed."""
    from dpsql.mechanisms import _exact

    choice = _slice(choices, which, which + 1)
    nonempty = np.flatnonzero(choice.sizes > 0)
    losses = zip(choice.whole[nonempty].tolist(), choice.part[nonempty].tolist(), strict=True)
    exponents = [(whole + Fraction(part, choice.denominator)) * rate for whole, part in losses]
    least = min(exponents)
    run = _exact.choice(
        choice.sizes[nonempty].tolist(), [exponent - least for exponent in exponents], k, words
    )
    return int(choices.starts[which]) + int(nonempty[run])


def _uniform_below(sizes: Integers, words: Words) -> Integers:
    """Draw a uniform number from 0 to size - 1 for each size."""
    numbers = np.zeros(len(sizes), np.int64)
    left = np.flatnonzero(sizes > 1)
    while len(left):
        k = np.frombuffer(words(8 * len(left)), "<u8")
        size = sizes[left].astype(np.uint64)
        even = k < (np.uint64(2**64 - 1) // size) * size
        numbers[left[even]] = (k[even] % size[even]).astype(np.int64)
        left = left[~even]
    return numbers
