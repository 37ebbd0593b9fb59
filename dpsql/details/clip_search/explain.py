"""A clip search has no explanation of its own: explain/__init__.py explains found bounds with the query."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan


def facts(finish: Finish, planned: MeasurePlan, detail_plan: DetailPlan[ClipSearch]) -> NoReturn:
    raise AssertionError("a bound is not a column: explain/__init__.py explains found bounds")


def words(column: Mapping[str, Any], unit: str) -> NoReturn:
    raise AssertionError("a bound is not a column: explain/__init__.py explains found bounds")
