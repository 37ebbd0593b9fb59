"""Bound search: find an undeclared bound by one choice among ranges; planned by plan/bound_search.py."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsql.detail_kinds import Kind
    from dpsql.details.bound_search import audit, explain, finish, measure, plan, release, sql
    from dpsql.details.bound_search.detail import BoundSearch

    KIND: Kind[BoundSearch] = Kind(measure, plan, sql, release, finish, explain, audit)
