"""How far each unit's values reach, as SQL: every unit in one place of a public grid.

    SELECT place, count(*) FROM (each unit's greatest value, and the negative of its least) GROUP BY place

A place tells how many limits lie below each of the two. Powers of two and their comparison with a number
are exact in floats; the logarithm only has to hit the octave or the one below. NULL and NaN are left out,
infinity lies beyond the last limit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsql.detail_kinds import Arrays, Group, Reads, Rows
from dpsql.engines.identifiers import quote
from dpsql.engines.relation_sql import relation_sql, scalar_sql
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.detail import BoundSearch
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.relation import Relation
from dpsql.ir.table import Masses
from dpsql.mechanisms.found_range import base, limits


def reads(planned: MeasurePlan, each: DetailPlan[BoundSearch]) -> Reads:
    """One SELECT of numbers, over one place for each unit."""
    return Reads(rows=(reaches_sql(planned.measure.relation, each.detail),))


def weights(
    planned: MeasurePlan,
    each: DetailPlan[BoundSearch],
    arrays: Sequence[Arrays],
    rows: Sequence[Rows],
    group: Group,
) -> Masses:
    """How many units stand in each place."""
    found = sorted(tuple(map(int, map(str, row))) for row in rows[0])
    held = np.array(found, dtype=np.int64).reshape(len(found), 2)
    return {(): (held[:, 0], held[:, 1])}


def reaches_sql(relation: Relation, each: BoundSearch) -> str:
    """The SELECT of all places and how many units stand there."""
    owned = ownership_of(relation)
    assert isinstance(owned, Owned)
    rows, unit = f"({relation_sql(relation)})", quote(owned.unit)
    if each.argument is None:
        units = f"SELECT CAST(count(*) AS DOUBLE) AS high, 0::DOUBLE AS low FROM {rows} GROUP BY {unit}"
    else:
        value = f"CAST({scalar_sql(each.argument, relation)} AS DOUBLE)"
        values = f"SELECT {unit} AS u, {value} AS x FROM {rows}"
        units = (
            f"SELECT max(x) AS high, -min(x) AS low FROM ({values}) WHERE x <= 'infinity'::DOUBLE GROUP BY u"
        )
    held = (
        f"SELECT {_within_ladder('high', each)} AS high, {_within_ladder('low', each)} AS low FROM ({units})"
    )
    octaves = f"SELECT *, {_octave('high')} AS high_octave, {_octave('low')} AS low_octave FROM ({held})"
    rungs = f"SELECT high, low, {_below('high', each)} AS up, {_below('low', each)} AS down FROM ({octaves})"
    place = f"{_reach('high', 'up', each)} * {base(each)} + {_reach('low', 'down', each)}"
    return f"SELECT {place} AS place, count(*) FROM ({rungs}) GROUP BY place"


def _within_ladder(name: str, each: BoundSearch) -> str:
    """Between the octave below the ladder and the one above it, so that nothing overflows; else 0."""
    low, high = f"{2.0 ** (each.first - 1)!r}::DOUBLE", f"{2.0 ** (each.last + 1)!r}::DOUBLE"
    held = f"CASE WHEN {name} > {high} THEN {high} WHEN {name} < {low} THEN {low} ELSE {name} END"
    return f"CASE WHEN {name} > 0 THEN {held} ELSE 0 END"


def _octave(name: str) -> str:
    return f"floor(log2(CASE WHEN {name} > 0 THEN {name} ELSE 1 END))"


def _below(name: str, each: BoundSearch) -> str:
    """How many rungs of an endless ladder are below."""
    power = f"pow(2::DOUBLE, {name}_octave)"
    above = " + ".join(f"CAST({name} > {factor} * {power} AS BIGINT)" for factor in ("1", "1.5", "2"))
    return f"2 * CAST({name}_octave AS BIGINT) + {-2 * each.first} + {above}"


def _reach(name: str, below: str, each: BoundSearch) -> str:
    """0 for 0; else one more than the number of limits below."""
    size = len(limits(each))
    held = f"CASE WHEN {below} < 0 THEN 0 WHEN {below} > {size} THEN {size} ELSE {below} END"
    return f"CASE WHEN {name} > 0 THEN 1 + {held} ELSE 0 END"
