"""The row of the other group: the noisy total minus the noisy groups that are shown.

    total 1,693 (± 4)    Oslo 1,204, Bergen 318 (± 4 each)    other 171 (± 6.9)

Claim   the row has no price beyond that of its measure.
Proof   the row is a function of the released table alone. The total is in that table, shown or not, and the
        same noisy numbers decide which groups are shown.

The variances of the noise add up, so the row's noise is ``spread`` times as wide as that of one group.
"""

from __future__ import annotations

import math

from dpsql.aggregates import Floats
from dpsql.ir.column import Value
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.table import ReleasedTable
from dpsql.late_numpy import np

MOST = 2**62
_TOTAL = 1
"""Index of the grouping set of the total."""


def with_other(released: ReleasedTable, planned: MeasurePlan) -> tuple[ReleasedTable, Floats]:
    """Replace the total by the other group; return the table and the relative noise width of each row."""
    spread = np.ones(len(released.groups))
    if planned.measure.other is None:
        return released, spread
    word: Value = str(planned.measure.other.value)
    shown = [i for i, group in enumerate(released.groups) if group[0] != _TOTAL]
    (total,) = (i for i, group in enumerate(released.groups) if group[0] == _TOTAL)
    rest = [
        column[total] - sum(column[i] for i in shown)
        for column in zip(*released.sums.tolist(), strict=True)  # whole numbers of any size
    ]
    sums = released.sums.copy()
    sums[total] = [max(-MOST, min(MOST, number)) for number in rest]
    groups = list(released.groups)
    groups[total] = (_TOTAL, *(word for _ in planned.keys[1:]))
    spread[total] = math.sqrt(1 + len(shown))
    return ReleasedTable(groups, sums), spread
