"""The units that a clip might scale, and the rows of nobody: found once for each version of the data.

    lineitem, groups of (flag, status)    "special 0"    k, u, n, c    the orders of customers of large n

    k, u   the link to the unit, or the unit if the table has its column; and the unit, NULL for nobody
    n      the rows of the unit in the whole table, or the sum of their squares over groups of plain keys
    c      the rows of k

Where special rows are few, the columns that were asked for are copied, with the unit beside them.

Claim   with ``limit`` or less of n, a unit is light, for every query that asks for that limit.
Proof   facts/light_units.py. A table that was made for a lower limit holds more units; those asked for are
        chosen by their n. A row of the relation comes from one row of the scan, so the rows of special units
        there are those made of the scan's special rows: no other scan needs to be cut.
Test    tests/privacy/test_light_units.py, grammar_tests/test_corrected.py

Who is special is an exact private fact. It stays in temporary tables of the engine's own instance, is read by
measures that are paid for, and decides nothing but which of two statements with the same result is run.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from dpsql.engines.corrected_sql import Special, counts_units
from dpsql.engines.identifiers import quote, table_sql
from dpsql.engines.relation_sql import Reading, copied, first_link, key_sql, with_units
from dpsql.engines.unit_values import nullable_sql, there_sql, value_sql
from dpsql.facts.columns_read import columns_read
from dpsql.facts.light_units import RowSource, most_rows, most_squares, plain_keys
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import Columns, Scan, ScanColumn
from dpsql.ir.scalar import Ref

KEPT = 8
"""The most tables of special units that are kept; the one that was used longest ago is dropped."""

_NUMBERS = itertools.count()

_Place = tuple[str, Columns, tuple[str, ...]]


@dataclass(slots=True)
class _Found:
    """A table of special units, and the limit of n that it was made for.

    ``nobody``: there are rows of nobody. ``copy`` has these ``columns`` of the rows of units above ``above``.
    """

    name: str
    limit: int
    nobody: bool
    copy: str = ""
    above: int = 0
    columns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Limits:
    """When rows are summed apart.

    ``least`` is the rows of a table below which sums per unit take less time. What a table has is found out
    when ``before`` measures have read it: finding out takes longer than one measure. ``most`` is the part of
    its rows that may be special, ``distinct`` where units are counted too, since then all rows are grouped
    by unit anyway; ``copied`` is the part up to which the rows are copied.
    """

    least: int = 50_000
    before: int = 1
    most: float = 3 / 4
    distinct: float = 1 / 10
    copied: float = 1 / 4


@dataclass(slots=True)
class SpecialUnits:
    """The special units of one engine's tables. ``run`` runs a statement and fetches its rows."""

    run: Callable[[str], list[tuple[object, ...]]]
    limits: Limits
    _tables: dict[_Place, _Found] = field(default_factory=dict)
    _asked: Counter[_Place] = field(default_factory=Counter)

    def special(self, planned: MeasurePlan, source: RowSource, size: int) -> Special | None:
        """Return the special rows of a table of that size; None if there are too many to be summed apart."""
        scan, squares = source.scan, most_squares(planned)
        keys = () if squares is None else plain_keys(planned, scan)
        place = _place(scan, keys)
        self._asked[place] += 1
        if squares is not None and keys and self._asked[place] > self.limits.before:
            limit = squares // source.fan**2
        else:
            keys, limit = (), most_rows(planned) // source.fan
        found = self._found(scan, keys, limit)
        asked = f"FROM {found.name} WHERE n > {limit}"
        [(rows,)] = self.run(f"SELECT coalesce(sum(c), 0)::BIGINT {asked}")
        assert isinstance(rows, int)
        if rows > (self.limits.distinct if counts_units(planned) else self.limits.most) * size:
            return None
        nobody = f"SELECT k FROM {found.name} WHERE u IS NULL"
        return Special(
            self._units(planned, scan, found, limit, copied=rows <= self.limits.copied * size)
            if rows
            else None,
            Reading(units=False, only=scan, keys=nobody) if found.nobody else None,
        )

    def _units(self, planned: MeasurePlan, scan: Scan, found: _Found, limit: int, *, copied: bool) -> Reading:
        """Return how the rows of units above the limit are read."""
        if not copied:
            return Reading(only=scan, keys=f"SELECT k FROM {found.name} WHERE n > {limit}")
        columns = columns_read(planned.measure, scan)
        self._copy(scan, found, limit, {column.source for column in columns})
        read = f"SELECT * FROM {found.copy} WHERE n > {limit}"
        return Reading(only=scan, copy=read, columns=columns)

    def _copy(self, scan: Scan, found: _Found, limit: int, names: set[str]) -> None:
        """Copy these columns of the rows of units above the limit, unless they are there."""
        if found.copy and found.above <= limit and names <= set(found.columns):
            return
        if found.copy:
            names, limit = names | set(found.columns), min(limit, found.above)
            before, found.copy = found.copy, ""  # an interrupted statement leaves nothing that is not there
            self.run(f"DROP TABLE {before}")
        name, columns = f'temp.main."rows {next(_NUMBERS)}"', tuple(sorted(names))
        listed = "".join(f", t.{quote(column)} AS {copied(column)}" for column in columns)
        heavy = f"(FROM {found.name} WHERE n > {limit}) AS h"
        near = nullable_sql(first_link(scan), "t")
        rows = f"{table_sql(scan.table)} AS t JOIN {heavy} ON {near} = h.k"
        self.run(f"CREATE TEMP TABLE {name} AS SELECT h.u, h.n{listed} FROM {rows}")
        found.copy, found.above, found.columns = name, limit, columns

    def _found(self, scan: Scan, keys: tuple[ScanColumn, ...], limit: int) -> _Found:
        """Return the table of units whose n is above the limit, and perhaps more."""
        place = _place(scan, keys)
        found = self._tables.pop(place, None)
        if found is not None and found.limit > limit:
            self._drop(found)
            found = None
        if found is None:
            name = f'temp.main."special {next(_NUMBERS)}"'
            self.run(f"CREATE TEMP TABLE {name} AS {found_sql(scan, keys, limit)}")
            [(nobody,)] = self.run(f"SELECT count(*) FROM {name} WHERE u IS NULL")
            found = _Found(name, limit, bool(nobody))
        self._tables[place] = found
        while len(self._tables) > KEPT:
            self._drop(self._tables.pop(next(iter(self._tables))))
        return found

    def forget(self) -> None:
        """Drop all tables."""
        while self._tables:
            self._drop(self._tables.popitem()[1])

    def _drop(self, found: _Found) -> None:
        for name in filter(None, (found.copy, found.name)):
            self.run(f"DROP TABLE {name}")


