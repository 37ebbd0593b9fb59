"""Exact whole numbers of strategies: norms of columns, and A x, without wrapping and without floats.

    (A (x) B) x    A along the first axis of x, B along the second; never the large matrix itself

Claim   norms are exact (L2: squares are), and every number of A x is exact, for cells up to 2^62.
Proof   1. Entries are below 2^40, checked on what is given; a matrix has fewer than 2^20 rows and columns. So
           sums of absolute entries are below 2^60. Squares are added in int64 where rows times the largest
           square is below 2^63, and as Python's integers elsewhere.
        2. x in int64 is cut into limbs of b bits: x = sum of limb_k 2^(kb) with 0 <= limb_k < 2^b, but for
           the last one, the arithmetic shift of x, which lies within 2^62 / 2^(kb) of 0; its place kb is
           the first with kb + b >= 64, so it lies within 2^(b - 2). Along one axis the sum of A_ij l_j is
           within R max |l|, with R the largest sum of absolute entries of a row. After all axes numbers are
           within R_1 R_2 ... 2^b, and on the way too, as every R is at least 1; so are all partial sums, in
           any order. b is chosen such that this is at most 2^62. Other maps say how far they grow numbers.
        3. Limbs are put together as Python's integers.
Test    tests/privacy/test_strategies.py: sizes at which int64 wraps, against Python's integers
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from dpsql.ir.plan import Norm
from dpsql.late_numpy import np
from dpsql.mechanisms.strategies.strategy import Floats, Integers

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Numbers = TypeVar("Numbers", Integers, Floats)

LARGEST_CELL = 2**62
LARGEST_ENTRY = 2**40
_MOST_ROWS = 2**20
_LEAST_LIMB = 4


def checked(matrix: Integers) -> Integers:
    """Return a read-only copy, or raise ValueError for what is no matrix of such whole numbers."""
    if matrix.ndim != 2 or matrix.dtype.kind != "i" or not matrix.size:
        raise ValueError("a strategy is a matrix of whole numbers")
    if max(matrix.shape) >= _MOST_ROWS or largest_entry(matrix) >= LARGEST_ENTRY:
        raise ValueError("the matrix of a strategy is too large")
    kept = np.array(matrix, dtype=np.int64, order="C")
    kept.setflags(write=False)
    return kept


def largest_entry(matrix: Integers) -> int:
    """Return the largest absolute entry; that of the smallest int64 does not fit int64."""
    return max(int(matrix.max()), -int(matrix.min()))


def column_sum(matrix: Integers) -> int:
    """Return the largest L1 norm of a column."""
    return int(np.abs(matrix).sum(axis=0).max())


def column_square(matrix: Integers) -> int:
    """Return the square of the largest L2 norm of a column."""
    if len(matrix) * largest_entry(matrix) ** 2 < 2**63:
        return int((matrix * matrix).sum(axis=0).max())
    columns = matrix.T.tolist()
    return max(sum(int(entry) ** 2 for entry in each) for each in columns)


def column_norm(matrix: Integers, norm: Norm) -> int:
    """Return the largest norm of a column, rounded up."""
    return column_sum(matrix) if norm is Norm.L1 else rounded_up_root(column_square(matrix))


def rounded_up_root(square: int) -> int:
    return math.isqrt(square - 1) + 1 if square else 0


def product(factors: Sequence[Integers], cells: Sequence[int] | Integers) -> list[int]:
    """Compute the Kronecker product of the factors times the cells; the last factor's column runs fastest."""
    axes = [factor.shape[1] for factor in factors]
    grown = math.prod(int(np.abs(factor).sum(axis=1).max()) for factor in factors)
    found = exactly(
        lambda limb: along_axes(factors, limb.reshape(axes)).ravel(), grown, cells, math.prod(axes)
    )
    return [int(number) for number in found]


def exactly(
    linear: Callable[[Integers], Integers], grown: int, cells: Sequence[int] | Integers, size: int
) -> NDArray[np.object_]:
    """Apply a linear map of whole numbers to the cells, limb by limb.

    For cells within c, no number that the map computes on its way is beyond ``grown`` times c.
    """
    x, bits = _cells(cells, size), _limb_bits(grown)
    total = np.zeros((), dtype=object)
    for place in range(0, 64, bits):
        limb = x >> place
        if place + bits < 64:
            limb &= (1 << bits) - 1
        total = total + (linear(limb).astype(object) << place)
        if place + bits >= 64:
            break
    return total


def _cells(cells: Sequence[int] | Integers, size: int) -> Integers:
    x = np.asarray(cells)
    if x.dtype.kind != "i":
        raise OverflowError("cells are whole numbers that fit 64 bits")
    x = x.astype(np.int64, copy=False)
    if x.shape != (size,):
        raise ValueError(f"one whole number for each of {size} cells")
    if largest_entry(x) > LARGEST_CELL:
        raise OverflowError("cells are at most 2**62")
    return x


def _limb_bits(grown: int) -> int:
    """Return b with grown * 2^b <= 2^62."""
    bits = 62 - (max(1, grown) - 1).bit_length()
    if bits < _LEAST_LIMB:
        raise OverflowError("the matrix is too large to be applied exactly")
    return bits


def along_axes(factors: Sequence[Numbers], x: Numbers) -> Numbers:
    """Apply each factor along its axis; axes beyond are kept."""
    for axis, factor in enumerate(factors):
        x = np.moveaxis(np.tensordot(factor, x, axes=(1, axis)), 0, axis)
    return x
