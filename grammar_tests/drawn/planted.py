"""Errors planted in the engine, one at a time; a run must find each of them.

    with PLANTS["joins: fan out is one"].plant():
        ...

What is planted is a rule that somebody could get wrong: of ranges, joins, groups, ties, or of what
aggregates share.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpsql import engines, planning, pricing
from dpsql.aggregates.sum import Sum
from dpsql.batch import together
from dpsql.bind import queries
from dpsql.bind.keys import lists
from dpsql.bind.keys.atoms import Cut, Cutter
from dpsql.bind.private import joins, unmatched
from dpsql.bind.scope.sources import Private, scan
from dpsql.details.clip_search import sql as clip_sql
from dpsql.engines import histogram_sql, measure_sql, number_sql, relation_sql, row_cells, unit_values
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.duckdb import DuckDB as Engine
from dpsql.engines.identifiers import quote
from dpsql.errors import refuse
from dpsql.facts import conditions_met, few_rows, ownership, schema, unit_mass
from dpsql.facts.ownership import Owned, Ownership
from dpsql.facts.truth_vectors import TruthVectors
from dpsql.functions.core import narrowing
from dpsql.functions.core.ranges import spread
from dpsql.functions.numbers import operands
from dpsql.fuzz.queries import CROSSINGS
from dpsql.fuzz.world import World
from dpsql.ir.column import INTEGER, Interval, Kind
from dpsql.ir.grid import MOST_BINS
from dpsql.ir.measure import Measure
from dpsql.ir.plan import MeasurePlan, Shape
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Materialized,
    Relation,
    Scan,
    names_of,
    unit_type_of,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs
from dpsql.ir.statistic import CELLS, Family, Part
from dpsql.ir.table import ExactTable
from dpsql.plan import applied, clips, measure_facts, noise_choice, unit_norms
from dpsql.plan.measure_facts import MeasureFacts
from dpsql.policy.catalogue import Known, KnownTable
from dpsql.rewrite import accuracy_weights, disjoint_cells, linear, statistics
from dpsql.rewrite.statistics import GRID
from dpsql.shelf import modules
from dpsql.workload.common_rows import Renamed
from drawn.coverage import Occurrence
from drawn.run import CALM, Run

_LOADED = tuple(modules(engines.__name__, engines.__path__))
"""Every module of the engines: one that is loaded under a plant would keep what it imports from there."""


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

    def trusting(each: Any, name: str, fact: Any, *how: Any) -> str:
        held = f"least(greatest(CAST({name} AS DOUBLE), -1e9), 1e9) - {number_sql.number(each.offset)}"
        return f"CAST(({held}) * {number_sql.number(float(1 / each.step))} AS BIGINT)"

    return _set(row_cells, "_float", trusting)


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


def keys_survive_a_public_join() -> AbstractContextManager[None]:
    """A row of a public table is said to be there once, however many rows of another it meets."""
    before = ownership._public_join

    def with_all_keys(join: Any, left: Any, right: Any) -> Any:
        return replace(before(join, left, right), keys=left.keys | right.keys)

    return _set(ownership, "_public_join", with_all_keys)


def conditions_leave_one_value() -> AbstractContextManager[None]:
    """A column of a public table has one value in all rows that meet any condition on it."""

    def compared(relation: Relation) -> frozenset[str]:
        return refs(relation.condition) if isinstance(relation, Filter) else frozenset()

    return _set(ownership, "constant_columns", compared)


def two_rows_share_a_value() -> AbstractContextManager[None]:
    """At most two rows of a public table are said to share a value, whatever stands there."""
    sharing = ownership.most_sharing

    def fewer(relation: Relation, names: frozenset[str]) -> int | None:
        most = sharing(relation, names)
        return None if most is None else min(most, 2)

    return _set(ownership, "most_sharing", fewer)


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
    both = ownership._unit_join_ownership

    def single(join: Join, left: Owned, right: Owned) -> Owned:
        return replace(both(join, left, right), rows=1, at_most=1)

    return _set(ownership, "_unit_join_ownership", single)


def left_joins_fill_their_side() -> AbstractContextManager[None]:
    """What a LEFT join may not find is said never to be NULL."""
    return _set(schema, "_nullable", dict)


# ---- units -------------------------------------------------------------------------------------------


def units_are_read_as_integers() -> AbstractContextManager[None]:
    """Whatever their type, units are cast to INTEGER."""
    scan = relation_sql._scan

    def narrow(relation: Scan, read: Callable[[str], str]) -> str:
        owner = relation.owner
        if owner is None or owner.fact.type.kind is not Kind.INTEGER:
            return scan(relation, read)
        fact = replace(owner.fact, type=INTEGER)
        return scan(replace(relation, owner=replace(owner, fact=fact, widened=True)), read)

    return _set(relation_sql, "_scan", narrow)


def units_have_the_type_of_the_unit_table() -> AbstractContextManager[None]:
    """Units are read in the type that one table stores them in, whatever the others hold."""

    def as_there(table: KnownTable, known: Known, *rest: Any) -> Private:
        [there] = [each for each in known.tables if each.at_most == 1 and not each.links]
        types = {each.name: each.fact.type for each in there.columns}
        stored = unit_type_of(tuple(types[name] for name in names_of(there.unit_column or ())))
        return scan(table, replace(known, unit_type=stored), *rest)

    return _set(queries, "scan", as_there)


def one_column_of_two_is_the_unit() -> AbstractContextManager[None]:
    """Each column that a unit is made of is said to be the unit."""
    before = ownership._ownership

    def each(relation: Relation) -> Ownership:
        owned = before(relation)
        if not isinstance(relation, Scan) or not isinstance(owned, Owned):
            return owned
        return replace(owned, units=owned.units.union(*owned.spelled))

    return _set(ownership, "_ownership", each)


def columns_of_units_are_glued_together() -> AbstractContextManager[None]:
    """The columns of a unit are read as one text: number 11 of a is number 1 of a1."""
    before = unit_values.value_sql

    def glued(columns: Any, row: str, *its: Any) -> str:
        if isinstance(columns, str):
            return before(columns, row)
        return f"struct_pack(u1 := concat({', '.join(f'{row}.{quote(name)}' for name in columns)}))"

    return _both(_set(relation_sql, "value_sql", glued), _set(unit_values, "value_sql", glued))


def groups_of_a_unit_add_up_as_squares() -> AbstractContextManager[None]:
    """One count in each of n groups is said to be sqrt(n) in L1 too."""
    return _set(unit_norms, "l1", lambda *given: math.isqrt(unit_norms.l2_squared(*given)))


def conditions_of_units_exclude_each_other() -> AbstractContextManager[None]:
    """A unit is said to be in one count of units at most, as a row is."""
    norms = {"l1": unit_norms.l1, "l2_squared": unit_norms.l2_squared}
    one = GRID

    def once(name: str) -> Any:
        def bound(rows: Any, groups: Any, of_row: int, of_unit: int) -> int:
            return norms[name](rows, groups, of_row, min(of_unit, one if name == "l1" else one**2))

        return _set(unit_norms, name, bound)

    return _both(once("l1"), once("l2_squared"))


def scaled_units_get_whole_noise() -> AbstractContextManager[None]:
    """Counts of units are said to be whole, whatever the clip makes of them."""

    def whole(facts: Any, clip: Any) -> bool:
        return bool(clip.shape is Shape.ROWS or (facts.settled() and facts.only_counts_units()))

    return _set(noise_choice, "whole_units", whole)


def one_grouping_set_counts_units() -> AbstractContextManager[None]:
    """A unit that is counted in several grouping sets is bounded as in one."""
    before = clips._once_in_a_group

    def in_one(facts: MeasureFacts) -> tuple[int, int]:
        return before(replace(facts, groups=facts.groups[:1], alone=facts.alone[:1]))

    return _set(clips, "_once_in_a_group", in_one)


def rows_stay_apart_in_coarser_groups() -> AbstractContextManager[None]:
    """Where a unit has one row for each day, it is said to have one for each week."""
    before = measure_facts._plain

    def coarser(key: Any, copied: Any) -> Any:
        return before(key, copied) or next(iter(refs(key) - copied), None)

    return _set(measure_facts, "_plain", coarser)


def a_few_first_rows_are_one() -> AbstractContextManager[None]:
    """ROW_NUMBER() < 3 is taken for ROW_NUMBER() < 2."""
    before = ownership._first_of

    def any_few(condition: Any) -> Any:
        match condition:
            case Call("<", (Ref() as number, Literal(int()))):
                return number
            case _:
                return before(condition)

    return _set(ownership, "_first_of", any_few)


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
    return _set(MeasureFacts, "settled", lambda self: True)


def keys_by_their_bits() -> AbstractContextManager[None]:
    """0.0 and -0.0 show whichever of them came first."""
    return _set(row_cells, "key_sql", lambda scalar, relation, _: relation_sql.scalar_sql(scalar, relation))


def rows_of_a_histogram_count_in_full() -> AbstractContextManager[None]:
    """However many rows a unit has, each is weighed as the first."""
    before = histogram_sql._weights_of_bins

    def whole(places: Any, full: int) -> Any:
        return before((places & (MOST_BINS - 1)).astype("int32"), full)

    return _set(histogram_sql, "_weights_of_bins", whole)


def every_null_is_unmatched() -> AbstractContextManager[None]:
    """A column that may be NULL where a row was met is taken for one that never is."""
    return _set(unmatched, "_never_null_where_met", lambda right, _: {*map(Ref, schema.facts_of(right))})


def public_columns_hold_no_null() -> AbstractContextManager[None]:
    """The NULLs of public tables are forgotten."""
    before = queries.scan

    def filled(table: Any, *rest: Any) -> Private:
        columns = (replace(each, fact=replace(each.fact, nullable=False)) for each in table.columns)
        return before(replace(table, columns=tuple(columns)) if table.public else table, *rest)

    return _set(queries, "scan", filled)


def null_is_no_group() -> AbstractContextManager[None]:
    """A row whose key is NULL is left out although NULL is listed, or the other way round."""
    before = measure_sql.inside

    def without_null(planned: Any, row: Any) -> list[str]:
        return [f"NOT {each}" for each in before(planned, row)]

    return _set(measure_sql, "inside", without_null)


def a_unit_is_placed_twice() -> AbstractContextManager[None]:
    """The choice of a clip counts a unit at two places of the ladder."""
    before = clip_sql.norms_sql
    return _set(clip_sql, "norms_sql", lambda *given: f"{before(*given)} UNION ALL {before(*given)}")


def one_clip_is_forgotten() -> AbstractContextManager[None]:
    """A unit with many rows is scaled as if it were at its limit."""
    return _set(measure_sql, "factor_sql", lambda planned, dialect: "CAST(sqrt(n) AS DOUBLE)")


def a_sum_keeps_its_mass_with_an_offset() -> AbstractContextManager[None]:
    """One added to each row is said to add nothing to the unit's sum of them."""
    before = unit_mass.mass_of

    def careless(relation: Any, scalar: Any) -> Any:
        if isinstance(scalar, Call) and scalar.function in ("+", "-", "coalesce", "case"):
            return next((found for each in scalar.arguments if (found := careless(relation, each))), None)
        return before(relation, scalar)

    return _both(_set(measure_facts, "mass_of", careless), _set(statistics, "mass_of", careless))


