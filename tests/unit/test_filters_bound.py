"""FILTER below an aggregate bounds its values as WHERE does."""

from __future__ import annotations

import pytest

import dpsql
from dpsql.audit import plan_of

OF_EACH = "SELECT AVG(s) FROM (SELECT patient_id, {} FROM visits {} GROUP BY patient_id)"
WINDOW = "SELECT AVG(s) FROM (SELECT {} OVER (PARTITION BY patient_id) AS s FROM visits {})"


def steps(db: dpsql.Connection, sql: str) -> tuple[float, float]:
    """Return the ends of the argument's range."""
    (measure,) = plan_of(db._open(), sql, 1.0).measures
    ends = {(float(each.low), float(each.high)) for each in measure.measure.statistics}
    return max(ends, key=lambda pair: pair[1] - pair[0])


@pytest.mark.parametrize(
    ("call", "condition"),
    [
        ("SUM(cost)", "cost < 50"),
        ("MAX(-cost)", "cost BETWEEN 10 AND 20"),
        ("AVG(minutes)", "minutes <= 30 AND kind = 'surgery'"),
        ("MIN(minutes)", "minutes > 30"),
    ],
)
@pytest.mark.parametrize("query", [OF_EACH, WINDOW])
def test_a_filter_bounds_what_is_added_up(
    db: dpsql.Connection, query: str, call: str, condition: str
) -> None:
    name = "" if query == WINDOW else " AS s"
    narrow = steps(db, query.format(f"{call} FILTER (WHERE {condition}){name}", ""))
    assert narrow == steps(db, query.format(f"{call}{name}", f"WHERE {condition}"))
    assert narrow != steps(db, query.format(f"{call}{name}", ""))
