"""No aggregate uses a clip search: ``plan/clip_search.py`` builds the measures that find bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from dpsql.detail_kinds import Bounds
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall


def made(measure: Measure, calls: Sequence[AggregateCall], bounds: Bounds) -> NoReturn:
    raise AssertionError("no aggregate asks for a bound: plan/clip_search.py")
