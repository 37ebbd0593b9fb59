"""A planned measure as SQL: bounded cells, clipped contributions of units, exact integer sums.

    ROWS    SELECT keys, SUM(cell) FROM rows GROUP BY keys
    UNIT    SELECT SUM(clipped) FROM (SELECT SUM(cell) FROM rows GROUP BY unit)
    L1      rows JOIN every unit's factor: SUM(TRUNC(cell * factor)) GROUP BY keys
    CELLS   sums per (unit, keys) JOIN heavy units' factor: SUM(TRUNC(sum * factor)) GROUP BY keys;
            units of few rows need no factor: they are summed together, as the unit NULL;
            rows that are alone in their unit's groups are these sums (facts/lone_rows.py)

Everything is printed from dpsql's own tree, never from the analyst's text. The factor of a unit is a function
of its own rows and of exact integer norms. Truncation toward zero and a margin of 1e-9 in the factor keep the
clipped norm below the clip, whatever the rounding of floats.

Of ``few`` rows, a statement takes less time than its planning: rows are read once, and units are summed one
by one. The numbers are the same, but for groups that are not on their lists, which releases leave out.
"""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from typing import assert_never

from dpsql.engines.arithmetic import WHOLE, in_whole_numbers
from dpsql.engines.dialect import DUCKDB, MANY, Dialect
from dpsql.engines.number_sql import added_sql
from dpsql.engines.relation_sql import Reading
from dpsql.engines.row_cells import Row, rows_sql
from dpsql.facts.lone_rows import are_alone
from dpsql.functions.core.literals import literal_sql
from dpsql.ir.column import BIGINT, VARCHAR, Kind, Type, Value
from dpsql.ir.measure import Measure
from dpsql.ir.plan import MeasurePlan, Norm, PublicKeys, Shape, Threshold
from dpsql.ir.relation import Filter, Project, Scan
from dpsql.ir.scalar import Literal
from dpsql.ir.statistic import SLACK, Part, Statistic
from dpsql.ir.synthetic import SyntheticRows
from dpsql.lazy_dataclass import dataclass

CELL = 2**50
"""Largest sum of a unit before clipping; its square fits 128 bits."""

LISTED = 1_000
"""The longest list of keys that is checked in SQL."""

TOTAL = 2**62
"""Largest sum of a group; fits 64 bits (the engine clamps fetched sums to it)."""


def bounded_sql(name: str, bound: int, dialect: Dialect) -> str:
    """Print a column of sums clamped to the bound, as a BIGINT."""
    high, low = dialect.wide(f"{bound}"), dialect.wide(f"-{bound}")
    clamped = f"CASE WHEN {name} > {high} THEN {high} WHEN {name} < {low} THEN {low} ELSE {name} END"
    return f"CAST({clamped} AS BIGINT)"


# ---- measures ----------------------------------------------------------------------------------------


def measure_sql(
    planned: MeasurePlan, few: bool = False, dialect: Dialect = DUCKDB, row: Row | None = None
) -> str:
    """Return the SELECT of one row per group: its keys, then its exact clipped sums in grid steps.

    The ``row`` may be printed with what is known of all rows.
    """
    if row is None:
        arithmetic = WHOLE if dialect is DUCKDB else in_whole_numbers(dialect)
        row = rows_sql(planned, Reading(dialect=dialect), arithmetic)
    match planned.shape:
        case Shape.ROWS:
            return summed_rows(planned, row, few)
        case Shape.UNIT | Shape.CELLS:
            return _cells(planned, row, few)
        case Shape.L1:
            return _scaled_rows(planned, row, few)
        case _:
            assert_never(planned.shape)


def summed_rows(planned: MeasurePlan, row: Row, few: bool = False) -> str:
    """Print the sums of rows of which each unit has one."""
    sums = [rowwise(statistic, row) for statistic in planned.measure.statistics]
    listed = () if few else inside_groups(planned, row.keys, dialect=row.dialect)
    return grouped_sql(planned, row, sums, row.sql, listed)


