"""The norms of a unit's vector, against all ways to spread its rows over groups and conditions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction

import pytest

from dpsql.plan.unit_norms import l1, l2_squared

ROWS = 12
WEIGHTS = [(0, 1), (1, 0), (1, 1), (1, 5), (7, 2), (1, 400)]


def spreads(rows: int, groups: int) -> Iterator[tuple[int, ...]]:
    """Yield all ways to put at most ``rows`` rows into at most ``groups`` groups, the fullest first."""

    def parts(left: int, most: int, places: int) -> Iterator[tuple[int, ...]]:
        yield ()
        for n in range(1, min(left, most) + 1) if places else ():
            for rest in parts(left - n, n, places - 1):
                yield (n, *rest)

    return parts(rows, rows, groups)


@pytest.mark.parametrize(("of_row", "of_unit"), WEIGHTS)
@pytest.mark.parametrize("rows", range(1, ROWS + 1))
def test_the_norms_are_those_of_the_worst_spread(rows: int, of_row: int, of_unit: int) -> None:
    for groups in range(1, rows + 3):
        worst_l1 = max(sum(n * of_row + of_unit for n in spread) for spread in spreads(rows, groups))
        worst_l2 = max(sum(n * n * of_row + of_unit for n in spread) for spread in spreads(rows, groups))
        assert l1(rows, groups, of_row, of_unit) == worst_l1
        assert l2_squared(rows, groups, of_row, of_unit) == worst_l2
    assert l1(rows, None, of_row, of_unit) == l1(rows, rows, of_row, of_unit)
    assert l2_squared(rows, None, of_row, of_unit) == l2_squared(rows, rows, of_row, of_unit)


def test_counts_of_units_need_no_rows() -> None:
    assert (l1(None, 30, 0, 1), l2_squared(None, 30, 0, 1)) == (30, 30)
    with pytest.raises(AssertionError):
        l1(None, 30, 1, 1)
    with pytest.raises(AssertionError):
        l2_squared(None, None, 0, 1)


def test_conditions_that_exclude_each_other_for_a_row_both_hold_for_a_unit() -> None:
    """Two rows of one unit, one of either kind, in one group: its counts under two conditions are (1, 1)."""
    kinds = [(1, 0), (0, 1)]
    worst = Fraction(0)
    for rows in itertools.product(kinds, repeat=2):
        counted = [max(row[i] for row in rows) for i in range(2)]
        worst = max(worst, Fraction(sum(n * n for n in counted)))
    assert worst == 2
    assert l2_squared(2, 1, 0, 1 + 1) == 2
