"""Which measures are answered on PostgreSQL: what is not known to be sound there is not printed.

COUNT, SUM, AVG, VAR over rows, joins, subqueries, groups        yes
quantiles, MIN, MAX, MODE of all units, COUNT(DISTINCT x)        yes
searched bounds                                                  yes
samples, synthetic rows, units of columns                        no: printed for DuckDB alone
"""

from __future__ import annotations

import math
from typing import assert_never

from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.postgres.types import name_of
from dpsql.ir.column import Kind, type_named
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Materialized,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
)
from dpsql.ir.scalar import Call, Ref, Scalar, conjuncts
from dpsql.ir.synthetic import SyntheticRows


def check_measure(planned: MeasurePlan) -> None:
    """Raise NotVetted for a measure with parts that have no vetted text."""
    if isinstance(planned.rule, SyntheticRows):
        raise NotVetted("a table of synthetic rows")
    for detail_plan in planned.details:
        if detail_plan.detail.kind not in _DETAILS:
            raise NotVetted(f"{detail_plan.detail.kind.replace('_', ' ')}")
    for statistic in planned.measure.statistics:
        if not math.isfinite(float(statistic.high) - float(statistic.offset)):
            raise NotVetted("so wide a range")
    _check(planned.measure.relation)


_DETAILS = frozenset(("quantiles", "matching", "votes", "clip_search", "bound_search"))
"""The kinds of details that are printed for this engine."""


def _compares_columns(part: Scalar) -> bool:
    """Whether PostgreSQL can hash both sides, which it needs for a FULL JOIN."""
    return isinstance(part, Call) and part.function == "=" and all(isinstance(x, Ref) for x in part.arguments)


def _check(relation: Relation) -> None:
    match relation:
        case Scan(owner=owner):
            if owner is not None and owner.fact.type.kind not in (Kind.INTEGER, Kind.TEXT):
                raise NotVetted(f"a unit of type {owner.fact.type.said}")
        case Materialized(columns=columns) | StageInput(columns=columns):
            for column in columns:
                if column.source == "INTERVAL" or name_of(type_named(column.source)) is None:
                    raise NotVetted(f"a table of {type_named(column.source).said} values")
        case Filter(source) | Project(source):
            _check(source)
        case Aggregate(source) | Window(source):
            _check(source)
        case Join(kind, left, right, condition):
            parts = () if condition is None else conjuncts(condition)
            if kind is JoinKind.FULL and not any(map(_compares_columns, parts)):
                raise NotVetted("a FULL JOIN without columns that are equal")
            _check(left)
            _check(right)
        case Union(left, right):
            _check(left)
            _check(right)
        case _:
            assert_never(relation)
