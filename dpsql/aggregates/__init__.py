"""The shelf of aggregates: which bounded statistics each needs, and how it is made of them.

An aggregate is a file of this folder with ``RULES``; membership is discovered. Inside per-unit work
it is computed exactly (``per_unit``, ``result``); at a release point its ``needs`` become statistics,
and ``estimate`` makes the answer of the noisy sums. ``estimate`` is all that margins know of it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Protocol, TypeAlias

from dpsql.ir.column import DOUBLE, HUGEINT, Fact, Interval, Kind, Type, decimal_size
from dpsql.shelf import modules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Floats: TypeAlias = "NDArray[np.float64]"


class Unbounded(Exception):
    """The argument has no finite range, or none that this aggregate could use."""

    def __init__(self, title: str, help: str, code: str = "D301") -> None:
        super().__init__(title)
        self.title, self.help, self.code = title, help, code


class Need(Enum):
    """What an aggregate wants to know of the rows (or of the units) in a group."""

    ROWS = "how many rows"
    UNITS = "how many units"
    TOTAL = "the sum of the argument"
    SQUARE = "the sum of its squares"
    PRODUCT = "the sums of squares and products of two arguments, over rows that have both"
    DETAIL = "more than sums: a detail of the measure, with a mechanism of its own"


@dataclass(frozen=True, slots=True)
class Spread:
    """Of an argument x = low + scale * y, y in [0, 1]: the sum of y over the rows, and that of y * y."""

    first: Floats
    second: Floats | None
    low: float
    scale: float
    range: Interval


@dataclass(frozen=True, slots=True)
class Sums:
    """Released sums in SQL units, one array each, as far as they were needed.

    ``argument`` and ``other`` are the two arguments of a pair, ``product`` the sum of their y's products.
    """

    rows: Floats | None = None
    units: Floats | None = None
    total: Floats | None = None
    range: Interval | None = None
    argument: Spread | None = None
    other: Spread | None = None
    product: Floats | None = None


class Rule(Protocol):
    """What a file of the shelf says about its aggregate."""

    @property
    def name(self) -> str: ...

    @property
    def needs(self) -> tuple[Need, ...]:
        """Empty for an aggregate that is computed per unit only."""
        ...

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        """Type and range over at most about ``rows`` rows; raises Unbounded if it cannot be computed.

        ``others`` are given to an aggregate of several arguments only.
        """
        ...

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        """The exact aggregate over one unit's rows, in any order; conditions are already inside.

        ``over`` is the window behind every aggregate that is written, where there is one.
        """
        ...

    def estimate(self, sums: Sums) -> Floats:
        """The answer from noisy sums; NaN stands for NULL."""
        ...


@cache
def shelf() -> dict[str, Rule]:
    """Every aggregate, by name."""
    found: dict[str, Rule] = {}
    for module in modules(__name__, __path__):
        rules: tuple[Rule, ...] = module.RULES
        found |= {rule.name: rule for rule in rules}
    return found


def type_of_sum(type: Type) -> Type:
    """DuckDB's type of a SUM over this type."""
    match type.kind:
        case Kind.INTEGER | Kind.BOOLEAN:
            return HUGEINT
        case Kind.DECIMAL:
            return Type(Kind.DECIMAL, f"DECIMAL(38,{decimal_size(type)[1]})")
        case Kind.FLOAT:
            return DOUBLE
        case _:
            raise Unbounded(
                f"{type.said} values cannot be added up",
                "cast the column to a number first, or count it",
                code="D205",
            )


__all__ = ["Floats", "Need", "Rule", "Spread", "Sums", "Unbounded", "shelf", "type_of_sum"]
