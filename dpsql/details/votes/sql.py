"""Votes as SQL: the index of a value in the declared list.

CASE ward WHEN 'A' THEN 0 WHEN 'B' THEN 1 END
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.detail_kinds import Arrays, Group, Reads, Rows
from dpsql.details.votes.detail import Votes
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.histogram_sql import Binned, histogram, histogram_reads
from dpsql.engines.relation_sql import type_in
from dpsql.ir.column import VARCHAR, Fact, Kind
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import Masses


def reads(planned: MeasurePlan, detail_plan: DetailPlan[Votes], dialect: Dialect = DUCKDB) -> Reads:
    """Return one SELECT of weighted indices."""
    detail = detail_plan.detail
    fact = type_in(detail.argument, planned.measure.relation)
    place = value_sql("x", fact, detail, dialect)
    binned = Binned(detail.argument, detail.condition, place, len(detail.values))
    return histogram_reads(planned, detail_plan, binned, dialect)


def weights(
    planned: MeasurePlan,
    detail_plan: DetailPlan[Votes],
    arrays: Sequence[Arrays],
    rows: Sequence[Rows],
    group: Group,
) -> Masses:
    """Return the list indices with votes of every group, and their weights."""
    return histogram(planned, detail_plan, arrays, rows, group)


def value_sql(name: str, fact: Fact, detail: Votes, dialect: Dialect = DUCKDB) -> str:
    """Print the index of a value in the list, NULL for unlisted values; an enum is compared as text."""
    if fact.type.kind is Kind.INTEGER:
        first, last = detail.values[0], detail.values[-1]
        low, high = int(str(first.value)), int(str(last.value))
        if [candidate.value for candidate in detail.values] == list(range(low, high + 1)):
            between = f"{name} >= {dialect.literal(first)} AND {name} <= {dialect.literal(last)}"
            return f"CASE WHEN {between} THEN CAST({name} AS INTEGER) - {low} END"
    name = f"CAST({name} AS {dialect.type(VARCHAR)})" if fact.type.kind is Kind.TEXT else name
    branches = " ".join(
        f"WHEN {dialect.literal(candidate)} THEN {i}" for i, candidate in enumerate(detail.values)
    )
    return f"CAST(CASE {name} {branches} END AS INTEGER)"
