"""The details of a planned measure: SQL that bounds every unit's weight, and what its rows become.

Histogram   SELECT keys, place, SUM(weight) GROUP BY keys, place
Matching    SELECT DISTINCT keys, unit, value, matched one unit after the other
Blocks      SELECT keys, block, the aggregate of the block
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

from dpsql.engines.pairs import claims, pairs_sql
from dpsql.ir.column import Value
from dpsql.ir.plan import Blocks, Histogram, Matching, Planned, PlannedDetail
from dpsql.ir.table import Weights

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Arrays: TypeAlias = "Callable[[str], dict[str, NDArray[Any]]]"
"""Runs a SELECT of numbers without NULL: a column each."""

Rows = Callable[[str], list[tuple[object, ...]]]
"""Runs a SELECT."""

Group = Callable[[Sequence[object]], tuple[Value, ...]]
"""The fetched keys of a row as a group."""


def detail_sql(planned: Planned, each: PlannedDetail) -> str:
    """The SELECT that ``weights`` reads."""
    match each.detail:
        case Histogram():
            raise NotImplementedError
        case Matching():
            return ";\n".join(pairs_sql(planned, each.detail))
        case Blocks():
            raise NotImplementedError
        case _:
            assert_never(each.detail)


def weights(planned: Planned, each: PlannedDetail, rows: Rows, arrays: Arrays, group: Group) -> Weights:
    """What lies where, in every group that has anything."""
    match each.detail:
        case Histogram():
            raise NotImplementedError
        case Matching():
            return claims(planned, each.detail, rows, arrays, group)
        case Blocks():
            raise NotImplementedError
        case _:
            assert_never(each.detail)
