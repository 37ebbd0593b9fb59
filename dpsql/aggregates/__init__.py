"""The registry of aggregates: the bounded statistics that each needs, and its estimate from them.

An aggregate is a module of this folder with ``RULES``; members are discovered. Within a unit it is computed
exactly (``per_unit``, ``result``). At a release point its ``needs`` become statistics, and ``estimate``
computes the answer from the noisy sums. Margins use nothing of an aggregate but ``estimate``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from enum import Enum
from fractions import Fraction
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from sqlglot import exp

from dpsql.ir.column import DOUBLE, HUGEINT, Fact, Interval, Kind, Type, decimal_size
from dpsql.ir.grid import Target
from dpsql.lazy_dataclass import dataclass
from dpsql.shelf import modules

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Floats: TypeAlias = "NDArray[np.float64]"


class Unbounded(Exception):
    """The argument has no finite range, or none that this aggregate can use."""

    def __init__(self, title: str, help: str, code: str = "D301") -> None:
        super().__init__(title)
        self.title, self.help, self.code = title, help, code


class Need(Enum):
    """A statistic of the rows (or of the units) in a group."""

    ROWS = "how many rows"
    UNITS = "how many units"
    TOTAL = "the sum of the argument"
    SQUARE = "the sum of its squares"
    PRODUCT = "the sums of squares and products of two arguments, over rows that have both"
    DETAIL = "more than sums: a detail of the measure, with a mechanism of its own"


@dataclass(frozen=True, slots=True)
class Spread:
    """Sums over the rows of an argument x = low + scale * y, y in [0, 1]: of y, and of y * y."""

    first: Floats
    second: Floats | None
    low: float
    scale: float
    range: Interval


@dataclass(frozen=True, slots=True)
class Sums:
    """Released sums in SQL units, one array each; those not needed are None.

    ``argument`` and ``other`` are the two arguments of a pair; ``product`` is the sum of y * z over its rows.
    """

    rows: Floats | None = None
    units: Floats | None = None
    total: Floats | None = None
    range: Interval | None = None
    argument: Spread | None = None
    other: Spread | None = None
    product: Floats | None = None


class Distinct(Enum):
    """The meaning of AGGREGATE(DISTINCT x)."""

    SAME = "the same as without DISTINCT"
    VALUES = "of one unit's distinct values, inside per-unit work"
    REFUSED = "not answered"


ROUNDING = 2.0**-18
"""Rounding error of squares and products on the grid, for arguments with a range of width one."""

OFF = 2.0**-9 / 300
"""The same for a root or a ratio of such sums over 300 rows, as many as the test data has."""


class Rule(ABC):
    """The description of one aggregate; the defaults hold for most.

    ``needs``           empty for an aggregate that is computed per unit only
    ``detail``          the kind of detail that answers it, if it needs Need.DETAIL
    ``nodes``           its nodes in the parser's tree
    ``distinct_nodes``  its nodes over the distinct values
    ``condition_nodes`` its nodes over the rows for which the argument is true
    ``names``           its other names
    ``bigquery``        its names after DP_ and ANON_
    ``named_bounds``    whether it takes bounds with BigQuery's names
    ``arguments``       its number of non-constant arguments
    ``typed``           whether it can be called by its name
    ``leaves_out_null`` AVG(CASE WHEN a THEN x END) is AVG(x) FILTER (WHERE a)
    ``picks``           whether its result is one of the values, or shows them
    ``in_order``        DuckDB's name for it within a unit, if the order of the rows decides
    ``asks_order``      whether ORDER BY must be written inside it
    ``descending``      whether the second argument, by which it sorts, is sorted from the greatest
    ``skips``           whether rows are left out where the argument is NULL, and where the second one is
    ``example``         how it is called
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
    in_order: str = ""
    asks_order: bool = False
    descending: bool = False
    skips: tuple[bool, bool] = (False, False)
    example: str = ""

    @abstractmethod
    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        """Return type and range over at most about ``rows`` rows; raise Unbounded if it cannot be computed.

        ``others`` are the further arguments of an aggregate of several.
        """

    @abstractmethod
    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        """Return SQL for the exact aggregate over one unit's rows, in any order.

        Conditions are already in the argument. ``over`` is the window clause after every aggregate, if any.
        """

    def ordered_sql(self, argument: str, order: str, filtered: str, *others: str) -> str:
        """Return SQL for the exact aggregate over one unit's rows, with its ORDER BY and its FILTER."""
        return f"{self.in_order}({argument}{order}){filtered}"

    def estimate(self, sums: Sums) -> Floats:
        """Compute the answer from noisy sums; NaN stands for NULL."""
        raise AssertionError(f"{self.name} is not a function of sums")

    def quotient(self, sums: Sums) -> tuple[Floats, Floats, Interval] | None:
        """Return what it divides by what, and the range that it is kept within; None unless it is such."""
        return None

    def target(self, place: Fraction | None) -> Target:
        """Return its order statistic, for a quantile or an extreme; ``place`` is its constant."""
        raise AssertionError(f"{self.name} is not an order statistic")

    @property
    def summed(self) -> bool:
        """Whether it is computed from sums of its argument."""
        return not {Need.TOTAL, Need.SQUARE, Need.PRODUCT}.isdisjoint(self.needs)

    @property
    def ranged(self) -> bool:
        """Whether its argument needs a finite range."""
        return self.summed

    @property
    def counts(self) -> bool:
        """Whether it is only a count of rows, of one argument or none."""
        return self.needs == (Need.ROWS,) and self.arguments == 1

    @property
    def counts_units(self) -> bool:
        """Whether it is only a count of units."""
        return self.needs == (Need.UNITS,)

    @property
    def adds_up(self) -> bool:
        """Whether it is only a sum, to which 0 adds nothing."""
        return self.needs == (Need.TOTAL,)

    def grain(self, first: float, second: float) -> float:
        """Return the resolution of the result where it comes from cells, for ranges of these widths."""
        return max(first, second) * ROUNDING

    def expected_error(self, step: float, low: float, high: float) -> tuple[float, bool]:
        """Return its error if each of a pair of sums is off by ``step``, and whether it is for 1,000 rows."""
        return step * (high - low) / 1000, True


