"""A planned measure as the engine answers it: its sums, and what its details read.

Planned -> SELECT k0, ..., SUM(...) -> ExactTable
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import numpy as np

from dpsql.detail_kinds import Arrays, Group, Rows, part
from dpsql.engines.identifiers import fetched
from dpsql.engines.measure_sql import TOTAL, measure_sql
from dpsql.errors import refuse
from dpsql.functions import ArgumentError
from dpsql.ir.column import Value
from dpsql.ir.detail import Detail
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ExactTable, Masses

RowsOf: TypeAlias = Callable[[str], Rows]
"""Runs a SELECT."""

ArraysOf: TypeAlias = "Callable[[str], Arrays]"
"""Runs a SELECT of numbers without NULL: a column each."""


def measured_sql(planned: MeasurePlan) -> str:
    """Every statement that ``measured`` runs, or D103 for one that is too long."""
    try:
        said = [measure_sql(planned)] if planned.measure.statistics else []
        for each in planned.details:
            reads = part("sql", each.detail.kind).reads(planned, each)
            said += [*reads.arrays, *reads.rows]
        return ";\n".join(said)
    except ArgumentError as unfit:  # the arguments fit, but not what their calls are printed as
        help_ = "write shorter constants, or nest fewer calls"
        raise refuse(unfit.code, unfit.title, help=unfit.help or help_) from None


def measured(
    planned: MeasurePlan,
    rows_of: RowsOf,
    arrays_of: ArraysOf,
) -> ExactTable:
    """The exact numbers, read with these two."""
    width = len(planned.keys)
    kinds = [column.fact.type.kind for column in planned.keys]

    def group(row: Sequence[object]) -> tuple[Value, ...]:
        return tuple(fetched(row[i], kind) for i, kind in enumerate(kinds))

    rows = rows_of(measure_sql(planned)) if planned.measure.statistics else []
    details = tuple(_weights(planned, each, rows_of, arrays_of, group) for each in planned.details)
    sums = np.array([[_within_64_bits(number) for number in row[width:]] for row in rows], dtype=np.int64)
    shaped = sums.reshape(len(rows), len(planned.measure.statistics))
    return ExactTable([group(row) for row in rows], shaped, details)


def _weights(
    planned: MeasurePlan, each: DetailPlan[Detail], rows_of: RowsOf, arrays_of: ArraysOf, group: Group
) -> Masses:
    """What a detail's SELECTs find."""
    printer = part("sql", each.detail.kind)
    reads = printer.reads(planned, each)
    arrays, rows = [arrays_of(sql) for sql in reads.arrays], [rows_of(sql) for sql in reads.rows]
    return printer.weights(planned, each, arrays, rows, group)


def _within_64_bits(number: object) -> int:
    """A sum within 64 bits, whatever there is: holding it there moves it by no more than a unit does."""
    assert isinstance(number, int)
    return max(-TOTAL, min(TOTAL, number))
