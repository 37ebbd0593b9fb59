"""The value in one of a unit's rows: FIRST, LAST, ANY_VALUE, ARG_MIN, ARG_MAX.

    FIRST(kind ORDER BY visited_on)    ARG_MIN(kind, cost)    ... GROUP BY patient_id

DuckDB takes whichever of tied rows it meets first, and other units' rows decide which that is. So each is
printed with an order that ends with the value itself.

Claim   the result depends on nothing but the multiset of the unit's rows.
Proof   ``engines.relation_sql.in_order``: whatever the rows' order, the sequence of values is the same.
Test    grammar_tests/per_unit/picked_rows.sql, tests/privacy/test_picked_rows.py
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.aggregates import Distinct, Rule, Unbounded
from dpsql.ir.column import PARTS, Fact, Kind


class Picked(Rule):
    """FIRST, LAST, ANY_VALUE: in the order that is written. FIRST and LAST may pick NULL."""

    picks = True
    distinct = Distinct.SAME

    def __init__(
        self,
        name: str,
        in_order: str,
        *nodes: type[exp.Expr],
        names: tuple[str, ...] = (),
        asks_order: bool = False,
    ) -> None:
        self.name, self.in_order, self.nodes, self.names = name, in_order, nodes, names
        self.asks_order = asks_order
        self.example = f"{name.upper()}(x ORDER BY y)"

    def result(self, argument: Fact | None, rows: int | None, *others: Fact) -> Fact:
        assert argument is not None
        if argument.type.kind in (Kind.OPAQUE, Kind.NULL):
            raise Unbounded(
                f"{self.name.upper()} needs values with an exact equality",
                PARTS,
                code="D205",
            )
        return Fact(argument.type, argument.domain, nullable=True)

    def per_unit(self, argument: str, fact: Fact | None, over: str = "", *others: tuple[str, Fact]) -> str:
        raise AssertionError("it is printed in an order")


class Beside(Picked):
    """ARG_MIN, ARG_MAX: the value beside the least or the greatest of the second argument.

    Rows are left out where the value is NULL (not for ARG_MIN_NULL), or where the second argument is.
    """

    def __init__(
        self,
        name: str,
        *nodes: type[exp.Expr],
        names: tuple[str, ...] = (),
        greatest: bool,
        skips: tuple[bool, bool] = (True, True),
    ) -> None:
        super().__init__(name, "first", *nodes, names=names)
        self.arguments, self.descending, self.skips = 2, greatest, skips
        self.example = f"{name.upper()}(x, y)"


RULES = (
    Picked("any_value", "any_value", exp.AnyValue),
    Picked("arbitrary", "first"),
    Picked("first", "first", exp.First, asks_order=True),
    Picked("last", "last", exp.Last, asks_order=True),
    Beside("arg_min", exp.ArgMin, names=("min_by", "argmin"), greatest=False),
    Beside("arg_max", exp.ArgMax, names=("max_by", "argmax"), greatest=True),
    Beside("arg_min_null", greatest=False, skips=(False, True)),
    Beside("arg_max_null", greatest=True, skips=(False, True)),
    Beside("arg_min_nulls_last", greatest=False, skips=(False, False)),
    Beside("arg_max_nulls_last", greatest=True, skips=(False, False)),
)