def few_values_of_one_of_several_columns() -> AbstractContextManager[None]:
    """Rows that several columns tell apart are said to be as few as the values of the first."""
    return _set(few_rows, "prod", min)


def rows_are_no_more_than_those_they_meet() -> AbstractContextManager[None]:
    """Rows that each meet one row, all the same one, are said to be no more than one."""

    def careless(join: Join, left: Ownership, right: Ownership) -> Ownership:
        if not isinstance(left, Owned) or not isinstance(right, Owned):
            return left
        at_most = ownership.least(left.at_most, right.at_most)
        return replace(left, rows=ownership.least(left.rows, right.rows), at_most=at_most)

    return _set(ownership, "_kept_rows", careless)


def two_scans_of_a_table_are_one() -> AbstractContextManager[None]:
    """Keys of two rows of a public table are said to be of one row."""
    before, seen = lists.public_origin, dict[str, Scan]()

    def by_name(*given: Any) -> Any:
        origin = before(*given)
        return origin and replace(origin, scan=seen.setdefault(origin.scan.table, origin.scan))

    return _set(lists, "public_origin", by_name)


def rows_look_at_later_ones() -> AbstractContextManager[None]:
    """LAG is said to be at most the value beside it, whichever way the rows are sorted."""
    before = schema.order.of_window

    def ascending(call: Any, *facts: Any) -> Any:
        sorted_by = tuple(replace(each, descending=False) for each in call.order)
        return before(replace(call, order=sorted_by), *facts)

    return _set(schema.order, "of_window", ascending)