def rowwise(statistic: Statistic, row: Row) -> str:
    """Print the sum of a statistic if a unit has one row: the number of units is the number of rows."""
    if statistic.part is Part.UNITS:
        return f"count({row.counted[statistic]}) * {row.dialect.wide(str(statistic.most))}"
    return row.summed(statistic)


def grouped_sql(
    planned: MeasurePlan, row: Row, sums: list[str], source: str, conditions: Iterable[str] = ()
) -> str:
    names = [f"total{i}" for i in range(len(sums))]
    inner = [*row.keys, *(f"{sql} AS {name}" for sql, name in zip(sums, names, strict=True))]
    tail = ""
    if row.keys:
        tail = f" GROUP BY {', '.join(row.keys)}"
        having = [*conditions]
        if isinstance(planned.rule, Threshold):
            place = planned.rule.statistic  # only DuckDB reads names of its own SELECT in HAVING
            having.append(
                met(planned.rule, row, names[place] if row.dialect is DUCKDB else f"({sums[place]})")
            )
        if having:
            tail += f" HAVING {' AND '.join(having)}"
    outer = [
        row.dialect.carried(key, column.fact.type) for column, key in zip(planned.keys, row.keys, strict=True)
    ]
    totals = f"SELECT {', '.join(inner)} FROM {row.dialect.subquery(source)}{tail}"
    if outer == [*row.keys]:
        return totals
    return f"SELECT {', '.join([*outer, *names])} FROM {row.dialect.subquery(totals)}"


def met(rule: Threshold, row: Row, total: str) -> str:
    """Print the condition that a group may be shown: it has a count, or is of a public grouping set."""
    counted = f"{total} > 0"
    if rule.listed is None:
        return counted
    return f"({counted} OR {row.keys[0]} IN ({', '.join(str(number) for number, _ in rule.listed.sets)}))"


def carried(key: Type, name: str) -> str:
    return DUCKDB.carried(name, key)


def inside_groups(
    planned: MeasurePlan, names: Sequence[str], coded: Collection[int] = (), dialect: Dialect = DUCKDB
) -> list[str]:
    """Return ``inside`` for groups: with count(*) in it, DuckDB tests a list once per group."""
    conditions = inside(planned, names, coded, dialect, dialect is DUCKDB)
    return [f"CASE WHEN count(*) > 0 THEN {condition} END" for condition in conditions]


def inside(
    planned: MeasurePlan,
    names: Sequence[str],
    coded: Collection[int] = (),
    dialect: Dialect = DUCKDB,
    as_texts: bool = False,
) -> list[str]:
    """Return the conditions that keys are on their public lists; long lists are checked after fetching.

    The keys at the places ``coded`` are codes of their values: 0 is not listed (row_copies.py). ``as_texts``:
    many whole numbers, or plain words, are one text, which takes longer for each key, and milliseconds less
    to plan.
    """
    if not isinstance(planned.rule, PublicKeys | SyntheticRows):
        return []
    conditions = []
    keys = list(enumerate(zip(planned.keys, names, planned.rule.domains, strict=True)))
    for place, (column, key, values) in keys[1:] if planned.measure.sets else keys:
        present = [value for value in values if value is not None]
        if len(present) > LISTED or column.fact.type.kind is Kind.BOOLEAN:
            continue
        column_type = column.fact.type
        if place in coded:
            is_listed = f"{key} > 0"
        else:
            text = _as_text(key, present, column_type.kind) if as_texts else None
            is_listed = text or _is_one_of(key, present, column_type, dialect)
        missing = None in values or planned.measure.sets  # a grouping set may not contain this key
        conditions.append(f"({is_listed} OR {key} IS NULL)" if missing else is_listed)
    return conditions


