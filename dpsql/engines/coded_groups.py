"""The exact counts of a measure by codes of its keys' values: all that synthetic rows are measured from.

    (age 41, sex NULL), 3 rows    c0 = 41, c1 = 2, w = 3 rows in grid steps

Claim   every code is on its column's list and every weight is from 0 to 2^62, whatever the rows hold; a unit
        moves the weights by at most the clip in L1.
Proof   A key that is on no list has no code, and its group is left out, as empty groups are. A weight is cut
        at ``TOTAL``. Neither brings two tables further apart, and nothing here fails on any value. The rest
        is the clip of the measure (measure_sql.py).
Test    tests/privacy/test_synthetic_views.py
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.detail_kinds import Arrays
from dpsql.engines.dialect import DUCKDB
from dpsql.engines.identifiers import TEXTED
from dpsql.engines.measure_sql import TOTAL, bounded_sql, constant_sql, measure_sql
from dpsql.ir.column import VARCHAR, Column, Kind, Value
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.synthetic import SyntheticRows
from dpsql.ir.table import CodedGroups, ExactTable
from dpsql.late_numpy import np


def coded_sql(planned: MeasurePlan) -> str:
    """Print the SELECT of codes and weights: one row for each combination that there is."""
    rule = planned.rule
    assert isinstance(rule, SyntheticRows)
    keys = zip(planned.keys, rule.domains, strict=True)
    codes = [f"{_code(f'k{i}', column, values)} AS c{i}" for i, (column, values) in enumerate(keys)]
    weight = f"{bounded_sql('total0', TOTAL, DUCKDB)} AS w"
    listed = " AND ".join(f"c{i} >= 0" for i in range(len(codes)))
    inner = f"SELECT {', '.join([*codes, weight])} FROM ({measure_sql(planned)})"
    return f"SELECT * FROM ({inner}) WHERE w > 0 AND {listed}"


def coded(planned: MeasurePlan, arrays_of: Callable[[str], Arrays]) -> ExactTable:
    """Fetch codes and weights."""
    found = arrays_of(coded_sql(planned))
    weights = np.asarray(found["w"], dtype=np.int64)
    columns = [np.asarray(found[f"c{i}"], dtype=np.int32) for i in range(len(planned.keys))]
    codes = np.stack(columns, axis=1) if len(weights) else np.zeros((0, len(columns)), dtype=np.int32)
    return ExactTable(CodedGroups(codes), weights.reshape(-1, 1))


def _code(name: str, column: Column, values: tuple[Value, ...]) -> str:
    """Print the place of a key's value in its list; -1 where it is not on it."""
    as_text = column.fact.type.kind is Kind.TEXT  # compare an enum as text: no constant is cast to it
    key, key_type = (f"CAST({name} AS VARCHAR)", VARCHAR) if as_text else (name, column.fact.type)
    present = [constant_sql(value, key_type) for value in values if value is not None]
    if key_type.kind in TEXTED:  # such keys are carried as text
        present = [f"CAST({value} AS VARCHAR)" for value in present]
    place = f"coalesce(list_position([{', '.join(present)}], {key}), 0) - 1" if present else "-1"
    missing = values.index(None) if None in values else -1
    return f"CAST(CASE WHEN {name} IS NULL THEN {missing} ELSE {place} END AS INTEGER)"
