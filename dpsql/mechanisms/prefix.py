"""Running totals over an ordered key, from noisy sums over ranges of consecutive groups.

    tree    every group, and every sum of 4 groups, of 16, of 64...
    root    every group with a decreasing part of all groups before it

A total of many noisy groups has the noise of all of them. So A x is measured instead of the groups x, with an
integer matrix A, and least squares recovers the groups. The noise on A x is larger than that on x would be,
but in the running totals it cancels out.

Claim   where a unit's x has an L1 norm of at most M, it moves A x by at most M * (the largest norm of a
        column of A), in L1 and in L2.
Proof   A x_u is the sum over i of x_u[i] times column i; the triangle inequality. A x is exact and integer,
        so rounded noise applies; the groups are computed from the noisy A x alone.
Test    tests/privacy/test_prefix.py

Trees of few levels (Hay et al. 2010; Qardaji et al. 2013) suit Laplace noise best, without their root. The
square root of the matrix of running totals (Fichtenberger, Henzinger and Upadhyay 2023), in steps of 2^-10,
is within 6 % of the best known for Gaussian noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeAlias

from dpsql.ir.plan import Norm
from dpsql.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Integers: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"

MOST_GROUPS = 1_024
"""With more groups, least squares would take seconds."""

BRANCHINGS = (4, 8, 16)
ROOT = 0
"""Instead of a branching: the square root."""

_STEPS = 2**10
_LIMIT = 2**61


@lru_cache(maxsize=2)
def matrix(branching: int, groups: int) -> Integers:
    """Return A, with a column for every group."""
    return _root(groups) if branching == ROOT else _tree(branching, groups)


def _tree(branching: int, groups: int) -> Integers:
    rows, width = [np.eye(groups, dtype=np.int64)], branching
    while width < groups:
        first = np.arange(groups) // width
        rows.append((first == np.arange(first[-1] + 1)[:, np.newaxis]).astype(np.int64))
        width *= branching
    return np.concatenate(rows)


def _root(groups: int) -> Integers:
    """Return the coefficients of (1 - x)^(-1/2) down every column: the square of this matrix is all ones."""
    part, root = Fraction(1), np.zeros((groups, groups), dtype=np.int64)
    for back in range(groups):
        np.fill_diagonal(root[back:], round(_STEPS * part))
        part *= Fraction(2 * back + 1, 2 * back + 2)
    return root


def column(branching: int, groups: int, norm: Norm) -> int:
    """Return the largest norm of a column, rounded up."""
    sums = matrix(branching, groups)
    if norm is Norm.L1:
        return int(np.abs(sums).sum(axis=0).max())
    square = int((sums * sums).sum(axis=0).max())
    return math.isqrt(square - 1) + 1


def measured(branching: int, groups: Sequence[int]) -> list[int]:
    """Compute A x exactly: the groups' numbers in two halves of 31 bits, with products that fit 64."""
    sums = matrix(branching, len(groups))
    high = np.array([number >> 31 for number in groups], dtype=np.int64)
    low = np.array([number & (2**31 - 1) for number in groups], dtype=np.int64)
    return [(int(above) << 31) + int(below) for above, below in zip(sums @ high, sums @ low, strict=True)]


def groups_from(branching: int, groups: int, noisy: Sequence[int], unit: int = 1) -> Integers:
    """Return the groups with A x nearest to the measured numbers; running totals are whole ``unit``s."""
    sums = matrix(branching, groups).astype(np.float64)
    numbers = np.array([float(number) for number in noisy])
    near = _inverse(branching, groups) @ (sums.T @ numbers)
    totals = np.rint(np.clip(np.cumsum(near), -_LIMIT, _LIMIT) / unit).astype(np.int64) * unit
    rounded: Integers = np.diff(totals, prepend=0)
    return rounded


def noise_of_groups(branching: int, groups: int, noise: Floats) -> Floats:
    """Return the noise of the groups for noise of the measured numbers (the first axis)."""
    sums = matrix(branching, groups).astype(np.float64)
    moved: Floats = _inverse(branching, groups) @ (sums.T @ noise)
    return moved


@cache
def variances(branching: int, groups: int) -> tuple[Floats, Floats]:
    """Return the variances of groups and of running totals, for unit variance of each measured number."""
    covariance = _inverse(branching, groups)
    totals = np.cumsum(np.cumsum(covariance, axis=0), axis=1)
    return np.diagonal(covariance), np.diagonal(totals)


@lru_cache(maxsize=2)
def _inverse(branching: int, groups: int) -> Floats:
    sums = matrix(branching, groups).astype(np.float64)
    inverse: Floats = np.linalg.inv(sums.T @ sums).astype(np.float64)
    return inverse
