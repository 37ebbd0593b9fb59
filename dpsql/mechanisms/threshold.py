"""The threshold of a noisy count of units from which its group is shown.

    steps_for("laplace", scale=2.0**20, one=2**20, clip=2**20, norm=Norm.L1, groups_at_most=1, delta=1e-6)
    -> 14808372            14.1224 units: 1 + ln(1 / 2e-6), and half a step for rounding

Claim   a unit's groups that contain no other unit (its new groups) are shown with probability <= delta, all
        together, so that showing keys costs exactly ``delta`` beside the noise's own price.
Proof   the count of one group rises by the same v for every new group of the unit: each holds ``one``
        step count, scaled by one factor of the unit and truncated. The clip leaves t v <= clip (L1) or
        t v^2 <= clip^2 (L2) of t of them, so v <= v_t = min(one, clip // t) or min(one,
        isqrt(clip^2 // t)). The group shows when v + floor(y + 1/2) >= T, that is y >= T - v - 1/2.
        With T >= v_t + 1/2 + reach(d_t), d_t = 1 - (1 - delta)^(1/t), each shows with probability d_t
        at most; the noise being independent, one of t does with 1 - (1 - d_t)^t = delta.
        T must hold for every t up to L: the enforced number of groups, or else clip or clip^2, because
        only groups with a hidden count of at least one step are tested (t v^p <= clip^p, v >= 1).
        v_t falls in t and reach(d_t) grows, so on t..u both stay below v_t + reach(d_u): every t up to
        64 is taken by itself, then intervals of a 64th of their beginning, which cost at most scale/64.
        Every bound is rounded up: T is at most a little too large.
        Where a policy asks for k units, (k - 1) ``one`` are added: then a group of at most k units, each of
        which adds ``one`` at most, passes with probability d_1 = delta at most, as one unit did before. (A
        test of the true count would hide more, but that count is not a function of noisy numbers.)
Test    tests/privacy/test_threshold.py
"""

from __future__ import annotations

import math
from functools import lru_cache

from dpsql.ir.plan import Norm
from dpsql.mechanisms import shelf


def steps_for(
    mechanism: str, scale: float, one: int, clip: int, norm: Norm, groups_at_most: int | None, delta: float
) -> int:
    """Return the threshold in grid steps; ``one`` is a unit's count and ``clip`` bounds its whole vector."""
    if not (0 < delta < 1 and one > 0 and clip > 0):
        raise ValueError(f"no threshold for delta {delta}, {one} steps to a unit and a clip of {clip}")
    most = clip**norm.value if groups_at_most is None else groups_at_most
    reach = shelf()[mechanism].reach
    counts = (
        _count(groups, one, clip, norm) + math.ceil(reach(scale, share) + 0.5)
        for groups, share in _shares(delta, most)
    )
    return max(counts, default=0)


@lru_cache(256)  # the same at each price
def _shares(delta: float, most: int) -> list[tuple[int, float]]:
    """Return the least number of groups of each interval, and each group's share for the largest number."""
    shares, groups = [], 1
    while groups <= most:
        until = min(most, groups + groups // 64)
        shares.append((groups, _delta_per_group(delta, until)))
        groups = until + 1
    return shares


def _delta_per_group(delta: float, groups: int) -> float:
    """Return 1 - (1 - delta)^(1/groups), rounded down: each group's share when together they use delta."""
    return -math.expm1(math.log1p(-delta) / groups) * (1 - 1e-13)


def _count(groups: int, one: int, clip: int, norm: Norm) -> int:
    """Return the most steps that one unit adds to each of this many groups."""
    return min(one, clip // groups if norm is Norm.L1 else math.isqrt(clip * clip // groups))
