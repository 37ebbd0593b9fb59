"""Votes as SQL: the place of a value on the list.

CASE ward WHEN 'A' THEN 0 WHEN 'B' THEN 1 END
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.detail_kinds import Arrays, Group, Reads, Rows
from dpsql.details.votes.detail import Votes
from dpsql.engines.histogram_sql import histogram, histogram_sql
from dpsql.engines.relation_sql import type_in
from dpsql.functions.core.literals import literal_sql
from dpsql.ir.column import Fact, Kind
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import Masses


def reads(planned: MeasurePlan, each: DetailPlan[Votes]) -> Reads:
    """One SELECT of weighed places."""
    detail = each.detail
    fact = type_in(detail.argument, planned.measure.relation)
    place = value_sql("x", fact, detail)
    return Reads(arrays=(histogram_sql(planned, each, detail.argument, detail.condition, place),))


def weights(
    planned: MeasurePlan,
    each: DetailPlan[Votes],
    arrays: Sequence[Arrays],
    rows: Sequence[Rows],
    group: Group,
) -> Masses:
    """The filled places of the list of every group."""
    return histogram(planned, each, arrays[0], group)


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