_SEVERAL = 20  # words: fewer are planned about as fast one by one
_SEARCHED = 100  # words: more are found sooner by a join, which DuckDB makes of list_contains
_WORD = re.compile(r"[A-Za-z0-9_]+")


def _as_text(key: str, values: Sequence[Value], kind: Kind) -> str | None:
    """Print that a key is one of many values, which are one text; None where they are not.

    Digits hold no comma, so a number between commas is there if it is one of them. A word has no sign that a
    list's text reads as another, and is not NULL.
    """
    if kind is Kind.INTEGER and len(values) > MANY:
        return f"contains(',{','.join(map(str, values))},', concat(',', {key}, ','))"
    words = [value for value in values if isinstance(value, str) and _WORD.fullmatch(value)]
    if kind is not Kind.TEXT or not _SEVERAL < len(values) == len(words) or "null" in map(str.lower, words):
        return None
    listed = f"CAST('[{','.join(words)}]' AS VARCHAR[]), CAST({key} AS VARCHAR)"
    return f"list_position({listed}) IS NOT NULL" if len(words) <= _SEARCHED else f"list_contains({listed})"


def _is_one_of(key: str, values: Sequence[Value], type: Type, dialect: Dialect) -> str:
    if not values:
        return "false"
    as_text = type.kind is Kind.TEXT  # compare an enum as text: no constant is cast to it
    constants = (Literal(value, VARCHAR if as_text else type) for value in values)
    listed = ", ".join(map(dialect.literal, constants))
    return f"{f'CAST({key} AS {dialect.type(VARCHAR)})' if as_text else key} IN ({listed})"


def constant_sql(value: Value, type: Type) -> str:
    """Print a listed value as a literal of the column's type."""
    return literal_sql(Literal(value, type))


