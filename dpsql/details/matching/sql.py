"""The pairs of unit and value of a matching as SQL, and the number of claimed values by group.

    r    SELECT DISTINCT unit, group, hash of group and value
    h    the units that have more of these pairs than they may claim
    l    the values of all other units, which claim what they have: counted for each group
         the pairs of h whose value is not in l: a few of many

Claim   what is counted of l, and what ``claimed`` finds among the ``heavy`` pairs, is what it claims of all.
Proof   There, light units come first and claim all that they have: l. The others claim in the order of their
        numbers among the values that are left, so no pair that is left out here matters. Who is light is told
        by all pairs of a unit, also where few of them are left. A unit's number here is its rank in h, where
        units are in the order of their numbers there.
Test    tests/privacy/test_matching.py

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
    if dialect is DUCKDB:
        pairs = _pairs_of_heavy(read, keys, detail.most)
    else:
        pairs = _all_pairs(read, among, type_in(Ref(owned.unit), m.relation).type.sql in _PLAIN, dialect)
    if not keys:
        return Reads((pairs,))
    shown = [dialect.carried(key, column.fact.type) for column, key in zip(planned.keys, keys, strict=True)]
    distinct = below(f"SELECT DISTINCT {among} FROM {below(rows)}")
    return Reads((pairs,), (f"SELECT {', '.join(shown)} FROM {distinct} ORDER BY {among}",))


def _pairs_of_heavy(read: str, keys: Sequence[str], most: int) -> str:
    """Print the pairs of units of more than ``most`` whose value no other has; c others are counted."""
    among = ", ".join(keys)
    many = f"SELECT u FROM r GROUP BY u HAVING count(*) > {most}"
    ctes = [
        DUCKDB.kept("r", read),
        DUCKDB.kept("h", f"SELECT u, row_number() OVER (ORDER BY u) AS n FROM ({many})"),
        DUCKDB.kept("l", f"SELECT DISTINCT {', '.join([*keys, 'v'])} FROM r ANTI JOIN h ON r.u = h.u"),
    ]
    number, group, by, taken = "", "", "", "l.v = r.v"
    if keys:
        groups = f"SELECT DISTINCT {among} FROM r"
        ctes.append(f"n AS (SELECT {among}, row_number() OVER (ORDER BY {among}) AS g FROM ({groups}))")
        number, by = "n.g, ", " GROUP BY n.g"
        same = " AND ".join(f"{{0}}.{key} IS NOT DISTINCT FROM {{1}}.{key}" for key in keys)
        group, taken = f" JOIN n ON {same}", f"{taken} AND {same.format('l', 'r')}"
    light = f"SELECT 0 AS u, {number}0::UBIGINT AS v, count(*) AS c FROM l{group.format('l', 'n')}{by}"
    others = f"SELECT r.*, h.n AS i FROM r JOIN h ON r.u = h.u ANTI JOIN l ON {taken}"
    heavy = f"SELECT r.i AS u, {number}r.v, 0 AS c FROM ({others}) AS r{group.format('r', 'n')}"
    return f"WITH {', '.join(ctes)} {light} UNION ALL {heavy}"


def _all_pairs(read: str, among: str, numbers: bool, dialect: Dialect) -> str:
    """Print all pairs; units that are no ``numbers`` are numbered in their order."""
    numbered, unit, joined = "", "r.u", ""
    if not numbers:
        units = dialect.subquery("SELECT DISTINCT u FROM r")
        numbered = f", h AS (SELECT u, row_number() OVER (ORDER BY u) AS n FROM {units})"
        unit, joined = "h.n", " JOIN h ON r.u = h.u"
    unit = f"CAST({unit} AS BIGINT) AS u"
    if not among and numbers:
        return f"SELECT {unit}, r.v FROM ({read}) AS r"
    # a join of NULL with NULL compares all pairs there
    ranked = f"dense_rank() OVER (ORDER BY {among}) AS g, " if among else ""
    return f"WITH {dialect.kept('r', read)}{numbered} SELECT {unit}, {ranked}r.v FROM r{joined}"


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
    groups = [group(row) for row in rows[0]] if rows else [()]
    counts = np.zeros(len(groups) + 1, dtype=np.int64)
    units, values, heavy = pairs["u"], pairs["v"], "c" in pairs
    if heavy:
        np.add.at(counts, numbers, pairs["c"])
        units, values, numbers = (each[pairs["u"] > 0] for each in (units, values, numbers))
    places = claimed(units, values, numbers, detail_plan.detail.most, heavy)
    counts += np.bincount(numbers[places], minlength=len(counts))
    counts = counts[1:]
    first = np.zeros(1, dtype=np.int64)
    return {keys: (first, counts[i : i + 1]) for i, keys in enumerate(groups) if counts[i]}
