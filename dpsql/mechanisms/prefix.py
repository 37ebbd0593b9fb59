"""Running totals over an ordered key, from noise on sums of runs of groups.

    tree    every group, and every sum of 4 groups, of 16, of 64...
    root    every group with a falling part of all groups before it

A total of many noisy groups has the noise of all of them. So a matrix A of whole numbers is measured in the
place of the groups x, and least squares finds the groups again. The noise on A x is larger than that on x
would be, but in the running totals it cancels out.

Claim   where a unit's x has an L1 norm of at most M, it moves A x by at most M * (the largest norm of a
        column of A), in L1 and in L2.
Proof   A x_u is the sum over i of x_u[i] times column i; the triangle inequality. A x is exact and of whole
        numbers, so rounded noise will do; the groups are computed from the noisy A x alone.
Test    tests/privacy/test_prefix.py

Trees of few levels (Hay et al. 2010; Qardaji et al. 2013) serve Laplace noise best, without their root. The
square root of the matrix of running totals (Fichtenberger, Henzinger and Upadhyay 2023), in steps of 2^-10,
serves Gaussian noise within 6 % of the best that is known.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpsql.ir.plan import Norm

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Integers: TypeAlias = "NDArray[np.int64]"
Floats: TypeAlias = "NDArray[np.float64]"

MOST_GROUPS = 1_024
"""Beyond it, least squares would take seconds."""

BRANCHINGS = (4, 8, 16)
ROOT = 0
"""In the place of a branching: the square root."""

_STEPS = 2**10
_LIMIT = 2**61


@lru_cache(maxsize=2)
def matrix(branching: int, groups: int) -> Integers:
    """A, with a column for every group."""
    return _root(groups) if branching == ROOT else _tree(branching, groups)


def _tree(branching: int, groups: int) -> Integers:
    rows, width = [np.eye(groups, dtype=np.int64)], branching
    while width < groups:
        first = np.arange(groups) // width
        rows.append((first == np.arange(first[-1] + 1)[:, np.newaxis]).astype(np.int64))
        width *= branching
    return np.concatenate(rows)


def _root(groups: int) -> Integers:
    """The coefficients of (1 - x)^(-1/2) down every column: the square of the whole is all ones."""
    part, found = Fraction(1), np.zeros((groups, groups), dtype=np.int64)
    for back in range(groups):
        np.fill_diagonal(found[back:], round(_STEPS * part))
        part *= Fraction(2 * back + 1, 2 * back + 2)
    return found


def column(branching: int, groups: int, norm: Norm) -> int:
    """The largest norm of a column, rounded up."""
    found = matrix(branching, groups)
    if norm is Norm.L1:
        return int(np.abs(found).sum(axis=0).max())
    square = int((found * found).sum(axis=0).max())
    return math.isqrt(square - 1) + 1


def measured(branching: int, groups: Sequence[int]) -> list[int]:
    """A x, exactly: the groups' numbers in two halves of 31 bits, whose products fit 64."""
    found = matrix(branching, len(groups))
    high = np.array([each >> 31 for each in groups], dtype=np.int64)
    low = np.array([each & (2**31 - 1) for each in groups], dtype=np.int64)
    return [(int(above) << 31) + int(below) for above, below in zip(found @ high, found @ low, strict=True)]


def groups_from(branching: int, groups: int, noisy: Sequence[int], unit: int = 1) -> Integers:
    """The groups whose A x is nearest to what was measured, with running totals of whole units."""
    found = matrix(branching, groups).astype(np.float64)
    numbers = np.array([float(each) for each in noisy])
    near = _inverse(branching, groups) @ (found.T @ numbers)
    totals = np.rint(np.clip(np.cumsum(near), -_LIMIT, _LIMIT) / unit).astype(np.int64) * unit
    held: Integers = np.diff(totals, prepend=0)
    return held


@cache
def variances(branching: int, groups: int) -> tuple[Floats, Floats]:
    """Of every group and of every running total, where every number of A x has a variance of 1."""
    covariance = _inverse(branching, groups)
    totals = np.cumsum(np.cumsum(covariance, axis=0), axis=1)
    return np.diagonal(covariance), np.diagonal(totals)


@lru_cache(maxsize=2)
def _inverse(branching: int, groups: int) -> Floats:
    found = matrix(branching, groups).astype(np.float64)
    inverse: Floats = np.linalg.inv(found.T @ found).astype(np.float64)
    return inverse
