"""COUNT(DISTINCT x): a noisy count of the values that units claim."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsql.detail_kinds import Kind
    from dpsql.details.matching import audit, explain, finish, measure, plan, release, sql
    from dpsql.details.matching.detail import Matching

    KIND: Kind[Matching] = Kind(measure, plan, sql, release, finish, explain, audit)
