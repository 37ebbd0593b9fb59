"""The reach of each unit's values as SQL: every unit is counted in one place of a public grid.

    SELECT place, count(*) FROM (each unit's greatest value, and the negative of its least) GROUP BY place

A place encodes how many limits lie below each of the two numbers. Powers of two and their comparison with a
number are exact in floats; the logarithm only has to hit the octave or the one below. NULL and NaN are left
out, infinity lies beyond the last limit.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.detail_kinds import Arrays, Group, Reads, Rows
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.identifiers import quote
from dpsql.engines.relation_sql import Reading, relation_sql, scalar_sql
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.detail import BoundSearch
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.relation import Relation
from dpsql.ir.table import Masses
from dpsql.late_numpy import np
from dpsql.mechanisms.found_range import base, limits


def reads(planned: MeasurePlan, detail_plan: DetailPlan[BoundSearch], dialect: Dialect = DUCKDB) -> Reads:
    """Return one SELECT: places, and the number of units in each."""
    return Reads(rows=(reaches_sql(planned.measure.relation, detail_plan.detail, dialect),))


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


def reaches_sql(relation: Relation, ladder: BoundSearch, dialect: Dialect = DUCKDB) -> str:
    """Return the SELECT of all places and the number of units in each."""
    owned = ownership_of(relation)
    assert isinstance(owned, Owned)
    reading, below = Reading(dialect=dialect), dialect.subquery
    rows, unit = below(relation_sql(relation, reading)), quote(owned.unit)
    if ladder.argument is None:
        counted = f"{dialect.double('count(*)')} AS high, {dialect.real(0)} AS low"
        units = f"SELECT {counted} FROM {rows} GROUP BY {unit}"
    else:
        value = dialect.double(scalar_sql(ladder.argument, relation, reading))
        values = below(f"SELECT {unit} AS u, {value} AS x FROM {rows}")
        units = (
            f"SELECT max(x) AS high, -min(x) AS low FROM {values} WHERE x <= {dialect.infinity} GROUP BY u"
        )
    high, low = _within_ladder("high", ladder, dialect), _within_ladder("low", ladder, dialect)
    clamped = below(f"SELECT {high} AS high, {low} AS low FROM {below(units)}")
    octaves = f"{_octave('high', dialect)} AS high_octave, {_octave('low', dialect)} AS low_octave"
    below_each = f"{_below('high', ladder, dialect)} AS up, {_below('low', ladder, dialect)} AS down"
    rungs = f"SELECT high, low, {below_each} FROM {below(f'SELECT *, {octaves} FROM {clamped}')}"
    place = f"{_reach('high', 'up', ladder)} * {base(ladder)} + {_reach('low', 'down', ladder)}"
    return f"SELECT {place} AS place, count(*) FROM {below(rungs)} GROUP BY place"


def _within_ladder(name: str, ladder: BoundSearch, dialect: Dialect) -> str:
    """Clamp a positive number to one octave around the ladder, so that nothing overflows; else print 0."""
    low, high = dialect.number(2.0 ** (ladder.first - 1)), dialect.number(2.0 ** (ladder.last + 1))
    clamped = f"CASE WHEN {name} > {high} THEN {high} WHEN {name} < {low} THEN {low} ELSE {name} END"
    return f"CASE WHEN {name} > 0 THEN {clamped} ELSE 0 END"


def _octave(name: str, dialect: Dialect) -> str:
    return dialect.octave(f"CASE WHEN {name} > 0 THEN {name} ELSE 1 END")


def _below(name: str, ladder: BoundSearch, dialect: Dialect) -> str:
    """Print how many rungs of an infinite ladder lie below a number."""
    power = f"pow({dialect.real(2)}, {name}_octave)"
    above = " + ".join(
        f"CAST(CASE WHEN {name} > {factor} * {power} THEN 1 ELSE 0 END AS BIGINT)"
        if dialect is not DUCKDB
        else f"CAST({name} > {factor} * {power} AS BIGINT)"
        for factor in ("1", "1.5", "2")
    )
    return f"2 * CAST({name}_octave AS BIGINT) + {-2 * ladder.first} + {above}"


def _reach(name: str, below: str, ladder: BoundSearch) -> str:
    """Print 0 for 0, else 1 + the number of limits below."""
    size = len(limits(ladder))
    clamped = f"CASE WHEN {below} < 0 THEN 0 WHEN {below} > {size} THEN {size} ELSE {below} END"
    return f"CASE WHEN {name} > 0 THEN 1 + {clamped} ELSE 0 END"
