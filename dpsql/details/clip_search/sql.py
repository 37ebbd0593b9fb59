"""The norm of each unit's vector as SQL: every unit is counted at one place of a public ladder.

    SELECT place, count(*) FROM (the norm of what each unit adds, over all groups) GROUP BY place

A place is the number of limits that the norm exceeds. Norms are exact whole numbers (in L2 their squares),
and so are the limits. A unit that adds nothing is left out.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.detail_kinds import Arrays, Group, Reads, Rows
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.measure_sql import norms_sql
from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import Masses
from dpsql.late_numpy import np


def reads(planned: MeasurePlan, detail_plan: DetailPlan[ClipSearch], dialect: Dialect = DUCKDB) -> Reads:
    """Return one SELECT: places, and the number of units at each."""
    return Reads(rows=(places_sql(detail_plan.detail, dialect),))


def weights(
    planned: MeasurePlan,
    detail_plan: DetailPlan[ClipSearch],
    arrays: Sequence[Arrays],
    rows: Sequence[Rows],
    group: Group,
) -> Masses:
    """Return the number of units at each place."""
    counted = sorted(tuple(map(int, map(str, row))) for row in rows[0])
    table = np.array(counted, dtype=np.int64).reshape(len(counted), 2)
    return {(): (table[:, 0], table[:, 1])}


def places_sql(detail: ClipSearch, dialect: Dialect = DUCKDB) -> str:
    """Return the SELECT of all places and the number of units at each."""
    power = detail.norm.value
    below = " ".join(
        f"WHEN n <= {dialect.wide(str(limit**power))} THEN {place}"
        for place, limit in enumerate(detail.limits)
    )
    place = f"CASE {below} ELSE {len(detail.limits)} END"
    norms = dialect.subquery(norms_sql(detail.vector, dialect))
    return f"SELECT {place} AS place, count(*) FROM {norms} WHERE n > 0 GROUP BY place"