def _cells(planned: MeasurePlan, row: Row, few: bool) -> str:
    """Print sums per unit (and group), the unit's norm over all of them, and the totals of clipped sums."""
    statistics = planned.measure.statistics
    names = [f"s{i}" for i in range(len(statistics))]
    by = ", ".join(["u", *row.keys])
    bound, clip = planned.bound
    dialect = row.dialect
    norm, below = norm_sql(names, bound, dialect), dialect.subquery
    size = dialect.double("n")
    limit, root = (clip, size) if bound is Norm.L1 else (clip**2, f"sqrt({size})")
    factor, most = f"{factor_sql(planned, dialect)} / {root}", dialect.wide(f"{limit}")
    clipped = [row.arithmetic.summed(clipped_sql(name, dialect)) for name in names]
    sums = ", ".join(
        f"{row.summed(statistic)} AS {name}" for statistic, name in zip(statistics, names, strict=True)
    )
    bounded = ", ".join(
        f"CAST({name} AS {dialect.type(BIGINT)}) AS {name}"
        if row.arithmetic.small
        else f"{bounded_sql(name, CELL, dialect)} AS {name}"
        for name in names
    )
    if not row.keys:
        scaled = f"CASE WHEN n > {most} THEN {factor} END AS f"
        per_unit = f"SELECT u, {bounded} FROM {below(f'SELECT u, {sums} FROM {below(row.sql)} GROUP BY u')}"
        source = f"SELECT *, {scaled} FROM {below(f'SELECT *, {norm} AS n FROM {below(per_unit)}')}"
        return grouped_sql(planned, row, clipped, source)
    conditions = inside(planned, row.keys, (), dialect, few and dialect is DUCKDB)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = f"SELECT * FROM {row.dialect.subquery(row.sql)}{where}"
    with_, only_units = "WITH", ""
    alone = sums_are_rows(planned, dialect)
    apart = few or alone or planned.groups is not None or dialect is not DUCKDB  # REPLACE is DuckDB's
    if not apart and all(statistic.part is not Part.UNITS for statistic in statistics):
        many = f"SELECT u, CASE WHEN count(*) > {_rows_within(planned)} THEN 1 END AS many FROM r GROUP BY u"
        with_ += f" {read_twice(planned, rows)}, m AS ({many}),"
        rows = "SELECT r.* REPLACE (CASE WHEN many = 1 THEN r.u END AS u) FROM r JOIN m ON r.u = m.u"
        each = ((bounded_sql(name, TOTAL, dialect), bounded_sql(name, CELL, dialect), name) for name in names)
        bounded = ", ".join(
            f"CASE WHEN u IS NULL THEN {all_} ELSE {own} END AS {name}" for all_, own, name in each
        )
        only_units = " WHERE u IS NOT NULL"
    if alone:
        with_ += f" {read_twice(planned, rows_alone(planned, row, rows), few, name='q')}"
    else:
        cells = f"SELECT {by}, {sums} FROM {below(rows)} GROUP BY {by}"
        if not (row.arithmetic.small and dialect is DUCKDB):  # there, sums are BIGINTs within bounds
            cells = f"SELECT {by}, {bounded} FROM {below(cells)}"
        with_ += f" {dialect.kept('q', cells)}"
    heavy = f"n > {most}"
    if dialect is not DUCKDB:  # a norm beyond what the engine adds up is NULL: nothing of that unit is left
        factor, heavy = (
            f"CASE WHEN n IS NULL THEN {dialect.real(0)} ELSE {factor} END",
            f"({heavy} OR n IS NULL)",
        )
    if planned.groups is not None:  # drop a unit that is in more groups than the threshold allows
        factor = f"CASE WHEN g > {planned.groups} THEN {dialect.real(0)} ELSE {factor} END"
        heavy += f" OR g > {planned.groups}"
    size = f"{unit_norm_sql(names, bound, dialect)} AS n, count(*) AS g"
    norms = f"SELECT u, {size} FROM q{only_units} GROUP BY u"
    factors = f"SELECT u, {factor} AS f FROM {below(norms)} WHERE {heavy}"
    source = f"SELECT q.*, f FROM {dialect.with_factors('q', 'h', True)}"
    grouped = grouped_sql(planned, row, clipped, source)
    return f"{with_}, h AS ({factors}) {grouped}"


def sums_are_rows(planned: MeasurePlan, dialect: Dialect) -> bool:
    """Whether a unit's sums in a group are those of one row, which needs no bound but its own."""
    if dialect is not DUCKDB or planned.shape is not Shape.CELLS or not are_alone(planned.measure):
        return False
    return all(statistic.most < CELL for statistic in planned.measure.statistics)


def rows_alone(planned: MeasurePlan, row: Row, rows: str) -> str:
    """Print the sums of each unit in each group where ``sums_are_rows``."""
    sums = (f"{row.alone(statistic)} AS s{i}" for i, statistic in enumerate(planned.measure.statistics))
    return f"SELECT {', '.join(['u', *row.keys, *sums])} FROM {row.dialect.subquery(rows)}"


def norms_sql(planned: MeasurePlan, dialect: Dialect = DUCKDB) -> str:
    """Return the SELECT of each unit and the norm that its clip bounds (in L2 its square), unclipped."""
    arithmetic = WHOLE if dialect is DUCKDB else in_whole_numbers(dialect)
    row, statistics = rows_sql(planned, Reading(dialect=dialect), arithmetic), planned.measure.statistics
    below = row.dialect.subquery
    conditions = inside(planned, row.keys, dialect=row.dialect)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = f"SELECT * FROM {row.dialect.subquery(row.sql)}{where}"
    if planned.shape is Shape.L1:
        vectors = [scaled_sql(vector, row) for vector in vectors_of(planned.measure)]
        norm = added_sql([vector.norm for vector in vectors])
        return f"SELECT u, {norm} AS n FROM {below(rows)} GROUP BY u"
    names = [f"s{i}" for i in range(len(statistics))]
    sums = ", ".join(
        f"{row.summed(statistic)} AS {name}" for statistic, name in zip(statistics, names, strict=True)
    )
    by = ", ".join(["u", *row.keys])
    bounded = ", ".join(f"{bounded_sql(name, CELL, row.dialect)} AS {name}" for name in names)
    if sums_are_rows(planned, row.dialect):
        cells = rows_alone(planned, row, rows)
    else:
        cells = f"SELECT u, {bounded} FROM {below(f'SELECT {by}, {sums} FROM {below(rows)} GROUP BY {by}')}"
    norm = norm_sql(names, planned.bound[0], row.dialect)
    return f"SELECT u, sum({norm}) AS n FROM {below(cells)} GROUP BY u"


