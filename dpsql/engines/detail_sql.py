"""The details of a planned measure: SQL that bounds every unit's weight, and what its rows become.

Histogram   SELECT keys, bin, SUM(weight) GROUP BY keys, bin
Votes       the same, over declared values
Matching    SELECT DISTINCT keys, unit, value, matched one unit after the other
Blocks      SELECT keys, block, the aggregate of the block
Reaches     SELECT place, COUNT(*) GROUP BY place, over one place for each unit
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias, assert_never

import numpy as np

from dpsql.engines.blocks_sql import blocks_sql
from dpsql.engines.bound_search_sql import reaches_sql
from dpsql.engines.histogram_sql import histogram, histogram_sql
from dpsql.engines.matching_sql import claims, pairs_sql
from dpsql.ir.column import Value
from dpsql.ir.detail import Blocks, BoundSearch, Histogram, Matching, Votes
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import Masses

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Arrays: TypeAlias = "Callable[[str], dict[str, NDArray[Any]]]"
"""Runs a SELECT of numbers without NULL: a column each."""

Rows = Callable[[str], list[tuple[object, ...]]]
"""Runs a SELECT."""

Group = Callable[[Sequence[object]], tuple[Value, ...]]
"""The fetched keys of a row as a group."""


def detail_sql(planned: MeasurePlan, each: DetailPlan) -> str:
    """The SELECT that ``weights`` reads."""
    match each.detail:
        case Histogram():
            return histogram_sql(planned, each)
        case Votes():
            return histogram_sql(planned, each)
        case Matching():
            return ";\n".join(pairs_sql(planned, each.detail))
        case Blocks() as blocks:
            return blocks_sql(planned, each, blocks)
        case BoundSearch():
            return reaches_sql(planned.measure.relation, each.detail)
        case _:
            assert_never(each.detail)


def weights(planned: MeasurePlan, each: DetailPlan, rows: Rows, arrays: Arrays, group: Group) -> Masses:
    """What lies where, in every group that has anything."""
    match each.detail:
        case Histogram():
            return histogram(planned, each, arrays, group)
        case Votes():
            return histogram(planned, each, arrays, group)
        case Matching():
            return claims(planned, each.detail, rows, arrays, group)
        case Blocks():
            return _counted(planned, rows(detail_sql(planned, each)), group)
        case BoundSearch():
            found = sorted(tuple(map(int, map(str, row))) for row in rows(detail_sql(planned, each)))
            held = np.array(found, dtype=np.int64).reshape(len(found), 2)
            return {(): (held[:, 0], held[:, 1])}
        case _:
            assert_never(each.detail)


def _counted(planned: MeasurePlan, rows: list[tuple[object, ...]], group: Group) -> Masses:
    """Rows of keys, a place and a whole weight."""
    found: dict[tuple[Value, ...], list[tuple[int, int]]] = {}
    for row in rows:
        place, weight = row[len(planned.keys) :]
        assert isinstance(place, int)
        assert isinstance(weight, int)
        found.setdefault(group(row), []).append((place, weight))
    return {
        keys: (
            np.array([place for place, _ in sorted(placed)], dtype=np.int64),
            np.array([weight for _, weight in sorted(placed)], dtype=np.int64),
        )
        for keys, placed in found.items()
    }
