"""Marginals with their noise: all that is kept of a measurement, and all that tables and rows are made of.

Claim   holds released numbers and public ones alone, and survives being written as JSON number by number.
Proof   numbers come from ``Spending.noisy``; integers, and floats as Python prints them, are read as they
        were written.
Test    tests/privacy/test_synthetic.py
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from dpsql.ir.event import GaussianEvent
from dpsql.ir.synthetic import SyntheticPlan
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.strategies.strategy import Floats
from dpsql.mechanisms.synthetic.counts import Columns, Counts
from dpsql.mechanisms.synthetic.draws import Spending


@dataclass(frozen=True)
class Marginal:
    """Noisy counts of some columns' values in grid steps, and the noise's standard deviation."""

    columns: Columns
    numbers: tuple[int, ...]
    scale: float

    @cached_property
    def floats(self) -> Floats:
        return np.array([float(number) for number in self.numbers])


@dataclass(frozen=True, slots=True)
class Measured:
    """All marginals of one measurement, in the order in which they were measured."""

    method: str
    sizes: tuple[int, ...]
    step: int
    marginals: tuple[Marginal, ...]

    def __post_init__(self) -> None:
        for each in self.marginals:
            if len(each.numbers) != math.prod(self.sizes[column] for column in each.columns):
                raise ValueError(f"not as many numbers as columns {each.columns} have values")

    def written(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        return {
            "method": self.method,
            "sizes": list(self.sizes),
            "step": self.step,
            "marginals": [
                {"columns": list(each.columns), "numbers": list(each.numbers), "scale": each.scale}
                for each in self.marginals
            ],
        }


def read(written: Mapping[str, Any]) -> Measured:
    """Return what ``Measured.written`` wrote."""
    marginals = (
        Marginal(tuple(map(int, each["columns"])), tuple(map(int, each["numbers"])), float(each["scale"]))
        for each in written["marginals"]
    )
    return Measured(
        str(written["method"]), tuple(map(int, written["sizes"])), int(written["step"]), tuple(marginals)
    )


def check(plan: SyntheticPlan, counts: Counts) -> None:
    """Raise unless these are counts of the columns that were planned for, before anything is spent."""
    if (counts.sizes, counts.step) != (plan.sizes, plan.step):
        raise ValueError("the counts are not those that were planned for")


def measure(columns: Columns, event: GaussianEvent, counts: Counts, spending: Spending) -> Marginal:
    """Spend one event on the marginal of these columns."""
    noisy = spending.noisy(counts.marginal(columns), event)
    return Marginal(columns, tuple(noisy.tolist()), event.scale)
