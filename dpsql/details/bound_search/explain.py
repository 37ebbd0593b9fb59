"""A bound is explained beside the query that lacks it: explain/__init__.py."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from dpsql.ir.detail import BoundSearch
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan


def facts(finish: Finish, planned: MeasurePlan, each: DetailPlan[BoundSearch]) -> NoReturn:
    raise AssertionError("a bound is no column: explain/__init__.py tells what is found first")


def words(column: Mapping[str, Any], unit: str) -> NoReturn:
    raise AssertionError("a bound is no column: explain/__init__.py tells what is found first")
