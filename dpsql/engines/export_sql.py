"""The true answers of an export as SQL: for each row, the index of its value in each question's list.

SELECT CAST(coalesce(list_position(['A', 'B'], ward), 3) - 1 AS INTEGER) AS c0 FROM (rows)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from dpsql.engines.measure_sql import constant_sql
from dpsql.engines.relation_sql import key_sql, relation_sql
from dpsql.ir.column import VARCHAR, Kind, Type, Value
from dpsql.ir.export import ExactExport, ExportPlan, Question
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Scalar
from dpsql.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


def export_sql(planned: ExportPlan) -> str:
    """Print the SELECT of one row of indices for each row of the relation, in no order."""
    columns = [f"{_code(question, planned.relation)} AS c{i}" for i, question in enumerate(planned.questions)]
    return f"SELECT {', '.join(columns)} FROM ({relation_sql(planned.relation)})"


def coded(planned: ExportPlan, arrays_of: Callable[[str], dict[str, NDArray[Any]]]) -> ExactExport:
    """Fetch the indices: one column for each question."""
    codes = arrays_of(export_sql(planned))
    columns = [np.asarray(codes[f"c{i}"], dtype=np.int64) for i in range(len(planned.questions))]
    return ExactExport(len(columns[0]), columns)


def _code(question: Question, relation: Relation) -> str:
    place = place_sql(question.scalar, relation, question.type, question.values)
    return f"CAST(coalesce({place}, {question.otherwise + 1}) - 1 AS INTEGER)"


def place_sql(scalar: Scalar, relation: Relation, of: Type, values: Sequence[Value]) -> str:
    """Print the place of a value in a list, from 1; NULL if it is not there."""
    as_text = of.kind is Kind.TEXT  # compare an enum as text: no constant is cast to it
    key = key_sql(scalar, relation)
    key = f"CAST({key} AS VARCHAR)" if as_text else key
    key_type = VARCHAR if as_text else of
    present = [constant_sql(value, key_type) for value in values if value is not None]
    return f"list_position([{', '.join(present)}], {key})"
