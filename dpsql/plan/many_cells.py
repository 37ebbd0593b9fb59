"""The strategy of numbers that have more cells than one matrix: in closed form, or a product.

    CUBE over 16 wards, 12 ages, 3 sexes    even in the values of a column: symmetric, or weighted marginals
    ranges of 100 ages, by sex and ward     a factor for each column

Both are found from the numbers' patterns alone, and the one with the smaller error is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from dpsql.ir.plan import Norm
from dpsql.ir.strategy import Floats, Strategy
from dpsql.mechanisms.strategies import marginals, products, symmetric
from dpsql.mechanisms.strategies.cache import StrategyCache
from dpsql.mechanisms.strategies.exchangeable import MOST_COLUMNS, Exchangeable
from dpsql.mechanisms.strategies.kronecker import whole_numbered_product
from dpsql.mechanisms.strategies.rows import Crossed
from dpsql.mechanisms.strategies.strategy import column
from dpsql.plan.applied import QUICK
from dpsql.plan.noise_choice import LARGEST_SCALE
from dpsql.workload.cells import MOST

VERSION = "many cells 1"
"""Another name where the searches find something better than they did: what was paid for is known by it."""

ALIKE = 1.01
"""Of errors that differ by no more than this, the strategy in closed form is taken."""


def strategy_for(
    statements: Sequence[tuple[Floats, Crossed]],
    even: Exchangeable,
    found: StrategyCache,
    norm: Norm,
    clip: int,
    one: float,
) -> tuple[Strategy, float] | None:
    """Return the best strategy for statements, each with the weights of its numbers, and their error."""
    known = [
        (strategy, sum(float(weights @ strategy.variances_of(rows)) for weights, rows in statements))
        for strategy in _candidates(statements, even, found, norm, clip, one)
    ]
    relative = [column(strategy, norm) ** 2 * error for strategy, error in known]
    near = (each for each, error in zip(known, relative, strict=True) if error <= ALIKE * min(relative))
    return next(near, None)


def _candidates(
    statements: Sequence[tuple[Floats, Crossed]],
    even: Exchangeable,
    found: StrategyCache,
    norm: Norm,
    clip: int,
    one: float,
) -> Iterator[Strategy]:
    closed = marginals.whole_numbered if norm is Norm.L1 else symmetric.whole_numbered
    ways: list[Callable[[int, float, float], Strategy | None]] = []
    if len(even.sizes) <= MOST_COLUMNS:
        ways.append(partial(closed, even))
    if max(even.sizes) <= MOST:
        designs = products.optimal(statements, lambda square: found.design(square, norm))
        ways.append(partial(whole_numbered_product, designs))
    for way in ways:
        strategy = way(clip, one, QUICK) or way(clip, one, LARGEST_SCALE)
        if strategy is not None:
            yield strategy
