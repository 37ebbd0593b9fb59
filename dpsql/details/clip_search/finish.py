"""A clip search has no result column: ``plan/clip_search.py`` reads the released bound."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.measure import Finish
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import ReleasedTable


def column(
    finish: Finish,
    planned: MeasurePlan,
    detail_plan: DetailPlan[ClipSearch],
    released: ReleasedTable,
    first: int,
) -> NoReturn:
    raise AssertionError("a bound is not a column: plan/clip_search.py")


def reach(detail_plan: DetailPlan[ClipSearch], confidence: float) -> None:
    """Return None: a bound has no noise."""


def note(detail_plans: Sequence[DetailPlan[ClipSearch]], unit: str) -> str:
    """Return '': post/notes.py names the found bounds of an answer."""
    return ""
