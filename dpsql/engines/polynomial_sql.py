"""The polynomials of a bounded argument in SQL, as whole numbers.

p, q     places from 0 to M, and squares of places: M - 2p + q, 2p - 2q, q
y, z     two arguments in [0, 1]: CAST((1-y)*(1-y) * z*z * M AS BIGINT), and eight more

A quadratic of one argument is a whole combination of p and q = round(pp / M), so that two sums and a count
tell three cells. aggregates/variance.py and covariance.py say how much a row adds to each at most.
"""

from __future__ import annotations

from dpsql.ir.statistic import Part, Statistic

_OF_PLACES = {
    Part.BERNSTEIN: ((1, -2, 1), (0, 2, -2), (0, 0, 1)),
    Part.LAGRANGE: ((1, -3, 2), (0, 4, -4), (0, -1, 2)),
}
"""How much of M, p and q makes each cell."""

_OF_SHARES = {
    Part.BERNSTEIN: ("(1 - {0}) * (1 - {0})", "2 * {0} * (1 - {0})", "{0} * {0}"),
    Part.LAGRANGE: ("(1 - {0}) * (1 - 2 * {0})", "4 * {0} * (1 - {0})", "{0} * (2 * {0} - 1)"),
}


def rounded_square(place: str, most: int) -> str:
    """pp / M to the nearest whole number: exact but for 2^-20 of one, and M exactly where p is M."""
    return f"CAST(CAST({place} AS DOUBLE) * {place} * {1 / most!r}::DOUBLE AS BIGINT)"


def single(each: Statistic, place: str, square: str) -> tuple[str, str]:
    """A cell of one row, and its sum over a group."""
    whole, of_place, of_square = _OF_PLACES[each.part][each.cell]
    row = f"{whole * each.most} + {of_place} * {place} + {of_square} * {square}"
    parts = [f"count({place}) * {each.most}::HUGEINT"] if whole else []
    parts += [f"{of_place} * coalesce(sum({place}), 0)"] if of_place else []
    parts += [f"{of_square} * coalesce(sum({square}), 0)"] if of_square else []
    return row, f"({' + '.join(parts)})"


def product(each: Statistic, y: str, z: str) -> str:
    """A cell of a row that has both; NULL where one is missing."""
    shares = _OF_SHARES[each.part]
    first, second = shares[each.cell // 3].format(y), shares[each.cell % 3].format(z)
    return f"CAST(({first}) * ({second}) * {each.most}::DOUBLE AS BIGINT)"
