"""The units that a clip might scale, and the rows of nobody: found once for each version of the data.

    lineitem, groups of (flag, status)    "special 0"    u, n, c       customers of large n
                                          "special 1"    k, u, n, c    their orders

    k, u   the link to the unit, or the unit if the table has its column; and the unit, NULL for nobody
    n      the rows of the unit in the whole table, or the sum of their squares over groups of plain keys
    c      the rows of u, or of k

Where they are not too many, the rows of special units are copied, with the columns that were asked for
(row_copies.py).

Claim   with ``limit`` or less of n, a unit is light, for every query that asks for that limit.
Proof   facts/light_units.py. A table that was made for a lower limit holds more units; those asked for are
        chosen by their n. A row of the relation comes from one row of the scan, so the rows of special units
        there are those made of the scan's special rows: no other scan needs to be cut.
Claim   of units that are not light by their rows, those of n above its own limit are all that are not light,
        where n counts rows by group, or under conditions, or says what totals show (unit_totals.py).
Proof   Each limit proves by itself that a unit is light. Who has many rows was found for that limit of rows,
        or a lower one; a table that was made among units of more rows than are asked for is made anew.
Claim   counted under conditions that all rows of the relation meet, n is enough, and the rows of special
        units that meet them are all that the relation reads of these units.
Proof   facts/light_units.py: ``row_conditions``.
Test    tests/privacy/test_light_units.py, grammar_tests/test_corrected.py

Who is special is an exact private fact. It stays in temporary tables of the engine's own instance, is read by
measures that are paid for, and decides nothing but which of two statements with the same result is run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from dataclasses import field, replace
from typing import NamedTuple, TypeAlias

from dpsql.engines.corrected_sql import Special, counts_units
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.identifiers import quote
from dpsql.engines.measure_sql import sums_are_rows
from dpsql.engines.relation_sql import Reading, first_link
from dpsql.engines.row_copies import (
    Copied,
    Copy,
    Needed,
    are_short,
    bytes_of,
    copy_name,
    copy_sql,
)
from dpsql.engines.row_counts import RowCounts
from dpsql.engines.special_units_sql import (
    Counted,
    conditions_sql,
    found_sql,
    heavy_sql,
    narrowed_links_sql,
    narrowed_sql,
)
from dpsql.engines.temporary_tables import NamedTables, TemporaryTables, dropped_if_stopped
from dpsql.engines.unit_totals import ANSWERS, UnitTotals
from dpsql.engines.unit_values import nullable_sql
from dpsql.facts.light_units import (
    RowSource,
    beside,
    keys_of_several,
    most_rows,
    most_squares,
    plain_keys,
)
from dpsql.ir.column import BIGINT
from dpsql.ir.not_shown import NotShown
from dpsql.ir.plan import MeasurePlan, PublicKeys
from dpsql.ir.relation import Scan
from dpsql.lazy_dataclass import dataclass

KEPT = 8
"""The most tables of special units that are kept; the one that was used longest ago is dropped."""

_MOST_FAN = 2**20
"""The most rows that one of several tables' rows may make: squares of 2^40 times as many fit 128 bits."""

_Place = tuple[Hashable, ...]

_Limited: TypeAlias = tuple[Sequence[Counted], int]
"""What is counted, and the most of it that a light unit has."""


@dataclass(slots=True, repr=False)
class _Found(NotShown):
    """A table of special ``units``, and the limit of n that it was made for; ``nobody``: and rows of nobody.

    ``links`` are the tables of their links, by what was counted, where they were asked for. Rows that do not
    meet the condition ``where`` are not counted; units of so many rows of the table, or fewer, are not looked
    at ``among`` those who have more. There may be ``too_many`` to be copied. The ``copy`` was
    made for what was ``asked``.
    """

    units: str
    limit: int
    nobody: bool
    where: str = ""
    among: int = 0
    links: dict[_Place, str] = field(default_factory=dict)
    copy: Copy | None = None
    asked: Hashable = None
    too_many: bool = False
    above: dict[int, tuple[int, int]] = field(default_factory=dict)  # limits: the rows and units above


