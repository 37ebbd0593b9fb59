"""The rows of a measure as SQL: keys, and bounded cells in grid steps.

    SUM(cost), AVG(age) by ward    SELECT ward AS k0, clamped cost in steps AS g0, clamped age AS g1 ...

A cell is a whole number, and NULL where the row does not count (arithmetic.py says how it is computed).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TypeAlias, TypeVar, assert_never

from dpsql.engines.added_values import multiplied_sql, whole_multiples
from dpsql.engines.arithmetic import WHOLE, Arithmetic
from dpsql.engines.dialect import Dialect
from dpsql.engines.identifiers import quote
from dpsql.engines.number_sql import clamped_sql
from dpsql.engines.polynomial_sql import product, rounded_square, single
from dpsql.engines.relation_sql import AS_IT_IS, Reading, key_sql, relation_sql, scalar_sql, type_in
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.functions.core.types import decimal
from dpsql.ir.column import BIGINT, DOUBLE, HUGEINT, Fact, Kind, decimal_size
from dpsql.ir.plan import MeasurePlan, Shape
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Ref, Scalar
from dpsql.ir.statistic import CELLS, Part, Statistic, width_of
from dpsql.lazy_dataclass import dataclass

Ends: TypeAlias = tuple[float, float]
"""Numbers that no value of an argument is below or above; with them, no value is NaN."""

NOT_KNOWN: Mapping[Statistic, Ends] = MappingProxyType({})

_Source: TypeAlias = tuple[Scalar, int | None]
"""What is read of a row, and the digits that it is rounded to."""

_Read: TypeAlias = dict[_Source, str]
"""The columns that have it."""

_Facts: TypeAlias = dict[_Source, Fact]

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Row:
    """The rows of a measure as SQL: keys, one cell per statistic of values, one mark per guard of a count.

    A cell is the clamped value in grid steps, NULL if the row does not count; a mark is 1 or NULL.
    """

    sql: str
    keys: tuple[str, ...]
    counted: dict[Statistic, str]  # a column that is NULL if the row does not count; "*" if all rows count
    cells: dict[Statistic, str]
    sums: dict[Statistic, str]  # sums over a group, where they are not those of cells
    arithmetic: Arithmetic = WHOLE

    @property
    def dialect(self) -> Dialect:
        return self.arithmetic.dialect

    def summed(self, statistic: Statistic) -> str:
        """Print the sum of a statistic over a group of rows (UNITS: over one unit's rows)."""
        count, wide = f"count({self.counted[statistic]})", self.arithmetic.wide
        match statistic.part:
            case Part.ROWS:
                return f"{count} * {wide(str(statistic.most))}"
            case Part.UNITS:
                return f"CASE WHEN {count} > 0 THEN {statistic.most} ELSE 0 END"
            case Part.VALUE:
                return self._values(statistic)
            case Part.REST:
                return f"({count} * {wide(str(statistic.most))} - {self._values(statistic)})"
            case Part.BERNSTEIN | Part.LAGRANGE:
                return self.sums[statistic]
            case _:
                assert_never(statistic.part)

    def alone(self, statistic: Statistic) -> str:
        """Print the same of a group of one row, as a BIGINT."""
        counted = self.counted[statistic]
        every = "true" if counted == "*" else f"{counted} IS NOT NULL"
        match statistic.part:
            case Part.ROWS | Part.UNITS:
                return f"CAST(CASE WHEN {every} THEN {statistic.most} ELSE 0 END AS BIGINT)"
            case Part.REST:
                rest = f"{statistic.most} - {self.cells[statistic]}"
                return f"CAST(CASE WHEN {every} THEN {rest} ELSE 0 END AS BIGINT)"
            case Part.VALUE | Part.BERNSTEIN | Part.LAGRANGE:
                return f"CAST(coalesce({self.cells[statistic]}, 0) AS BIGINT)"
            case _:
                assert_never(statistic.part)

    def _values(self, statistic: Statistic) -> str:
        known = self.sums.get(statistic)
        return self.arithmetic.summed(self.cells[statistic]) if known is None else known


def rows_sql(
    planned: MeasurePlan,
    reading: Reading = AS_IT_IS,
    arithmetic: Arithmetic = WHOLE,
    ends: Mapping[Statistic, Ends] = NOT_KNOWN,
    added_up: bool = False,
) -> Row:
    """Return the rows of a measure, each with its unit ``u`` unless the shape or the reading has none.

    The ``ends`` of some arguments are known. Rows are ``added_up`` where cells are read by sums alone: then a
    value may stand for its cell.
    """
    m, dialect = planned.measure, arithmetic.dialect
    assert reading.dialect is dialect, "the rows and their cells are of one engine"
    owned = ownership_of(m.relation)
    assert isinstance(owned, Owned)
    keys = tuple(f"k{i}" for i in range(len(m.keys)))
    read: _Read = {}
    units = ["u"] if planned.shape is not Shape.ROWS and reading.units else []
    columns = [f"{quote(owned.unit)} AS u" for _ in units]
    columns += [
        f"{key_sql(k.scalar, m.relation, dialect)} AS {name}" for k, name in zip(m.keys, keys, strict=True)
    ]
    facts: _Facts = {}
    doubles = _read_as_doubles(planned, ends, arithmetic, added_up) if dialect.inlines else frozenset()
    for statistic in m.statistics:
        for letter, source in (
            ("x", _argument(statistic)),
            *_others(statistic),
            ("c", _condition(statistic)),
        ):
            if source is None or source in read:
                continue
            read[source] = f"{letter}{len(read)}"
            facts[source] = _fact(source, m.relation)
            sql = scalar_sql(source[0], m.relation, reading)
            if source[1] is not None:
                sql = f"CAST({sql} AS {dialect.type(facts[source].type)})"
            if source in doubles:
                facts[source] = replace(facts[source], type=DOUBLE)
            converted = source in doubles or facts[source].type.sql == "FLOAT"
            columns.append(f"{dialect.double(sql) if converted else sql} AS {read[source]}")
    relation = dialect.subquery(relation_sql(m.relation, reading))
    inner, apart = f"SELECT {', '.join(columns) or '1'} FROM {relation}", False
    unclamped = added_up and all(_is_read_once(each, ends.get(each)) for each in m.statistics)
    if not (unclamped and dialect.inlines) and (doubles or not all(isinstance(x, Ref) for x, _ in read)):
        inner, apart = dialect.computed_once(inner), True
    # Equal scalars, and equal SQL over the same columns, have the same value in every row: they share a
    # column. Families alone say which statistics belong together, never the columns that they read.
    named: dict[str, str] = {}  # expression -> its column
    derived: dict[str, str] = {}  # the same, over the columns of ``named``
    counted: dict[Statistic, str] = {}
    cells: dict[Statistic, str] = {}
    sums: dict[Statistic, str] = {}
    for statistic in m.statistics:
        if added_up and _are_multiples(statistic, facts, ends.get(statistic), arithmetic):
            value, fact = _of(statistic, read), _of(statistic, facts)
            condition = _condition(statistic)
            value = value if condition is None else f"CASE WHEN {read[condition]} THEN {value} END"
            counted[statistic] = name = named.setdefault(value, f"g{len(named)}")
            sums[statistic] = multiplied_sql(statistic, name, fact.type, dialect)
        elif statistic.part in (Part.VALUE, Part.REST):
            cell = _value(statistic, read, facts, arithmetic, ends.get(statistic))
            counted[statistic] = cells[statistic] = named.setdefault(cell, f"g{len(named)}")
            if dialect.inlines and _is_in_all_rows(statistic, facts, ends.get(statistic)):
                counted[statistic] = "*"
        elif statistic.part in CELLS and statistic.other is None:
            place = named.setdefault(
                _value(statistic, read, facts, arithmetic, ends.get(statistic)), f"g{len(named)}"
            )
            square = derived.setdefault(rounded_square(place, statistic.most, arithmetic), f"h{len(derived)}")
            counted[statistic] = place
            cells[statistic], sums[statistic] = single(statistic, place, square, arithmetic)
        elif statistic.part in CELLS:
            axes = [named.setdefault(y, f"g{len(named)}") for y in _axes(statistic, read, facts, dialect)]
            cell = derived.setdefault(product(statistic, axes[0], axes[1], arithmetic), f"h{len(derived)}")
            counted[statistic] = cells[statistic] = cell
            sums[statistic] = arithmetic.summed(cell)
        else:
            guard = _guard(statistic, read, facts)
            mark = f"CASE WHEN {guard} THEN 1 END"
            counted[statistic] = named.setdefault(mark, f"g{len(named)}") if guard else "*"
    outer = [*units, *keys, *(f"{sql} AS {name}" for sql, name in named.items())]
    sql = f"SELECT {', '.join(outer) or '1'} FROM {dialect.subquery(inner)}"
    if not apart and named.keys() <= {*read.values()}:  # nothing is computed of what was read
        columns = [_renamed(column, named) for column in columns]
        sql = f"SELECT {', '.join(columns) or '1'} FROM {relation}"
    twice = (each for each in m.statistics if each.part is Part.REST and counted[each] != "*")
    if dialect.inlines and not derived and any(each in cells for each in twice):
        sql = dialect.computed_once(sql)
    if derived:
        outer = [*units, *keys, *named.values(), *(f"{sql} AS {name}" for sql, name in derived.items())]
        sql = f"SELECT {', '.join(outer)} FROM {dialect.subquery(dialect.computed_once(sql))}"
    return Row(sql, keys, counted, cells, sums, arithmetic)


def _renamed(column: str, names: Mapping[str, str]) -> str:
    sql, _, name = column.rpartition(" AS ")
    return f"{sql} AS {names.get(name, name)}"


def _read_as_doubles(
    planned: MeasurePlan, ends: Mapping[Statistic, Ends], arithmetic: Arithmetic, added_up: bool
) -> frozenset[_Source]:
    """Return the arguments, of other types, of which cells are computed in floats alone."""
    m = planned.measure
    doubles: set[_Source] = set()
    others: set[_Source] = set()
    for statistic in m.statistics:
        source = _argument(statistic)
        if source is None or statistic.part not in (Part.VALUE, Part.REST, *CELLS):
            continue
        fact = _fact(source, m.relation)
        multiples = added_up and _are_multiples(statistic, {source: fact}, ends.get(statistic), arithmetic)
        (others if multiples or _whole(statistic, fact) else doubles).add(source)
        doubles |= {each for _, each in _others(statistic)}
    return frozenset(each for each in doubles - others if _fact(each, m.relation).type != DOUBLE)


def _argument(statistic: Statistic) -> _Source | None:
    return None if statistic.argument is None else (statistic.argument, statistic.digits)


def _condition(statistic: Statistic) -> _Source | None:
    return None if statistic.condition is None else (statistic.condition, None)


def _of(statistic: Statistic, known: Mapping[_Source, _T]) -> _T:
    """Return what is known of the argument."""
    source = _argument(statistic)
    assert source is not None
    return known[source]


def _fact(source: _Source, relation: Relation) -> Fact:
    """Return the fact of what is read: of a decimal that is rounded, without overflow whatever its digits."""
    scalar, digits = source
    fact = type_in(scalar, relation)
    if digits is None:
        return fact
    width, scale = decimal_size(fact.type)
    return replace(fact, type=decimal(width - scale + 1 + digits, digits))


def _are_multiples(statistic: Statistic, facts: _Facts, ends: Ends | None, arithmetic: Arithmetic) -> bool:
    source = _argument(statistic)
    return source is not None and whole_multiples(statistic, facts.get(source), ends, arithmetic)


def _is_read_once(statistic: Statistic, ends: Ends | None) -> bool:
    """Whether the cell of a statistic reads its argument once: no value is beyond its range."""
    if statistic.part not in (Part.VALUE, Part.REST):
        return statistic.part in (Part.ROWS, Part.UNITS) and statistic.argument is None
    return ends is not None and statistic.low <= ends[0] and ends[1] <= statistic.high


def _is_in_all_rows(statistic: Statistic, facts: _Facts, ends: Ends | None) -> bool:
    """Whether no cell is NULL; with ``ends``, no value is NaN."""
    return ends is not None and statistic.condition is None and not _of(statistic, facts).nullable


def _others(statistic: Statistic) -> tuple[tuple[str, _Source], ...]:
    return () if statistic.other is None else (("x", (statistic.other.argument, None)),)


def _guard(statistic: Statistic, read: _Read, facts: _Facts) -> str:
    """Print the condition under which a row counts; '' if every row counts."""
    condition = _condition(statistic)
    parts = [] if condition is None else [read[condition]]
    if statistic.argument is not None and _of(statistic, facts).nullable:
        parts.append(f"{_of(statistic, read)} IS NOT NULL")
    return " AND ".join(parts)


def _value(
    statistic: Statistic,
    read: _Read,
    facts: _Facts,
    arithmetic: Arithmetic,
    ends: Ends | None,
) -> str:
    """Print (clamped argument - offset) / step as an integer, total for every value of the type.

    NULL if the argument is NULL or NaN, or the condition is not true.
    """
    name, fact, condition = _of(statistic, read), _of(statistic, facts), _condition(statistic)
    if not _whole(statistic, fact):
        sql = _float(statistic, name, fact, arithmetic, ends)
    elif arithmetic.doubles and max(abs(statistic.low), abs(statistic.high)) < 2**53:
        sql = _integer_in_doubles(statistic, name, ends, arithmetic.dialect)
    else:
        sql = _integer(statistic, name, fact, arithmetic.dialect)
        sql = arithmetic.dialect.double(sql) if arithmetic.doubles else sql
    return sql if condition is None else f"CASE WHEN {read[condition]} THEN {sql} END"


def _whole(statistic: Statistic, fact: Fact) -> bool:
    per_step = 1 / statistic.step
    integral = per_step.denominator == 1 and float(statistic.offset).is_integer()
    return fact.type.kind is Kind.INTEGER and integral and _integral(statistic)


def _integer_in_doubles(statistic: Statistic, name: str, ends: Ends | None, dialect: Dialect) -> str:
    """Print the cell of a whole number in DOUBLEs: one beyond 2^53 is beyond the range, rounded or not."""
    cell = clamped_sql(dialect.double(name), statistic.low, statistic.high, ends, dialect)
    cell = f"({cell} - {dialect.number(statistic.offset)})" if statistic.offset else cell
    per_step = int(1 / statistic.step)
    return cell if per_step == 1 else dialect.scaled(cell, per_step)


def _integer(statistic: Statistic, name: str, fact: Fact, dialect: Dialect) -> str:
    low, high, offset = int(statistic.low), int(statistic.high), int(statistic.offset)
    if low == high == offset:  # zero steps, of a size that no integer type need hold
        return f"CASE WHEN {name} IS NOT NULL THEN 0::BIGINT END"
    in_64_bits = fact.type.sql not in ("UBIGINT", "HUGEINT", "UHUGEINT")
    wide = dialect.type(BIGINT if in_64_bits else HUGEINT)
    if fact.type.sql == "UHUGEINT":
        name = f"CAST(CASE WHEN {name} > {2**64}::UHUGEINT THEN {2**64}::UHUGEINT ELSE {name} END AS HUGEINT)"
    elif dialect.type(fact.type) != wide:
        name = f"CAST({name} AS {wide})"
    sql = f"CASE WHEN {name} > {high}::{wide} THEN {high}::{wide}"
    sql += f" WHEN {name} < {low}::{wide} THEN {low}::{wide} ELSE {name} END"
    sql = f"({sql} - {offset}::{wide})" if offset else sql
    per_step = int(1 / statistic.step)
    sql = f"{sql} * {per_step}::{wide}" if per_step != 1 else sql
    return sql if in_64_bits else f"CAST({sql} AS BIGINT)"


def _float(statistic: Statistic, name: str, fact: Fact, arithmetic: Arithmetic, ends: Ends | None) -> str:
    """Print a cell computed in floats.

    Subtraction, product and rounding are monotone: the cell of a clamped value lies between the cells of the
    range's ends.
    """
    dialect = arithmetic.dialect
    clamped = clamped_sql(_double(name, fact, dialect), statistic.low, statistic.high, ends, dialect)
    shifted = f"({clamped} - {dialect.number(statistic.offset)})" if statistic.offset else clamped
    factor = float(1 / statistic.step)
    cell = arithmetic.rounded(dialect.scaled(shifted, factor))
    least = 0 if statistic.offset or statistic.low >= 0 else -statistic.most
    places = [
        round((float(end) - float(statistic.offset)) * factor) for end in (statistic.low, statistic.high)
    ]
    most = statistic.most
    if least <= places[0] and places[1] <= most:
        return cell
    return f"CASE WHEN {cell} > {most} THEN {most} WHEN {cell} < {least} THEN {least} ELSE {cell} END"


def _axes(statistic: Statistic, read: _Read, facts: _Facts, dialect: Dialect) -> list[str]:
    """Print the relative positions of two arguments in their ranges: 0 to 1, up to float rounding."""
    source, condition = _argument(statistic), _condition(statistic)
    assert source is not None
    assert statistic.other is not None
    axes = []
    for each, low, high in (
        (source, statistic.low, statistic.high),
        ((statistic.other.argument, None), statistic.other.low, statistic.other.high),
    ):
        clamped = clamped_sql(_double(read[each], facts[each], dialect), low, high, dialect=dialect)
        sql = dialect.share(f"({clamped} - {dialect.number(low)})", 1 / width_of(low, high))
        axes.append(sql if condition is None else f"CASE WHEN {read[condition]} THEN {sql} END")
    return axes


def _double(name: str, fact: Fact, dialect: Dialect) -> str:
    return name if fact.type.sql == "DOUBLE" else dialect.double(name)


def _integral(statistic: Statistic) -> bool:
    return (
        all(float(end).is_integer() for end in (statistic.low, statistic.high))
        and max(abs(statistic.low), abs(statistic.high)) < 2**62
    )
