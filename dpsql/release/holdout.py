"""ExactTable -> how far its mean is from a public one, with noise: compared by an alert, and never shown."""

from __future__ import annotations

import math

from dpsql.detail_kinds import Draw
from dpsql.ir.plan import AlertQuestion
from dpsql.ir.table import ExactTable
from dpsql.mechanisms.holdout import beyond


def noisy_distance(exact: ExactTable, question: AlertQuestion, draw: Draw) -> int:
    """Return the number in steps of the question, rounded down: a step more than a unit moves it by."""
    assert question.distance is not None
    assert question.compared is not None
    rest, value = map(int, exact.sums[0]) if len(exact.groups) else (0, 0)
    steps = math.floor(beyond(rest, value, question.distance) / question.step)
    return steps + int(draw(question.compared, 1)[0])
