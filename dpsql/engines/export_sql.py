"""The true answers of an export as SQL: of each row, the number of its value in every question's list.

SELECT CAST(coalesce(list_position(['A', 'B'], ward), 3) - 1 AS INTEGER) AS c0 FROM (rows)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dpsql.engines.measure_sql import constant_sql
from dpsql.engines.relation_sql import key_sql, relation_sql
from dpsql.ir.column import VARCHAR, Kind
from dpsql.ir.export import ExactExport, ExportPlan, Question
from dpsql.ir.relation import Relation

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def export_sql(planned: ExportPlan) -> str:
    """One row for each row that is asked, in no order."""
    listed = [f"{_code(each, planned.relation)} AS c{i}" for i, each in enumerate(planned.questions)]
    return f"SELECT {', '.join(listed)} FROM ({relation_sql(planned.relation)})"


def coded(planned: ExportPlan, arrays_of: Callable[[str], dict[str, NDArray[Any]]]) -> ExactExport:
    """The numbers, a column for each question."""
    found = arrays_of(export_sql(planned))
    columns = [np.asarray(found[f"c{i}"], dtype=np.int64) for i in range(len(planned.questions))]
    return ExactExport(len(columns[0]), columns)


def _code(question: Question, relation: Relation) -> str:
    text = question.type.kind is Kind.TEXT  # an enum is compared as text: no constant is cast to it
    key = key_sql(question.scalar, relation)
    key = f"CAST({key} AS VARCHAR)" if text else key
    own = VARCHAR if text else question.type
    present = [constant_sql(value, own) for value in question.values if value is not None]
    place = f"list_position([{', '.join(present)}], {key})"
    return f"CAST(coalesce({place}, {question.otherwise + 1}) - 1 AS INTEGER)"
