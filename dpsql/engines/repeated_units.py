"""The units with several rows of a group: all others are counted by counting rows.

    SELECT suppkey, COUNT(DISTINCT customer), SUM(price) FROM lineitem WHERE month ... GROUP BY suppkey

    all rows       count(*) by suppkey, without the join to the customers
    "repeated"     the orders of customers with two lines of one supplier in that month: counted once instead

The rows of these orders that meet the conditions are copied, with the columns that were asked for, unless one
of them is long (row_copies.py).

Claim   a unit that is not in the table has at most one row of the relation in each group.
Proof   A row of the relation comes from a row of the scan that meets the conditions, each from another one
        where ``fan`` is 1 (facts/light_units.py), and some of its keys are columns of that row, as they are:
        two rows of a group are two rows of the scan with the same values there. Rows that are not copied do
        not meet what all rows of the relation meet, and no other scan reads the copy: it has all it needs.
Test    tests/privacy/test_repeated_units.py, tests/privacy/test_light_units.py

Who is repeated is an exact private fact; see special_units.py.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field, replace

from dpsql.engines.corrected_sql import Special, counts_units
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.relation_sql import Reading, first_link
from dpsql.engines.row_copies import Copy, Needed, bytes_of, copy_name, copy_sql
from dpsql.engines.row_counts import RowCounts
from dpsql.engines.special_units import KEPT, Asked, Limits
from dpsql.engines.special_units_sql import conditions_sql, repeated_sql, sampled_sql
from dpsql.engines.temporary_tables import NamedTables, TemporaryTables, dropped_if_stopped
from dpsql.engines.unit_totals import ANSWERS
from dpsql.facts.lent_units import reads_units
from dpsql.facts.light_units import RowSource, beside, plain_keys
from dpsql.ir.not_shown import NotShown
from dpsql.ir.plan import MeasurePlan, Shape, Threshold
from dpsql.ir.relation import Columns, Scan, ScanColumn
from dpsql.lazy_dataclass import dataclass

_SAMPLE = 32
"""One unit in so many is looked at before all are."""

_Place = tuple[str, Columns, tuple[str, ...], str]


@dataclass(slots=True, repr=False)
class _Found(NotShown):
    """A table of repeated units, '' if there are none, and the number of rows that meet the conditions."""

    name: str
    rows: int = 0
    copy: Copy | None = None


@dataclass(slots=True, repr=False)
class RepeatedUnits(NotShown):
    """The repeated units of one engine's tables. ``run`` runs a statement and fetches its rows."""

    run: Callable[[str], list[tuple[object, ...]]]
    limits: Limits
    tables: TemporaryTables
    counts: RowCounts
    dialect: Dialect = DUCKDB
    _tables: dict[_Place, _Found | None] = field(default_factory=dict)  # None of too many
    _asked: Asked = field(default_factory=Asked)
    _copies: NamedTables = field(init=False)

    def __post_init__(self) -> None:
        self._copies = NamedTables(lambda sql: self.run(sql))

    def counted(self, planned: MeasurePlan, source: RowSource, special: Special) -> Special:
        """Return the special rows where all others are counted in the place of their units, if few are."""
        keys = counted_keys(planned, source)
        if not keys or self.dialect is not DUCKDB:
            return special
        scan, where = source.scan, conditions_sql(planned, source.scan)
        place = scan.table, first_link(scan), tuple(column.source for column in keys), where
        if place not in self._tables and not self._asked.again(place, self.limits.unrepeated):
            return special
        found = self._found(place, scan, keys)
        if found is None or (found.name and special.units is not None and special.units.copy):
            return special
        if not found.name:
            return replace(special, by_rows=True)
        links, near = f"SELECT k FROM {found.name} AS f", beside(planned.measure.relation, scan)
        if special.units is not None:
            read = Reading(only=scan, keys=f"{special.units.keys} UNION {links}", beside=near)
        else:
            read, needed = Reading(only=scan, keys=links, beside=near), Needed.of(planned, scan)
            if needed.fixed and not near:
                read = self._copied(read, scan, found, needed, where)
        return Special(read, special.nobody, {}, True)

    def _copied(self, read: Reading, scan: Scan, found: _Found, needed: Needed, where: str) -> Reading:
        """Read a copy of the rows that were counted, unless they are many."""
        columns = needed.copied(())
        if found.copy is None or not found.copy.has(columns, 0, False):
            columns |= set(() if found.copy is None else found.copy.columns)
            size = bytes_of(columns, found.rows)
            if size > self.limits.bytes // KEPT:
                return read
            self._uncopy(found)
            table, listed = copy_name(), tuple(sorted(columns))
            self._copies.make(table, copy_sql(scan, found.name, 0, listed, where))
            found.copy = Copy(table, 0, listed, size, not where)
        return found.copy.read(read, needed, None)

    def forget(self) -> None:
        """Drop all tables."""
        while self._tables:
            self._drop(self._tables.popitem()[1])
        self._copies.drop()

    def _found(self, place: _Place, scan: Scan, keys: tuple[ScanColumn, ...]) -> _Found | None:
        """Return the repeated units; None if they have too many rows."""
        found = self._tables.pop(place) if place in self._tables else self._find(scan, keys, place[-1])
        self._tables[place] = found
        while len(self._tables) > ANSWERS or sum(map(_is_kept, self._tables.values())) > KEPT:
            self._drop(self._tables.pop(next(iter(self._tables))))
        return found

    def _find(self, scan: Scan, keys: tuple[ScanColumn, ...], where: str) -> _Found | None:
        most = round(self.counts.of(scan.table, where) * self.limits.repeated)
        [(sampled,)] = self.run(sampled_sql(scan, keys, where, _SAMPLE))
        assert isinstance(sampled, int)
        if sampled * _SAMPLE > 2 * most:  # twice, as a sample may err; what is found below is exact
            return None
        by = "k" if isinstance(first_link(scan), str) else ""
        name = self.tables.kept(repeated_sql(scan, keys, where, most + 1), by)
        with dropped_if_stopped(self.tables, name):
            counted = f"SELECT count(*), CAST(coalesce(sum(c), 0) AS BIGINT) FROM {name} AS f"
            [(links, rows)] = self.run(counted)
        assert isinstance(links, int)
        assert isinstance(rows, int)
        if 0 < links <= most and rows <= most:
            return _Found(name, rows)
        self.tables.drop(name)
        return None if links else _Found("")

    def _drop(self, found: _Found | None) -> None:
        if found is not None and found.name:
            try:
                self._uncopy(found)
            finally:  # nothing names it any more
                self.tables.drop(found.name)

    def _uncopy(self, found: _Found) -> None:
        known, found.copy = found.copy, None
        if known is not None:
            self._copies.drop(known.table)


def _is_kept(found: _Found | None) -> bool:
    return found is not None and bool(found.name)


def counted_keys(planned: MeasurePlan, source: RowSource) -> tuple[ScanColumn, ...]:
    """Return the keys of groups in which units may be counted by rows; none where they may not."""
    private = isinstance(planned.rule, Threshold) and planned.rule.listed is None
    possible = private and source.fan == 1 and planned.shape is Shape.CELLS and counts_units(planned)
    if not possible or reads_units(planned.measure):
        return ()
    return plain_keys(planned, source.scan)
