"""The shelf of aggregates: which bounded statistics each needs, and how it is made of them.

An aggregate is a file of this folder with ``RULES``; membership is discovered. Inside per-unit work
it is computed exactly (``per_unit``, ``result``); at a release point its ``needs`` become statistics,
and ``estimate`` makes the answer of the noisy sums. ``estimate`` is all that margins know of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from dpsql.ir.column import DOUBLE, HUGEINT, Fact, Interval, Kind, Type, decimal_size
from dpsql.ir.grid import Target
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


class Distinct(Enum):
    """What AGGREGATE(DISTINCT x) is."""

    SAME = "the same as without DISTINCT"
    VALUES = "of one unit's distinct values, inside per-unit work"
    REFUSED = "not answered"


ROUNDING = 2.0**-18
"""How far squares and products on the grid are off, of arguments whose range is one wide."""

OFF = 2.0**-9 / 300
"""The same of a root or a ratio of such sums over 300 rows, as many as the tests' worlds have."""


class Rule(ABC):
    """What a file of the shelf says about its aggregate; the defaults hold for most.

    ``needs``           empty for an aggregate that is computed per unit only
    ``detail``          the kind of detail that answers it, where it needs Need.DETAIL
    ``nodes``           how it stands in the parser's tree
    ``distinct_nodes``  the same, of the distinct values
    ``condition_nodes`` the same, of the rows for which the argument is true
    ``names``           other names that it is called by
    ``bigquery``        its names behind DP_ and ANON_
    ``named_bounds``    whether bounds may stand in it as BigQuery names them
    ``arguments``       how many it takes that are no constants
    ``typed``           whether people write its name
    ``leaves_out_null`` AVG(CASE WHEN a THEN x END) is AVG(x) FILTER (WHERE a)
    ``picks``           its result is one of the values
    """

    name: str = ""
    needs: tuple[Need, ...] = ()
    detail: str = ""
    nodes: tuple[type[exp.Expr], ...] = ()
    distinct_nodes: tuple[type[exp.Expr], ...] = ()
    condition_nodes: tuple[type[exp.Expr], ...] = ()
    names: tuple[str, ...] = ()
    bigquery: tuple[str, ...] = ()
    named_bounds: bool = False
    arguments: int = 1
    typed: bool = True
    distinct: Distinct = Distinct.REFUSED
    leaves_out_null: bool = False
    picks: bool = False

    @abstractmethod
    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        """Type and range over at most about ``rows`` rows; raises Unbounded if it cannot be computed.

        ``others`` are given to an aggregate of several arguments only.
        """

    @abstractmethod
    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        """The exact aggregate over one unit's rows, in any order; conditions are already inside.

        ``over`` is the window behind every aggregate that is written, where there is one.
        """

    def estimate(self, sums: Sums) -> Floats:
        """The answer from noisy sums; NaN stands for NULL."""
        raise AssertionError(f"{self.name} is no function of sums")

    def target(self, place: Fraction | None) -> Target:
        """Which order statistic it is, if it is one; ``place`` is its constant."""
        raise AssertionError(f"{self.name} is no order statistic")

    @property
    def summed(self) -> bool:
        """Whether it is made of sums of its argument."""
        return not {Need.TOTAL, Need.SQUARE, Need.PRODUCT}.isdisjoint(self.needs)

    @property
    def ranged(self) -> bool:
        """Whether its argument needs a finite range."""
        return self.summed

    @property
    def counts(self) -> bool:
        """Whether it is a count of rows and nothing else, of one argument or none."""
        return self.needs == (Need.ROWS,) and self.arguments == 1

    @property
    def counts_units(self) -> bool:
        return self.needs == (Need.UNITS,)

    @property
    def adds_up(self) -> bool:
        """Whether it is a sum and nothing else: 0 adds nothing to it."""
        return self.needs == (Need.TOTAL,)

    def grain(self, first: float, second: float) -> float:
        """The largest step of its grid where cells of polynomials tell it, over ranges so wide."""
        return max(first, second) * ROUNDING

    def expected_error(self, step: float, low: float, high: float) -> tuple[float, bool]:
        """Its error where a pair of sums is off by ``step`` each, and whether that is over 1,000 rows."""
        return step * (high - low) / 1000, True


@cache
def by_node() -> dict[type[exp.Expr], Rule]:
    """Every aggregate that the parser has a node for."""
    return {
        node: rule
        for rule in shelf().values()
        for node in (*rule.nodes, *rule.distinct_nodes, *rule.condition_nodes)
    }


@cache
def by_name() -> dict[str, Rule]:
    """Every aggregate by each name that people write."""
    return {name: rule for rule in shelf().values() if rule.typed for name in (rule.name, *rule.names)}


@cache
def shelf() -> dict[str, Rule]:
    """Every aggregate, by name."""
    found: dict[str, Rule] = {}
    for module in modules(__name__, __path__):
        rules: tuple[Rule, ...] = getattr(module, "RULES", ())
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


__all__ = [
    "OFF",
    "ROUNDING",
    "Distinct",
    "Floats",
    "Need",
    "Rule",
    "Spread",
    "Sums",
    "Unbounded",
    "by_name",
    "by_node",
    "shelf",
    "type_of_sum",
]
