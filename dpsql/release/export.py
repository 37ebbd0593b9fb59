"""ExactExport -> Responses: rows of nobody are added, every row answers at random, and all are sorted."""

from __future__ import annotations

import os
import random
import secrets

import numpy as np

from dpsql.detail_kinds import Draw
from dpsql.ir.export import ExactExport, ExportPlan, RandomizedColumn, ReleasedExport
from dpsql.mechanisms.randomized_response import answers


def release_export(exact: ExactExport, planned: ExportPlan, draw: Draw) -> ReleasedExport:
    """Answers of as many rows as the noise says; their order tells nothing but themselves."""
    rows = max(0, exact.rows + planned.padding + int(draw(planned.rows, 1)[0]))
    taken = np.arange(exact.rows)
    if rows < exact.rows:
        taken = np.array(random.SystemRandom().sample(range(exact.rows), rows), dtype=np.int64)
    columns: list[RandomizedColumn] = []
    for question, truth in zip(planned.questions, exact.columns, strict=True):
        size = question.design.size
        nobody = [secrets.randbelow(size) for _ in range(rows - len(taken))]
        asked = np.concatenate((truth[taken], np.array(nobody, dtype=np.int64)))
        given = answers(asked, question.design, os.urandom)
        columns.append(np.packbits(given, axis=1) if question.design.marks else given.astype(np.uint16))
    order = np.lexsort([part for column in reversed(columns) for part in _parts(column)])
    return ReleasedExport(rows, tuple(column[order] for column in columns))


def _parts(column: RandomizedColumn) -> list[RandomizedColumn]:
    """What a column is sorted by, the least important first."""
    return [column] if column.ndim == 1 else list(column.T[::-1])