class _Those(NamedTuple):
    """The units whose n is above the limit, as they were counted, with their rows."""

    counted: Sequence[Counted]
    limit: int
    found: _Found
    rows: int
    units: int

    def __repr__(self) -> str:
        return "_Those(not shown)"


@dataclass(frozen=True, slots=True)
class Limits:
    """When rows are summed apart: parts are of a table's rows, times are of measures that asked before."""

    least: int = 50_000
    """Rows below which sums per unit take less time."""

    before: int = 1
    """Measures of a table before it is found out who is special, which takes longer than one measure."""

    unselective: float = 1 / 2
    """The part of a table that a first measure by groups reads, so that finding out takes less time."""

    keys: int = 1
    """Times that group keys are asked for before rows are counted by group, so that fewer may be special."""

    conditions: int = 1
    """Times that conditions are asked for before rows that they leave out are not counted, where too many are
    special under any."""

    fewer: int = 1
    """The same where they are not too many: counting makes them fewer, in about the time of a measure."""

    totals: int = 1
    """Times that totals are asked for before they tell who is special."""

    met: float = 1 / 2
    """The part of the rows that may meet conditions which are counted to make special rows fewer."""

    few: float = 1 / 100
    """The part that may be special under any conditions."""

    most: float = 3 / 4
    """The part that may be special, else each unit is summed."""

    weighed: float = 1 / 2
    """The same where rows are weighed in bins, not summed (histogram_sql.py)."""

    distinct: float = 1 / 10
    """The same where units are counted, since then all rows are grouped by unit; but for public keys, where
    rows are copied with ranks and codes alone."""

    by_unit: bool = True
    """Whether each unit is summed where units of private groups are counted and some units are special."""

    copied: float = 3 / 4
    """The part up to which special rows are copied."""

    long: float = 1 / 4
    """The same where the copy has units as they are, which take longer to read than in the table."""

    at_once: float = 1 / 10
    """The part up to which they are copied at once; to copy more takes longer than a measure."""

    copies: int = 1
    """Times that columns are asked for before more rows are copied."""

    bytes: int = 2**28
    """What all copies take, about."""

    repeated: float = 1 / 50
    """The part of the rows that are read which units with several of a group may have (repeated_units.py)."""

    unrepeated: int = 1
    """Times that keys and conditions are asked for before these units are found."""


EVERYTHING = Limits(
    least=0,
    before=0,
    keys=0,
    conditions=0,
    fewer=0,
    totals=0,
    met=1,
    most=1,
    weighed=1,
    distinct=1,
    by_unit=False,
    copies=0,
    repeated=100,
    unrepeated=0,
)
"""All rows are summed apart, of the smallest table at once: to compare sums, not to be fast."""


class Asked:
    """How often places were asked for: to find out takes as long as to answer, and is not done for one."""

    def __init__(self) -> None:
        self._times: Counter[Hashable] = Counter()

    def again(self, place: Hashable, before: int) -> bool:
        """Note that a place is asked for; return whether it was asked for so often before."""
        if len(self._times) > ANSWERS:
            self._times.clear()
        self._times[place] += 1
        return self._times[place] > before

    def forget(self, place: Hashable) -> None:
        """Let a place be asked for as if for the first time: what was found there is gone."""
        self._times.pop(place, None)


