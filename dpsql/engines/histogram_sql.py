"""A histogram's rows as SQL: keys, a bin of the public grid, and the weight there.

    SELECT ward, list(weight * 2^17 + bin) FROM (... clamp(age) - 0 AS bin ...) GROUP BY ward

A unit of m rows has the weight least(1, M / m) for each, in whole steps: m counts exactly the rows that are
weighed, over all groups. Where M rows are all that a unit can have, they are simply counted. The engine hands
over lists of rows, which takes a fraction of the time of grouping by many bins; plain MEDIAN holds them too.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

import numpy as np

from dpsql.engines.identifiers import TEXTED, quote
from dpsql.engines.measure_sql import inside, read_twice
from dpsql.engines.number_sql import held, number
from dpsql.engines.relation_sql import key_sql, relation_sql, scalar_sql, type_in
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.functions.core.literals import literal_sql
from dpsql.ir.column import DATE, TIMESTAMP, Fact, Kind, Type, Value
from dpsql.ir.detail import Histogram, Votes
from dpsql.ir.grid import MOST_BINS, Grid, Spacing, curved
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.scalar import Literal
from dpsql.ir.table import Masses

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Integers: TypeAlias = "NDArray[np.int64]"

_SHIFT = MOST_BINS.bit_length() - 1

_DAY = datetime.date(1970, 1, 1)


def histogram_sql(planned: MeasurePlan, each: DetailPlan) -> str:
    """One row per group: its keys, and of each row of it the bin and the weight, together one number."""
    m, detail = planned.measure, each.detail
    assert isinstance(detail, Histogram | Votes)
    owned = ownership_of(m.relation)
    assert isinstance(owned, Owned)
    keys = [f"k{i}" for i in range(len(m.keys))]
    proved = owned.at_most is not None and owned.at_most <= each.rows
    listed = [] if proved else [f"{quote(owned.unit)} AS u"]
    listed += [f"{key_sql(key.scalar, m.relation)} AS {name}" for key, name in zip(m.keys, keys, strict=True)]
    listed.append(f"{scalar_sql(detail.argument, m.relation)} AS x")
    fact = type_in(detail.argument, m.relation)
    place = bin_sql("x", fact, detail.grid) if isinstance(detail, Histogram) else value_sql("x", fact, detail)
    if detail.condition is not None:
        listed.append(f"{scalar_sql(detail.condition, m.relation)} AS c")
        place = f"CASE WHEN c THEN {place} END"
    inner = ", ".join([*([] if proved else ["u"]), *keys, f"{place} AS b"])
    rows = f"SELECT {inner} FROM (SELECT {', '.join(listed)} FROM ({relation_sql(m.relation)}))"
    rows = f"SELECT * FROM ({rows}) WHERE b IS NOT NULL"
    shown = [_plain(column.fact.type, key) for column, key in zip(planned.keys, keys, strict=True)]
    tail = f" GROUP BY {', '.join(keys)}" if keys else ""
    groups = [f"CASE WHEN count(*) > 0 THEN {each} END" for each in inside(planned, keys)]
    tail += f" HAVING {' AND '.join(groups)}" if groups else ""  # asked of groups, not of every row
    if proved:
        return f"SELECT {', '.join([*shown, 'list(b) AS places'])} FROM ({rows}){tail}"
    full = each.sensitivity // each.rows
    weight = f"CASE WHEN count(*) > {each.rows} THEN {each.sensitivity} // count(*) ELSE {full} END"
    with_ = (
        f"WITH {read_twice(planned, rows)}, h AS (SELECT u, CAST({weight} AS BIGINT) AS w FROM r GROUP BY u)"
    )
    places = f"list(CAST(h.w * {MOST_BINS} + r.b AS BIGINT)) AS places"
    return f"{with_} SELECT {', '.join([*shown, places])} FROM r JOIN h ON r.u = h.u{tail}"


def _plain(key: Type, name: str) -> str:
    """A key as the driver hands it over in an array without loss; text where it cannot."""
    return f"CAST({name} AS VARCHAR) AS {name}" if _texted(key) else name


def _texted(key: Type) -> bool:
    return key.kind in TEXTED or key.kind in (Kind.TEXT, Kind.DECIMAL) or key.sql in ("HUGEINT", "UHUGEINT")


def histogram(
    planned: MeasurePlan,
    each: DetailPlan,
    arrays: Callable[[str], dict[str, NDArray[Any]]],
    group: Callable[[Sequence[object]], tuple[Value, ...]],
) -> Masses:
    """The filled bins of every group."""
    full = each.sensitivity // each.rows
    fetched = arrays(histogram_sql(planned, each))
    keys = [_values(fetched[f"k{i}"], column.fact.type) for i, column in enumerate(planned.keys)]
    found: Masses = {}
    empty = np.ma.getmaskarray(fetched["places"])  # without keys there is a row even of nothing
    for i, places in enumerate(np.ma.getdata(fetched["places"])):
        if not empty[i]:
            found[group([key[i] for key in keys])] = _weighed(np.ma.getdata(places), full)
    return found


def _values(fetched: NDArray[Any], key: Type) -> list[object]:
    """Fetched keys as Python's values; NULL where they are masked."""
    values: list[object] = [
        None if hidden else value
        for value, hidden in zip(np.ma.getdata(fetched).tolist(), np.ma.getmaskarray(fetched), strict=True)
    ]
    if not _texted(key) or key.kind not in (Kind.DECIMAL, Kind.INTEGER):
        return values
    read = Decimal if key.kind is Kind.DECIMAL else int
    return [None if value is None else read(str(value)) for value in values]


