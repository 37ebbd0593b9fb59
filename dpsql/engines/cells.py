"""A planned measure as SQL: bounded cells, the unit's clip, exact integer sums.

    ROWS    SELECT keys, SUM(cell) FROM rows GROUP BY keys
    UNIT    SELECT SUM(clipped) FROM (SELECT SUM(cell) FROM rows GROUP BY unit)
    L1      rows JOIN (heavy units and their factor): SUM(TRUNC(cell * factor)) GROUP BY keys
    CELLS   sums per (unit, keys) JOIN the unit's factor: SUM(TRUNC(sum * factor)) GROUP BY keys

Everything is printed from our own tree. The factor of a unit is a function of its own rows: it comes
from exact integer norms; truncation toward zero and a margin of 1e-9 in the factor keep the clipped norm
under the clip whatever the floats do.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import assert_never

from dpsql.engines.sql import TEXTED, key_sql, quote, relation_sql, scalar_sql, type_in
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.functions.literals import literal_sql
from dpsql.ir.column import VARCHAR, Fact, Kind, Type, Value
from dpsql.ir.plan import Norm, Part, Planned, PublicKeys, Shape, Statistic, Threshold
from dpsql.ir.scalar import Literal, Scalar

CELL = 2**50
"""No sum of a unit leaves this range before it is clipped, so that its square fits 128 bits."""

TOTAL = 2**62
"""Nor does a released sum, so that it fits 64 bits."""


# ---- cells -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Row:
    """The rows of a measure with everything that its cells read, under plain names."""

    sql: str
    keys: tuple[str, ...]
    arguments: dict[Scalar, str]
    conditions: dict[Scalar, str]
    facts: dict[Scalar, Fact]


def _rows(planned: Planned) -> _Row:
    m = planned.measure
    owned = ownership_of(m.relation)
    assert isinstance(owned, Owned)
    keys = tuple(f"k{i}" for i in range(len(m.keys)))
    arguments: dict[Scalar, str] = {}
    conditions: dict[Scalar, str] = {}
    for each in m.statistics:
        if each.argument is not None:
            arguments.setdefault(each.argument, f"x{len(arguments)}")
        if each.condition is not None:
            conditions.setdefault(each.condition, f"c{len(conditions)}")
    listed = [] if planned.shape is Shape.ROWS else [f"{quote(owned.unit)} AS u"]
    listed += [f"{key_sql(k.scalar, m.relation)} AS {name}" for k, name in zip(m.keys, keys, strict=True)]
    facts: dict[Scalar, Fact] = {}
    for scalar, name in arguments.items():
        facts[scalar] = type_in(scalar, m.relation)
        sql = scalar_sql(scalar, m.relation)
        listed.append(f"{f'CAST({sql} AS DOUBLE)' if facts[scalar].type.sql == 'FLOAT' else sql} AS {name}")
    listed += [f"{scalar_sql(scalar, m.relation)} AS {name}" for scalar, name in conditions.items()]
    sql = f"SELECT {', '.join(listed) or '1'} FROM ({relation_sql(m.relation)})"
    return _Row(sql, keys, arguments, conditions, facts)


def _guard(each: Statistic, row: _Row) -> str:
    """True exactly where the row counts for the statistic; '' where every row does."""
    parts = [] if each.condition is None else [row.conditions[each.condition]]
    if each.argument is not None:
        name, fact = row.arguments[each.argument], row.facts[each.argument]
        numeric = each.part in (Part.VALUE, Part.REST)
        if numeric and fact.type.kind is Kind.FLOAT:
            parts.append(f"{name} <= 'infinity'::DOUBLE")  # false of NaN, NULL of NULL
        elif fact.nullable:
            parts.append(f"{name} IS NOT NULL")
    return " AND ".join(parts)


def _number(value: float | int) -> str:
    return f"{float(value)!r}::DOUBLE"


def _value(each: Statistic, row: _Row) -> str:
    """(clamped argument - offset) / step as an integer, total for every value of the type."""
    assert each.argument is not None
    name, fact = row.arguments[each.argument], row.facts[each.argument]
    per_step = 1 / each.step
    whole = per_step.denominator == 1 and float(each.offset).is_integer()
    if fact.type.kind is Kind.INTEGER and whole and _integral(each):
        wide = "HUGEINT" if fact.type.sql in ("UBIGINT", "HUGEINT", "UHUGEINT") else "BIGINT"
        number = name if fact.type.sql == wide else f"CAST({name} AS {wide})"
        if fact.type.sql == "UHUGEINT":
            number = f"CAST(least({name}, {2**64}::UHUGEINT) AS HUGEINT)"
        clamped = f"greatest({int(each.low)}::{wide}, least({int(each.high)}::{wide}, {number}))"
        shifted = f"({clamped} - {int(each.offset)}::{wide})" if each.offset else clamped
        scaled = f"{shifted} * {int(per_step)}::{wide}" if per_step != 1 else shifted
        return scaled if wide == "BIGINT" else f"CAST({scaled} AS BIGINT)"
    number = name if fact.type.sql == "DOUBLE" else f"CAST({name} AS DOUBLE)"
    clamped = f"greatest({_number(each.low)}, least({_number(each.high)}, {number}))"
    shifted = f"({clamped} - {_number(each.offset)})" if each.offset else clamped
    scale = per_step if per_step.denominator == 1 or each.step.denominator == 1 else Fraction(per_step)
    factor = _number(float(scale))
    cell = f"CAST(round({shifted} * {factor}) AS BIGINT)"
    low = "0" if each.offset or each.low >= 0 else str(-each.most)
    return f"greatest({low}::BIGINT, least({each.most}::BIGINT, {cell}))"


def _integral(each: Statistic) -> bool:
    return (
        all(float(end).is_integer() for end in (each.low, each.high))
        and max(abs(each.low), abs(each.high)) < 2**62
    )


def _cell(each: Statistic, row: _Row) -> str:
    """What one row adds to a statistic."""
    guard = _guard(each, row)
    match each.part:
        case Part.ROWS | Part.UNITS:
            inside = str(each.most)
        case Part.VALUE:
            inside = _value(each, row)
        case Part.REST:
            inside = f"{each.most}::BIGINT - {_value(each, row)}"
        case _:
            assert_never(each.part)
    return f"CASE WHEN {guard} THEN {inside} ELSE 0 END" if guard else inside


def _summed(each: Statistic, row: _Row) -> str:
    """The sum of a statistic's cells over a group of rows (UNITS: over one unit's rows)."""
    guard = _guard(each, row)
    filtered = f" FILTER (WHERE {guard})" if guard else ""
    match each.part:
        case Part.ROWS:
            return f"count(*){filtered} * {each.most}::HUGEINT"
        case Part.UNITS:
            return f"CASE WHEN count(*){filtered} > 0 THEN {each.most} ELSE 0 END"
        case Part.VALUE:
            return f"coalesce(sum({_value(each, row)}){filtered}, 0)"
        case Part.REST:
            value = f"coalesce(sum({_value(each, row)}){filtered}, 0)"
            return f"(count(*){filtered} * {each.most}::HUGEINT - {value})"
        case _:
            assert_never(each.part)


def _bounded(sql: str, bound: int) -> str:
    return f"CAST(greatest(-{bound}::HUGEINT, least({bound}::HUGEINT, {sql})) AS BIGINT)"


# ---- measures ----------------------------------------------------------------------------------------


def measure_sql(planned: Planned) -> str:
    """The SELECT that yields one row per group: its keys, then its exact clipped sums in grid steps."""
    row = _rows(planned)
    match planned.shape:
        case Shape.ROWS:
            sums = [_bounded(_rowwise(each, row), TOTAL) for each in planned.measure.statistics]
            return _grouped(planned, row, sums, row.sql)
        case Shape.UNIT | Shape.CELLS:
            return _cells(planned, row)
        case Shape.L1:
            return _scaled_rows(planned, row)
        case _:
            assert_never(planned.shape)


def _rowwise(each: Statistic, row: _Row) -> str:
    """Where one unit has one row, its units are its rows."""
    if each.part is Part.UNITS:
        guard = _guard(each, row)
        return f"count(*){f' FILTER (WHERE {guard})' if guard else ''} * {each.most}::HUGEINT"
    return _summed(each, row)


def _grouped(planned: Planned, row: _Row, sums: list[str], source: str) -> str:
    names = [f"total{i}" for i in range(len(sums))]
    inner = [*row.keys, *(f"{sql} AS {name}" for sql, name in zip(sums, names, strict=True))]
    tail = ""
    if row.keys:
        tail = f" GROUP BY {', '.join(row.keys)}"
        conditions = _inside(planned, row)
        if isinstance(planned.rule, Threshold):
            conditions.append(f"total{planned.rule.statistic} > 0")
        if conditions:
            tail += f" HAVING {' AND '.join(conditions)}"
    outer = [_carried(column.fact.type, key) for column, key in zip(planned.keys, row.keys, strict=True)]
    return f"SELECT {', '.join([*outer, *names])} FROM (SELECT {', '.join(inner)} FROM ({source}){tail})"


def _carried(key: Type, name: str) -> str:
    return f"CAST({name} AS VARCHAR) AS {name}" if key.kind in TEXTED else name


def _inside(planned: Planned, row: _Row) -> list[str]:
    """A row whose key stands on no public list is in no group (long lists are checked after fetching)."""
    if not isinstance(planned.rule, PublicKeys):
        return []
    conditions = []
    for column, key, values in zip(planned.keys, row.keys, planned.rule.domains, strict=True):
        present = [value for value in values if value is not None]
        if len(present) > 1_000 or column.fact.type.kind is Kind.BOOLEAN:
            continue
        own = column.fact.type
        text = own.kind is Kind.TEXT  # an enum is compared as text: no constant is cast to it
        listed = ", ".join(constant_sql(value, VARCHAR if text else own) for value in present)
        inside = f"{f'CAST({key} AS VARCHAR)' if text else key} IN ({listed})" if present else "false"
        conditions.append(f"({inside} OR {key} IS NULL)" if None in values else inside)
    return conditions


def constant_sql(value: Value, type: Type) -> str:
    """A listed value as SQL of the column's type."""
    return literal_sql(Literal(value, type))


