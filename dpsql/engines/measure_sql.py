"""A planned measure as SQL: bounded cells, clipped contributions of units, exact integer sums.

    ROWS    SELECT keys, SUM(cell) FROM rows GROUP BY keys
    UNIT    SELECT SUM(clipped) FROM (SELECT SUM(cell) FROM rows GROUP BY unit)
    L1      rows JOIN every unit's factor: SUM(TRUNC(cell * factor)) GROUP BY keys
    CELLS   sums per (unit, keys) JOIN heavy units' factor: SUM(TRUNC(sum * factor)) GROUP BY keys;
            units of few rows need no factor: they are summed together, as the unit NULL

Everything is printed from dpsql's own tree, never from the analyst's text. The factor of a unit is a function
of its own rows and of exact integer norms. Truncation toward zero and a margin of 1e-9 in the factor keep the
clipped norm below the clip, whatever the rounding of floats.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from dpsql.engines.identifiers import TEXTED, quote
from dpsql.engines.number_sql import clamped_sql, number
from dpsql.engines.polynomial_sql import product, rounded_square, single
from dpsql.engines.relation_sql import key_sql, relation_sql, scalar_sql, type_in
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.functions.core.literals import literal_sql
from dpsql.ir.column import VARCHAR, Fact, Kind, Type, Value
from dpsql.ir.measure import Measure
from dpsql.ir.plan import MeasurePlan, Norm, PublicKeys, Shape, Threshold
from dpsql.ir.relation import Filter, Project, Scan
from dpsql.ir.scalar import Literal, Scalar
from dpsql.ir.statistic import CELLS, SLACK, Part, Statistic, width_of

CELL = 2**50
"""Largest sum of a unit before clipping; its square fits 128 bits."""

TOTAL = 2**62
"""Largest sum of a group; fits 64 bits (the engine clamps fetched sums to it)."""


# ---- cells -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """The rows of a measure as SQL: keys, one cell per statistic of values, one mark per guard of a count.

    A cell is the clamped value in grid steps, NULL if the row does not count; a mark is 1 or NULL.
    """

    sql: str
    keys: tuple[str, ...]
    counted: dict[Statistic, str]  # a column that is NULL if the row does not count; "*" if all rows count
    cells: dict[Statistic, str]
    sums: dict[Statistic, str]  # sums of polynomial cells over a group


def _rows(planned: MeasurePlan) -> _Row:
    m = planned.measure
    owned = ownership_of(m.relation)
    assert isinstance(owned, Owned)
    keys = tuple(f"k{i}" for i in range(len(m.keys)))
    read: dict[Scalar, str] = {}
    columns = [] if planned.shape is Shape.ROWS else [f"{quote(owned.unit)} AS u"]
    columns += [f"{key_sql(k.scalar, m.relation)} AS {name}" for k, name in zip(m.keys, keys, strict=True)]
    facts: dict[Scalar, Fact] = {}
    for statistic in m.statistics:
        for letter, scalar in (("x", statistic.argument), *_others(statistic), ("c", statistic.condition)):
            if scalar is None or scalar in read:
                continue
            read[scalar] = f"{letter}{len(read)}"
            facts[scalar] = type_in(scalar, m.relation)
            sql = scalar_sql(scalar, m.relation)
            single_precision = facts[scalar].type.sql == "FLOAT"
            columns.append(f"{f'CAST({sql} AS DOUBLE)' if single_precision else sql} AS {read[scalar]}")
    inner = f"SELECT {', '.join(columns) or '1'} FROM ({relation_sql(m.relation)})"
    # Equal scalars, and equal SQL over the same columns, have the same value in every row: they share a
    # column. Families alone say which statistics belong together, never the columns that they read.
    named: dict[str, str] = {}  # expression -> its column
    derived: dict[str, str] = {}  # the same, over the columns of ``named``
    counted: dict[Statistic, str] = {}
    cells: dict[Statistic, str] = {}
    sums: dict[Statistic, str] = {}
    for statistic in m.statistics:
        if statistic.part in (Part.VALUE, Part.REST):
            cell = _value(statistic, read, facts)
            counted[statistic] = cells[statistic] = named.setdefault(cell, f"g{len(named)}")
        elif statistic.part in CELLS and statistic.other is None:
            place = named.setdefault(_value(statistic, read, facts), f"g{len(named)}")
            square = derived.setdefault(rounded_square(place, statistic.most), f"h{len(derived)}")
            counted[statistic] = place
            cells[statistic], sums[statistic] = single(statistic, place, square)
        elif statistic.part in CELLS:
            axes = [named.setdefault(y, f"g{len(named)}") for y in _axes(statistic, read, facts)]
            cell = derived.setdefault(product(statistic, axes[0], axes[1]), f"h{len(derived)}")
            counted[statistic] = cells[statistic] = cell
            sums[statistic] = f"coalesce(sum({cell}), 0)"
        else:
            guard = _guard(statistic, read, facts)
            mark = f"CASE WHEN {guard} THEN 1 END"
            counted[statistic] = named.setdefault(mark, f"g{len(named)}") if guard else "*"
    units = [] if planned.shape is Shape.ROWS else ["u"]
    outer = [*units, *keys, *(f"{sql} AS {name}" for sql, name in named.items())]
    sql = f"SELECT {', '.join(outer) or '1'} FROM ({inner})"
    if derived:
        outer = [*units, *keys, *named.values(), *(f"{sql} AS {name}" for sql, name in derived.items())]
        sql = f"SELECT {', '.join(outer)} FROM ({sql})"
    return _Row(sql, keys, counted, cells, sums)


def _others(statistic: Statistic) -> tuple[tuple[str, Scalar], ...]:
    return () if statistic.other is None else (("x", statistic.other.argument),)


def _guard(statistic: Statistic, read: dict[Scalar, str], facts: dict[Scalar, Fact]) -> str:
    """Print the condition under which a row counts; '' if every row counts."""
    parts = [] if statistic.condition is None else [read[statistic.condition]]
    if statistic.argument is not None and facts[statistic.argument].nullable:
        parts.append(f"{read[statistic.argument]} IS NOT NULL")
    return " AND ".join(parts)


def _value(statistic: Statistic, read: dict[Scalar, str], facts: dict[Scalar, Fact]) -> str:
    """Print (clamped argument - offset) / step as an integer, total for every value of the type.

    NULL if the argument is NULL or NaN, or the condition is not true.
    """
    assert statistic.argument is not None
    name, fact = read[statistic.argument], facts[statistic.argument]
    sql = _integer(statistic, name, fact) if _whole(statistic, fact) else _float(statistic, name, fact)
    return sql if statistic.condition is None else f"CASE WHEN {read[statistic.condition]} THEN {sql} END"


def _whole(statistic: Statistic, fact: Fact) -> bool:
    per_step = 1 / statistic.step
    integral = per_step.denominator == 1 and float(statistic.offset).is_integer()
    return fact.type.kind is Kind.INTEGER and integral and _integral(statistic)


def _integer(statistic: Statistic, name: str, fact: Fact) -> str:
    low, high = int(statistic.low), int(statistic.high)
    wide = "HUGEINT" if fact.type.sql in ("UBIGINT", "HUGEINT", "UHUGEINT") else "BIGINT"
    if fact.type.sql == "UHUGEINT":
        name = f"CAST(CASE WHEN {name} > {2**64}::UHUGEINT THEN {2**64}::UHUGEINT ELSE {name} END AS HUGEINT)"
    elif fact.type.sql != wide:
        name = f"CAST({name} AS {wide})"
    sql = f"CASE WHEN {name} > {high}::{wide} THEN {high}::{wide}"
    sql += f" WHEN {name} < {low}::{wide} THEN {low}::{wide} ELSE {name} END"
    sql = f"({sql} - {int(statistic.offset)}::{wide})" if statistic.offset else sql
    per_step = int(1 / statistic.step)
    sql = f"{sql} * {per_step}::{wide}" if per_step != 1 else sql
    return sql if wide == "BIGINT" else f"CAST({sql} AS BIGINT)"


def _float(statistic: Statistic, name: str, fact: Fact) -> str:
    """Print a cell computed in floats.

    Subtraction, product and rounding are monotone: the cell of a clamped value lies between the cells of the
    range's ends.
    """
    clamped = _clamped(name, fact, statistic.low, statistic.high)
    shifted = f"({clamped} - {number(statistic.offset)})" if statistic.offset else clamped
    factor = float(1 / statistic.step)
    cell = f"CAST({shifted} * {number(factor)} AS BIGINT)"
    least = 0 if statistic.offset or statistic.low >= 0 else -statistic.most
    ends = [round((float(end) - float(statistic.offset)) * factor) for end in (statistic.low, statistic.high)]
    most = statistic.most
    if least <= ends[0] and ends[1] <= most:
        return cell
    return f"CASE WHEN {cell} > {most} THEN {most} WHEN {cell} < {least} THEN {least} ELSE {cell} END"


def _axes(statistic: Statistic, read: dict[Scalar, str], facts: dict[Scalar, Fact]) -> list[str]:
    """Print the relative positions of two arguments in their ranges: 0 to 1, up to float rounding."""
    assert statistic.argument is not None
    assert statistic.other is not None
    axes = []
    for scalar, low, high in (
        (statistic.argument, statistic.low, statistic.high),
        (statistic.other.argument, statistic.other.low, statistic.other.high),
    ):
        shifted = f"({_clamped(read[scalar], facts[scalar], low, high)} - {number(low)})"
        sql = f"{shifted} * {number(1 / width_of(low, high))}"
        axes.append(
            sql if statistic.condition is None else f"CASE WHEN {read[statistic.condition]} THEN {sql} END"
        )
    return axes


def _clamped(name: str, fact: Fact, low: float | int, high: float | int) -> str:
    return clamped_sql(name if fact.type.sql == "DOUBLE" else f"CAST({name} AS DOUBLE)", low, high)


def _integral(statistic: Statistic) -> bool:
    return (
        all(float(end).is_integer() for end in (statistic.low, statistic.high))
        and max(abs(statistic.low), abs(statistic.high)) < 2**62
    )


def _summed(statistic: Statistic, row: _Row) -> str:
    """Print the sum of a statistic over a group of rows (UNITS: over one unit's rows)."""
    count = f"count({row.counted[statistic]})"
    match statistic.part:
        case Part.ROWS:
            return f"{count} * {statistic.most}::HUGEINT"
        case Part.UNITS:
            return f"CASE WHEN {count} > 0 THEN {statistic.most} ELSE 0 END"
        case Part.VALUE:
            return f"coalesce(sum({row.cells[statistic]}), 0)"
        case Part.REST:
            return f"({count} * {statistic.most}::HUGEINT - coalesce(sum({row.cells[statistic]}), 0))"
        case Part.BERNSTEIN | Part.LAGRANGE:
            return row.sums[statistic]
        case _:
            assert_never(statistic.part)


def _bounded(name: str, bound: int) -> str:
    """Print a column of sums clamped to the bound, as a BIGINT."""
    high, low = f"{bound}::HUGEINT", f"-{bound}::HUGEINT"
    clamped = f"CASE WHEN {name} > {high} THEN {high} WHEN {name} < {low} THEN {low} ELSE {name} END"
    return f"CAST({clamped} AS BIGINT)"


# ---- measures ----------------------------------------------------------------------------------------


def measure_sql(planned: MeasurePlan) -> str:
    """Return the SELECT of one row per group: its keys, then its exact clipped sums in grid steps."""
    row = _rows(planned)
    match planned.shape:
        case Shape.ROWS:
            sums = [_rowwise(statistic, row) for statistic in planned.measure.statistics]
            # with count(*) in the condition, DuckDB tests the list per group, not per row
            conditions = [
                f"CASE WHEN count(*) > 0 THEN {condition} END" for condition in inside(planned, row.keys)
            ]
            return _grouped(planned, row, sums, row.sql, conditions)
        case Shape.UNIT | Shape.CELLS:
            return _cells(planned, row)
        case Shape.L1:
            return _scaled_rows(planned, row)
        case _:
            assert_never(planned.shape)


def _rowwise(statistic: Statistic, row: _Row) -> str:
    """Print the sum of a statistic if a unit has one row: the number of units is the number of rows."""
    if statistic.part is Part.UNITS:
        return f"count({row.counted[statistic]}) * {statistic.most}::HUGEINT"
    return _summed(statistic, row)


def _grouped(
    planned: MeasurePlan, row: _Row, sums: list[str], source: str, conditions: Iterable[str] = ()
) -> str:
    names = [f"total{i}" for i in range(len(sums))]
    inner = [*row.keys, *(f"{sql} AS {name}" for sql, name in zip(sums, names, strict=True))]
    tail = ""
    if row.keys:
        tail = f" GROUP BY {', '.join(row.keys)}"
        having = [*conditions]
        if isinstance(planned.rule, Threshold):
            having.append(_met(planned.rule, row))
        if having:
            tail += f" HAVING {' AND '.join(having)}"
    outer = [carried(column.fact.type, key) for column, key in zip(planned.keys, row.keys, strict=True)]
    outer += names
    return f"SELECT {', '.join(outer)} FROM (SELECT {', '.join(inner)} FROM ({source}){tail})"


def _met(rule: Threshold, row: _Row) -> str:
    """Print the condition that a group may be shown: it has a count, or is of a public grouping set."""
    counted = f"total{rule.statistic} > 0"
    if rule.listed is None:
        return counted
    return f"({counted} OR {row.keys[0]} IN ({', '.join(str(number) for number, _ in rule.listed.sets)}))"


def carried(key: Type, name: str) -> str:
    return f"CAST({name} AS VARCHAR) AS {name}" if key.kind in TEXTED else name


def inside(planned: MeasurePlan, names: Sequence[str]) -> list[str]:
    """Return the conditions that keys are on their public lists; long lists are checked after fetching."""
    if not isinstance(planned.rule, PublicKeys):
        return []
    conditions = []
    keys = list(zip(planned.keys, names, planned.rule.domains, strict=True))
    for column, key, values in keys[1:] if planned.measure.sets else keys:
        present = [value for value in values if value is not None]
        if len(present) > 1_000 or column.fact.type.kind is Kind.BOOLEAN:
            continue
        column_type = column.fact.type
        as_text = column_type.kind is Kind.TEXT  # compare an enum as text: no constant is cast to it
        listed = ", ".join(constant_sql(value, VARCHAR if as_text else column_type) for value in present)
        is_listed = f"{f'CAST({key} AS VARCHAR)' if as_text else key} IN ({listed})" if present else "false"
        missing = None in values or planned.measure.sets  # a grouping set may not contain this key
        conditions.append(f"({is_listed} OR {key} IS NULL)" if missing else is_listed)
    return conditions


def constant_sql(value: Value, type: Type) -> str:
    """Print a listed value as a literal of the column's type."""
    return literal_sql(Literal(value, type))


def _cells(planned: MeasurePlan, row: _Row) -> str:
    """Print sums per unit (and group), the unit's norm over all of them, and the totals of clipped sums."""
    statistics = planned.measure.statistics
    names = [f"s{i}" for i in range(len(statistics))]
    by = ", ".join(["u", *row.keys])
    bound, clip = planned.bound
    norm = _norm(names, bound)
    limit, root = (clip, "CAST(n AS DOUBLE)") if bound is Norm.L1 else (clip**2, "sqrt(CAST(n AS DOUBLE))")
    factor = f"{_factor(planned)} / {root}"
    clipped = [f"coalesce(sum({_clipped(name)}), 0)" for name in names]
    sums = ", ".join(
        f"{_summed(statistic, row)} AS {name}" for statistic, name in zip(statistics, names, strict=True)
    )
    bounded = ", ".join(f"{_bounded(name, CELL)} AS {name}" for name in names)
    if not row.keys:
        scaled = f"CASE WHEN n > {limit}::HUGEINT THEN {factor} END AS f"
        per_unit = f"SELECT u, {bounded} FROM (SELECT u, {sums} FROM ({row.sql}) GROUP BY u)"
        source = f"SELECT *, {scaled} FROM (SELECT *, {norm} AS n FROM ({per_unit}))"
        return _grouped(planned, row, clipped, source)
    conditions = inside(planned, row.keys)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = f"SELECT * FROM ({row.sql}){where}"
    with_, only_units = "WITH", ""
    if planned.groups is None and all(statistic.part is not Part.UNITS for statistic in statistics):
        many = f"SELECT u, CASE WHEN count(*) > {_rows_within(planned)} THEN 1 END AS many FROM r GROUP BY u"
        with_ += f" {read_twice(planned, rows)}, m AS ({many}),"
        rows = "SELECT r.* REPLACE (CASE WHEN many = 1 THEN r.u END AS u) FROM r JOIN m ON r.u = m.u"
        bounded = ", ".join(
            f"CASE WHEN u IS NULL THEN {_bounded(name, TOTAL)} ELSE {_bounded(name, CELL)} END AS {name}"
            for name in names
        )
        only_units = " WHERE u IS NOT NULL"
    cells = f"SELECT {by}, {sums} FROM ({rows}) GROUP BY {by}"
    with_ += f" q AS MATERIALIZED (SELECT {by}, {bounded} FROM ({cells}))"
    heavy = f"n > {limit}::HUGEINT"
    if planned.groups is not None:  # drop a unit that is in more groups than the threshold allows
        factor = f"CASE WHEN g > {planned.groups} THEN 0::DOUBLE ELSE {factor} END"
        heavy += f" OR g > {planned.groups}"
    norms = f"SELECT u, sum({norm}) AS n, count(*) AS g FROM q{only_units} GROUP BY u"
    factors = f"SELECT u, {factor} AS f FROM ({norms}) WHERE {heavy}"
    grouped = _grouped(planned, row, clipped, "SELECT q.*, f FROM q LEFT JOIN h ON q.u = h.u")
    return f"{with_}, h AS ({factors}) {grouped}"


def norms_sql(planned: MeasurePlan) -> str:
    """Return the SELECT of each unit and the norm that its clip bounds (in L2 its square), unclipped."""
    row, statistics = _rows(planned), planned.measure.statistics
    conditions = inside(planned, row.keys)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = f"SELECT * FROM ({row.sql}){where}"
    if planned.shape is Shape.L1:
        vectors = [_scaled(vector, row) for vector in _vectors(planned.measure)]
        return f"SELECT u, {' + '.join(vector.norm for vector in vectors)} AS n FROM ({rows}) GROUP BY u"
    names = [f"s{i}" for i in range(len(statistics))]
    sums = ", ".join(
        f"{_summed(statistic, row)} AS {name}" for statistic, name in zip(statistics, names, strict=True)
    )
    by = ", ".join(["u", *row.keys])
    bounded = ", ".join(f"{_bounded(name, CELL)} AS {name}" for name in names)
    cells = f"SELECT u, {bounded} FROM (SELECT {by}, {sums} FROM ({rows}) GROUP BY {by})"
    return f"SELECT u, sum({_norm(names, planned.bound[0])}) AS n FROM ({cells}) GROUP BY u"


def _norm(names: list[str], norm: Norm) -> str:
    """Print a cell's part of the unit's norm; in L2 of its square."""
    if norm is Norm.L1:
        return " + ".join(f"abs({name})::HUGEINT" for name in names)
    return " + ".join(f"{name}::HUGEINT * {name}::HUGEINT" for name in names)


def _rows_within(planned: MeasurePlan) -> int:
    """Return the number of rows up to which a unit is below the clip, whatever the values."""
    most = [family.most for family in planned.measure.families]
    bound, clip = planned.bound
    if bound is Norm.L1:
        return clip // sum(most)
    return math.isqrt(clip**2 // sum(value * value for value in most))


def read_twice(planned: MeasurePlan, rows: str) -> str:
    """Print the rows as the CTE r, which is read twice.

    A scan is read again, which takes less time and memory; the result of a join is materialized.
    """
    relation = planned.measure.relation
    while isinstance(relation, Filter | Project):
        relation = relation.input
    scanned = isinstance(relation, Scan) and (relation.owner is None or not relation.owner.links)
    return f"r AS {'NOT ' if scanned else ''}MATERIALIZED ({rows})"


def _scaled_rows(planned: MeasurePlan, row: _Row) -> str:
    """Print sums of rows scaled by the unit's factor.

    A unit's L1 norm is at most the sum of its rows' norms: one sum per unit is enough.
    """
    conditions = inside(planned, row.keys)
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    rows = f"SELECT * FROM ({row.sql}){where}"
    vectors = [_scaled(vector, row) for vector in _vectors(planned.measure)]
    weights = dict.fromkeys(vector.most for vector in vectors if vector.most is not None)
    _, limit = planned.bound
    factor = f"CASE WHEN n > {limit}::HUGEINT THEN {_factor(planned)} / CAST(n AS DOUBLE) ELSE 1::DOUBLE END"
    scaled = "".join(f", CAST(trunc({most}::DOUBLE * f) AS BIGINT) AS w{most}" for most in weights)
    units = f"SELECT u, {' + '.join(vector.norm for vector in vectors)} AS n FROM r GROUP BY u"
    factors = f"SELECT u, f{scaled} FROM (SELECT u, {factor} AS f FROM ({units}))"
    sums = [sql for _, sql in sorted(column for vector in vectors for column in vector.sums)]
    grouped = _grouped(planned, row, sums, "SELECT r.*, h.* EXCLUDE (u) FROM r JOIN h ON r.u = h.u")
    return f"WITH {read_twice(planned, rows)}, h AS ({factors}) {grouped}"


@dataclass(frozen=True, slots=True)
class _Scaled:
    """Statistics that share a bound: the sums of scaled rows by position, and the norm of unscaled rows.

    Both are built from the same columns in one place (``_scaled``), and a measure is printed from these only:
    every released number is part of the norm. ``most`` is the full weight; the sums read it scaled.
    """

    norm: str
    sums: tuple[tuple[int, str], ...]
    most: int | None = None


def _vectors(measure: Measure) -> list[tuple[tuple[int, Statistic], ...]]:
    """Group the statistics, with their positions, by family; every statistic occurs once."""
    vectors = [
        tuple((i, measure.statistics[i]) for i in positions)
        for family in measure.families
        for positions in family.alternatives
    ]
    indices = sorted(i for vector in vectors for i, _ in vector)
    assert indices == list(range(len(measure.statistics))), "families hold every statistic once"
    return sorted(vectors, key=lambda vector: vector[0][0])


def _scaled(vector: tuple[tuple[int, Statistic], ...], row: _Row) -> _Scaled:
    """Print the scaled sums of a vector, and the norm that bounds them.

    The two cells of a pair add up to ``most`` in every row that counts, so the norm needs no value. Scaled,
    they add up to the unit's ``w`` = TRUNC(most * factor), and neither is negative. The cells of polynomials
    add up to at most ``most`` plus the slack of their rounding.
    """
    (place, first), *following = vector
    counted, rows = row.counted[first], f"count({row.counted[first]})"
    weight = f"w{first.most}"
    weighed = weight if counted == "*" else f"CASE WHEN {counted} IS NOT NULL THEN {weight} END"
    match first.part:
        case Part.BERNSTEIN | Part.LAGRANGE:
            cells = [replace(first, cell=i) for i in range(3 if first.other is None else 9)]
            assert [statistic for _, statistic in vector] == cells, "the cells of one argument, or of two"
            norm = f"{rows} * {first.most + SLACK}::HUGEINT"
            return _Scaled(norm, tuple((i, _truncated(row.cells[statistic])) for i, statistic in vector))
        case Part.REST:
            ((second, value),) = following
            assert value == replace(first, part=Part.VALUE), "a pair is of one value under one condition"
            total = _truncated(row.cells[value])
            rest = f"coalesce(sum({weighed}), 0) - {total}"
            return _Scaled(f"{rows} * {first.most}::HUGEINT", ((place, rest), (second, total)), first.most)
        case Part.VALUE:
            assert not following, "a sum stands alone"
            cell = row.cells[first]
            norm = f"coalesce(sum({f'abs({cell})' if first.low < 0 else cell}), 0)"
            return _Scaled(norm, ((place, _truncated(cell)),))
        case Part.ROWS:
            assert not following, "a count stands alone"
            total = f"coalesce(sum({weighed}), 0)"
            return _Scaled(f"{rows} * {first.most}::HUGEINT", ((place, total),), first.most)
        case Part.UNITS:
            raise AssertionError("units are counted once in a group, not row by row")
        case _:
            assert_never(first.part)


def _truncated(cell: str) -> str:
    return f"coalesce(sum(CAST(trunc(({cell}) * f) AS BIGINT)), 0)"


def _factor(planned: MeasurePlan) -> str:
    """Print the clip, less a margin that exceeds all rounding of floats."""
    return number(planned.bound[1] * (1 - 1e-9))


def _clipped(name: str) -> str:
    return f"CASE WHEN f IS NULL THEN {name} ELSE CAST(trunc({name} * f) AS BIGINT) END"
