"""OPTIONS(non_negative = true): released sums that cannot be below 0 are raised to it.

    device    COUNT(*)      with the option
    phone     9204 ± 41        9204 ± 41
    watch      -15 ± 41           0 ± 41

Claim   it tells nothing more, and a margin of one sum holds as before.
Proof   It is computed from what is released. What lies below 0 is moved towards the truth, which does not.
Test    tests/unit/test_non_negative.py

It biases: noise that falls below 0 is cut off, and noise above stays, so that many small groups add up to too
much. Cells that are measured together become the nearest ones that are not negative, as the strategy measured
them: totals stay the sums of their parts, and a cell is raised at the cost of those beside it.
"""

from __future__ import annotations

from dpsql.ir.plan import Applied, MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms.strategies.nonnegative import nearest
from dpsql.mechanisms.strategies.whole_cells import whole_for


def raised(released: ReleasedTable, planned: MeasurePlan) -> ReleasedTable:
    """Return a released table whose sums are not below 0, where none can be."""
    sums = released.sums.copy()
    for place, statistic in enumerate(planned.measure.statistics):
        if statistic.never_negative:
            sums[:, place] = np.maximum(sums[:, place], 0)
    return ReleasedTable(released.groups, sums)


def raised_cells(cells: list[int], applied: Applied) -> list[int]:
    """Return the nearest whole cells that are not below 0."""
    if min(cells, default=0) >= 0:
        return cells
    near = nearest(np.array(cells, dtype=np.float64), *applied.strategy.precision())
    found, _ = whole_for(near, applied.gram, unit=applied.unit, least=0)
    raised: list[int] = found.tolist()
    return raised
