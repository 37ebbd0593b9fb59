"""Clipped weights as SQL: of each group the places where its rows lie, and the weight there.

    SELECT ward, list(weight * 2^17 + bin) FROM (... clamp(age) - 0 AS bin ...) GROUP BY ward

A unit of m rows has the weight least(1, M / m) for each, in whole steps: m counts exactly the rows that are
weighed, over all groups. Where M rows are all that a unit can have, they are simply counted. The engine hands
over lists of rows, which takes a fraction of the time of grouping by places; plain MEDIAN holds them too.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from dpsql.detail_kinds import Arrays, Group
from dpsql.engines.identifiers import TEXTED, quote
from dpsql.engines.measure_sql import inside, read_twice
from dpsql.engines.relation_sql import key_sql, relation_sql, scalar_sql
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.column import Kind, Type
from dpsql.ir.detail import Detail
from dpsql.ir.grid import MOST_BINS
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.scalar import Scalar
from dpsql.ir.table import Masses

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Integers: TypeAlias = "NDArray[np.int64]"

_SHIFT = MOST_BINS.bit_length() - 1


def histogram_sql(
    planned: MeasurePlan, each: DetailPlan[Detail], argument: Scalar, condition: Scalar | None, place: str
) -> str:
    """One row per group: its keys, and of each row of it the place and the weight, together one number.

    ``place`` is the SQL of a value's place, as an INTEGER, where the value is called x.
    """
    m = planned.measure
    owned = ownership_of(m.relation)
    assert isinstance(owned, Owned)
    keys = [f"k{i}" for i in range(len(m.keys))]
    proved = owned.at_most is not None and owned.at_most <= each.rows
    listed = [] if proved else [f"{quote(owned.unit)} AS u"]
    listed += [f"{key_sql(key.scalar, m.relation)} AS {name}" for key, name in zip(m.keys, keys, strict=True)]
    listed.append(f"{scalar_sql(argument, m.relation)} AS x")
    if condition is not None:
        listed.append(f"{scalar_sql(condition, m.relation)} AS c")
        place = f"CASE WHEN c THEN {place} END"
    inner = ", ".join([*([] if proved else ["u"]), *keys, f"{place} AS b"])
    rows = f"SELECT {inner} FROM (SELECT {', '.join(listed)} FROM ({relation_sql(m.relation)}))"
    rows = f"SELECT * FROM ({rows}) WHERE b IS NOT NULL"
    shown = [_plain(column.fact.type, key) for column, key in zip(planned.keys, keys, strict=True)]
    tail = f" GROUP BY {', '.join(keys)}" if keys else ""
    groups = [f"CASE WHEN count(*) > 0 THEN {each} END" for each in inside(planned, keys)]
    tail += f" HAVING {' AND '.join(groups)}" if groups else ""  # asked of groups, not of every row
    if proved:
        return f"SELECT {', '.join([*shown, 'list(b) AS places'])} FROM ({rows}){tail}"
    full = each.sensitivity // each.rows
    weight = f"CASE WHEN count(*) > {each.rows} THEN {each.sensitivity} // count(*) ELSE {full} END"
    with_ = (
        f"WITH {read_twice(planned, rows)}, h AS (SELECT u, CAST({weight} AS BIGINT) AS w FROM r GROUP BY u)"
    )
    places = f"list(CAST(h.w * {MOST_BINS} + r.b AS BIGINT)) AS places"
    return f"{with_} SELECT {', '.join([*shown, places])} FROM r JOIN h ON r.u = h.u{tail}"


def _plain(key: Type, name: str) -> str:
    """A key as the driver hands it over in an array without loss; text where it cannot."""
    return f"CAST({name} AS VARCHAR) AS {name}" if _texted(key) else name


def _texted(key: Type) -> bool:
    return key.kind in TEXTED or key.kind in (Kind.TEXT, Kind.DECIMAL) or key.sql in ("HUGEINT", "UHUGEINT")


def histogram(planned: MeasurePlan, each: DetailPlan[Detail], fetched: Arrays, group: Group) -> Masses:
    """The filled places of every group."""
    full = each.sensitivity // each.rows
    keys = [_values(fetched[f"k{i}"], column.fact.type) for i, column in enumerate(planned.keys)]
    found: Masses = {}
    empty = np.ma.getmaskarray(fetched["places"])  # without keys there is a row even of nothing
    for i, places in enumerate(np.ma.getdata(fetched["places"])):
        if not empty[i]:
            found[group([key[i] for key in keys])] = _weighed(np.ma.getdata(places), full)
    return found


def _values(fetched: NDArray[Any], key: Type) -> list[object]:
    """Fetched keys as Python's values; NULL where they are masked."""
    values: list[object] = [
        None if hidden else value
        for value, hidden in zip(np.ma.getdata(fetched).tolist(), np.ma.getmaskarray(fetched), strict=True)
    ]
    if not _texted(key) or key.kind not in (Kind.DECIMAL, Kind.INTEGER):
        return values
    read = Decimal if key.kind is Kind.DECIMAL else int
    return [None if value is None else read(str(value)) for value in values]


def _weighed(places: Integers, full: int) -> tuple[Integers, Integers]:
    """The bins of a group's rows, each once, and their weight: ``full`` where the rows carry none."""
    weightless = places.dtype == np.int32
    bins = places if weightless else places & (MOST_BINS - 1)
    if len(bins) < MOST_BINS // 16:
        found, bins = np.unique(bins, return_inverse=True)
    else:
        found = np.arange(int(bins.max()) + 1)
    if weightless:
        totals = np.bincount(bins, minlength=len(found)) * full
    else:  # sums of floats are exact below 2^53, which so many rows do not reach
        totals = np.bincount(bins, places >> _SHIFT, len(found)).astype(np.int64)
    filled = np.flatnonzero(totals)
    return found[filled].astype(np.int64), totals[filled].astype(np.int64)
