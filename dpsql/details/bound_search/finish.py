"""A bound is no column: ``plan/bound_search.py`` reads it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from dpsql.ir.detail import BoundSearch
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ReleasedTable


def column(
    finish: Finish, planned: MeasurePlan, each: DetailPlan[BoundSearch], released: ReleasedTable, first: int
) -> NoReturn:
    raise AssertionError("a bound is no column: plan/bound_search.py")


def reach(each: DetailPlan[BoundSearch], confidence: float) -> None:
    """A bound has no noise."""


def note(found: Sequence[DetailPlan[BoundSearch]], unit: str) -> str:
    """Answers tell of the bounds that they rest on: post/notes.py."""
    return ""
