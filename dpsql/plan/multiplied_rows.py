"""Joins that multiply the rows of a unit, and with them the noise: what a limit on them would save.

    FROM visits v JOIN orders o USING (patient_id)      20 visits times 15 orders: noise for 300 rows

It is advice alone: nothing that is clipped, noised or paid rests on it.
"""

from __future__ import annotations

from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import scans
from dpsql.render.english import one

_MANY = 5
"""Rows of the join for each row that a unit has in one of its tables, from which it is said."""


def limit_of_rows(planned: MeasurePlan, unit: str) -> str:
    """Return what a limit on the rows would save; nothing where there is one, or no join multiplies them."""
    measure = planned.measure
    if planned.rows is None or planned.once or measure.clip or measure.fitted or not measure.statistics:
        return ""
    owned = [owned for scan in scans(measure.relation) if isinstance(owned := ownership_of(scan), Owned)]
    most = max((each.rows or planned.rows for each in owned), default=planned.rows)
    if planned.rows < _MANY * most:
        return ""
    return (
        f"The noise is for {planned.rows:,} rows of {one(unit)}, where a table has {most:,}: "
        f"OPTIONS(max_rows_contributed = {most}) has {planned.rows / most:.0f} times less, and scales down "
        "who has more"
    )
