"""MODE: one choice among declared values."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsql.detail_kinds import Kind
    from dpsql.details.votes import audit, explain, finish, measure, plan, release, sql
    from dpsql.details.votes.detail import Votes

    KIND: Kind[Votes] = Kind(measure, plan, sql, release, finish, explain, audit)
