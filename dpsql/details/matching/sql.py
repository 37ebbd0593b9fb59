"""The pairs of unit and value of a matching as SQL, and the number of claimed values by group.

    SELECT DISTINCT unit, number of the group, hash of group and value

A value is identified by a 64-bit hash of group and value. Two values with one hash are counted once: that
happens to one pair of values in 2^64, and does not depend on the units.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.detail_kinds import Arrays, Group, Reads, Rows
from dpsql.details.matching.detail import Matching
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.identifiers import quote
from dpsql.engines.measure_sql import inside
from dpsql.engines.relation_sql import Reading, key_sql, relation_sql, scalar_sql, type_in
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.plan import DetailPlan, MeasurePlan
from dpsql.ir.scalar import Ref
from dpsql.ir.table import Masses
from dpsql.late_numpy import np
from dpsql.mechanisms.matching import claimed

_PLAIN = frozenset("TINYINT SMALLINT INTEGER BIGINT UTINYINT USMALLINT UINTEGER".split())
"""Units of these types are 64-bit numbers already; other units are numbered in their order."""


def reads(planned: MeasurePlan, detail_plan: DetailPlan[Matching], dialect: Dialect = DUCKDB) -> Reads:
    """Return the SELECT of the pairs, and if there are keys also the SELECT of the groups, in order."""
    m, detail, below = planned.measure, detail_plan.detail, dialect.subquery
    reading = Reading(dialect=dialect)
    owned = ownership_of(m.relation)
    assert isinstance(owned, Owned)
    keys = [f"k{i}" for i in range(len(m.keys))]
    columns = [f"{quote(owned.unit)} AS u"]
    columns += [
        f"{key_sql(key.scalar, m.relation, dialect)} AS {name}"
        for key, name in zip(m.keys, keys, strict=True)
    ]
    columns.append(f"{key_sql(detail.argument, m.relation, dialect)} AS x")
    where = ["x IS NOT NULL", *inside(planned, keys, dialect=dialect)]
    if detail.condition is not None:
        columns.append(f"{scalar_sql(detail.condition, m.relation, reading)} AS c")
        where.insert(0, "c")
    rows = f"SELECT {', '.join(columns)} FROM {below(relation_sql(m.relation, reading))}"
    rows = f"SELECT * FROM {below(rows)} WHERE {' AND '.join(where)}"
    among, value = ", ".join(keys), dialect.hashed([*keys, "x"])
    read = f"SELECT DISTINCT {', '.join(['u', *keys])}, {value} AS v FROM {below(rows)}"
    numbered, unit = "", "r.u"
    if type_in(Ref(owned.unit), m.relation).type.sql not in _PLAIN:
        units = below("SELECT DISTINCT u FROM r")
        numbered = f", h AS (SELECT u, row_number() OVER (ORDER BY u) AS n FROM {units})"
        unit = "h.n"
    joined = " JOIN h ON r.u = h.u" if numbered else ""
    unit = f"CAST({unit} AS BIGINT) AS u"
    if not keys and not numbered:
        return Reads((f"SELECT {unit}, r.v FROM ({read}) AS r",))
    if not keys:
        return Reads((f"WITH {dialect.kept('r', read)}{numbered} SELECT {unit}, r.v FROM r{joined}",))
    shown = [dialect.carried(key, column.fact.type) for column, key in zip(planned.keys, keys, strict=True)]
    distinct = below(f"SELECT DISTINCT {among} FROM {below(rows)}")
    if dialect is not DUCKDB:  # a join of NULL with NULL compares all pairs there
        ranked = f"SELECT {unit}, dense_rank() OVER (ORDER BY {among}) AS g, r.v FROM r{joined}"
        read = f"WITH {dialect.kept('r', read)}{numbered} {ranked}"
        return Reads((read,), (f"SELECT {', '.join(shown)} FROM {distinct} ORDER BY {among}",))
    groups = (
        f"SELECT {among}, row_number() OVER (ORDER BY {among}) AS g FROM (SELECT DISTINCT {among} FROM r)"
    )
    same = " AND ".join(f"r.{key} IS NOT DISTINCT FROM n.{key}" for key in keys)
    pairs = f"SELECT {unit}, n.g, r.v FROM r{joined} JOIN n ON {same}"
    return Reads(
        (f"WITH {dialect.kept('r', read)}{numbered}, n AS ({groups}) {pairs}",),
        (f"SELECT {', '.join(shown)} FROM {distinct} ORDER BY {among}",),
    )


def weights(
    planned: MeasurePlan,
    detail_plan: DetailPlan[Matching],
    arrays: Sequence[Arrays],
    rows: Sequence[Rows],
    group: Group,
) -> Masses:
    """Return the number of claimed values of each group, at place 0."""
    (pairs,) = arrays
    numbers = pairs["g"] if rows else np.ones(len(pairs["u"]), dtype=np.int64)
    places = claimed(pairs["u"], pairs["v"], numbers, detail_plan.detail.most)
    groups = [group(row) for row in rows[0]] if rows else [()]
    counts = np.bincount(numbers[places], minlength=len(groups) + 1)[1:]
    first = np.zeros(1, dtype=np.int64)
    return {keys: (first, counts[i : i + 1]) for i, keys in enumerate(groups) if counts[i]}
