"""The SELECTs that find special units: those of many rows, and those with several rows of a group.

    lineitem, groups of (flag, status)    heavy_sql       the customers of many rows
                                          found_sql       their orders
    lineitem, groups of suppkey           repeated_sql    the orders of customers with two lines of a supplier

All of them read links k to the unit, group keys p0, p1, ... as a measure groups by them, and the unit u.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace

from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.identifiers import quote
from dpsql.engines.relation_sql import Reading, first_link, key_sql, relation_sql, twofold, with_units
from dpsql.engines.unit_totals import Light
from dpsql.engines.unit_values import there_sql, value_sql
from dpsql.errors import DatabaseError
from dpsql.facts.light_units import Among, row_conditions
from dpsql.facts.schema import facts_of
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import Columns, Scan, ScanColumn
from dpsql.ir.scalar import Ref
from dpsql.lazy_dataclass import dataclass

LONGEST = 30_000
"""The longest SELECT of public rows that is a condition: a thousand texts of conditions are kept, 30 MB."""


def conditions_sql(planned: MeasurePlan, scan: Scan, dialect: Dialect = DUCKDB) -> str:
    """Print the conditions that a query's rows t of the scan meet; '' if there are none."""
    assert scan.owner is not None
    if scan.owner.composite or scan.owner.widened:
        return ""  # a scalar means what its facts say of columns as they are stored: these may be cast
    lookup, dialect = facts_of(scan).lookup, dialect.anew()
    columns = {column.name: f"t.{quote(column.source)}" for column in scan.columns}
    printed = []
    for each in row_conditions(planned.measure.relation, scan):
        if not isinstance(each, Among):
            with suppress(DatabaseError):  # vetted only where more is known of the column: it is left out
                printed.append(dialect.scalar(each, lookup, columns.__getitem__))
            continue
        rows = dialect.subquery(relation_sql(each.rows, Reading(dialect=dialect)))
        listed = f"SELECT {quote(each.listed)} FROM {rows}"
        if len(listed) <= LONGEST:
            printed.append(f"{columns[each.column]} IN ({listed})")
    return " AND ".join(f"({each})" for each in printed)


def meeting_sql(table: str, where: str, dialect: Dialect = DUCKDB) -> str:
    """Print the rows t of a table that meet a condition, from FROM on, open for more of WHERE.

    The table stands in a SELECT of its own: DuckDB tests a condition that stands beside it on the least and
    the largest value, when it plans, which fails where a function fails on one of them, whatever guards it.
    This keeps the first engine from it. The second one plans with statistics, and gets ``known_calls`` alone.
    """
    return f"(SELECT t.* FROM {dialect.table(table)} AS t) AS t WHERE {where}"


def keyed_rows_sql(
    scan: Scan, keys: tuple[ScanColumn, ...], names: list[str], where: str, dialect: Dialect = DUCKDB
) -> str:
    """Return the SELECT of links k, and of keys as those of groups, of rows t that meet a condition."""
    link = first_link(scan)
    columns = tuple(replace(key, name=f"x{i}") for i, key in enumerate(keys))
    read = "".join(f", t.{quote(column.source)} AS {column.name}" for column in columns)
    near = f"SELECT {value_sql(link, 't')} AS k{read}"
    there = there_sql(link, "t")
    rows = f"{near} FROM {dialect.table(scan.table)} AS t WHERE {there}"
    if where:
        rows = f"{near} FROM {meeting_sql(scan.table, where, dialect)} AND {there}"
    alone = replace(scan, columns=columns, owner=None, size=0, keys=(), checks=(), tied=())
    printed = [
        f"{key_sql(Ref(column.name), alone, dialect)} AS {name}"
        for column, name in zip(columns, names, strict=True)
    ]
    return f"SELECT {', '.join(['k', *printed])} FROM {dialect.subquery(rows)}"


@dataclass(frozen=True, slots=True)
class Counted:
    """The rows of a scan that are counted, each so many ``times``, in groups of ``keys``.

    Rows that do not meet the condition ``where`` of a row t are not counted. With ``light``, a condition on
    totals, units that do not meet it have an n of 1 (unit_totals.py).
    """

    scan: Scan
    keys: tuple[ScanColumn, ...] = ()
    where: str = ""
    times: int = 1
    light: Light | None = None

    @property
    def place(self) -> tuple[str, Columns, tuple[str, ...], str, int, Light | None]:
        """What tells it from others."""
        keys = tuple(column.source for column in self.keys)
        return self.scan.table, first_link(self.scan), keys, self.where, self.times, self.light


def heavy_sql(counted: Sequence[Counted], limit: int, dialect: Dialect = DUCKDB) -> str:
    """Return the SELECT of units u of n above a limit, with their rows c; u is NULL if rows are of nobody.

    Rows are joined along the path to the unit before they are counted: there are far fewer units than links,
    so this takes less memory.
    """
    names = [f"p{i}" for i in range(len(counted[0].keys))]
    by, below = ", ".join(["u", *names]), dialect.subquery
    total, listed = "count(*) AS n, count(*) AS c", []
    if names or len(counted) > 1:
        total = f"sum(n * {dialect.wide('n')}) AS n, sum(c) AS c" if names else "sum(n) AS n, sum(c) AS c"
    for each in counted:
        rows = below(_owned_sql(each.scan, each.keys, names, each.where, dialect))
        times = f"count(*) * {dialect.wide(str(each.times))}" if each.times != 1 else "count(*)"
        grouped = f"SELECT {by}, {times} AS n, count(*) AS c FROM {rows} GROUP BY {by}"
        listed.append(below(grouped) if names or len(counted) > 1 else rows)
    [groups, *more] = listed
    if more:
        groups = below(" UNION ALL ".join(f"SELECT * FROM {each}" for each in listed))
        if names:
            groups = below(f"SELECT {by}, sum(n) AS n, sum(c) AS c FROM {groups} GROUP BY {by}")
    units = f"SELECT u, {total} FROM {groups} GROUP BY u"
    return f"SELECT * FROM {below(units)} WHERE n > {limit} OR u IS NULL"