def checks_are_trusted() -> AbstractContextManager[None]:
    """Where a range begins at 0, nothing is clamped to it: a check will do."""
    before = row_cells.clamped_sql

    def trusting(name: str, low: Any, *given: Any, **named: Any) -> str:
        return before(name, -1e18 if low == 0 else low, *given, **named)

    return _set(row_cells, "clamped_sql", trusting)


# ---- ties --------------------------------------------------------------------------------------------


def sums_in_any_order() -> AbstractContextManager[None]:
    """A unit's floats are added up without the grid."""
    return _set(Sum, "per_unit", lambda self, argument, fact, over="": f"sum({argument}){over}")


def orders_leave_ties() -> AbstractContextManager[None]:
    """A window's order is not completed by all columns."""
    return _set(relation_sql, "_all_columns", lambda source, dialect: [])


def picked_values_leave_ties() -> AbstractContextManager[None]:
    """The order of ARG_MIN, FIRST, MODE and their like is not completed by the value."""
    return _set(relation_sql, "value_order", lambda call, source, dialect: ["1"])


def filters_are_lost() -> AbstractContextManager[None]:
    """No condition is printed."""
    before = relation_sql._select

    def lost(relation: Relation, read: Callable[[str], str]) -> str:
        return before(relation.input if isinstance(relation, Filter) else relation, read)

    return _set(relation_sql, "_select", lost)