def _weighed(places: Integers, full: int) -> tuple[Integers, Integers]:
    """The bins of a group's rows, each once, and their weight: ``full`` where the rows carry none."""
    weightless = places.dtype == np.int32
    bins = places if weightless else places & (MOST_BINS - 1)
    if len(bins) < MOST_BINS // 16:
        found, bins = np.unique(bins, return_inverse=True)
    else:
        found = np.arange(int(bins.max()) + 1)
    if weightless:
        totals = np.bincount(bins, minlength=len(found)) * full
    else:  # sums of floats are exact below 2^53, which so many rows do not reach
        totals = np.bincount(bins, places >> _SHIFT, len(found)).astype(np.int64)
    filled = np.flatnonzero(totals)
    return found[filled].astype(np.int64), totals[filled].astype(np.int64)


def value_sql(name: str, fact: Fact, detail: Votes) -> str:
    """The place of a value on its list, NULL of all others; an enum is compared as text."""
    if fact.type.kind is Kind.INTEGER:
        first, last = detail.values[0], detail.values[-1]
        low, high = int(str(first.value)), int(str(last.value))
        if [each.value for each in detail.values] == list(range(low, high + 1)):
            between = f"{name} >= {literal_sql(first)} AND {name} <= {literal_sql(last)}"
            return f"CASE WHEN {between} THEN CAST({name} AS INTEGER) - {low} END"
    name = f"CAST({name} AS VARCHAR)" if fact.type.kind is Kind.TEXT else name
    listed = " ".join(f"WHEN {literal_sql(each)} THEN {i}" for i, each in enumerate(detail.values))
    return f"CAST(CASE {name} {listed} END AS INTEGER)"


def bin_sql(name: str, fact: Fact, grid: Grid) -> str:
    """The bin of a value, NULL of NULL and of NaN, total for every value of the type."""
    match grid.spacing:
        case Spacing.WHOLE:
            if fact.type.kind is Kind.DECIMAL:
                return _scaled(name, grid)
            return _counted(name, fact, grid)
        case Spacing.EVEN:
            low, high = float(grid.low), float(grid.high)
            clamped = held(f"CAST({name} AS DOUBLE)", low, high)
            return _place(f"{clamped} - {number(low)}", high - low, grid)
        case Spacing.LOG:
            low, high = float(grid.low), float(grid.high)
            clamped = held(f"CAST({name} AS DOUBLE)", low, high)
            on_scale = f"CASE WHEN {clamped} < 0 THEN -ln(1 - {clamped}) ELSE ln(1 + {clamped}) END"
            if low >= 0:
                on_scale = f"ln(1 + {clamped})"
            first = curved(low)
            return _place(f"{on_scale} - {number(first)}", curved(high) - first, grid)
        case _:
            assert_never(grid.spacing)


def _place(above: str, width: float, grid: Grid) -> str:
    """The bin of what is above the low end; a hair less than its share, so that rounding stays inside."""
    factor = grid.size / max(width, 2.0**-900) * (1 - 2.0**-40)
    return f"CAST(trunc(({above}) * {number(factor)}) AS INTEGER)"


def _scaled(name: str, grid: Grid) -> str:
    """A decimal in units, clamped to the range: as a DOUBLE, so that it fits, then as a whole number.

    From 2^51 units on, what the DOUBLE was rounded to may be a unit below or above the range.
    """
    clamped = held(f"CAST({name} AS DOUBLE)", grid.low / grid.unit, grid.high / grid.unit)
    whole = f"CAST(round({clamped} * {number(grid.unit)}) AS BIGINT)"
    place = f"({_between(whole, f'{grid.low}::BIGINT', f'{grid.high}::BIGINT')} - {grid.low}::BIGINT)"
    return f"CAST({place}{f' // {grid.step}' if grid.step > 1 else ''} AS INTEGER)"


def _counted(name: str, fact: Fact, grid: Grid) -> str:
    """Whole numbers, days or microseconds above the lowest, clamped to the range before."""
    low, high = int(grid.low), int(grid.high)
    match fact.type.kind:
        case Kind.DATE:
            ends = [literal_sql(Literal(_DAY + datetime.timedelta(days=end), DATE)) for end in (low, high)]
            above = f"({_between(name, *ends)} - {ends[0]})"
        case Kind.TIMESTAMP:
            moments = (
                datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=n) for n in (low, high)
            )
            ends = [literal_sql(Literal(moment, TIMESTAMP)) for moment in moments]
            name = name if fact.type.sql == "TIMESTAMP" else f"TRY_CAST({name} AS TIMESTAMP)"
            above = f"(epoch_us({_between(name, *ends)}) - {low}::BIGINT)"
        case _:
            wide = "HUGEINT" if fact.type.sql in ("UBIGINT", "HUGEINT", "UHUGEINT") else "BIGINT"
            if fact.type.sql == "UHUGEINT":
                name = f"CASE WHEN {name} > {2**64}::UHUGEINT THEN {2**64}::UHUGEINT ELSE {name} END"
            name = f"CAST({name} AS {wide})"
            above = f"({_between(name, f'{low}::{wide}', f'{high}::{wide}')} - {low}::{wide})"
    return f"CAST({above}{f' // {grid.step}' if grid.step > 1 else ''} AS INTEGER)"


def _between(name: str, low: str, high: str) -> str:
    return f"CASE WHEN {name} > {high} THEN {high} WHEN {name} < {low} THEN {low} ELSE {name} END"
