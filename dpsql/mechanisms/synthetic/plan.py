"""What synthetic rows cost: all events, from public numbers alone, before the first of them is spent.

    shares of a price     total 2 %, then for mwem 30 % of the rest choices, 70 % marginals of two columns,
                          for mst 20 % marginals of one column, 15 % choices, 65 % marginals of two

Claim   every event is what its share of the price buys, so together they cost the price at most; choices
        among scores that a unit moves by at most ``clip`` in either direction, and noise on vectors that
        a unit moves by at most ``clip`` in L2, cost these events. No event depends on data.
Proof   shares sum to 1, and an accountant's allowance for a share costs at most this share of the price: that
        is what ``Allowance`` says. The scale is ``clip`` times the bought deviation, rounded up; the rate
        epsilon / (2 clip) of a choice makes it epsilon-bounded-range (``exponential``). What a unit moves
        is the claim of ``counts``. Events are made of sizes, clip and price; which marginals are chosen
        changes none of them, so they are fixed before the first.
Test    tests/privacy/test_synthetic.py
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import TypeAlias

from dpsql.ir.allowance import Allowance
from dpsql.ir.event import ChoiceEvent, GaussianEvent
from dpsql.ir.synthetic import SyntheticPlan
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms import gaussian
from dpsql.mechanisms.sampler import SCALE_LIMIT

Allow: TypeAlias = Callable[[Fraction], Allowance]
"""What a share of the price buys."""

MOST_CELLS = 200_000
"""Cells of a table that is held."""

TOTAL = Fraction(1, 50)
"""Share of the price for the number of all rows; every other marginal also says something of it."""


@dataclass(frozen=True, slots=True)
class Shares:
    """How what the total leaves is split."""

    one_column: Fraction
    choices: Fraction
    two_columns: Fraction


@dataclass(frozen=True, slots=True)
class Shape:
    """What is asked: the columns' sizes, the most that a unit adds in L1, and a row, both in grid steps."""

    sizes: tuple[int, ...]
    clip: int
    step: int

    def __post_init__(self) -> None:
        if not self.sizes or min(self.sizes) < 1 or min(self.clip, self.step) < 1:
            raise ValueError("synthetic rows need columns with values, a clip and a step")


def bought(
    method: str, shape: Shape, shares: Shares, numbers: tuple[int, int, int], allow: Allow
) -> SyntheticPlan:
    """Return the plan for so many marginals of one column, choices, and marginals of two columns."""
    rest = 1 - TOTAL
    each = [
        rest * share / max(1, number)
        for share, number in zip(
            (shares.one_column, shares.choices, shares.two_columns), numbers, strict=True
        )
    ]
    ones, choices, twos = numbers
    return SyntheticPlan(
        method,
        shape.sizes,
        shape.clip,
        shape.step,
        _noise(shape.clip, TOTAL, allow),
        (_noise(shape.clip, each[0], allow),) * ones if ones else (),
        (ChoiceEvent(allow(each[1]).choice),) * choices if choices else (),
        (_noise(shape.clip, each[2], allow),) * twos if twos else (),
    )


def rate(event: ChoiceEvent, clip: int) -> Fraction:
    """Return the rate of a choice among scores that one unit moves by ``clip``, some up and others down."""
    return Fraction(event.epsilon) / (2 * clip)


def _noise(clip: int, share: Fraction, allow: Allow) -> GaussianEvent:
    allowed = allow(share)
    if allowed.gaussian is None:
        raise ValueError("synthetic rows need Gaussian noise, which this accountant does not price")
    scale = gaussian.scale_for(clip, allowed.gaussian)
    if not scale < SCALE_LIMIT:
        raise ValueError("the price is too small, or the clip too large, for noise that can be drawn")
    return gaussian.event(clip, scale, allowed.gaussian_epsilon, allowed.gaussian_point_delta)
