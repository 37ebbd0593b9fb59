"""Blocks of units as SQL: for each group, the number of blocks in each bin of the public grid.

    SELECT keys, bin, count(*) FROM (
        SELECT keys, block, list_aggregate(list(x ORDER BY x), 'skewness') FROM rows GROUP BY keys, block
    ) GROUP BY keys, bin

Claim   removing one unit changes the value of one block in each group that the unit is in, and no other
        value.
Proof   1. All rows of a unit are in the block given by the unit's hash. Equal units have equal hashes (a unit
           is a whole number, a text without collation, or a UUID), and a block is identified by the hash
           alone.
        2. The value of a block is a function of its own rows. They are sorted by the numbers that are
           aggregated (equal numbers are identical: there is one zero and no NaN), and one thread aggregates
           the list from front to back. An aggregate over rows in arrival order would not do: the last digits
           of other blocks would depend on how threads share the rows, and a removed unit shifts that.
        3. The hash need not be secret: the claim holds for any fixed hash.
Test    grammar_tests/aggregates/samples.sql, tests/privacy/test_samples.py

No value of a row makes the SQL fail: numbers are clamped to +-1e60, and numbers nearer to 0 than 1e-60 become
0, so that their powers stay within the range of a DOUBLE. A block without a value has no row.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.detail_kinds import Arrays, Group, Reads, Rows
from dpsql.details.blocks.detail import BINS, Blocks
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.identifiers import quote
from dpsql.engines.measure_sql import carried
from dpsql.engines.number_sql import clamped_sql, number
from dpsql.engines.relation_sql import key_sql, relation_sql, scalar_sql
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.column import Value
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import Masses
from dpsql.late_numpy import np

LARGE, SMALL = 1e60, 1e-60


def reads(planned: MeasurePlan, detail_plan: DetailPlan[Blocks], dialect: Dialect = DUCKDB) -> Reads:
    """Return the SELECT of one row per bin with blocks: the group's keys, the bin, the number of blocks."""
    assert dialect is DUCKDB, "another engine refuses it"
    blocks = detail_plan.detail
    keys = [f"k{i}" for i in range(len(planned.keys))]
    groups = "".join(f"{key}, " for key in keys)
    values = values_sql(planned, detail_plan)
    clamped = f"SELECT {groups}{clamped_sql('v', blocks.low, blocks.high)} AS c FROM ({values})"
    binned = f"SELECT {groups}{_bin('c', blocks)} AS bin FROM ({clamped}) WHERE c IS NOT NULL"
    shown = [carried(column.fact.type, key) for column, key in zip(planned.keys, keys, strict=True)]
    return Reads(
        rows=(f"SELECT {', '.join((*shown, 'bin', 'count(*)'))} FROM ({binned}) GROUP BY {groups}bin",)
    )


def weights(
    planned: MeasurePlan,
    detail_plan: DetailPlan[Blocks],
    arrays: Sequence[Arrays],
    rows: Sequence[Rows],
    group: Group,
) -> Masses:
    """Return the bins of every group that hold blocks, and the number of blocks in each."""
    counted: dict[tuple[Value, ...], list[tuple[int, int]]] = {}
    for row in rows[0]:
        place, weight = row[len(planned.keys) :]
        assert isinstance(place, int)
        assert isinstance(weight, int)
        counted.setdefault(group(row), []).append((place, weight))
    return {
        keys: (
            np.array([place for place, _ in sorted(placed)], dtype=np.int64),
            np.array([weight for _, weight in sorted(placed)], dtype=np.int64),
        )
        for keys, placed in counted.items()
    }


def values_sql(planned: MeasurePlan, detail_plan: DetailPlan[Blocks]) -> str:
    """Return the SELECT of one row per block with rows: the group's keys, its number, its value."""
    m, blocks = planned.measure, detail_plan.detail
    owned = ownership_of(m.relation)
    assert isinstance(owned, Owned)
    keys = [f"k{i}" for i in range(len(m.keys))]
    groups = "".join(f"{key}, " for key in keys)
    columns = [f"{key_sql(k.scalar, m.relation)} AS {name}" for k, name in zip(m.keys, keys, strict=True)]
    columns.append(f"hash({quote(owned.unit)}) % {detail_plan.blocks} AS b")
    columns.append(f"CAST({scalar_sql(blocks.argument, m.relation)} AS DOUBLE) AS d")
    where = "" if blocks.condition is None else f" WHERE {scalar_sql(blocks.condition, m.relation)}"
    read = f"SELECT {', '.join(columns)} FROM ({relation_sql(m.relation)}){where}"
    near_zero = f"abs(d) < {SMALL!r}::DOUBLE"
    clamped = f"CASE WHEN {near_zero} THEN 0::DOUBLE ELSE {clamped_sql('d', -LARGE, LARGE)} END"
    rows = f"SELECT {groups}b, x FROM (SELECT {groups}b, {clamped} AS x FROM ({read})) WHERE x IS NOT NULL"
    extra = "".join(f", {number(value)}" for value in blocks.extra)
    value = f"list_aggregate(list(x ORDER BY x), '{blocks.function}'{extra})"
    return f"SELECT {groups}b, CAST({value} AS DOUBLE) AS v FROM ({rows}) GROUP BY {groups}b"


def _bin(name: str, blocks: Blocks) -> str:
    """Print the bin of a value that lies within the bounds."""
    low, high = number(blocks.low), number(blocks.high)
    place = f"CAST(floor(({name} - {low}) / ({high} - {low}) * {BINS}) AS INTEGER)"
    return f"CASE WHEN {place} > {BINS - 1} THEN {BINS - 1} ELSE {place} END"
