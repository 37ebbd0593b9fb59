"""Blocks of units as SQL: of each group, in which bin of the public grid how many blocks' values lie.

    SELECT keys, bin, count(*) FROM (
        SELECT keys, block, list_aggregate(list(x ORDER BY x), 'skewness') FROM rows GROUP BY keys, block
    ) GROUP BY keys, bin

Claim   removing one unit changes the value of one block of each group it is in, and of no other.
Proof   1. A unit's rows are all in the block that its hash names: equal units have equal hashes (a unit is a
           whole number, a text without collation, or a UUID), and blocks have no number but that.
        2. The value of a block is a function of its own rows: they are sorted by the very numbers that are
           aggregated (equal numbers are alike, there is one zero and no NaN), and a list is aggregated front
           to back, by one thread. Were it aggregated row by row as it comes, other blocks' last digits
           would depend on how threads share the rows, which a removed unit shifts.
        3. The hash is no secret, and need not be: the claim holds for any fixed hash.
Test    grammar_tests/aggregates/samples.sql, tests/privacy/test_samples.py

Nothing fails on what the rows hold: numbers are held within +-1e60, and what is nearer to 0 than 1e-60
is 0, so that no power of them leaves what a DOUBLE holds. A block without a value has no row.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpsql.detail_kinds import Arrays, Group, Reads, Rows
from dpsql.details.blocks.detail import BINS, Blocks
from dpsql.engines.identifiers import quote
from dpsql.engines.measure_sql import carried
from dpsql.engines.number_sql import held, number
from dpsql.engines.relation_sql import key_sql, relation_sql, scalar_sql
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.column import Value
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.table import Masses

LARGE, SMALL = 1e60, 1e-60


def reads(planned: MeasurePlan, each: DetailPlan[Blocks]) -> Reads:
    """One row for every bin that has blocks: the group's keys, the bin, the number of blocks."""
    blocks = each.detail
    keys = [f"k{i}" for i in range(len(planned.keys))]
    groups = "".join(f"{key}, " for key in keys)
    values = values_sql(planned, each)
    kept = f"SELECT {groups}{held('v', blocks.low, blocks.high)} AS c FROM ({values})"
    binned = f"SELECT {groups}{_bin('c', blocks)} AS bin FROM ({kept}) WHERE c IS NOT NULL"
    shown = [carried(column.fact.type, key) for column, key in zip(planned.keys, keys, strict=True)]
    return Reads(
        rows=(f"SELECT {', '.join((*shown, 'bin', 'count(*)'))} FROM ({binned}) GROUP BY {groups}bin",)
    )


def weights(
    planned: MeasurePlan,
    each: DetailPlan[Blocks],
    arrays: Sequence[Arrays],
    rows: Sequence[Rows],
    group: Group,
) -> Masses:
    """The bins of every group in which blocks lie, and how many."""
    found: dict[tuple[Value, ...], list[tuple[int, int]]] = {}
    for row in rows[0]:
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


def values_sql(planned: MeasurePlan, each: DetailPlan[Blocks]) -> str:
    """One row for every block that has rows: the group's keys, its number, its value."""
    m, blocks = planned.measure, each.detail
    owned = ownership_of(m.relation)
    assert isinstance(owned, Owned)
    keys = [f"k{i}" for i in range(len(m.keys))]
    groups = "".join(f"{key}, " for key in keys)
    listed = [f"{key_sql(k.scalar, m.relation)} AS {name}" for k, name in zip(m.keys, keys, strict=True)]
    listed.append(f"hash({quote(owned.unit)}) % {each.blocks} AS b")
    listed.append(f"CAST({scalar_sql(blocks.argument, m.relation)} AS DOUBLE) AS d")
    kept = "" if blocks.condition is None else f" WHERE {scalar_sql(blocks.condition, m.relation)}"
    read = f"SELECT {', '.join(listed)} FROM ({relation_sql(m.relation)}){kept}"
    small = f"abs(d) < {SMALL!r}::DOUBLE"
    usual = f"CASE WHEN {small} THEN 0::DOUBLE ELSE {held('d', -LARGE, LARGE)} END"
    rows = f"SELECT {groups}b, x FROM (SELECT {groups}b, {usual} AS x FROM ({read})) WHERE x IS NOT NULL"
    more = "".join(f", {number(each)}" for each in blocks.extra)
    value = f"list_aggregate(list(x ORDER BY x), '{blocks.function}'{more})"
    return f"SELECT {groups}b, CAST({value} AS DOUBLE) AS v FROM ({rows}) GROUP BY {groups}b"


def _bin(name: str, blocks: Blocks) -> str:
    """The grid's bin of a value that lies within the bounds."""
    low, high = number(blocks.low), number(blocks.high)
    place = f"CAST(floor(({name} - {low}) / ({high} - {low}) * {BINS}) AS INTEGER)"
    return f"CASE WHEN {place} > {BINS - 1} THEN {BINS - 1} ELSE {place} END"