def norm_sql(names: list[str], norm: Norm, dialect: Dialect) -> str:
    """Print a cell's part of the unit's norm; in L2 of its square."""
    if norm is Norm.L1:
        return added_sql([dialect.wide(f"abs({name})") for name in names])
    return added_sql([f"{dialect.wide(name)} * {dialect.wide(name)}" for name in names])


def unit_norm_sql(names: list[str], norm: Norm, dialect: Dialect) -> str:
    """Print the norm of a unit's cells, in L2 its square: a sum over its groups."""
    squares = dialect.squares(names) if norm is Norm.L2 else None
    return squares or f"sum({norm_sql(names, norm, dialect)})"


def _rows_within(planned: MeasurePlan) -> int:
    """Return the number of rows up to which a unit is below the clip, whatever the values."""
    most = [family.most for family in planned.measure.families]
    bound, clip = planned.bound
    if bound is Norm.L1:
        return clip // sum(most)
    return math.isqrt(clip**2 // sum(value * value for value in most))


def read_twice(
    planned: MeasurePlan, rows: str, few: bool = False, dialect: Dialect = DUCKDB, name: str = "r"
) -> str:
    """Print the rows as a CTE, which is read twice.

    A scan is read again, which takes less time and memory; the result of a join is materialized, and so are
    few rows.
    """
    relation = planned.measure.relation
    while isinstance(relation, Filter | Project):
        relation = relation.input
    scanned = not few and isinstance(relation, Scan) and (relation.owner is None or not relation.owner.links)
    return dialect.kept(name, rows, again=scanned)


def _scaled_rows(planned: MeasurePlan, row: Row, few: bool) -> str:
    """Print sums of rows scaled by the unit's factor.

    A unit's L1 norm is at most the sum of its rows' norms: one sum per unit is enough.
    """
    dialect = row.dialect
    conditions = inside(planned, row.keys, (), dialect, few and dialect is DUCKDB)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = f"SELECT * FROM {row.dialect.subquery(row.sql)}{where}"
    vectors = [scaled_sql(vector, row) for vector in vectors_of(planned.measure)]
    weights = dict.fromkeys(vector.most for vector in vectors if vector.most is not None)
    _, limit = planned.bound
    less = f"{factor_sql(planned, dialect)} / {dialect.double('n')}"
    factor = f"CASE WHEN n > {dialect.wide(f'{limit}')} THEN {less} ELSE {dialect.real(1)} END"
    scaled = "".join(f", {dialect.cut(f'{dialect.real(most)} * f')} AS w{most}" for most in weights)
    units = f"SELECT u, {added_sql([vector.norm for vector in vectors])} AS n FROM r GROUP BY u"
    factors = f"SELECT u, {factor} AS f FROM {dialect.subquery(units)}"
    factors = f"SELECT u, f{scaled} FROM {dialect.subquery(factors)}"
    sums = [sql for _, sql in sorted(column for vector in vectors for column in vector.sums)]
    grouped = grouped_sql(planned, row, sums, joined_factors(dialect, weights))
    return f"WITH {read_twice(planned, rows, few, dialect)}, h AS ({factors}) {grouped}"


def joined_factors(dialect: Dialect, weights: Iterable[int]) -> str:
    """Print the rows r with their unit's factor and weights h."""
    factors = dialect.all_but("h", "u", ["f", *(f"w{most}" for most in weights)])
    return f"SELECT r.*, {factors} FROM {dialect.with_factors('r', 'h', False)}"


@dataclass(frozen=True, slots=True)
class Scaled:
    """Statistics that share a bound: the sums of scaled rows by position, and the norm of unscaled rows.

    Both are built from the same columns in one place (``_scaled``), and a measure is printed from these only:
    every released number is part of the norm. ``most`` is the full weight; the sums read it scaled.
    """

    norm: str
    sums: tuple[tuple[int, str], ...]
    most: int | None = None


def vectors_of(measure: Measure) -> list[tuple[tuple[int, Statistic], ...]]:
    """Group the statistics, with their positions, by family; every statistic occurs once."""
    vectors = [
        tuple((i, measure.statistics[i]) for i in positions)
        for family in measure.families
        for positions in family.alternatives
    ]
    indices = sorted(i for vector in vectors for i, _ in vector)
    assert indices == list(range(len(measure.statistics))), "families hold every statistic once"
    return sorted(vectors, key=lambda vector: vector[0][0])


def scaled_sql(vector: tuple[tuple[int, Statistic], ...], row: Row) -> Scaled:
    """Print the scaled sums of a vector, and the norm that bounds them.

    The two cells of a pair add up to ``most`` in every row that counts, so the norm needs no value. Scaled,
    they add up to the unit's ``w`` = TRUNC(most * factor), and neither is negative. The cells of polynomials
    add up to at most ``most`` plus the slack of their rounding.
    """
    (place, first), *following = vector
    counted, rows = row.counted[first], f"count({row.counted[first]})"
    weight, full = f"w{first.most}", f"{rows} * {row.dialect.wide(str(first.most))}"
    weighed = weight if counted == "*" else f"CASE WHEN {counted} IS NOT NULL THEN {weight} END"
    match first.part:
        case Part.BERNSTEIN | Part.LAGRANGE:
            cells = [replace(first, cell=i) for i in range(3 if first.other is None else 9)]
            assert [statistic for _, statistic in vector] == cells, "the cells of one argument, or of two"
            norm = f"{rows} * {row.dialect.wide(str(first.most + SLACK))}"
            return Scaled(norm, tuple((i, _truncated(row, row.cells[statistic])) for i, statistic in vector))
        case Part.REST:
            ((second, value),) = following
            assert value == replace(first, part=Part.VALUE), "a pair is of one value under one condition"
            total = _truncated(row, row.cells[value])
            rest = f"{row.arithmetic.summed(weighed)} - {total}"
            return Scaled(full, ((place, rest), (second, total)), first.most)
        case Part.VALUE:
            assert not following, "a sum stands alone"
            cell = row.cells[first]
            norm = row.arithmetic.summed(f"abs({cell})" if first.low < 0 else cell)
            return Scaled(norm, ((place, _truncated(row, cell)),))
        case Part.ROWS:
            assert not following, "a count stands alone"
            total = row.arithmetic.summed(weighed)
            return Scaled(full, ((place, total),), first.most)
        case Part.UNITS:
            raise AssertionError("units are counted once in a group, not row by row")
        case _:
            assert_never(first.part)


def _truncated(row: Row, cell: str) -> str:
    return row.arithmetic.summed(row.arithmetic.truncated(f"({cell}) * f"))


def factor_sql(planned: MeasurePlan, dialect: Dialect) -> str:
    """Print the clip, less a margin that exceeds all rounding of floats."""
    return dialect.number(planned.bound[1] * (1 - 1e-9))


def clipped_sql(name: str, dialect: Dialect) -> str:
    return f"CASE WHEN f IS NULL THEN {name} ELSE {dialect.cut(f'{name} * f')} END"
