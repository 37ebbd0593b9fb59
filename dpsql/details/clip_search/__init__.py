"""Clip search: choose the clip that fits a measure, on a ladder of norms; planned by plan/clip_search.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsql.detail_kinds import Kind
    from dpsql.details.clip_search import audit, explain, finish, measure, plan, release, sql
    from dpsql.details.clip_search.detail import ClipSearch

    KIND: Kind[ClipSearch] = Kind(measure, plan, sql, release, finish, explain, audit)
