"""A product of strategies for questions that are no product themselves: one factor a column, in turns.

    ages in ranges, by sex and in all    A_age (x) A_sex, each the best for what the other leaves

A question's error is its weight times the product of what each factor makes of its pattern. With all factors
but one kept, this is a gram matrix for that one, whose best strategy is known (McKenna, Miklau, Hay and
Machanavajjhala 2018, 6.2).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dpsql.late_numpy import np
from dpsql.mechanisms.strategies import gram
from dpsql.mechanisms.strategies.design import Design
from dpsql.mechanisms.strategies.rows import Crossed
from dpsql.mechanisms.strategies.strategy import Floats

ROUNDS = 3


def optimal(statements: Sequence[tuple[Floats, Crossed]], search: Callable[[Floats], Design]) -> list[Design]:
    """Return a design for each column; ``search`` finds that of a gram matrix."""
    weights = np.concatenate([each for each, _ in statements])
    chosen = np.concatenate([rows.chosen for _, rows in statements]).T
    patterns = [pattern.astype(np.float64) for pattern in statements[0][1].patterns]
    errors = [pattern.sum(axis=1) for pattern in patterns]  # of each pattern, at first by the identity
    designs: dict[int, Design] = {}
    for _ in range(ROUNDS):
        for place, pattern in enumerate(patterns):
            others = weights.copy()
            for other, of_pattern in enumerate(errors):
                if other != place:
                    others *= of_pattern[chosen[other]]
            of_pattern = np.bincount(chosen[place], others, len(pattern))
            square = gram.with_ridge(pattern.T @ (pattern * of_pattern[:, np.newaxis]))
            designs[place] = search(square / float(np.trace(square)))
            covariance = np.linalg.inv(designs[place].matrix.T @ designs[place].matrix)
            errors[place] = np.einsum("ij,jk,ik->i", pattern, covariance, pattern, optimize=True)
    return [designs[place] for place in range(len(patterns))]