def conditions_never_meet() -> AbstractContextManager[None]:
    """As if no row were in two of a query's aggregates."""
    return _set(TruthVectors, "overlaps", lambda self, questions: [set() for _ in questions])


# ---- sharing -----------------------------------------------------------------------------------------


def pairs_are_known_by_their_columns() -> AbstractContextManager[None]:
    """A sum that prints as the value of some average's pair is left out of the norm."""
    rows, scaled, paired = measure_sql.rows_sql, measure_sql.scaled_sql, set[str]()

    def noted(planned: MeasurePlan, *given: Any) -> Any:
        row = rows(planned, *given)
        paired.clear()
        paired.update(row.cells[each] for each in planned.measure.statistics if each.part is Part.REST)
        return row

    def forgetful(vector: Any, row: Any) -> Any:
        made, first = scaled(vector, row), vector[0][1]
        return replace(made, norm="0") if first.part is Part.VALUE and row.cells[first] in paired else made

    return _both(_set(measure_sql, "rows_sql", noted), _set(measure_sql, "scaled_sql", forgetful))


def moments_of_one_argument_count_once() -> AbstractContextManager[None]:
    """Of the cells of an argument under several conditions, the first alone are in the norm."""
    vectors, scaled = measure_sql.vectors_of, measure_sql.scaled_sql
    first: dict[Any, Any] = {}

    def noted(measure: Any) -> Any:
        first.clear()
        found = vectors(measure)
        for vector in found:
            first.setdefault(vector[0][1].argument, vector)
        return found

    def forgetful(vector: Any, row: Any) -> Any:
        made, statistic = scaled(vector, row), vector[0][1]
        again = statistic.part in CELLS and first[statistic.argument] is not vector
        return replace(made, norm="0") if again else made

    return _both(_set(measure_sql, "vectors_of", noted), _set(measure_sql, "scaled_sql", forgetful))


def finer_grids_are_as_short() -> AbstractContextManager[None]:
    """A weighed aggregate has a finer grid, and the clip of a coarse one."""
    before = accuracy_weights.weighed

    def as_short(measure: Any) -> Any:
        return replace(before(measure), families=measure.families)

    return _set(accuracy_weights, "weighed", as_short)


def conditions_do_not_tell_pairs_apart() -> AbstractContextManager[None]:
    """An average is told by the pair of its argument, under whatever condition."""
    before = statistics._key
    return _set(statistics, "_key", lambda call: (before(call)[0], None))


def cells_overlap() -> AbstractContextManager[None]:
    """A cell asks only for what is true in it."""
    before = disjoint_cells._cells

    def open_(block: Any) -> Any:
        for vector, _ in before(block):
            true = [each for each, yes in zip(block.conditions, vector, strict=True) if yes and each]
            yield vector, disjoint_cells._all_of(true)

    return _set(disjoint_cells, "_cells", open_)


