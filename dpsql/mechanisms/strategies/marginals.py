"""The best weighted marginals, for Laplace noise: tables of sums by some of the columns, each with a weight.

    by ward and sex    weight 0.5        a cell counts once in each of them: the L1 norm of its column
    by age             weight 0.3        is the sum of the weights
    by all columns     weight 0.2

Least squares puts together what all tables say: a total is known from each of them. For weights t_T the
precision of what varies along just the columns S is the sum of t_T^2 times the cells that one number of the
table T adds up, over all T with S. So the error is a function of the 2^d weights alone (McKenna, Miklau, Hay
and Machanavajjhala 2018, 6.3), which is minimized from several starts.

Claim   the norms of columns are exact, A x is exact and whole, and A has full rank.
Proof   A column has one entry in each table, its weight. Totals are computed as whole numbers
        (``integers.exactly``: none is beyond the number of cells times the largest), and multiplied as
        Python's integers. The table by all columns has a weight of at least 1.
Test    tests/privacy/test_crossed.py
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property

from dpsql.ir.strategy import Gram, Rows
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.sampler import SCALE_LIMIT
from dpsql.mechanisms.strategies import exchangeable, integers
from dpsql.mechanisms.strategies.dense import RankError, fits
from dpsql.mechanisms.strategies.exchangeable import Exchangeable, Places
from dpsql.mechanisms.strategies.lbfgs import Descent
from dpsql.mechanisms.strategies.strategy import Floats, Integers

_STEPS = 200

_LEAST = 1e-100
"""Least precision that is divided by, so that nothing overflows."""


@dataclass(frozen=True, eq=False)
class Marginals:
    """Tables by their weights, whole numbers, with two places for each column: summed over, and kept."""

    sizes: tuple[int, ...]
    weights: Places
    shift: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", exchangeable.checked(self.weights, self.sizes))
        if min(self.weights.ravel()) < 0:
            raise ValueError("weights of tables are not negative")
        if not self.weights[(1,) * len(self.sizes)]:
            raise RankError("the cells cannot be told apart")

    @property
    def name(self) -> str:
        return f"{sum(map(bool, self.weights.ravel()))} marginals"

    @property
    def cells(self) -> int:
        return math.prod(self.sizes)

    @property
    def numbers(self) -> int:
        return sum(math.prod(self._shape(kept)) for kept in self._tables())

    @property
    def l1(self) -> int:
        return int(self.weights.sum())

    @property
    def l2(self) -> int:
        return integers.rounded_up_root(int((self.weights * self.weights).sum()))

    @property
    def is_identity(self) -> bool:
        return list(self.weights.ravel()) == [0] * (self.weights.size - 1) + [1]

    @property
    def digest(self) -> str:
        return hashlib.sha256(repr((self.sizes, self.weights.tolist(), self.shift)).encode()).hexdigest()

    def measured(self, cells: Sequence[int] | Integers) -> list[int]:
        tables = list(self._tables())

        def linear(limb: Integers) -> Integers:
            table = limb.reshape(self.sizes)
            return np.concatenate([table.sum(axis=_summed(kept)).ravel() for kept in tables])

        sums = integers.exactly(linear, self.cells, cells, self.cells)
        weights = np.repeat(
            np.array([self.weights[kept] for kept in tables], dtype=object),
            [math.prod(self._shape(kept)) for kept in tables],
        )
        return [int(number) for number in weights * sums]

    def solve(self, numbers: Sequence[int] | Floats) -> Floats:
        """Add up what each table says of the parts that vary along just the columns S, and spread it."""
        y = np.asarray(numbers, dtype=np.float64)
        parts: dict[tuple[int, ...], Floats] = {}
        start = 0
        for kept in self._tables():
            shape = self._shape(kept)
            end = start + math.prod(shape)
            table = y[start:end].reshape(*shape, *y.shape[1:]) * float(self.weights[kept])
            for varies, part in _parts(table, kept):
                parts[varies] = parts[varies] + part if varies in parts else part
            start = end
        found = np.zeros((*self.sizes, *y.shape[1:]))
        for varies, part in parts.items():
            found += part / self._precisions[varies]
        return found.reshape(self.cells, *y.shape[1:])

    def variances(self) -> Floats:
        return self.covariance.diagonal()

    def variances_of(self, rows: Rows) -> Floats:
        return self.covariance.quadratic(rows)

    def precision(self) -> tuple[Gram, float]:
        return Exchangeable(self.sizes, self._precisions / self._precisions.max()), 1.0

    @cached_property
    def covariance(self) -> Exchangeable:
        """Return the covariance of the cells for unit variance of each measured number."""
        return Exchangeable(self.sizes, 1 / self._precisions)

    @cached_property
    def _precisions(self) -> Floats:
        found: Floats = _precisions(self.weights * self.weights, self.sizes).astype(np.float64)
        return found

    def _tables(self) -> Iterator[tuple[int, ...]]:
        """Yield the tables that are measured, each by the columns that it keeps."""
        return (kept for kept in np.ndindex(self.weights.shape) if self.weights[kept])

    def _shape(self, kept: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(n if keeps else 1 for n, keeps in zip(self.sizes, kept, strict=True))


def _summed(kept: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(axis for axis, keeps in enumerate(kept) if not keeps)


def _parts(table: Floats, kept: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], Floats]]:
    """Split a table into parts: even along some columns that it keeps, with sums of 0 along the others."""
    parts: list[tuple[tuple[int, ...], Floats]] = [((), table)]
    for axis, keeps in enumerate(kept):
        halves = list[tuple[tuple[int, ...], Floats]]()
        for varies, part in parts:
            even = part.mean(axis=axis, keepdims=True) if keeps else part
            halves.append(((*varies, 0), even))
            if keeps:
                halves.append(((*varies, 1), part - even))
        parts = halves
    return iter(parts)


def _precisions(squares: Places, sizes: Sequence[int]) -> Places:
    """Return the precision of each part; what is even along a column is known n-fold from its sums."""
    return exchangeable.along_columns(squares, [(n, 1) for n in sizes], [(0, 1)] * len(sizes))


def optimal(gram: Exchangeable) -> Floats:
    """Return the weights of the least error that is found; they add up to 1."""
    function = _error_of(gram)
    shape = gram.values.shape
    dimensions = exchangeable.dimensions(gram.sizes).astype(np.float64)
    most = np.zeros(shape)
    most[(1,) * len(shape)] = 1.0
    starts = [np.ones(shape), most + 0.05, np.cbrt(gram.values * dimensions / gram.values.max()) + 1e-3]
    best = min(
        (Descent(function, start / start.sum()).run(_STEPS) for start in starts), key=lambda d: d.value
    )
    found: Floats = best.point / best.point.sum()
    return found


def _error_of(gram: Exchangeable) -> Callable[[Floats], tuple[float, Floats]]:
    """Return the function of the weights that computes the error for columns of norm 1, and its slope."""
    asked = gram.values * exchangeable.dimensions(gram.sizes).astype(np.float64)
    asked, sizes = asked / asked.sum(), gram.sizes
    upper, lower = [(n, 0) for n in sizes], [(1, 1)] * len(sizes)

    def function(weights: Floats) -> tuple[float, Floats]:
        total = float(weights.sum())
        if total < _LEAST:
            return math.inf, np.zeros_like(weights)
        parts = weights / total
        known = np.maximum(_precisions(np.square(parts), sizes), _LEAST)
        slope = -2 * parts * exchangeable.along_columns(asked / known / known, upper, lower)
        return float((asked / known).sum()), (slope - float(np.vdot(parts, slope))) / total

    return function


def whole_numbered(
    gram: Exchangeable, clip: int, deviation: float, limit: float = SCALE_LIMIT
) -> Marginals | None:
    """Return the weighted marginals for these questions, as ``dense.whole_numbered`` does."""
    best, every = optimal(gram), (1,) * len(gram.sizes)
    for shift in exchangeable.SHIFTS:
        weights = exchangeable.whole_numbers(np.ldexp(best, shift))
        weights[every] = max(1, weights[every])
        if fits(int(weights.sum()), clip, deviation, limit):
            return Marginals(gram.sizes, weights, shift)
    return None
