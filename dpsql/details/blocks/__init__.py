"""DP_SAMPLE: the median of an aggregate over blocks of units."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsql.detail_kinds import Kind
    from dpsql.details.blocks import audit, explain, finish, measure, plan, release, sql
    from dpsql.details.blocks.detail import Blocks

    KIND: Kind[Blocks] = Kind(measure, plan, sql, release, finish, explain, audit)