def runs_and_their_cells_exclude_each_other() -> AbstractContextManager[None]:
    """A row in a cell is said not to be in the run that holds the cell."""
    before = disjoint_cells._merge_disjoint

    def apart(families: Any, overlaps: Any) -> Any:
        found = list(before(families, overlaps))
        origins = [origin for _, origin in families]
        if len(set(origins)) == len(origins):
            return found
        alternatives = tuple(sorted(one for family in found for one in family.alternatives))
        return [Family(alternatives, max(family.most for family in found))]

    return _set(disjoint_cells, "_merge_disjoint", apart)


def lines_forget_their_slopes() -> AbstractContextManager[None]:
    """The offset of a line is told from that of another as if both were as steep."""

    def flat(line: Any, to: Any) -> Any:
        return replace(line, slope=line.slope / to.slope, offset=line.offset - to.offset)

    return _both(_set(linear, "_relative", flat), _set(linear, "_is_image", lambda *_: True))


def _rows(session: Any) -> int:
    with session.engine._reading():
        ((number,),) = session.engine._all("SELECT count(*) FROM main.visits")
    assert isinstance(number, int)
    return number


def prices_follow_rows() -> AbstractContextManager[None]:
    """A query over more rows costs more."""
    before = pricing.price_of

    def dearer(session: Any, kept: Any) -> Any:
        plan, price = before(session, kept)
        return plan, replace(price, epsilon=price.epsilon * (1 + _rows(session) / 1000))

    return _set(pricing, "price_of", dearer)


def refusals_follow_rows() -> AbstractContextManager[None]:
    """What reads an uneven number of rows, or so many by accident, is refused."""
    before = planning.prepared

    def refusing(session: Any, *arguments: Any) -> Any:
        if _rows(session) % 7 < 3:
            raise refuse("D601", "the engine failed")
        return before(session, *arguments)

    return _set(planning, "prepared", refusing)


@contextmanager
def _both(one: AbstractContextManager[None], other: AbstractContextManager[None]) -> Iterator[None]:
    with one, other:
        yield


@dataclass(frozen=True, slots=True)
class Plant:
    """How to plant an error, and how to look for it.

    By the seed of a run, the shares of queries that cross aggregates, of those about what bounds a unit, and
    of those that plain DuckDB is asked too, and what occurs in every query that the error changes: others
    need no judge. Nothing is named where most queries are changed. No query is spoilt: a refusal shows none
    of these errors.
    """

    plant: Callable[[], AbstractContextManager[None]]
    seed: int
    among: frozenset[Occurrence]
    crossings: float = CROSSINGS
    bounded: float = 0.0
    calm: float = CALM
    silent: int = 0

    def run(self, worlds: list[World], calm: World) -> Run:
        """A run that looks for the error, over open databases."""
        return Run(
            *(self.seed, worlds, calm, self.crossings, self.bounded, self.among, 0.0, self.calm),
            fast=False,
            views=0,
            silent=self.silent,
        )


_SEEDS = {
    keys_by_their_bits: 21,
    products_by_two_corners: 8,
    declared_ranges_are_trusted: 2,
    narrowing_looks_the_other_way: 5,
    both_sides_hold_one_row: 4,
    left_joins_fill_their_side: 15,
    a_unit_is_in_one_group: 3,
    one_clip_is_forgotten: 3,
    rows_of_a_histogram_count_in_full: 2,
    conditions_never_meet: 3,
    pairs_are_known_by_their_columns: 24,
    moments_of_one_argument_count_once: 2,
    finer_grids_are_as_short: 15,
    two_scans_of_a_table_are_one: 3,
    a_sum_keeps_its_mass_with_an_offset: 5,
    rows_stay_apart_in_coarser_groups: 10,
    picked_values_leave_ties: 11,
    sums_in_any_order: 7,
    orders_leave_ties: 4,
    filters_are_lost: 2,
}
"""Seeds that find each early, within a hundred triples or two; others than 1."""

_JOINS_WITH_PUBLIC = tuple(
    ("join", f"{kind} {sides}")
    for kind in ("inner", "left", "full")
    for sides in ("private public", "public private")
)

_OUTER_JOINS = tuple(
    ("join", f"{kind} {left} {right}")
    for kind in ("left", "full")
    for left in ("private", "public")
    for right in ("private", "public")
)

