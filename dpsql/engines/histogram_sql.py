"""Weighted histograms as SQL: for each group, the bins of its rows with their clipped weights.

    SELECT ward, list(weight * 2^17 + bin) FROM (... clamp(age) - 0 AS bin ...) GROUP BY ward

Each of the m rows of a unit has the weight least(1, M / m), in whole steps; m counts exactly the rows that
have a bin, over all groups. If a unit is proved to have at most M rows, rows are simply counted. The engine
returns lists of rows, which is several times faster than grouping by bins; DuckDB's MEDIAN keeps such lists
too.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from dpsql.detail_kinds import Arrays, Group, Reads, Rows
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.identifiers import TEXTED, quote
from dpsql.engines.measure_sql import inside, read_twice
from dpsql.engines.relation_sql import Reading, key_sql, relation_sql, scalar_sql
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.column import Kind, Type, Value
from dpsql.ir.detail import Detail
from dpsql.ir.grid import MOST_BINS
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.scalar import Scalar
from dpsql.ir.table import Masses
from dpsql.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Integers: TypeAlias = "NDArray[np.int64]"

_SHIFT = MOST_BINS.bit_length() - 1


def histogram_reads(
    planned: MeasurePlan,
    detail_plan: DetailPlan[Detail],
    argument: Scalar,
    condition: Scalar | None,
    place: str,
    dialect: Dialect = DUCKDB,
) -> Reads:
    """Return a SELECT of the weighted bins of each group.

    In DuckDB it has a row for each group: its keys, and a list with the bin and weight of each of its rows,
    packed into one number. Elsewhere it has a row for each bin of a group: its keys, the bin, its weight.
    ``place`` is the SQL of the bin of a value x, as an INTEGER.
    """
    m, below = planned.measure, dialect.subquery
    owned = ownership_of(m.relation)
    assert isinstance(owned, Owned)
    keys = [f"k{i}" for i in range(len(m.keys))]
    proved = owned.at_most is not None and owned.at_most <= detail_plan.rows
    columns = [] if proved else [f"{quote(owned.unit)} AS u"]
    columns += [
        f"{key_sql(key.scalar, m.relation, dialect)} AS {name}"
        for key, name in zip(m.keys, keys, strict=True)
    ]
    reading = Reading(dialect=dialect)
    columns.append(f"{scalar_sql(argument, m.relation, reading)} AS x")
    if condition is not None:
        columns.append(f"{scalar_sql(condition, m.relation, reading)} AS c")
        place = f"CASE WHEN c THEN {place} END"
    inner = ", ".join([*([] if proved else ["u"]), *keys, f"{place} AS b"])
    rows = f"SELECT {', '.join(columns)} FROM {below(relation_sql(m.relation, reading))}"
    rows = f"SELECT * FROM {below(f'SELECT {inner} FROM {below(rows)}')} WHERE b IS NOT NULL"
    groups = [
        f"CASE WHEN count(*) > 0 THEN {condition} END" for condition in inside(planned, keys, dialect=dialect)
    ]
    having = f" HAVING {' AND '.join(groups)}" if groups else ""  # tested per group, not per row
    full = detail_plan.sensitivity // detail_plan.rows
    if dialect is not DUCKDB:
        return Reads(rows=(_by_bins(planned, detail_plan, rows, proved, having, dialect),))
    shown = [_fetchable(column.fact.type, key) for column, key in zip(planned.keys, keys, strict=True)]
    tail = f" GROUP BY {', '.join(keys)}{having}" if keys else having
    if proved:
        return Reads((f"SELECT {', '.join([*shown, 'list(b) AS places'])} FROM ({rows}){tail}",))
    weight = (
        f"CASE WHEN count(*) > {detail_plan.rows} THEN {detail_plan.sensitivity} // count(*) ELSE {full} END"
    )
    with_ = (
        f"WITH {read_twice(planned, rows)}, h AS (SELECT u, CAST({weight} AS BIGINT) AS w FROM r GROUP BY u)"
    )
    places = f"list(CAST(h.w * {MOST_BINS} + r.b AS BIGINT)) AS places"
    return Reads((f"{with_} SELECT {', '.join([*shown, places])} FROM r JOIN h ON r.u = h.u{tail}",))


def _by_bins(
    planned: MeasurePlan,
    detail_plan: DetailPlan[Detail],
    rows: str,
    proved: bool,
    having: str,
    dialect: Dialect,
) -> str:
    keys = [f"k{i}" for i in range(len(planned.keys))]
    shown = [dialect.carried(key, column.fact.type) for column, key in zip(planned.keys, keys, strict=True)]
    full, by = detail_plan.sensitivity // detail_plan.rows, ", ".join([*keys, "b"])
    with_, source, weight = "", dialect.subquery(rows), f"count(*) * {dialect.wide(str(full))}"
    if not proved:
        most = f"count(*) > {detail_plan.rows}"
        less = dialect.quotient(str(detail_plan.sensitivity), "count(*)")
        weights = f"SELECT u, CASE WHEN {most} THEN {less} ELSE {full} END AS w FROM r GROUP BY u"
        with_ = f"WITH {read_twice(planned, rows, dialect=dialect)}, h AS ({weights}) "
        source, weight = "r JOIN h ON r.u = h.u", f"sum({dialect.wide('h.w')})"
    listed = ", ".join(["r.b" if not proved and each == "b" else each for each in (*keys, "b")])
    totals = f"SELECT {listed}, {weight} AS w FROM {source} GROUP BY {by}{having}"
    return f"{with_}SELECT {', '.join([*shown, 'b', 'w'])} FROM {dialect.subquery(totals)}"


def _fetchable(key: Type, name: str) -> str:
    """Print a key in a form that the driver returns in an array without loss: text if necessary."""
    return f"CAST({name} AS VARCHAR) AS {name}" if _as_text(key) else name


def _as_text(key: Type) -> bool:
    return key.kind in TEXTED or key.kind in (Kind.TEXT, Kind.DECIMAL) or key.sql in ("HUGEINT", "UHUGEINT")


def histogram(
    planned: MeasurePlan,
    detail_plan: DetailPlan[Detail],
    arrays: Sequence[Arrays],
    rows: Sequence[Rows],
    group: Group,
) -> Masses:
    """Return the bins with weight of every group, and their weights."""
    return _of_bins(planned, rows[0], group) if rows else _of_lists(planned, detail_plan, arrays[0], group)


def _of_bins(planned: MeasurePlan, rows: Rows, group: Group) -> Masses:
    found: dict[tuple[Value, ...], list[tuple[int, int]]] = {}
    for row in rows:
        place, weight = row[len(planned.keys) :]
        assert isinstance(place, int)
        assert isinstance(weight, int)
        if weight:
            found.setdefault(group(row), []).append((place, weight))
    tables = ((keys, np.array(sorted(bins), dtype=np.int64)) for keys, bins in found.items())
    return {keys: (table[:, 0], table[:, 1]) for keys, table in tables}


def _of_lists(planned: MeasurePlan, detail_plan: DetailPlan[Detail], fetched: Arrays, group: Group) -> Masses:
    full = detail_plan.sensitivity // detail_plan.rows
    keys = [_values(fetched[f"k{i}"], column.fact.type) for i, column in enumerate(planned.keys)]
    masses: Masses = {}
    missing = np.ma.getmaskarray(fetched["places"])  # without keys there is a row even for no rows
    for i, places in enumerate(np.ma.getdata(fetched["places"])):
        if not missing[i]:
            masses[group([key[i] for key in keys])] = _weights_of_bins(np.ma.getdata(places), full)
    return masses


def _values(fetched: NDArray[Any], key: Type) -> list[object]:
    """Convert fetched keys to Python values; masked keys are NULL."""
    values: list[object] = [
        None if hidden else value
        for value, hidden in zip(np.ma.getdata(fetched).tolist(), np.ma.getmaskarray(fetched), strict=True)
    ]
    if not _as_text(key) or key.kind not in (Kind.DECIMAL, Kind.INTEGER):
        return values
    read = Decimal if key.kind is Kind.DECIMAL else int
    return [None if value is None else read(str(value)) for value in values]


def _weights_of_bins(places: Integers, full: int) -> tuple[Integers, Integers]:
    """Return the distinct bins of a group's rows and their total weights.

    A row weighs ``full`` if the list holds bins without weights.
    """
    weightless = places.dtype == np.int32
    bins = places if weightless else places & (MOST_BINS - 1)
    if len(bins) < MOST_BINS // 16:
        present, bins = np.unique(bins, return_inverse=True)
    else:
        present = np.arange(int(bins.max()) + 1)
    if weightless:
        totals = np.bincount(bins, minlength=len(present)) * full
    else:  # sums of floats are exact below 2^53, which the number of rows does not reach
        totals = np.bincount(bins, places >> _SHIFT, len(present)).astype(np.int64)
    filled = np.flatnonzero(totals)
    return present[filled].astype(np.int64), totals[filled].astype(np.int64)
