"""How far the mean of private rows is from a public number, beyond a tolerance.

    values on [0, 1], p = .31, tolerance .04      |sum of (x - .31)| - .04 rows      above 0: not within it

Claim   adding or removing a unit moves ``beyond`` by at most ``moves(distance, clip)``, where the clip bounds
        what it adds to both sums together.
Proof   A row adds ``most`` steps: value = most (x - low) / w to one sum and the rest to the other, where w is
        high - low. So with t = (p - low) / w the sum of (x - p) is w / most * ((1 - t) value - t rest), and
        the number of rows (value + rest) / most, of clipped units too. A unit that adds (r, v), none of them
        negative and r + v <= clip, moves the first by at most w / most * max(|t|, |1 - t|) clip, its absolute
        value by no more, and the second by at most clip / most.
        It is computed in fractions, so that nothing is rounded.
Test    tests/privacy/test_holdouts.py
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.ir.alert import Distance


def beyond(rest: int, value: int, distance: Distance) -> Fraction:
    """Return |sum of (x - p)| - tolerance * rows, from the two sums of a mean."""
    width = distance.high - distance.low
    share = (distance.public - distance.low) / width
    away = abs((1 - share) * value - share * rest)
    return (width * away - distance.tolerance * (rest + value)) / distance.most


def moves(distance: Distance, clip: int) -> Fraction:
    """Return what a unit moves it by at most."""
    return (furthest_value(distance) + distance.tolerance) * clip / distance.most


def furthest_value(distance: Distance) -> Fraction:
    """Return how far a value may be from the public number."""
    return max(abs(distance.high - distance.public), abs(distance.public - distance.low))
