"""The rows that teachers learn from as SQL: the unit as text, the number of the label, the other columns.

    SELECT CAST(u AS VARCHAR), list_position([false, true], smoker) - 1, age FROM (rows) WHERE u IS NOT NULL

Rows without a label that is listed are left out. No value fails in Python: a date that it has no number for
is NULL.
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.engines.export_sql import place_sql
from dpsql.engines.identifiers import quote
from dpsql.engines.relation_sql import relation_sql, scalar_sql, type_in
from dpsql.engines.unit_values import parts_of
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.types import types_of
from dpsql.ir.column import Kind
from dpsql.ir.relation import unit_types
from dpsql.ir.scalar import Ref
from dpsql.ir.votes import Examples, VotePlan


def examples_sql(planned: VotePlan) -> str:
    """Print the SELECT of the rows, in no order."""
    owned = ownership_of(planned.relation)
    assert isinstance(owned, Owned)
    unit = quote(owned.unit)
    label, *others = planned.columns
    columns = [f"CAST({part} AS VARCHAR) AS u{i}" for i, part in enumerate(_unit_parts(planned, unit))]
    columns.append(f"{place_sql(label, planned.relation, planned.type, planned.labels)} AS y")
    columns += [f"{_value(planned, column)} AS x{i}" for i, column in enumerate(others)]
    rows = f"SELECT {', '.join(columns)} FROM ({relation_sql(planned.relation)}) WHERE {unit} IS NOT NULL"
    return f"SELECT * REPLACE (y - 1 AS y) FROM ({rows}) WHERE y IS NOT NULL"


def fetched(planned: VotePlan, fetch: Callable[[str], list[tuple[object, ...]]]) -> Examples:
    """Fetch the rows."""
    owned = ownership_of(planned.relation)
    assert isinstance(owned, Owned)
    width = len(list(_unit_parts(planned, "")))
    rows = fetch(examples_sql(planned))
    return Examples([(tuple(map(str, row[:width])), row[width:]) for row in rows])


def _unit_parts(planned: VotePlan, unit: str) -> list[str]:
    owned = ownership_of(planned.relation)
    assert isinstance(owned, Owned)
    parts = unit_types(types_of(planned.relation)[owned.unit])
    return list(parts_of(unit, "u" if len(parts) == 1 else tuple(f"u{i}" for i in range(len(parts)))))


def _value(planned: VotePlan, column: Ref) -> str:
    sql, kind = scalar_sql(column, planned.relation), type_in(column, planned.relation).type.kind
    if kind not in (Kind.DATE, Kind.TIMESTAMP):
        return sql
    word = "DATE" if kind is Kind.DATE else "TIMESTAMP"
    return f"CASE WHEN {sql} BETWEEN {word} '0001-01-01' AND {word} '9999-12-31' THEN {sql} END"
