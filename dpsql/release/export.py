"""ExactExport -> ReleasedExport: add dummy rows, randomize the answers of every row, sort the rows."""

from __future__ import annotations

import os
import random
import secrets

from dpsql.detail_kinds import Draw
from dpsql.ir.export import ExactExport, ExportPlan, RandomizedColumn, ReleasedExport
from dpsql.late_numpy import np
from dpsql.mechanisms.randomized_response import answers


def release_export(exact: ExactExport, planned: ExportPlan, draw: Draw) -> ReleasedExport:
    """Return randomized answers of a noisy number of rows; sorting removes the engine's order."""
    rows = max(0, exact.rows + planned.padding + int(draw(planned.rows, 1)[0]))
    sampled = np.arange(exact.rows)
    if rows < exact.rows:
        sampled = np.array(random.SystemRandom().sample(range(exact.rows), rows), dtype=np.int64)
    columns: list[RandomizedColumn] = []
    for question, truth in zip(planned.questions, exact.columns, strict=True):
        size = question.design.size
        padding = [secrets.randbelow(size) for _ in range(rows - len(sampled))]
        codes = np.concatenate((truth[sampled], np.array(padding, dtype=np.int64)))
        randomized = answers(codes, question.design, os.urandom)
        columns.append(
            np.packbits(randomized, axis=1) if question.design.marks else randomized.astype(np.uint16)
        )
    order = np.lexsort([part for column in reversed(columns) for part in _parts(column)])
    return ReleasedExport(rows, tuple(column[order] for column in columns))


def _parts(column: RandomizedColumn) -> list[RandomizedColumn]:
    """Return the sort keys of a column, the least significant first."""
    return [column] if column.ndim == 1 else list(column.T[::-1])