def found_sql(counted: Counted, heavy: str, nobody: bool, dialect: Dialect = DUCKDB) -> str:
    """Return the SELECT of the links k of ``heavy`` units, and of ``nobody``, n being NULL; c are their rows.

    Three tables are joined at least, so that DuckDB reads each of them ``twofold``.
    """
    scan, where = counted.scan, counted.where
    assert scan.owner is not None
    if not scan.owner.links:
        return f"SELECT u AS k, u, n, c FROM {heavy} AS h"
    read = twofold if dialect is DUCKDB else str
    owned = _owned_sql(scan, (), [], where, dialect, read)
    special = f"SELECT o.k, h.u, h.n FROM ({owned}) AS o JOIN {read(heavy)} AS h ON o.u = h.u"
    listed = f"SELECT k, u, n, count(*) AS c FROM {dialect.subquery(special)} GROUP BY k, u, n"
    if not nobody:
        return listed
    missing = f"SELECT k, u, NULL, count(*) FROM ({owned}) AS o WHERE u IS NULL GROUP BY k, u"
    return f"{listed} UNION ALL {missing}"


def narrowed_sql(counted: Counted, links: str, rows: int, limit: int, dialect: Dialect = DUCKDB) -> str:
    """Return the SELECT of ``heavy_sql`` among units of more than so many ``rows``, of whom there are links.

    Their rows alone are read, and no path to the unit.
    """
    names = [f"p{i}" for i in range(len(counted.keys))]
    by, below = ", ".join(["u", *names]), dialect.subquery
    keyed = keyed_rows_sql(counted.scan, counted.keys, names, counted.where, dialect)
    owned = f"SELECT {', '.join(['h.u', *(f'r.{name}' for name in names)])} FROM ({keyed}) AS r"
    owned += f" JOIN (SELECT k, u FROM {links} AS f WHERE n > {rows}) AS h ON r.k = h.k"
    grouped = f"SELECT {by}, count(*) AS n FROM {below(owned)} GROUP BY {by}"
    squared = f"n * {dialect.wide('n')}" if names else "n"
    units = f"SELECT u, sum({squared}) AS n, sum(n) AS c FROM {below(grouped)} GROUP BY u"
    nobody = f"SELECT u, n, c FROM {links} AS f WHERE u IS NULL"
    return f"SELECT * FROM {below(units)} WHERE n > {limit} UNION ALL {nobody}"


def narrowed_links_sql(heavy: str, links: str) -> str:
    """Return the SELECT of ``found_sql``, where ``links`` has those of ``heavy``; c are all of their rows."""
    special = f"SELECT l.k, l.u, h.n, l.c FROM {links} AS l JOIN {heavy} AS h ON l.u = h.u"
    return f"{special} UNION ALL SELECT k, u, n, c FROM {links} AS l WHERE u IS NULL"


def sampled_sql(scan: Scan, keys: tuple[ScanColumn, ...], where: str, part: int) -> str:
    """Return the SELECT of the rows of units with several rows of a group, of one unit in ``part``."""
    names = [f"p{i}" for i in range(len(keys))]
    by = ", ".join(["u", *names])
    owned = f"u IS NOT NULL AND hash(u) % {part} = 0"
    rows = f"({_owned_sql(scan, keys, names, where)}) WHERE {owned}"
    groups = f"SELECT {by}, count(*) AS c FROM {rows} GROUP BY {by}"
    units = f"SELECT sum(c) AS c FROM ({groups}) GROUP BY u HAVING max(c) > 1"
    return f"SELECT CAST(coalesce(sum(c), 0) AS BIGINT) FROM ({units})"


def repeated_sql(scan: Scan, keys: tuple[ScanColumn, ...], where: str, most: int) -> str:
    """Return the SELECT of links of units that have several rows of a group, with their rows c, and n of 1.

    It returns ``most`` of them at most.
    """
    names = [f"p{i}" for i in range(len(keys))]
    by = ", ".join(["u", *names])
    rows = f"o AS NOT MATERIALIZED ({_owned_sql(scan, keys, names, where)})"
    units = f"SELECT u FROM o WHERE u IS NOT NULL GROUP BY {by} HAVING count(*) > 1"
    listed = f"SELECT k, u, 1 AS n, count(*) AS c FROM o WHERE u IN ({units}) GROUP BY k, u LIMIT {most}"
    return f"WITH {rows} {listed}"


def _owned_sql(
    scan: Scan,
    keys: tuple[ScanColumn, ...],
    names: list[str],
    where: str,
    dialect: Dialect = DUCKDB,
    read: Callable[[str], str] | None = None,
) -> str:
    """Return the SELECT of links and keys with the unit."""
    rows = keyed_rows_sql(scan, keys, names, where, dialect)
    assert scan.owner is not None
    if not scan.owner.links:
        return f"SELECT *, k AS u FROM {dialect.subquery(rows)}"
    joined, unit = with_units(f"({rows})", scan, dialect, read)
    return f"SELECT r.*, {unit} AS u FROM {joined}"