_AMONG: dict[Callable[[], AbstractContextManager[None]], tuple[Occurrence, ...]] = {
    groups_of_a_unit_add_up_as_squares: (("statistic", "units"),),
    conditions_of_units_exclude_each_other: (("statistic", "units"),),
    keys_by_their_bits: (("key", "float"),),
    rows_of_a_histogram_count_in_full: (("detail", "quantiles"),),
    pairs_are_known_by_their_columns: (("statistic", "rest"),),
    sums_in_any_order: (("aggregate", "sum per unit"), ("window", "sum")),
    orders_leave_ties: (("node", "Window"),),
    products_by_two_corners: (("function", "*"), ("function", "-")),
    left_joins_fill_their_side: _OUTER_JOINS,
    fan_out_is_one: _JOINS_WITH_PUBLIC,
    finer_grids_are_as_short: (("written", "weights"),),
    moments_of_one_argument_count_once: (("statistic", "bernstein"), ("statistic", "lagrange")),
    picked_values_leave_ties: (("aggregate", "ordered per unit"),),
}
"""What occurs in every query that a rare error changes."""

_MIXTURES = {
    "sharing": {"crossings": 1.0},
    "bounded": {"bounded": 1.0},
    "units": {"calm": 1.0},
    "meaning": {"calm": 1.0},
    "silence": {"silent": 1},
}
"""What the runs draw that look for errors of a place."""

PLANTS: dict[str, Plant] = {
    f"{place}: {plant.__name__.replace('_', ' ')}": Plant(
        plant, _SEEDS.get(plant, 1), frozenset(_AMONG.get(plant, ())), **_MIXTURES.get(place, {})
    )
    for place, plants in (
        ("ranges", (products_by_two_corners, declared_ranges_are_trusted, narrowing_looks_the_other_way)),
        (
            "joins",
            (fan_out_is_one, both_sides_hold_one_row, left_joins_fill_their_side),
        ),
        (
            "groups",
            (
                a_group_per_unit_is_one_row,
                a_unit_is_in_one_group,
                keys_by_their_bits,
                one_clip_is_forgotten,
                rows_of_a_histogram_count_in_full,
                conditions_never_meet,
            ),
        ),
        (
            "sharing",
            (
                pairs_are_known_by_their_columns,
                moments_of_one_argument_count_once,
                finer_grids_are_as_short,
                conditions_do_not_tell_pairs_apart,
                cells_overlap,
                runs_and_their_cells_exclude_each_other,
            ),
        ),
        (
            "units",
            (
                units_are_read_as_integers,
                units_have_the_type_of_the_unit_table,
                groups_of_a_unit_add_up_as_squares,
                conditions_of_units_exclude_each_other,
            ),
        ),
        (
            "bounded",
            (
                two_scans_of_a_table_are_one,
                a_sum_keeps_its_mass_with_an_offset,
                rows_stay_apart_in_coarser_groups,
                scaled_units_get_whole_noise,
                picked_values_leave_ties,
            ),
        ),
        ("ties", (sums_in_any_order, orders_leave_ties)),
        ("meaning", (filters_are_lost, null_is_no_group)),
        ("silence", (prices_follow_rows, refusals_follow_rows)),
    )
    for plant in plants
}


# ---- items of a list ---------------------------------------------------------------------------------


def more_places_than_are_said() -> AbstractContextManager[None]:
    """The SQL has places for a hundred items of a list, whatever the plan says."""
    fixed_rows = type(DUCKDB).fixed_rows

    def longer(self: Dialect, given: Materialized) -> str:
        if given.columns[0].name.startswith("place") and len(given.rows) > 1:
            given = replace(given, rows=tuple((number,) for number in range(1, 101)))
        return fixed_rows(self, given)

    return _set(type(DUCKDB), "fixed_rows", longer)


def keys_of_rows_survive_a_fan_out() -> AbstractContextManager[None]:
    """What was unique among the rows is said to be unique among the rows of their items."""
    multiply = ownership._multiply_rows

    def kept(owned: Owned, times: int) -> Owned:
        return replace(multiply(owned, times), row_keys=owned.row_keys)

    return _set(ownership, "_multiply_rows", kept)


def the_empty_side_meets_conditions() -> AbstractContextManager[None]:
    """All rows of an outer join are said to meet the conditions of the side that may be missing."""
    conditions = conditions_met.conditions_on

    def met(relation: Relation, keys: conditions_met.Keys) -> list[Scalar]:
        if isinstance(relation, Join) and relation.kind is JoinKind.LEFT:
            relation = replace(relation, kind=JoinKind.INNER)
        return conditions(relation, keys)

    return _set(conditions_met, "conditions_on", met)


