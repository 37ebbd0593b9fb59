"""The confidence of each step of OPTIONS(within = '5%'), so that all steps together have the requested one.

    the number    ------------------------------ x ---------------   where step 7 may stop, and 8 surely does
    step 6 stops at  ....................................  (  |  )
    step 7 stops at  ............................  (  |  )
    step 8 stops at  .....................  (  |  )

Claim   the number that is shown is off by more than its margin with a probability of at most 1 - confidence,
        whatever the number is, and so is one that is said to be within the goal by more than the goal.
Proof   A step stops where |shown| >= stop = margin (1 + 1/reach). Its error is symmetric, above ``margin``
        with probability at most p and above ``far`` with at most q. A step is early for a number below
        stop - far, sure for one from stop + far on (for all, if stop is 0), else uncertain. That an early
        step stops, the first sure one goes on, or an uncertain one stops at a number of the other sign (for
        stop > far) has at most (steps + 2) q together. Else one of the n uncertain steps before the first
        sure one stops, or that one: off by more than the margin with at most (n + 1) p. Half a p less: if the
        number is below stop + margin of the last uncertain step, an error below -margin does not stop there;
        and if it is above, the sure step is reached only by an error below -margin there, which has p/2. If
        no step is sure, the last one is shown in any case: one of the n, or an early one, of p.
        Each step has the p of the most n that it has for any number; where stop <= far, where margins are not
        known, and where several numbers have to pass, the p of a union bound over all steps.
        A margin is within the goal at the stop: margin <= reach (|shown| - margin) <= reach |number|.
Test    tests/unit/test_within.py
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.ir.options import Goal
from dpsql.ir.plan import MeasurePlan
from dpsql.post.finish import reach_anywhere

_FAR = 0.02
"""The part of what may be missed that is left to far errors."""


def confidences_of(goal: Goal, releases: Sequence[MeasurePlan]) -> list[float]:
    """Return the confidence of each step; ``releases`` are what has been released after each of them."""
    missed, steps = 1 - goal.confidence, len(releases)
    union = 1 - missed / steps
    one = goal.relative and all(len(planned.measure.finishes) == 1 for planned in releases)
    far = reaches(releases, [1 - _FAR * missed / (steps + 2)] * steps) if one else []
    if not far:
        return [union] * steps
    counts = [1] * steps
    while True:
        found = [min(union, 1 - (1 - _FAR) * missed / (count + 0.5)) for count in counts]
        seen = _uncertain(goal, reaches(releases, found), far)
        if all(new <= old or old >= steps for new, old in zip(seen, counts, strict=True)):
            return found
        counts = [max(new, old) for new, old in zip(seen, counts, strict=True)]


def _uncertain(goal: Goal, margins: Sequence[float], far: Sequence[float]) -> list[int]:
    """Return, for each step, the most uncertain steps of a number for which it is one, or the sure one."""
    steps = len(margins)
    stops = [margin * (1 + 1 / goal.reach) for margin in margins]
    lows, highs = (
        [stop + side * away if stop else 0.0 for stop, away in zip(stops, far, strict=True)]
        for side in (-1, 1)
    )
    counts = [1] * steps
    for number in (0.0, *(end for end in (*lows, *highs) if end > 0)):  # between these nothing changes
        end = next((step for step in range(steps) if number >= highs[step]), steps - 1)
        unsure = [step for step in range(end) if lows[step] <= number < highs[step]]
        last_is_early = number < lows[end]
        many = steps if any(lows[step] <= 0 for step in unsure) else len(unsure) + last_is_early
        for step in (*unsure, end):
            counts[step] = max(counts[step], many)
    return counts


def reaches(releases: Sequence[MeasurePlan], confidences: Sequence[float]) -> list[float]:
    """Return the margins of the one number, exactly; none where they are not known before."""
    found = list[float]()
    for planned, confidence in zip(releases, confidences, strict=True):
        (finish,) = planned.measure.finishes
        cells = {position for group in finish.statistics for position in group}
        reach = reach_anywhere(finish, planned, confidence) if len(cells) == 1 else None
        if reach is None:
            return []
        found.append(reach)
    return found
