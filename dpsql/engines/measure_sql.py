"""A planned measure as SQL: bounded cells, the unit's clip, exact integer sums.

    ROWS    SELECT keys, SUM(cell) FROM rows GROUP BY keys
    UNIT    SELECT SUM(clipped) FROM (SELECT SUM(cell) FROM rows GROUP BY unit)
    L1      rows JOIN every unit's factor: SUM(TRUNC(cell * factor)) GROUP BY keys
    CELLS   sums per (unit, keys) JOIN heavy units' factor: SUM(TRUNC(sum * factor)) GROUP BY keys;
            units of few rows need no factor: they are summed together, as the unit NULL

Everything is printed from our own tree. The factor of a unit is a function of its own rows: it comes
from exact integer norms; truncation toward zero and a margin of 1e-9 in the factor keep the clipped norm
under the clip whatever the floats do.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from dpsql.engines.identifiers import TEXTED, quote
from dpsql.engines.number_sql import held, number
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
"""No sum of a unit leaves this range before it is clipped, so that its square fits 128 bits."""

TOTAL = 2**62
"""Nor does a sum of a group, so that it fits 64 bits (the engine holds what it fetches to it)."""


# ---- cells -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """The rows of a measure: keys, one cell per statistic that adds up values, one mark per other guard.

    A cell is the clamped value in grid steps, NULL where the row does not count; a mark is 1 or NULL.
    """

    sql: str
    keys: tuple[str, ...]
    counted: dict[Statistic, str]  # a column that is NULL where the row does not count; "*" where all do
    cells: dict[Statistic, str]
    sums: dict[Statistic, str]  # of polynomials' cells, over a group


def _rows(planned: MeasurePlan) -> _Row:
    m = planned.measure
    owned = ownership_of(m.relation)
    assert isinstance(owned, Owned)
    keys = tuple(f"k{i}" for i in range(len(m.keys)))
    read: dict[Scalar, str] = {}
    listed = [] if planned.shape is Shape.ROWS else [f"{quote(owned.unit)} AS u"]
    listed += [f"{key_sql(k.scalar, m.relation)} AS {name}" for k, name in zip(m.keys, keys, strict=True)]
    facts: dict[Scalar, Fact] = {}
    for each in m.statistics:
        for letter, scalar in (("x", each.argument), *_others(each), ("c", each.condition)):
            if scalar is None or scalar in read:
                continue
            read[scalar] = f"{letter}{len(read)}"
            facts[scalar] = type_in(scalar, m.relation)
            sql = scalar_sql(scalar, m.relation)
            single_precision = facts[scalar].type.sql == "FLOAT"
            listed.append(f"{f'CAST({sql} AS DOUBLE)' if single_precision else sql} AS {read[scalar]}")
    inner = f"SELECT {', '.join(listed) or '1'} FROM ({relation_sql(m.relation)})"
    # Equal scalars, and equal texts over the same columns, are one value in every row: they share a column.
    # Which statistics belong together is said by their families, never by the columns that they read.
    named: dict[str, str] = {}  # an expression and the column that holds it
    above: dict[str, str] = {}  # the same, over the columns of ``named``
    counted: dict[Statistic, str] = {}
    cells: dict[Statistic, str] = {}
    sums: dict[Statistic, str] = {}
    for each in m.statistics:
        if each.part in (Part.VALUE, Part.REST):
            cell = _value(each, read, facts)
            counted[each] = cells[each] = named.setdefault(cell, f"g{len(named)}")
        elif each.part in CELLS and each.other is None:
            place = named.setdefault(_value(each, read, facts), f"g{len(named)}")
            square = above.setdefault(rounded_square(place, each.most), f"h{len(above)}")
            counted[each] = place
            cells[each], sums[each] = single(each, place, square)
        elif each.part in CELLS:
            axes = [named.setdefault(y, f"g{len(named)}") for y in _axes(each, read, facts)]
            cell = above.setdefault(product(each, axes[0], axes[1]), f"h{len(above)}")
            counted[each] = cells[each] = cell
            sums[each] = f"coalesce(sum({cell}), 0)"
        else:
            guard = _guard(each, read, facts)
            mark = f"CASE WHEN {guard} THEN 1 END"
            counted[each] = named.setdefault(mark, f"g{len(named)}") if guard else "*"
    units = [] if planned.shape is Shape.ROWS else ["u"]
    outer = [*units, *keys, *(f"{sql} AS {name}" for sql, name in named.items())]
    sql = f"SELECT {', '.join(outer) or '1'} FROM ({inner})"
    if above:
        outer = [*units, *keys, *named.values(), *(f"{sql} AS {name}" for sql, name in above.items())]
        sql = f"SELECT {', '.join(outer)} FROM ({sql})"
    return _Row(sql, keys, counted, cells, sums)


def _others(each: Statistic) -> tuple[tuple[str, Scalar], ...]:
    return () if each.other is None else (("x", each.other.argument),)


def _guard(each: Statistic, read: dict[Scalar, str], facts: dict[Scalar, Fact]) -> str:
    """True exactly where a row is counted; '' where every row is."""
    parts = [] if each.condition is None else [read[each.condition]]
    if each.argument is not None and facts[each.argument].nullable:
        parts.append(f"{read[each.argument]} IS NOT NULL")
    return " AND ".join(parts)


def _value(each: Statistic, read: dict[Scalar, str], facts: dict[Scalar, Fact]) -> str:
    """(clamped argument - offset) / step as an integer, total for every value of the type.

    NULL where the argument is NULL or NaN, or the condition is not true.
    """
    assert each.argument is not None
    name, fact = read[each.argument], facts[each.argument]
    sql = _integer(each, name, fact) if _whole(each, fact) else _float(each, name, fact)
    return sql if each.condition is None else f"CASE WHEN {read[each.condition]} THEN {sql} END"


def _whole(each: Statistic, fact: Fact) -> bool:
    per_step = 1 / each.step
    whole = per_step.denominator == 1 and float(each.offset).is_integer()
    return fact.type.kind is Kind.INTEGER and whole and _integral(each)


def _integer(each: Statistic, name: str, fact: Fact) -> str:
    low, high = int(each.low), int(each.high)
    wide = "HUGEINT" if fact.type.sql in ("UBIGINT", "HUGEINT", "UHUGEINT") else "BIGINT"
    if fact.type.sql == "UHUGEINT":
        name = f"CAST(CASE WHEN {name} > {2**64}::UHUGEINT THEN {2**64}::UHUGEINT ELSE {name} END AS HUGEINT)"
    elif fact.type.sql != wide:
        name = f"CAST({name} AS {wide})"
    sql = f"CASE WHEN {name} > {high}::{wide} THEN {high}::{wide}"
    sql += f" WHEN {name} < {low}::{wide} THEN {low}::{wide} ELSE {name} END"
    sql = f"({sql} - {int(each.offset)}::{wide})" if each.offset else sql
    per_step = int(1 / each.step)
    sql = f"{sql} * {per_step}::{wide}" if per_step != 1 else sql
    return sql if wide == "BIGINT" else f"CAST({sql} AS BIGINT)"


def _float(each: Statistic, name: str, fact: Fact) -> str:
    """Subtraction, product and rounding are monotone: a clamped value lies between the cells of its ends."""
    clamped = _clamped(name, fact, each.low, each.high)
    shifted = f"({clamped} - {number(each.offset)})" if each.offset else clamped
    factor = float(1 / each.step)
    cell = f"CAST({shifted} * {number(factor)} AS BIGINT)"
    least = 0 if each.offset or each.low >= 0 else -each.most
    ends = [round((float(end) - float(each.offset)) * factor) for end in (each.low, each.high)]
    if least <= ends[0] and ends[1] <= each.most:
        return cell
    return (
        f"CASE WHEN {cell} > {each.most} THEN {each.most} WHEN {cell} < {least} THEN {least} ELSE {cell} END"
    )


def _axes(each: Statistic, read: dict[Scalar, str], facts: dict[Scalar, Fact]) -> list[str]:
    """Where each of two arguments lies in its range, from 0 to 1 but for the rounding of floats."""
    assert each.argument is not None
    assert each.other is not None
    found = []
    for scalar, low, high in (
        (each.argument, each.low, each.high),
        (each.other.argument, each.other.low, each.other.high),
    ):
        shifted = f"({_clamped(read[scalar], facts[scalar], low, high)} - {number(low)})"
        sql = f"{shifted} * {number(1 / width_of(low, high))}"
        found.append(sql if each.condition is None else f"CASE WHEN {read[each.condition]} THEN {sql} END")
    return found


def _clamped(name: str, fact: Fact, low: float | int, high: float | int) -> str:
    return held(name if fact.type.sql == "DOUBLE" else f"CAST({name} AS DOUBLE)", low, high)


def _integral(each: Statistic) -> bool:
    return (
        all(float(end).is_integer() for end in (each.low, each.high))
        and max(abs(each.low), abs(each.high)) < 2**62
    )


def _summed(each: Statistic, row: _Row) -> str:
    """The sum of a statistic over a group of rows (UNITS: over one unit's rows)."""
    count = f"count({row.counted[each]})"
    match each.part:
        case Part.ROWS:
            return f"{count} * {each.most}::HUGEINT"
        case Part.UNITS:
            return f"CASE WHEN {count} > 0 THEN {each.most} ELSE 0 END"
        case Part.VALUE:
            return f"coalesce(sum({row.cells[each]}), 0)"
        case Part.REST:
            return f"({count} * {each.most}::HUGEINT - coalesce(sum({row.cells[each]}), 0))"
        case Part.BERNSTEIN | Part.LAGRANGE:
            return row.sums[each]
        case _:
            assert_never(each.part)


def _bounded(name: str, bound: int) -> str:
    """A column of sums within the bound, as a BIGINT."""
    high, low = f"{bound}::HUGEINT", f"-{bound}::HUGEINT"
    held = f"CASE WHEN {name} > {high} THEN {high} WHEN {name} < {low} THEN {low} ELSE {name} END"
    return f"CAST({held} AS BIGINT)"


# ---- measures ----------------------------------------------------------------------------------------


def measure_sql(planned: MeasurePlan) -> str:
    """The SELECT that yields one row per group: its keys, then its exact clipped sums in grid steps."""
    row = _rows(planned)
    match planned.shape:
        case Shape.ROWS:
            sums = [_rowwise(each, row) for each in planned.measure.statistics]
            # asked of a group's count too, the list is asked of groups, not pushed down to every row
            listed = [f"CASE WHEN count(*) > 0 THEN {each} END" for each in inside(planned, row.keys)]
            return _grouped(planned, row, sums, row.sql, listed)
        case Shape.UNIT | Shape.CELLS:
            return _cells(planned, row)
        case Shape.L1:
            return _scaled_rows(planned, row)
        case _:
            assert_never(planned.shape)


def _rowwise(each: Statistic, row: _Row) -> str:
    """Where one unit has one row, its units are its rows."""
    if each.part is Part.UNITS:
        return f"count({row.counted[each]}) * {each.most}::HUGEINT"
    return _summed(each, row)


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
    """Only groups with a count can be shown, but for those of public grouping sets."""
    counted = f"total{rule.statistic} > 0"
    if rule.listed is None:
        return counted
    return f"({counted} OR {row.keys[0]} IN ({', '.join(str(number) for number, _ in rule.listed.sets)}))"


def carried(key: Type, name: str) -> str:
    return f"CAST({name} AS VARCHAR) AS {name}" if key.kind in TEXTED else name


def inside(planned: MeasurePlan, names: Sequence[str]) -> list[str]:
    """A row whose key stands on no public list is in no group (long lists are checked after fetching)."""
    if not isinstance(planned.rule, PublicKeys):
        return []
    conditions = []
    keys = list(zip(planned.keys, names, planned.rule.domains, strict=True))
    for column, key, values in keys[1:] if planned.measure.sets else keys:
        present = [value for value in values if value is not None]
        if len(present) > 1_000 or column.fact.type.kind is Kind.BOOLEAN:
            continue
        own = column.fact.type
        text = own.kind is Kind.TEXT  # an enum is compared as text: no constant is cast to it
        listed = ", ".join(constant_sql(value, VARCHAR if text else own) for value in present)
        stands = f"{f'CAST({key} AS VARCHAR)' if text else key} IN ({listed})" if present else "false"
        missing = None in values or planned.measure.sets  # a set may leave this key out
        conditions.append(f"({stands} OR {key} IS NULL)" if missing else stands)
    return conditions


def constant_sql(value: Value, type: Type) -> str:
    """A listed value as SQL of the column's type."""
    return literal_sql(Literal(value, type))


def _cells(planned: MeasurePlan, row: _Row) -> str:
    """Sums per unit (and group), the unit's norm over all of them, and the clipped sums' total."""
    statistics = planned.measure.statistics
    names = [f"s{i}" for i in range(len(statistics))]
    by = ", ".join(["u", *row.keys])
    bound, clip = planned.bound
    if bound is Norm.L1:
        norm = " + ".join(f"abs({name})::HUGEINT" for name in names)
        limit, root = clip, "CAST(n AS DOUBLE)"
    else:
        norm = " + ".join(f"{name}::HUGEINT * {name}::HUGEINT" for name in names)
        limit, root = clip**2, "sqrt(CAST(n AS DOUBLE))"
    factor = f"{_factor(planned)} / {root}"
    clipped = [f"coalesce(sum({_clipped(name)}), 0)" for name in names]
    sums = ", ".join(f"{_summed(each, row)} AS {name}" for each, name in zip(statistics, names, strict=True))
    bounded = ", ".join(f"{_bounded(name, CELL)} AS {name}" for name in names)
    if not row.keys:
        scaled = f"CASE WHEN n > {limit}::HUGEINT THEN {factor} END AS f"
        per_unit = f"SELECT u, {bounded} FROM (SELECT u, {sums} FROM ({row.sql}) GROUP BY u)"
        source = f"SELECT *, {scaled} FROM (SELECT *, {norm} AS n FROM ({per_unit}))"
        return _grouped(planned, row, clipped, source)
    listed = inside(planned, row.keys)
    where = f" WHERE {' AND '.join(listed)}" if listed else ""
    rows = f"SELECT * FROM ({row.sql}){where}"
    with_, held = "WITH", ""
    if planned.groups is None and all(each.part is not Part.UNITS for each in statistics):
        many = f"SELECT u, CASE WHEN count(*) > {_rows_within(planned)} THEN 1 END AS many FROM r GROUP BY u"
        with_ += f" {read_twice(planned, rows)}, m AS ({many}),"
        rows = "SELECT r.* REPLACE (CASE WHEN many = 1 THEN r.u END AS u) FROM r JOIN m ON r.u = m.u"
        bounded = ", ".join(
            f"CASE WHEN u IS NULL THEN {_bounded(name, TOTAL)} ELSE {_bounded(name, CELL)} END AS {name}"
            for name in names
        )
        held = " WHERE u IS NOT NULL"
    cells = f"SELECT {by}, {sums} FROM ({rows}) GROUP BY {by}"
    with_ += f" q AS MATERIALIZED (SELECT {by}, {bounded} FROM ({cells}))"
    heavy = f"n > {limit}::HUGEINT"
    if planned.groups is not None:  # a unit in too many groups for the threshold is left out whole
        factor = f"CASE WHEN g > {planned.groups} THEN 0::DOUBLE ELSE {factor} END"
        heavy += f" OR g > {planned.groups}"
    norms = f"SELECT u, sum({norm}) AS n, count(*) AS g FROM q{held} GROUP BY u"
    factors = f"SELECT u, {factor} AS f FROM ({norms}) WHERE {heavy}"
    grouped = _grouped(planned, row, clipped, "SELECT q.*, f FROM q LEFT JOIN h ON q.u = h.u")
    return f"{with_}, h AS ({factors}) {grouped}"


def _rows_within(planned: MeasurePlan) -> int:
    """A unit of at most so many rows is under the clip whatever they hold."""
    most = [family.most for family in planned.measure.families]
    bound, clip = planned.bound
    if bound is Norm.L1:
        return clip // sum(most)
    return math.isqrt(clip**2 // sum(each * each for each in most))


def read_twice(planned: MeasurePlan, rows: str) -> str:
    """The rows as r, read twice: a scan again, which takes less time and memory; a join's result is kept."""
    relation = planned.measure.relation
    while isinstance(relation, Filter | Project):
        relation = relation.input
    scanned = isinstance(relation, Scan) and (relation.owner is None or not relation.owner.links)
    return f"r AS {'NOT ' if scanned else ''}MATERIALIZED ({rows})"


def _scaled_rows(planned: MeasurePlan, row: _Row) -> str:
    """A unit's L1 norm is at most the sum of its rows' norms: one sum per unit is enough."""
    listed = inside(planned, row.keys)
    where = f" WHERE {' AND '.join(listed)}" if listed else ""
    rows = f"SELECT * FROM ({row.sql}){where}"
    vectors = [_scaled(each, row) for each in _vectors(planned.measure)]
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
    """Statistics that are released together: the sums of scaled rows by position, and their norm unscaled.

    Both are made of the same columns in one place (``_scaled``), and a measure is printed from these alone:
    no number is released that is not in the norm. ``most`` is the whole weight that the sums read scaled.
    """

    norm: str
    sums: tuple[tuple[int, str], ...]
    most: int | None = None


def _vectors(measure: Measure) -> list[tuple[tuple[int, Statistic], ...]]:
    """The statistics with their positions as families hold them together; each is in one place."""
    found = [
        tuple((i, measure.statistics[i]) for i in positions)
        for family in measure.families
        for positions in family.alternatives
    ]
    held = sorted(i for vector in found for i, _ in vector)
    assert held == list(range(len(measure.statistics))), "families hold every statistic once"
    return sorted(found, key=lambda vector: vector[0][0])


def _scaled(vector: tuple[tuple[int, Statistic], ...], row: _Row) -> _Scaled:
    """What is released of a vector, and what bounds it.

    A pair's two cells add up to ``most`` in every row that counts, so its norm needs no value; scaled,
    they add up to the unit's ``w`` = TRUNC(most * factor), and neither is negative. The cells of polynomials
    add up to ``most`` and the slack of their rounding at most.
    """
    (place, first), *others = vector
    counted, rows = row.counted[first], f"count({row.counted[first]})"
    weight = f"w{first.most}"
    weighed = weight if counted == "*" else f"CASE WHEN {counted} IS NOT NULL THEN {weight} END"
    match first.part:
        case Part.BERNSTEIN | Part.LAGRANGE:
            cells = [replace(first, cell=i) for i in range(3 if first.other is None else 9)]
            assert [each for _, each in vector] == cells, "the cells of one argument, or of two"
            norm = f"{rows} * {first.most + SLACK}::HUGEINT"
            return _Scaled(norm, tuple((i, _truncated(row.cells[each])) for i, each in vector))
        case Part.REST:
            ((second, value),) = others
            assert value == replace(first, part=Part.VALUE), "a pair is of one value under one condition"
            total = _truncated(row.cells[value])
            rest = f"coalesce(sum({weighed}), 0) - {total}"
            return _Scaled(f"{rows} * {first.most}::HUGEINT", ((place, rest), (second, total)), first.most)
        case Part.VALUE:
            assert not others, "a sum stands alone"
            cell = row.cells[first]
            norm = f"coalesce(sum({f'abs({cell})' if first.low < 0 else cell}), 0)"
            return _Scaled(norm, ((place, _truncated(cell)),))
        case Part.ROWS:
            assert not others, "a count stands alone"
            total = f"coalesce(sum({weighed}), 0)"
            return _Scaled(f"{rows} * {first.most}::HUGEINT", ((place, total),), first.most)
        case Part.UNITS:
            raise AssertionError("units are counted once in a group, not row by row")
        case _:
            assert_never(first.part)


def _truncated(cell: str) -> str:
    return f"coalesce(sum(CAST(trunc(({cell}) * f) AS BIGINT)), 0)"


def _factor(planned: MeasurePlan) -> str:
    """The clip, less a margin that is larger than all rounding of the floats."""
    return number(planned.bound[1] * (1 - 1e-9))


def _clipped(name: str) -> str:
    return f"CASE WHEN f IS NULL THEN {name} ELSE CAST(trunc({name} * f) AS BIGINT) END"
