"""Norms of one unit's vector, in which a row counts each time and a unit counts once in each group.

    SELECT COUNT(DISTINCT person) FROM visits                        1, whatever the rows
    SELECT day, COUNT(DISTINCT person) ... GROUP BY day              sqrt(30) over 30 listed days
    SELECT day, SUM(x), COUNT(DISTINCT person) ... GROUP BY day      the rows, and the days beside them

Claim   Let a unit have at most ``rows`` rows, in at most ``groups`` groups. A row adds a vector of at most
        a (L1) and sqrt(A) (L2) to its group. Units are counted under several conditions: a unit adds at
        most b (L1) and sqrt(B) (L2) to a group in which it has rows, however many. Then its vector over all
        groups is at most ``l1`` and the root of ``l2_squared``.
Proof   With n_i >= 1 rows in the i-th of g groups, sum n_i <= rows, the group's vector is at most n_i a + b
        in L1, so all are at most rows a + g b, and g <= min(rows, groups). In L2 the group's sums of rows
        are at most n_i sqrt(A), on other coordinates than its counts of units: n_i^2 A + B. The sum of the
        n_i^2 is convex, so it is largest with one row in all groups but one: (rows - g + 1)^2 + g - 1. The
        total, f(g) = ((rows - g + 1)^2 + g - 1) A + g B, is convex in g and largest at g = 1 or at
        g = min(rows, groups).
        b and B add up all conditions: two that exclude each other for one row may both hold for rows of one
        unit.
Test    tests/privacy/test_unit_norms.py (all ways to spread up to 12 rows), grammar_tests/drawn/planted.py

Without sums of rows the rows only bound the groups, and need not be known.
"""

from __future__ import annotations


def l1(rows: int | None, groups: int | None, of_row: int, of_unit: int) -> int:
    """Bound the L1 norm; ``of_row`` is a, ``of_unit`` is b."""
    return _spread(rows, groups) * of_unit + (_known(rows) * of_row if of_row else 0)


def l2_squared(rows: int | None, groups: int | None, of_row: int, of_unit: int) -> int:
    """Bound the square of the L2 norm; ``of_row`` is A, ``of_unit`` is B."""
    most = _spread(rows, groups)
    if not of_row:
        return most * of_unit
    rows = _known(rows)
    spread = ((rows - most + 1) ** 2 + most - 1) * of_row + most * of_unit
    return max(rows**2 * of_row + of_unit, spread)


def _spread(rows: int | None, groups: int | None) -> int:
    """Return the most groups that a unit is in."""
    if groups is None:
        return _known(rows)
    return max(1, groups if rows is None else min(rows, groups))


def _known(rows: int | None) -> int:
    assert rows is not None, "sums of rows need a number of rows"
    return rows