def each_arm_bounds_an_argument() -> AbstractContextManager[None]:
    """Each arm of an OR is taken for a condition on all rows."""

    def arms(condition: Scalar) -> list[Scalar]:
        match condition:
            case Call("and" | "or", parts):
                return [arm for part in parts for arm in arms(part)]
            case _:
                return [condition]

    return _set(conditions_met, "conjuncts", arms)


def columns_of_the_same_values_are_one() -> AbstractContextManager[None]:
    """Two columns with the same declared values have the same value in each row."""
    cut = Cutter.cut

    def by_values(cutter: Cutter, relation: Relation, scalar: Scalar) -> Cut | None:
        found = cut(cutter, relation, scalar)
        return found and replace(found, atoms={Ref(atom.sql): atom for atom in found.atoms.values()})

    return _set(Cutter, "cut", by_values)


IN_FIXTURES: dict[str, Callable[[], AbstractContextManager[None]]] = {
    "joins/public_tables.sql: on a public key": public_columns_hold_no_null,
    "joins/unmatched.sql: a column that may be NULL in a row that was met": every_null_is_unmatched,
    "joins/public_side_kept.sql: visits of every place": public_columns_hold_no_null,
    "joins/public_side_kept.sql: each row of a public table meets many": keys_survive_a_public_join,
    "joins/ties.sql": units_are_not_equated,
    "keys/conditions_on_expressions.sql: of the side": the_empty_side_meets_conditions,
    "keys/of_one_value.sql: of two rows": columns_of_the_same_values_are_one,
    "joins/fan_out.sql": two_rows_share_a_value,
    "joins/fan_out.sql: the days of a public table from one on": conditions_leave_one_value,
    "per_unit/few_rows.sql": few_values_of_one_of_several_columns,
    "per_unit/first_rows.sql": a_few_first_rows_are_one,
    "subqueries/exists.sql": rows_are_no_more_than_those_they_meet,
    "from/row_items.sql: a list column": fan_out_is_one,
    "from/row_items.sql: a mean of a column": more_places_than_are_said,
    "from/row_items.sql: keys of rows": keys_of_rows_survive_a_fan_out,
    "aggregates/lines.sql": lines_forget_their_slopes,
    "group_by/grouping_sets.sql: people of all and within sets": one_grouping_set_counts_units,
    "bounds/order.sql": rows_look_at_later_ones,
    "bounds/checks.sql": checks_are_trusted,
    "keys/conditions_on_expressions.sql: one or the other": each_arm_bounds_an_argument,
    "bounds/fitted.sql": a_unit_is_placed_twice,
    "units/two_columns.sql: one of the columns": one_column_of_two_is_the_unit,
    "units/two_columns.sql: a club": one_column_of_two_is_the_unit,
    "units/two_columns.sql: rows and people": columns_of_units_are_glued_together,
}
"""Errors that drawn queries meet too seldom, by the fixtures that find them."""


# ---- files of statements -----------------------------------------------------------------------------


def conditions_of_a_statement_are_lost() -> AbstractContextManager[None]:
    """A statement that is measured with others counts all their rows."""
    renamed = together.renamed

    def lost(measure: Measure) -> Renamed | None:
        found = renamed(measure)
        return None if found is None else replace(found, conditions=())

    return _set(together, "renamed", lost)


def columns_of_a_strategy_are_shorter() -> AbstractContextManager[None]:
    """The longest column is said to have an eighth of its length."""
    declared = applied.declared_column
    return _set(applied, "declared_column", lambda strategy, norm: max(1, declared(strategy, norm) // 8))


def a_row_of_cells_is_in_the_next_one_too() -> AbstractContextManager[None]:
    """What the engine reads of a cell is added to the next one."""
    measure = Engine.measure

    def twice(self: Engine, planned: MeasurePlan) -> ExactTable:
        exact = measure(self, planned)
        if planned.applied is not None and len(exact.sums) > 1:
            exact.sums = exact.sums + np.roll(exact.sums, 1, axis=0)
        return exact

    return _set(Engine, "measure", twice)


IN_FILES = {
    plant.__name__.replace("_", " "): plant
    for plant in (
        conditions_of_a_statement_are_lost,
        columns_of_a_strategy_are_shorter,
        a_row_of_cells_is_in_the_next_one_too,
    )
}
"""Errors of what is measured together."""
