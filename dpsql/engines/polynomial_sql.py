"""The polynomial cells of bounded arguments as SQL, in whole numbers.

p, q     places from 0 to M, and squares of places: M - 2p + q, 2p - 2q, q
y, z     two arguments in [0, 1]: CAST((1-y)*(1-y) * z*z * M AS BIGINT), and eight more

A quadratic of one argument is an integer combination of p and q = round(pp / M), so two sums and a count give
three cells. aggregates/variance.py and covariance.py state how much a row adds to each cell at most.
"""

from __future__ import annotations

from dpsql.engines.arithmetic import Arithmetic
from dpsql.ir.statistic import Part, Statistic

_OF_PLACES = {
    Part.BERNSTEIN: ((1, -2, 1), (0, 2, -2), (0, 0, 1)),
    Part.LAGRANGE: ((1, -3, 2), (0, 4, -4), (0, -1, 2)),
}
"""The coefficients of M, p and q in each cell."""

_OF_SHARES = {
    Part.BERNSTEIN: ("(1 - {0}) * (1 - {0})", "2 * {0} * (1 - {0})", "{0} * {0}"),
    Part.LAGRANGE: ("(1 - {0}) * (1 - 2 * {0})", "4 * {0} * (1 - {0})", "{0} * (2 * {0} - 1)"),
}


def rounded_square(place: str, most: int, arithmetic: Arithmetic) -> str:
    """Print pp / M rounded to a whole number: the error before rounding is below 2^-20; M for p = M."""
    return arithmetic.rounded(
        f"{arithmetic.dialect.double(place)} * {place} * {arithmetic.dialect.number(1 / most)}"
    )


def single(statistic: Statistic, place: str, square: str, arithmetic: Arithmetic) -> tuple[str, str]:
    """Print a cell of one row, and its sum over a group."""
    of_count, of_place, of_square = _OF_PLACES[statistic.part][statistic.cell]
    row = f"{of_count * statistic.most} + {of_place} * {place} + {of_square} * {square}"
    parts = [f"count({place}) * {arithmetic.wide(str(statistic.most))}"] if of_count else []
    parts += [f"{of_place} * {arithmetic.summed(place)}"] if of_place else []
    parts += [f"{of_square} * {arithmetic.summed(square)}"] if of_square else []
    return row, f"({' + '.join(parts)})"


def product(statistic: Statistic, y: str, z: str, arithmetic: Arithmetic) -> str:
    """Print a cell of two arguments; NULL if one is missing."""
    shares = _OF_SHARES[statistic.part]
    first, second = shares[statistic.cell // 3].format(y), shares[statistic.cell % 3].format(z)
    return arithmetic.rounded(f"({first}) * ({second}) * {arithmetic.dialect.real(statistic.most)}")