def _cells(planned: Planned, row: _Row) -> str:
    """Sums per unit (and group), the unit's norm over all of them, and the clipped sums' total."""
    statistics = planned.measure.statistics
    sums = [f"{_bounded(_summed(each, row), CELL)} AS s{i}" for i, each in enumerate(statistics)]
    inside = _inside(planned, row)
    having = f" HAVING {' AND '.join(inside)}" if inside else ""
    by = ", ".join(["u", *row.keys])
    per_unit = f"SELECT {', '.join([by, *sums])} FROM ({row.sql}) GROUP BY {by}{having}"
    names = [f"s{i}" for i in range(len(statistics))]
    if planned.noise.norm is Norm.L1:
        norm = " + ".join(f"abs({name})::HUGEINT" for name in names)
        limit, root = planned.noise.sensitivity, "CAST(n AS DOUBLE)"
    else:
        norm = " + ".join(f"{name}::HUGEINT * {name}::HUGEINT" for name in names)
        limit, root = planned.noise.sensitivity**2, "sqrt(CAST(n AS DOUBLE))"
    factor = f"{_factor(planned)} / {root}"
    clipped = [_total(_clipped(name)) for name in names]
    if not row.keys:
        scaled = f"CASE WHEN n > {limit}::HUGEINT THEN {factor} END AS f"
        source = f"SELECT *, {scaled} FROM (SELECT *, {norm} AS n FROM ({per_unit}))"
        return _grouped(planned, row, clipped, source)
    heavy = f"n > {limit}::HUGEINT"
    if planned.groups is not None:  # a unit in too many groups for the threshold is left out whole
        factor = f"CASE WHEN g > {planned.groups} THEN 0::DOUBLE ELSE {factor} END"
        heavy += f" OR g > {planned.groups}"
    norms = f"SELECT u, sum({norm}) AS n, count(*) AS g FROM q GROUP BY u"
    factors = f"SELECT u, {factor} AS f FROM ({norms}) WHERE {heavy}"
    joined = "SELECT q.*, f FROM q LEFT JOIN h ON q.u = h.u"
    grouped = _grouped(planned, row, clipped, joined)
    return f"WITH q AS MATERIALIZED ({per_unit}), h AS ({factors}) {grouped}"


