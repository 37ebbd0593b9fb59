"""MEDIAN, quantiles, MIN and MAX: choices among the bins of a public grid."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dpsql.detail_kinds import Kind
    from dpsql.details.quantiles import audit, explain, finish, measure, plan, release, sql
    from dpsql.details.quantiles.detail import Histogram

    KIND: Kind[Histogram] = Kind(measure, plan, sql, release, finish, explain, audit)