def _place(scan: Scan, keys: tuple[ScanColumn, ...]) -> _Place:
    return scan.table, first_link(scan), tuple(column.source for column in keys)


def found_sql(scan: Scan, keys: tuple[ScanColumn, ...], limit: int) -> str:
    """Return the SELECT of links with their unit's n, of units above a limit and of nobody."""
    assert scan.owner is not None
    link, names = first_link(scan), [f"p{i}" for i in range(len(keys))]
    columns = tuple(replace(key, name=f"x{i}") for i, key in enumerate(keys))
    read = "".join(f", t.{quote(column.source)} AS {column.name}" for column in columns)
    near = f"SELECT {value_sql(link, 't')} AS k{read}"
    rows = f"{near} FROM {table_sql(scan.table)} AS t WHERE {there_sql(link, 't')}"
    alone = replace(scan, columns=columns, owner=None, size=0, keys=(), checks=(), tied=())
    printed = [
        f"{key_sql(Ref(column.name), alone)} AS {name}" for column, name in zip(columns, names, strict=True)
    ]
    grouped = f"SELECT {', '.join(['k', *printed])} FROM ({rows})"
    counted = f"SELECT {', '.join(['k', *names])}, count(*) AS c FROM ({grouped}) GROUP BY ALL"
    total = "sum(c * c::HUGEINT)" if keys else "sum(c)"
    if not scan.owner.links:
        units = f"SELECT k, k AS u, {total} AS n, sum(c) AS c FROM ({counted}) GROUP BY k"
        return f"SELECT * FROM ({units}) WHERE n > {limit}"
    joined, unit = with_units("n", scan)
    owned = f"SELECT r.*, {unit} AS u FROM {joined}"
    by = ", ".join(["u", *names])
    groups = f"SELECT {by}, sum(c) AS c FROM o WHERE u IS NOT NULL GROUP BY {by}"
    units = f"SELECT u, {total} AS n FROM ({groups}) GROUP BY u"
    heavy = f"SELECT u, n FROM ({units}) WHERE n > {limit}"
    return (
        f"WITH n AS MATERIALIZED ({counted}), o AS MATERIALIZED ({owned}), h AS MATERIALIZED ({heavy}) "
        "SELECT k, u, n, sum(c) AS c FROM (SELECT o.k, o.u, o.c, h.n FROM o JOIN h ON o.u = h.u) "
        "GROUP BY k, u, n UNION ALL SELECT k, u, NULL, sum(c) FROM o WHERE u IS NULL GROUP BY k, u"
    )