@cache
def by_node() -> dict[type[exp.Expr], Rule]:
    """Return every aggregate by its parser nodes."""
    return {
        node: rule
        for rule in shelf().values()
        for node in (*rule.nodes, *rule.distinct_nodes, *rule.condition_nodes)
    }


@cache
def by_name() -> dict[str, Rule]:
    """Return every aggregate by each of its names in SQL."""
    return {name: rule for rule in shelf().values() if rule.typed for name in (rule.name, *rule.names)}


@cache
def shelf() -> dict[str, Rule]:
    """Return every aggregate by name."""
    rules_by_name: dict[str, Rule] = {}
    for module in modules(__name__, __path__):
        rules: tuple[Rule, ...] = getattr(module, "RULES", ())
        rules_by_name |= {rule.name: rule for rule in rules}
    return rules_by_name


def type_of_sum(type: Type) -> Type:
    """Return DuckDB's type of a SUM over this type."""
    match type.kind:
        case Kind.INTEGER | Kind.BOOLEAN:
            return HUGEINT
        case Kind.DECIMAL:
            return Type(Kind.DECIMAL, f"DECIMAL(38,{decimal_size(type)[1]})")
        case Kind.FLOAT:
            return DOUBLE
        case _:
            way_out = "cast the column to a number first, or count it"
            if type.kind is Kind.INTERVAL:
                way_out = "take its length in seconds: epoch(x)"
            if type.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
                way_out = "take the middle one, MEDIAN(x), or seconds since 1970: epoch(x)"
            raise Unbounded(f"{type.said} values cannot be added up", way_out, code="D205")


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