@dataclass(slots=True, repr=False)
class SpecialUnits(NotShown):
    """The special units of one engine's tables. ``run`` runs a statement and fetches its rows.

    ``counts`` are those of rows, ``totals`` those of units.
    """

    run: Callable[[str], list[tuple[object, ...]]]
    limits: Limits
    tables: TemporaryTables
    counts: RowCounts
    totals: UnitTotals
    dialect: Dialect = DUCKDB
    _tables: dict[_Place, _Found] = field(default_factory=dict)
    _asked: Asked = field(default_factory=Asked)
    _copies: NamedTables = field(init=False)

    def __post_init__(self) -> None:
        self._copies = NamedTables(lambda sql: self.run(sql))

    def special(self, planned: MeasurePlan, source: RowSource, size: int, part: float) -> Special | None:
        """Return the special rows of a table of that size; None if they are more than this part of it."""
        scan, squares = source.scan, most_squares(planned)
        keys, by_groups = plain_keys(planned, scan), None
        if squares is not None and keys:
            by_groups = [Counted(scan, keys)], squares // source.fan**2
        if self.totals.all_light(planned, source):
            return Special()
        by_rows = self._of([Counted(scan)], most_rows(planned) // source.fan)
        those = self._those(by_rows, by_groups, size, by_rows)
        if those.rows > self.limits.few * size:
            those = self._met(those, [conditions_sql(planned, scan, self.dialect)], size, by_rows)
        if those.rows > self.limits.few * size:
            those = self._of_totals(those, planned, source, by_rows)
        [counted], limit, found, rows, units = those
        there = self._read(those, size)
        needed, many = Needed.of(planned, scan), rows > self.limits.distinct * there
        small = needed.fixed and isinstance(planned.rule, PublicKeys)
        by_unit = counts_units(planned) and not sums_are_rows(planned, self.dialect)
        if rows > part * there or (many and by_unit and not small):
            return None
        near = beside(planned.measure.relation, scan)
        if not rows and not found.nobody:
            return Special()
        links = self._links(counted, found)
        nobody = _of_nobody(links)
        unowned = Reading(units=False, only=scan, keys=nobody, beside=near, dialect=self.dialect)
        apart = unowned if found.nobody else None
        if not rows:
            return Special(nobody=apart)
        copied = self.limits.copied if needed.fixed else self.limits.long
        columns, most, soon = needed.copied(near), round(copied * size), rows <= self.limits.at_once * size
        copy = None
        if rows <= most and needed.short and are_short(near):  # else nothing bounds what a copy takes
            copy = self._copied(counted, found, limit, columns, most if near else 0, soon)
        if copy is None and many and by_unit:
            return None
        above = _of_units(links, limit)
        if copy is None:
            joined = self._joined(scan, links, limit)
            return Special(replace(joined, keys=above, beside=near), apart)
        read = Reading(only=scan, keys=above, beside=near)
        read = copy.read(read, needed, None if limit == copy.above else units)
        return Special(read, apart, needed.keys)

    def of_several(
        self, planned: MeasurePlan, sources: Sequence[RowSource], size: int, part: float
    ) -> Special | None:
        """Return the special rows of several scans, whose rows UNION ALL puts together; see ``special``."""
        if max(each.fan for each in sources) > _MOST_FAN:
            return None
        squares, keys = most_squares(planned), keys_of_several(planned, [source.scan for source in sources])
        each_row, by_groups = [Counted(each.scan, times=each.fan) for each in sources], None
        if squares is not None and keys:
            by_groups = [replace(each, keys=keys[each.scan]) for each in each_row], squares
        those = self._those(self._of(each_row, most_rows(planned)), by_groups, size)
        if those.rows > self.limits.few * size:
            those = self._met(those, [conditions_sql(planned, each.scan) for each in each_row], size)
        counted, limit, found, rows, _ = those
        if rows > (self.limits.distinct if counts_units(planned) else part) * self._read(those, size):
            return None
        links = {each.scan: self._links(each, found) for each in counted if rows or found.nobody}
        above = {scan: _of_units(each, limit) for scan, each in links.items()}
        nobody = {scan: _of_nobody(each) for scan, each in links.items()}
        return Special(
            Reading(several=above) if rows else None,
            Reading(units=False, several=nobody) if found.nobody else None,
        )

    def _those(
        self, by_rows: _Those, by_groups: _Limited | None, size: int, among: _Those | None = None
    ) -> _Those:
        """Return those that are special by rows; or by groups, if these come again and fewer are."""
        if by_groups is None or by_rows.rows <= self.limits.few * size:
            return by_rows
        if not self._asked.again(_place(by_groups[0]), self.limits.keys):
            return by_rows
        others = self._of(*by_groups, among)
        return others if others.rows < by_rows.rows else by_rows

    def _met(self, those: _Those, wheres: Sequence[str], size: int, among: _Those | None = None) -> _Those:
        """Return those that are special by the rows that meet conditions, if these come again."""
        met = [replace(each, where=where) for each, where in zip(those.counted, wheres, strict=True)]
        again = any(wheres) and self._comes_again(met, those.rows, size)
        return self._of(met, those.limit, among) if again else those

    def _of_totals(self, those: _Those, planned: MeasurePlan, source: RowSource, among: _Those) -> _Those:
        """Return those that totals do not show to be light, if these are asked for again and fewer are."""
        light = self.totals.light(planned, source)
        if light is None:
            return those
        counted = [Counted(source.scan, light=light)]
        if not self._asked.again(_place(counted), self.limits.totals):
            return those
        others = self._of(counted, 0, among)
        return others if others.rows < those.rows else those

    def _read(self, those: _Those, size: int) -> int:
        """Return how many rows are read, of so many: those that meet conditions, if these were counted."""
        if not those.found.where:
            return size
        return sum(self.counts.of(each.scan.table, each.where) for each in those.counted)

    def _of(self, counted: Sequence[Counted], limit: int, among: _Those | None = None) -> _Those:
        """Return the units above a limit, only those ``among`` others if there are any."""
        found = self._found(counted, limit, among)
        return _Those(counted, limit, found, *self._above(found, limit))

    def _joined(self, scan: Scan, found: str, limit: int) -> Reading:
        """Read the special rows: with the units that were found, or, on DuckDB, along the path to them."""
        if self.dialect is DUCKDB:
            return Reading(only=scan)
        names = {column.name: f"c{place}" for place, column in enumerate(scan.columns)}
        listed = "".join(f"t.{quote(column.source)} AS {names[column.name]}, " for column in scan.columns)
        near = nullable_sql(first_link(scan), "t")
        joined = f"{self.dialect.table(scan.table)} AS t JOIN {found} AS f ON {near} = f.k"
        rows = f"SELECT {listed}f.u FROM {joined} WHERE f.n > {limit}"
        return Reading(only=scan, copy=rows, columns=names, dialect=self.dialect)

    def _above(self, found: _Found, limit: int) -> tuple[int, int]:
        """Return the rows and the number of the units above the limit."""
        if limit not in found.above:
            counted = f"CAST(coalesce(sum(c), 0) AS {self.dialect.type(BIGINT)}), count(u)"
            [(rows, units)] = self.run(f"SELECT {counted} FROM {found.units} AS f WHERE n > {limit}")
            assert isinstance(rows, int)
            assert isinstance(units, int)
            if len(found.above) == ANSWERS:
                found.above.clear()
            found.above[limit] = rows, units
        return found.above[limit]

    def _copied(
        self, counted: Counted, found: _Found, limit: int, columns: frozenset[Copied], most: int, soon: bool
    ) -> Copy | None:
        """Return a copy of the rows of units above the limit, the one that is there if it will do.

        A new one is made ``soon``, or when it is asked for again. With ``most``, there may be so many: other
        scans read rows that do not meet the condition, too.
        """
        known, whole = found.copy, not found.where or most > 0
        if known is not None and known.has(columns, limit, whole):
            return known
        above, asked = limit, (counted.place, columns)
        if not (soon or self._asked.again(asked, self.limits.copies)):
            return None
        if known is not None:
            above, columns = min(above, known.above), columns | set(known.columns)
        rows = self._above(found, above)[0]
        if (found.too_many and whole) or bytes_of(columns, rows) > self.limits.bytes:
            return None
        self._uncopy(found)
        all_rows = found.where and whole  # how many they are is not known before
        room = self._room(min(self.limits.bytes, bytes_of(columns, most if all_rows else rows)))
        table, listed = copy_name(), tuple(sorted(columns))
        scan, links = counted.scan, self._links(counted, found)
        if not all_rows:
            copied = copy_sql(scan, links, above, listed, found.where)
            self._copies.make(table, copied)
        else:
            most = min(most, room // bytes_of(columns, 1))
            copied = copy_sql(scan, links, above, listed)
            self._copies.make(table, f"{copied} LIMIT {most + 1}")
            with dropped_if_stopped(self._copies, table):
                [(there,)] = self.run(f"SELECT count(*) FROM {table}")
            assert isinstance(there, int)
            rows = there
            if rows > most:
                found.too_many = True
                self._copies.drop(table)
                return None
        found.copy, found.asked = Copy(table, above, listed, bytes_of(columns, rows), whole), asked
        return found.copy

    def _room(self, needed: int) -> int:
        """Drop the copies that were used longest ago, until so many bytes are left; return how many are."""
        taken = sum(each.copy.bytes for each in self._tables.values() if each.copy)
        for each in self._tables.values():
            if taken + needed <= self.limits.bytes:
                break
            if each.copy is not None:
                taken -= each.copy.bytes
                self._asked.forget(each.asked)
                self._uncopy(each)
        return self.limits.bytes - taken

    def _uncopy(self, found: _Found) -> None:
        known, found.copy = found.copy, None
        if known is not None:
            self._copies.drop(known.table)

    def _comes_again(self, counted: Sequence[Counted], rows: int, size: int) -> bool:
        """Note that conditions are asked for, of so many special rows; return whether they are counted."""
        place = _place(counted)
        if rows > self.limits.most * size:
            return self._asked.again(place, self.limits.conditions)
        if not self._asked.again(place, self.limits.fewer):
            return False
        met = sum(self.counts.of(each.scan.table, each.where) for each in counted)
        return met <= self.limits.met * size

    def _found(self, counted: Sequence[Counted], limit: int, among: _Those | None) -> _Found:
        """Return the table of units whose n is above the limit, and perhaps more."""
        place, rows = _place(counted), 0 if among is None else among.limit
        found = self._tables.pop(place, None)
        if found is not None and (found.limit > limit or found.among > rows):
            self._drop(found)
            found = None
        made = None
        if found is None:
            links = None if among is None else self._links(among.counted[0], among.found)
            units = self.tables.kept(self._heavy(counted, limit, links, rows))
            with dropped_if_stopped(self.tables, units):
                [(nobody,)] = self.run(f"SELECT count(*) FROM {units} AS f WHERE u IS NULL")
                found = _Found(units, limit, bool(nobody), counted[0].where, rows)
            made = None if links is None else narrowed_links_sql(units, links)
        self._tables[place] = found
        while len(self._tables) > KEPT:
            oldest = next(iter(self._tables))
            self._asked.forget(oldest)
            self._drop(self._tables.pop(oldest))
        if made is not None:  # now that the table is known, so that a stop leaves none without a name
            self._link(counted[0], found, made)
        return found

    def _heavy(self, counted: Sequence[Counted], limit: int, links: str | None, rows: int) -> str:
        """Return the SELECT of units, of ``links`` with more than so many ``rows`` if there are any."""
        scan, light = counted[0].scan, counted[0].light
        if light is not None:
            return self.totals.heavy_sql(scan, light)
        if links is not None:
            return narrowed_sql(counted[0], links, rows, limit, self.dialect)
        known = self.totals.counted(scan) if [*counted] == [Counted(scan)] else None
        if known is None:
            return heavy_sql(counted, limit, self.dialect)
        return f"SELECT u, c AS n, c FROM {known} AS f WHERE c > {limit} OR u IS NULL"

    def _links(self, counted: Counted, found: _Found) -> str:
        """Return the table of the links of special units, and of nobody."""
        if counted.place not in found.links:
            self._link(counted, found, found_sql(counted, found.units, found.nobody, self.dialect))
        return found.links[counted.place]

    def _link(self, counted: Counted, found: _Found, select: str) -> None:
        by = "k" if isinstance(first_link(counted.scan), str) else ""
        found.links[counted.place] = self.tables.kept(select, by)

    def forget(self) -> None:
        """Drop all tables."""
        while self._tables:
            self._drop(self._tables.popitem()[1])
        self._copies.drop()
        self.tables.drop()

    def _drop(self, found: _Found) -> None:
        try:
            self._uncopy(found)
        finally:  # nothing names them any more
            self.tables.drop(found.units, *found.links.values())


def _place(counted: Sequence[Counted]) -> _Place:
    return tuple(each.place for each in counted)


def _of_units(links: str, limit: int) -> str:
    return f"SELECT k FROM {links} AS f WHERE n > {limit}"


def _of_nobody(links: str) -> str:
    return f"SELECT k FROM {links} AS f WHERE u IS NULL"
