"""The methods of synthetic rows by name.

Claim   the events of a plan do not depend on data; spending them on counts costs nothing else.
Proof   claimed and proved by each method, in ``mwem`` and ``mst``; this module only names them.
Test    tests/privacy/test_synthetic.py
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dpsql.ir.synthetic import SyntheticPlan
from dpsql.mechanisms.sampler import Words
from dpsql.mechanisms.strategies.strategy import Floats, Integers
from dpsql.mechanisms.synthetic import mst, mwem
from dpsql.mechanisms.synthetic.counts import Columns, Counts
from dpsql.mechanisms.synthetic.draws import Spending
from dpsql.mechanisms.synthetic.measured import Measured
from dpsql.mechanisms.synthetic.plan import Allow, Shape


class Fitted(Protocol):
    """What fits the measured marginals; released."""

    @property
    def measured(self) -> Measured: ...

    @property
    def total(self) -> float:
        """The number of rows, as it was measured."""
        ...

    def marginal(self, columns: Columns) -> Floats:
        """Return the fitted counts of these columns' values, in rows; the last column's run fastest."""
        ...

    def rows(self, rows: int, words: Words) -> Integers:
        """Draw whole rows: a code for each row and column."""
        ...


class Method(Protocol):
    """A way to choose, to measure and to fit marginals."""

    def cells(self, sizes: Sequence[int]) -> int:
        """Return the cells of the largest table that is held, for columns of these sizes."""
        ...

    def plan(self, shape: Shape, allow: Allow) -> SyntheticPlan:
        """Return the events; ValueError for what is too large, or where the price buys no noise."""
        ...

    def measured(self, plan: SyntheticPlan, counts: Counts, spending: Spending) -> Measured:
        """Spend the plan's events on counts of the columns that were planned for."""
        ...

    def fitted(self, measured: Measured) -> Fitted:
        """Return what fits the measured marginals: no secret, and nothing is drawn."""
        ...


METHODS: dict[str, Method] = {mwem.METHOD: mwem, mst.METHOD: mst}
