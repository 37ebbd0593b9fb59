"""Errors planted in the engine, one at a time; a run must find each of them.

    with PLANTS["joins: fan out is one"].plant():
        ...

What is planted is a rule that somebody could get wrong: of ranges, of joins, of groups, of ties.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

from dpsql.aggregates.sum import Sum
from dpsql.bind import joins
from dpsql.engines import cells, histograms, sql
from dpsql.facts import ownership, schema
from dpsql.facts.ownership import Owned, Ownership
from dpsql.facts.truths import Truths
from dpsql.functions import narrowing, operands
from dpsql.functions.ranges import spread
from dpsql.ir.column import Interval
from dpsql.ir.grid import MOST_BINS
from dpsql.ir.relation import Aggregate, Filter, Join, Relation
from dpsql.plan.subject import Subject


@contextmanager
def _set(place: Any, name: str, value: object) -> Iterator[None]:
    before = getattr(place, name)
    setattr(place, name, value)
    try:
        yield
    finally:
        setattr(place, name, before)


# ---- ranges ------------------------------------------------------------------------------------------


def products_by_two_corners() -> AbstractContextManager[None]:
    """[-1, 2] * [10, 20] is said to be [-10, 40]."""

    def corners(operation: Callable[[Any, Any], Any], left: Interval, right: Interval) -> Interval:
        return spread((operation(left.low, right.low), operation(left.high, right.high)))

    return _set(operands, "corners", corners)


def declared_ranges_are_trusted() -> AbstractContextManager[None]:
    """A column that is aggregated itself is not clamped: its declared range will do."""

    def trusting(each: Any, name: str, fact: Any) -> str:
        held = f"least(greatest(CAST({name} AS DOUBLE), -1e9), 1e9) - {cells._number(each.offset)}"
        return f"CAST(({held}) * {cells._number(float(1 / each.step))} AS BIGINT)"

    return _set(cells, "_float", trusting)


def narrowing_looks_the_other_way() -> AbstractContextManager[None]:
    """x >= 5 narrows as x <= 5."""
    compare = narrowing._compare

    def wrong(facts: Any, column: Any, op: str, *rest: Any) -> None:
        compare(facts, column, "<=" if op == ">=" else op, *rest)

    return _set(narrowing, "_compare", wrong)


# ---- joins -------------------------------------------------------------------------------------------


def fan_out_is_one() -> AbstractContextManager[None]:
    """A public table is said to meet a private row once at most."""
    return _set(ownership, "fan_out", lambda public, other, condition: 1)


def units_are_not_equated() -> AbstractContextManager[None]:
    """A join on a declared key does not add that the units are the same."""
    added = joins._with_equal_units

    def without(*arguments: Any) -> Any:
        condition = arguments[4]
        added(*arguments)
        return condition

    return _set(joins, "_with_equal_units", without)


def both_sides_hold_one_row() -> AbstractContextManager[None]:
    """A join of private tables is said to leave one row per unit."""
    both = ownership._both

    def single(join: Join, left: Owned, right: Owned) -> Owned:
        return replace(both(join, left, right), rows=1, at_most=1)

    return _set(ownership, "_both", single)


def left_joins_fill_their_side() -> AbstractContextManager[None]:
    """What a LEFT join may not find is said never to be NULL."""
    return _set(schema, "_nullable", dict)


# ---- groups ------------------------------------------------------------------------------------------


def _ownership_with(change: Callable[[Relation, Ownership], Ownership]) -> AbstractContextManager[None]:
    before = ownership._ownership
    return _set(ownership, "_ownership", lambda relation: change(relation, before(relation)))


def a_group_per_unit_is_one_row() -> AbstractContextManager[None]:
    """GROUP BY unit, kind is said to leave one row per unit."""

    def change(relation: Relation, owned: Ownership) -> Ownership:
        return (
            replace(owned, at_most=1)
            if isinstance(relation, Aggregate) and isinstance(owned, Owned)
            else owned
        )

    return _ownership_with(change)


def a_unit_is_in_one_group() -> AbstractContextManager[None]:
    """The threshold forgets that a unit may be in several groups."""
    return _set(Subject, "settled", lambda self: True)


def keys_by_their_bits() -> AbstractContextManager[None]:
    """0.0 and -0.0 show whichever of them came first."""
    return _set(cells, "key_sql", sql.scalar_sql)


def rows_of_a_histogram_count_in_full() -> AbstractContextManager[None]:
    """However many rows a unit has, each is weighed as the first."""
    before = histograms._weighed

    def whole(places: Any, full: int) -> Any:
        return before((places & (MOST_BINS - 1)).astype("int32"), full)

    return _set(histograms, "_weighed", whole)


def null_is_no_group() -> AbstractContextManager[None]:
    """A row whose key is NULL is left out although NULL is listed, or the other way round."""
    before = cells.inside

    def without_null(planned: Any, row: Any) -> list[str]:
        return [f"NOT {each}" for each in before(planned, row)]

    return _set(cells, "inside", without_null)


def one_clip_is_forgotten() -> AbstractContextManager[None]:
    """A unit with many rows is scaled as if it were at its limit."""
    return _set(cells, "_factor", lambda planned: "CAST(sqrt(n) AS DOUBLE)")


# ---- ties --------------------------------------------------------------------------------------------


def sums_in_any_order() -> AbstractContextManager[None]:
    """A unit's floats are added up without the grid."""
    return _set(Sum, "per_unit", lambda self, argument, fact, over="": f"sum({argument}){over}")


def orders_leave_ties() -> AbstractContextManager[None]:
    """A window's order is not completed by all columns."""
    return _set(sql, "_complete", lambda source: [])


def filters_are_lost() -> AbstractContextManager[None]:
    """A condition is printed negated."""
    before = sql.relation_sql

    def lost(relation: Relation) -> str:
        if isinstance(relation, Filter):
            return before(relation.input)
        return before(relation)

    return _set(sql, "relation_sql", lost)


def conditions_never_meet() -> AbstractContextManager[None]:
    """As if no row were in two of a query's aggregates."""
    return _set(Truths, "overlaps", lambda self, questions: [set() for _ in questions])


@dataclass(frozen=True, slots=True)
class Plant:
    """How to plant an error, and the seed of the run that looks for it."""

    plant: Callable[[], AbstractContextManager[None]]
    seed: int


_SEEDS = {
    products_by_two_corners: 2,
    units_are_not_equated: 2,
    left_joins_fill_their_side: 3,
    keys_by_their_bits: 22,
    null_is_no_group: 3,
    sums_in_any_order: 7,
    orders_leave_ties: 4,
    filters_are_lost: 2,
}

PLANTS: dict[str, Plant] = {
    f"{place}: {plant.__name__.replace('_', ' ')}": Plant(plant, _SEEDS.get(plant, 1))
    for place, plants in (
        ("ranges", (products_by_two_corners, declared_ranges_are_trusted, narrowing_looks_the_other_way)),
        (
            "joins",
            (fan_out_is_one, units_are_not_equated, both_sides_hold_one_row, left_joins_fill_their_side),
        ),
        (
            "groups",
            (
                a_group_per_unit_is_one_row,
                a_unit_is_in_one_group,
                keys_by_their_bits,
                null_is_no_group,
                one_clip_is_forgotten,
                rows_of_a_histogram_count_in_full,
                conditions_never_meet,
            ),
        ),
        ("ties", (sums_in_any_order, orders_leave_ties)),
        ("meaning", (filters_are_lost,)),
    )
    for plant in plants
}
