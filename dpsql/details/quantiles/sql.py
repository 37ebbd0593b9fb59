"""The bin of a value on a public grid as SQL, total for every value.

clamp(age) - 0                                        whole numbers
trunc((clamp(income) - low) * bins / width)           even bins
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from typing import assert_never

from dpsql.detail_kinds import Arrays, Group, Reads, Rows
from dpsql.details.quantiles.detail import Histogram
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.histogram_sql import Binned, histogram, histogram_reads
from dpsql.engines.number_sql import clamped_sql
from dpsql.engines.relation_sql import type_in
from dpsql.ir.column import DATE, HUGEINT, TIMESTAMP, TIMESTAMPTZ, Fact, Kind
from dpsql.ir.grid import Grid, Spacing, curved
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.scalar import Literal
from dpsql.ir.table import Masses

_DAY = datetime.date(1970, 1, 1)


def reads(planned: MeasurePlan, detail_plan: DetailPlan[Histogram], dialect: Dialect = DUCKDB) -> Reads:
    """Return one SELECT of weighted bins."""
    detail = detail_plan.detail
    fact = type_in(detail.argument, planned.measure.relation)
    place = bin_sql("x", fact, detail.grid, dialect)
    binned = Binned(detail.argument, detail.condition, place, detail.grid.size)
    return histogram_reads(planned, detail_plan, binned, dialect)


def weights(
    planned: MeasurePlan,
    detail_plan: DetailPlan[Histogram],
    arrays: Sequence[Arrays],
    rows: Sequence[Rows],
    group: Group,
) -> Masses:
    """Return the non-empty bins of every group with their weights."""
    return histogram(planned, detail_plan, arrays, rows, group)


def bin_sql(name: str, fact: Fact, grid: Grid, dialect: Dialect = DUCKDB) -> str:
    """Print the bin of a value: NULL for NULL and NaN, total for every value of the type."""
    match grid.spacing:
        case Spacing.WHOLE:
            if fact.type.kind is Kind.DECIMAL:
                return _scaled(name, grid, dialect)
            return _counted(name, fact, grid, dialect)
        case Spacing.EVEN:
            low, high = float(grid.low), float(grid.high)
            clamped = clamped_sql(dialect.double(name), low, high, dialect=dialect)
            return _place(f"{clamped} - {dialect.number(low)}", high - low, grid, dialect)
        case Spacing.LOG:
            low, high = float(grid.low), float(grid.high)
            clamped = clamped_sql(dialect.double(name), low, high, dialect=dialect)
            on_scale = f"CASE WHEN {clamped} < 0 THEN -ln(1 - {clamped}) ELSE ln(1 + {clamped}) END"
            if low >= 0:
                on_scale = f"ln(1 + {clamped})"
            first = curved(low)
            return _place(f"{on_scale} - {dialect.number(first)}", curved(high) - first, grid, dialect)
        case _:
            assert_never(grid.spacing)


def _place(above: str, width: float, grid: Grid, dialect: Dialect) -> str:
    """Print the bin of a distance above the low end.

    The factor is slightly smaller than the exact one, so that rounding stays inside the grid.
    """
    factor = grid.size / max(width, 2.0**-900) * (1 - 2.0**-40)
    return dialect.place(dialect.scaled(f"({above})", factor))


def _scaled(name: str, grid: Grid, dialect: Dialect) -> str:
    """Print the bin of a decimal: clamp it as a DOUBLE, so that it fits, then as a whole number of units.

    From 2^51 units on, the rounded DOUBLE may lie one unit below or above the range: hence the second clamp.
    """
    clamped = clamped_sql(dialect.double(name), grid.low / grid.unit, grid.high / grid.unit, dialect=dialect)
    units = dialect.units(dialect.scaled(clamped, grid.unit))
    place = f"({_between(units, f'{grid.low}::BIGINT', f'{grid.high}::BIGINT')} - {grid.low}::BIGINT)"
    return _stepped(place, grid, dialect)


def _counted(name: str, fact: Fact, grid: Grid, dialect: Dialect) -> str:
    """Print the bin of a whole number, date or timestamp: clamp it, then subtract the low end."""
    low, high = int(grid.low), int(grid.high)
    match fact.type.kind:
        case Kind.DATE:
            days = (_DAY + datetime.timedelta(days=end) for end in (low, high))
            ends = [dialect.literal(Literal(day, DATE)) for day in days]
            above = f"({_between(name, *ends)} - {ends[0]})"
        case Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            zone, target = (
                (datetime.UTC, TIMESTAMPTZ) if fact.type.kind is Kind.TIMESTAMPTZ else (None, TIMESTAMP)
            )
            first = datetime.datetime(1970, 1, 1, tzinfo=zone)
            moments = (first + datetime.timedelta(microseconds=n) for n in (low, high))
            ends = [dialect.literal(Literal(moment, target)) for moment in moments]
            name = name if fact.type == target else f"TRY_CAST({name} AS TIMESTAMP)"
            above = f"({dialect.microseconds(_between(name, *ends))} - {low}::BIGINT)"
        case _:
            is_wide = fact.type.sql in ("UBIGINT", "HUGEINT", "UHUGEINT")
            wide = dialect.type(HUGEINT) if is_wide else "BIGINT"
            if fact.type.sql == "UHUGEINT":
                name = f"CASE WHEN {name} > {2**64}::UHUGEINT THEN {2**64}::UHUGEINT ELSE {name} END"
            name = f"CAST({name} AS {wide})"
            above = f"({_between(name, f'{low}::{wide}', f'{high}::{wide}')} - {low}::{wide})"
    return _stepped(above, grid, dialect)


def _stepped(above: str, grid: Grid, dialect: Dialect) -> str:
    return f"CAST({dialect.quotient(above, str(grid.step)) if grid.step > 1 else above} AS INTEGER)"


def _between(name: str, low: str, high: str) -> str:
    return f"CASE WHEN {name} > {high} THEN {high} WHEN {name} < {low} THEN {low} ELSE {name} END"
