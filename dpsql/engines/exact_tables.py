"""Run a planned measure: fetch its exact sums and the weights of its details.

Planned -> SELECT k0, ..., SUM(...) -> ExactTable
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from dpsql.detail_kinds import Arrays, Group, Rows, Special, part
from dpsql.engines.coded_groups import coded, coded_sql
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.identifiers import TEXTED, fetched
from dpsql.engines.measure_sql import TOTAL, measure_sql
from dpsql.engines.printed_once import PrintedOnce
from dpsql.engines.stored_groups import Store
from dpsql.errors import refuse
from dpsql.functions import ArgumentError
from dpsql.ir.column import Kind, Value
from dpsql.ir.detail import Detail
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.synthetic import SyntheticRows
from dpsql.ir.table import ExactTable, Masses
from dpsql.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

_PRINTED = PrintedOnce()

RowsOf: TypeAlias = Callable[[str], Rows]
"""Run a SELECT and fetch its rows."""

ArraysOf: TypeAlias = "Callable[[str], Arrays]"
"""Run a SELECT of numbers without NULL, and fetch its columns as arrays."""


def measured_sql(planned: MeasurePlan, dialect: Dialect = DUCKDB) -> str:
    """Return the statements that ``measured`` runs; raise D103 for one that is too long."""
    try:
        if isinstance(planned.rule, SyntheticRows):
            return coded_sql(planned)
        return ";\n".join(statements_of(planned, dialect))
    except ArgumentError as error:  # the arguments are short enough, but the printed calls are not
        help_ = "write shorter constants, or nest fewer calls"
        raise refuse(error.code, error.title, help=error.help or help_) from None


def statements_of(planned: MeasurePlan, dialect: Dialect) -> list[str]:
    """Return the statements of sums and details."""
    statements = [_sums_sql(planned, dialect)] if planned.measure.statistics else []
    for detail_plan in planned.details:
        reads = part("sql", detail_plan.detail.kind).reads(planned, detail_plan, dialect)
        statements += [*reads.arrays, *reads.rows]
    return statements


def _sums_sql(planned: MeasurePlan, dialect: Dialect) -> str:
    if dialect is not DUCKDB:  # made for one statement
        return measure_sql(planned, dialect=dialect)
    return _PRINTED.text(planned, (), lambda: measure_sql(planned))


def measured(
    planned: MeasurePlan,
    rows_of: RowsOf,
    arrays_of: ArraysOf,
    sums_of: Callable[[MeasurePlan], str] = measure_sql,
    store: Store | None = None,
    dialect: Dialect = DUCKDB,
    special_of: Callable[[MeasurePlan], Special | None] | None = None,
) -> ExactTable:
    """Run the statements of a measure and return its exact table; ``sums_of`` prints that of the sums.

    A ``store`` keeps the groups, where there may be many and few are shown. ``special_of`` returns the rows
    of units that are read apart.
    """
    if isinstance(planned.rule, SyntheticRows):
        return coded(planned, arrays_of)
    width = len(planned.keys)
    kinds = [column.fact.type.kind for column in planned.keys]
    plain = (TEXTED | {Kind.FLOAT}).isdisjoint(kinds)

    def group(row: Sequence[Any]) -> tuple[Value, ...]:
        if plain:
            return tuple(row[:width])
        return tuple(fetched(value, kind) for value, kind in zip(row, kinds, strict=False))

    def details() -> tuple[Masses, ...]:
        given = rows_of, arrays_of, group, dialect, special_of
        return tuple(_weights(planned, detail_plan, *given) for detail_plan in planned.details)

    if store is not None:
        return ExactTable(*store.stored(sums_of(planned), planned, group), details())
    rows = rows_of(sums_of(planned)) if planned.measure.statistics else []
    columns = [*zip(*rows, strict=True)]
    sums = _within_64_bits(columns[width:])
    shaped = sums.T.reshape(len(rows), len(planned.measure.statistics))
    groups = [*zip(*columns[:width], strict=True)] if plain and columns[:width] else [*map(group, rows)]
    return ExactTable(groups, shaped, details())


def _weights(
    planned: MeasurePlan,
    detail_plan: DetailPlan[Detail],
    rows_of: RowsOf,
    arrays_of: ArraysOf,
    group: Group,
    dialect: Dialect,
    special_of: Callable[[MeasurePlan], Special | None] | None,
) -> Masses:
    """Run a detail's SELECTs and return its weights."""
    printer = part("sql", detail_plan.detail.kind)
    reads = printer.reads(planned, detail_plan, dialect)
    if reads.apart is not None and special_of is not None:
        special = special_of(reads.apart.counted)
        reads = reads if special is None else reads.apart.printed(special)
    arrays, rows = [arrays_of(sql) for sql in reads.arrays], [rows_of(sql) for sql in reads.rows]
    return printer.weights(planned, detail_plan, arrays, rows, group)


def _within_64_bits(columns: list[tuple[Any, ...]]) -> NDArray[np.int64]:
    """Clamp sums to 64 bits; clamping does not increase the difference that one unit makes."""
    assert {*map(type, chain.from_iterable(columns))} <= {int}
    try:
        return np.clip(np.array(columns, dtype=np.int64), -TOTAL, TOTAL)
    except OverflowError:  # beyond 64 bits
        clamped = [[max(-TOTAL, min(TOTAL, number)) for number in column] for column in columns]
        return np.array(clamped, dtype=np.int64)
