"""A clip search has a plan of its own: ``plan/clip_search.py``."""

from __future__ import annotations

from fractions import Fraction
from typing import NoReturn

from dpsql.detail_kinds import Ask
from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.measure import Measure


def planned(
    detail: ClipSearch, measure: Measure, rows: int, groups: int | None, share: Fraction, ask: Ask
) -> NoReturn:
    raise AssertionError("bounds are found by a plan of their own: plan/clip_search.py")


def own_rows(detail: ClipSearch) -> int:
    """Return 1: a unit is counted in one place."""
    return 1