def _scaled_rows(planned: Planned, row: _Row) -> str:
    """A unit's L1 norm is at most the sum of its rows' norms: one sum per unit is enough."""
    statistics = planned.measure.statistics
    inside = _inside(planned, row)
    where = f" WHERE {' AND '.join(inside)}" if inside else ""
    cells = [f"{_cell(each, row)} AS s{i}" for i, each in enumerate(statistics)]
    rows = f"SELECT {', '.join(['u', *row.keys, *cells])} FROM ({row.sql}){where}"
    norm = " + ".join(f"abs(s{i})" for i in range(len(statistics)))
    limit = planned.noise.sensitivity
    factor = f"{_factor(planned)} / CAST(n AS DOUBLE)"
    heavy = (
        f"SELECT u, {factor} AS f FROM (SELECT u, sum({norm}) AS n FROM r GROUP BY u) "
        f"WHERE n > {limit}::HUGEINT"
    )
    clipped = [_total(_clipped(f"s{i}")) for i in range(len(statistics))]
    grouped = _grouped(planned, row, clipped, "SELECT r.*, f FROM r LEFT JOIN h ON r.u = h.u")
    return f"WITH r AS ({rows}), h AS ({heavy}) {grouped}"


def _factor(planned: Planned) -> str:
    """The clip, less a margin that is larger than all rounding of the floats."""
    return _number(planned.noise.sensitivity * (1 - 1e-9))


def _clipped(name: str) -> str:
    return f"CASE WHEN f IS NULL THEN {name} ELSE CAST(trunc({name} * f) AS BIGINT) END"


def _total(sql: str) -> str:
    return _bounded(f"coalesce(sum({sql}), 0)", TOTAL)
