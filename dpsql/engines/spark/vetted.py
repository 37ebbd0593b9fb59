"""Which measures are answered on Spark: what is not known to be sound there is not printed.

sums, counts, averages, spreads, two arguments; quantiles, votes, distinct values    yes
searched bounds                                                                      yes
samples, synthetic rows, orders within a unit, units of columns        no
"""

from __future__ import annotations

import math
from typing import assert_never

from dpsql.engines.not_vetted import NotVetted
from dpsql.engines.spark.types import is_stored, name_of
from dpsql.ir.column import Kind, type_named
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    Materialized,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
)
from dpsql.ir.synthetic import SyntheticRows

_DETAILS = frozenset(("quantiles", "matching", "votes", "clip_search", "bound_search"))
"""The kinds of details that are printed for this engine."""


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


def _check(relation: Relation) -> None:
    match relation:
        case Scan(owner=owner):
            if owner is not None and owner.fact.type.kind not in (Kind.INTEGER, Kind.TEXT):
                raise NotVetted(f"a unit of type {owner.fact.type.said}")
        case Materialized(columns=columns) | StageInput(columns=columns):
            for column in columns:
                if name_of(type_named(column.source)) is None or not is_stored(type_named(column.source)):
                    raise NotVetted(f"a table of {type_named(column.source).said} values")
        case Filter(source) | Project(source) | Aggregate(source) | Window(source):
            _check(source)
        case Join(_, left, right) | Union(left, right):
            _check(left)
            _check(right)
        case _:
            assert_never(relation)
