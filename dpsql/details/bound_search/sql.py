"""The reach of each unit's values as SQL: every unit is counted in one place of a public grid.

    SELECT place, count(*) FROM (each unit's greatest value, and the negative of its least) GROUP BY place

A place encodes how many limits lie below each of the two numbers. Powers of two and their comparison with a
number are exact in floats; the logarithm only has to hit the octave or the one below. NULL and NaN are left
out, infinity lies beyond the last limit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsql.detail_kinds import Arrays, Group, Reads, Rows
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.identifiers import quote
from dpsql.engines.relation_sql import relation_sql, scalar_sql
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.detail import BoundSearch
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.relation import Relation
from dpsql.ir.table import Masses
from dpsql.mechanisms.found_range import base, limits


def reads(planned: MeasurePlan, detail_plan: DetailPlan[BoundSearch], dialect: Dialect = DUCKDB) -> Reads:
    """Return one SELECT: places, and the number of units in each."""
    assert dialect is DUCKDB, "another engine refuses it"
    return Reads(rows=(reaches_sql(planned.measure.relation, detail_plan.detail),))


def weights(
    planned: MeasurePlan,
    detail_plan: DetailPlan[BoundSearch],
    arrays: Sequence[Arrays],
    rows: Sequence[Rows],
    group: Group,
) -> Masses:
    """Return the number of units in each place."""
    counted = sorted(tuple(map(int, map(str, row))) for row in rows[0])
    table = np.array(counted, dtype=np.int64).reshape(len(counted), 2)
    return {(): (table[:, 0], table[:, 1])}


def reaches_sql(relation: Relation, ladder: BoundSearch) -> str:
    """Return the SELECT of all places and the number of units in each."""
    owned = ownership_of(relation)
    assert isinstance(owned, Owned)
    rows, unit = f"({relation_sql(relation)})", quote(owned.unit)
    if ladder.argument is None:
        units = f"SELECT CAST(count(*) AS DOUBLE) AS high, 0::DOUBLE AS low FROM {rows} GROUP BY {unit}"
    else:
        value = f"CAST({scalar_sql(ladder.argument, relation)} AS DOUBLE)"
        values = f"SELECT {unit} AS u, {value} AS x FROM {rows}"
        units = (
            f"SELECT max(x) AS high, -min(x) AS low FROM ({values}) WHERE x <= 'infinity'::DOUBLE GROUP BY u"
        )
    high, low = _within_ladder("high", ladder), _within_ladder("low", ladder)
    clamped = f"SELECT {high} AS high, {low} AS low FROM ({units})"
    octaves = f"SELECT *, {_octave('high')} AS high_octave, {_octave('low')} AS low_octave FROM ({clamped})"
    rungs = (
        f"SELECT high, low, {_below('high', ladder)} AS up, {_below('low', ladder)} AS down FROM ({octaves})"
    )
    place = f"{_reach('high', 'up', ladder)} * {base(ladder)} + {_reach('low', 'down', ladder)}"
    return f"SELECT {place} AS place, count(*) FROM ({rungs}) GROUP BY place"


def _within_ladder(name: str, ladder: BoundSearch) -> str:
    """Clamp a positive number to one octave around the ladder, so that nothing overflows; else print 0."""
    low, high = f"{2.0 ** (ladder.first - 1)!r}::DOUBLE", f"{2.0 ** (ladder.last + 1)!r}::DOUBLE"
    clamped = f"CASE WHEN {name} > {high} THEN {high} WHEN {name} < {low} THEN {low} ELSE {name} END"
    return f"CASE WHEN {name} > 0 THEN {clamped} ELSE 0 END"


def _octave(name: str) -> str:
    return f"floor(log2(CASE WHEN {name} > 0 THEN {name} ELSE 1 END))"


def _below(name: str, ladder: BoundSearch) -> str:
    """Print how many rungs of an infinite ladder lie below a number."""
    power = f"pow(2::DOUBLE, {name}_octave)"
    above = " + ".join(f"CAST({name} > {factor} * {power} AS BIGINT)" for factor in ("1", "1.5", "2"))
    return f"2 * CAST({name}_octave AS BIGINT) + {-2 * ladder.first} + {above}"


def _reach(name: str, below: str, ladder: BoundSearch) -> str:
    """Print 0 for 0, else 1 + the number of limits below."""
    size = len(limits(ladder))
    clamped = f"CASE WHEN {below} < 0 THEN 0 WHEN {below} > {size} THEN {size} ELSE {below} END"
    return f"CASE WHEN {name} > 0 THEN 1 + {clamped} ELSE 0 END"
