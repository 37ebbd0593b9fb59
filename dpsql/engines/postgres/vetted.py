"""Which measures are answered on PostgreSQL: what is not known to be sound there is not printed.

COUNT, SUM, AVG, VAR over rows, joins, subqueries, groups        yes
quantiles, MIN and MAX of all units, samples, synthetic rows     no: details are printed for DuckDB
windows, orders within a unit, FULL JOIN, units of columns       no
"""

from __future__ import annotations

import math
from typing import assert_never

from dpsql.engines.postgres.casts import NotVetted
from dpsql.engines.postgres.types import name_of
from dpsql.ir.column import Kind, type_named
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Materialized,
    OrderedCall,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
)
from dpsql.ir.synthetic import SyntheticRows


def check_measure(planned: MeasurePlan) -> None:
    """Raise NotVetted for a measure with parts that have no vetted text."""
    if isinstance(planned.rule, SyntheticRows):
        raise NotVetted("a table of synthetic rows")
    if planned.details:
        raise NotVetted(f"{planned.details[0].detail.kind.replace('_', ' ')}")
    for statistic in planned.measure.statistics:
        if statistic.other is not None:
            raise NotVetted("an aggregate of two arguments")
        if not math.isfinite(float(statistic.high) - float(statistic.offset)):
            raise NotVetted("so wide a range")
    _check(planned.measure.relation)


def _check(relation: Relation) -> None:
    match relation:
        case Scan(owner=owner):
            if owner is not None and owner.fact.type.kind not in (Kind.INTEGER, Kind.TEXT):
                raise NotVetted(f"a unit of type {owner.fact.type.said}")
        case Materialized(columns=columns) | StageInput(columns=columns):
            for column in columns:
                if name_of(type_named(column.source)) is None:
                    raise NotVetted(f"a table of {type_named(column.source).said} values")
        case Filter(source) | Project(source):
            _check(source)
        case Aggregate(source, _, calls):
            if any(isinstance(call, OrderedCall) for call in calls):
                raise NotVetted("an aggregate in an order")
            _check(source)
        case Join(kind, left, right):
            if kind is JoinKind.FULL:
                raise NotVetted("a FULL JOIN")
            _check(left)
            _check(right)
        case Union(left, right):
            _check(left)
            _check(right)
        case Window():
            raise NotVetted("a window")
        case _:
            assert_never(relation)
