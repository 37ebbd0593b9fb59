"""Copies of the rows of special units: a rank in the place of a unit, codes in the place of listed texts.

    visits, SUM(cost) by place     "rows 0"    r, c0, c1    rank of the user, code of the place, cost; by r

    r    the place of the unit among all special units, those of large n first
    code  the place of a key's value in its public list, from 1; 0 if it is not listed; NULL for NULL

Whole numbers of few bytes, sorted by unit, take a fourth of the time of texts and units as they are. Other
scans of the same table, which read rows of the same keys, read the copy under the names of its columns.

Claim   a measure of special rows that reads a copy has the sums that it has when it reads the table.
Proof   A unit is read for being equal to itself and to no other, which holds of its rank: rows are grouped
        and joined by it, no scalar reads it (``Needed.of``), and there is no other private table whose units
        it could meet. A code stands where a plain column is a key and no scalar reads it. Rows whose key is
        not on its list are left out before norms are taken, and those with NULL unless NULL is listed
        (``inside``): both are conditions on codes. Listed values have codes of their own, since no list has
        a value twice, so that groups are the same; the list gives a code's value back. All other columns are
        as they are. All rows of the keys are copied, so that other scans find there what the table has for
        these keys. Nothing here fails on any row: TRY_CAST gives NULL, and there are fewer ranks than bytes.
Test    tests/privacy/test_light_units.py, grammar_tests/test_corrected.py

A copy is exact and private; see special_units.py.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TypeAlias

from dpsql.engines.identifiers import quote, table_sql, text
from dpsql.engines.measure_sql import LISTED
from dpsql.engines.relation_sql import Reading, first_link, place_of
from dpsql.engines.special_units_sql import meeting_sql
from dpsql.engines.unit_values import nullable_sql
from dpsql.facts.columns_read import columns_read, origin, private_scans, values_read
from dpsql.ir.column import Kind
from dpsql.ir.measure import Measure
from dpsql.ir.not_shown import NotShown
from dpsql.ir.plan import MeasurePlan, PublicKeys
from dpsql.ir.relation import Scan, names_of
from dpsql.ir.scalar import Ref
from dpsql.lazy_dataclass import dataclass

Copied: TypeAlias = tuple[str, tuple[str, ...]]
"""A column of the table, and the listed values of which it has the codes; itself where there are none."""

_UNIT: Copied = ("", ())
"""The unit itself, where a rank is not enough."""

_NUMBERS = itertools.count()
_LONG = (Kind.TEXT, Kind.OPAQUE, Kind.COMPOSITE)
_WIDTH, _CODE, _RANK = 16, 2, 4
"""Bytes of a value, at most where it is not long, of a code, and of a rank."""


@dataclass(frozen=True, slots=True)
class Needed:
    """What a measure reads of a copy.

    ``columns`` are the columns of the copy, by the names of the scan; ``keys`` are the values of the codes
    at these places among the keys. ``ranked``: a rank is enough of the unit. ``short``: no column is long.
    """

    columns: Mapping[str, Copied]
    keys: Mapping[int, tuple[str, ...]]
    ranked: bool
    short: bool

    @property
    def fixed(self) -> bool:
        """Whether the copy takes less time to read than the table does."""
        return self.ranked and self.short

    @classmethod
    def of(cls, planned: MeasurePlan, scan: Scan) -> Needed:
        assert scan.owner is not None
        measure, unit = planned.measure, scan.owner.name
        read = values_read(measure, scan)
        plain = _plain_keys(measure, scan)
        ranked = read is not None and unit not in {*read, *plain.values()} and private_scans(measure) == 1
        of_unit = () if scan.owner.links else names_of(scan.owner.column)  # read, and cast, with the unit
        apart = {each.name for each in scan.columns if each.source not in of_unit}
        unread = {} if read is None else {i: n for i, n in plain.items() if n not in read and n in apart}
        keys = _coded(planned, unread)
        codes = {plain[place]: values for place, values in keys.items()}
        listed = [each for each in columns_read(measure, scan) if not (ranked and each.name == unit)]
        columns: dict[str, Copied] = {each.name: (each.source, codes.get(each.name, ())) for each in listed}
        kinds = {each.fact.type.kind for each in listed if each.name not in codes}
        kinds |= set() if ranked else {scan.owner.fact.type.kind}
        return cls(columns, keys, ranked, kinds.isdisjoint(_LONG))

    def copied(self, near: Iterable[Scan]) -> frozenset[Copied]:
        """Return the columns of a copy that other scans ``near`` read, too."""
        plain = {(source, ()) for scan in near for source in _sources(scan)}
        return frozenset(self.columns.values()) | plain | (frozenset() if self.ranked else {_UNIT})


def _sources(scan: Scan) -> list[str]:
    """Return the columns of the table that a scan is printed with."""
    return sorted({column.source for column in scan.columns} | {*names_of(first_link(scan))})


def are_short(scans: Iterable[Scan]) -> bool:
    """Whether no column that other scans read of a copy is long, as far as that is known."""
    kinds = {(scan, column.source): column.fact.type.kind for scan in scans for column in scan.columns}
    return all(
        kinds.get((scan, source), Kind.OPAQUE) not in _LONG for scan in scans for source in _sources(scan)
    )


def _plain_keys(measure: Measure, scan: Scan) -> dict[int, str]:
    """Return the names in a scan of the keys that are its columns as they are."""
    found = {}
    for place, key in enumerate(measure.keys):
        where = origin(measure.relation, key.scalar.name) if isinstance(key.scalar, Ref) else None
        if where is not None and where[0] is scan:
            found[place] = where[1]
    return found


def _coded(planned: MeasurePlan, plain: Mapping[int, str]) -> dict[int, tuple[str, ...]]:
    """Return the listed values of plain text keys; none where a column is a key twice."""
    rule = planned.rule
    if not isinstance(rule, PublicKeys) or planned.measure.sets:
        return {}
    found, names = {}, list(plain.values())
    for place, name in plain.items():
        values = tuple(value for value in rule.domains[place] if value is not None)
        texts = tuple(value for value in values if isinstance(value, str) and "\0" not in value)
        alone = names.count(name) == 1 and planned.keys[place].fact.type.sql == "VARCHAR"
        if alone and 0 < len(texts) == len(values) <= LISTED:
            found[place] = texts
    return found


@dataclass(frozen=True, slots=True, repr=False)
class Copy(NotShown):
    """A table of the rows of units whose n is above a limit, sorted by rank.

    It is ``whole`` if all rows of these units are there, and not only those that meet a condition.
    """

    table: str
    above: int
    columns: tuple[Copied, ...]
    bytes: int
    whole: bool

    def has(self, columns: frozenset[Copied], limit: int, whole: bool) -> bool:
        return self.above <= limit and columns <= set(self.columns) and (self.whole or not whole)

    def read(self, reading: Reading, needed: Needed, units: int | None) -> Reading:
        """Return a reading of copied rows: of all units, or of so many, those of largest n."""
        rows, near = self._rows(units), reading.beside
        once = {place_of(scan): self._beside(near, rows) for scan in near}
        unit, columns = self._unit(needed), self._names(needed)
        return replace(reading, copy=rows, unit=unit, ranked=needed.ranked, columns=columns, once=once)

    def _beside(self, near: Iterable[Scan], rows: str) -> str:
        """Print the copied rows under the names of the table's columns, as other scans read them."""
        sources = sorted({source for scan in near for source in _sources(scan)})
        read = ", ".join(f"c{self.columns.index((source, ()))} AS {quote(source)}" for source in sources)
        return f"(SELECT {read} FROM ({rows}) AS c)"

    def _names(self, needed: Needed) -> dict[str, str]:
        """Return the columns of the copy by the names of the scan."""
        return {name: f"c{self.columns.index(column)}" for name, column in needed.columns.items()}

    def _unit(self, needed: Needed) -> str:
        return "r" if needed.ranked else f"c{self.columns.index(_UNIT)}"

    def _rows(self, units: int | None) -> str:
        """Print the rows of all units, or of so many, those of largest n."""
        return f"SELECT * FROM {self.table}{'' if units is None else f' WHERE r <= {units}'}"


def copy_name() -> str:
    """Return the name of a temporary table that this process has not used."""
    return f'temp.main."rows {next(_NUMBERS)}"'


def bytes_of(columns: frozenset[Copied], rows: int) -> int:
    """Return about how many bytes a copy takes."""
    return rows * (_RANK + sum(_CODE if values else _WIDTH for _, values in columns))


def copy_sql(scan: Scan, found: str, above: int, columns: tuple[Copied, ...], where: str = "") -> str:
    """Return the SELECT of a copy: rows t that meet ``where``, of units of ``found`` whose n is above."""
    rank = "CAST(dense_rank() OVER (ORDER BY n DESC, u) AS INTEGER) AS r"
    heavy = f"(SELECT k, u, {rank} FROM {found} WHERE n > {above}) AS h"
    listed = "".join(f", {_column_sql(column)} AS c{place}" for place, column in enumerate(columns))
    near, rows = nullable_sql(first_link(scan), "t"), table_sql(scan.table)
    rows = f"(SELECT t.* FROM {meeting_sql(scan.table, where)})" if where else rows
    return f"SELECT h.r{listed} FROM {rows} AS t JOIN {heavy} ON {near} = h.k ORDER BY h.r"


def _column_sql(column: Copied) -> str:
    if column == _UNIT:
        return "h.u"
    source, values = column
    name = f"t.{quote(source)}"
    if not values:
        return name
    members = ", ".join(map(text, values))
    code = f"coalesce(enum_code(TRY_CAST({name} AS ENUM({members})))::USMALLINT + 1, 0)"
    return f"CAST(CASE WHEN {name} IS NOT NULL THEN {code} END AS USMALLINT)"


def decoded_sql(name: str, values: tuple[str, ...]) -> str:
    """Print the value of a code that is listed, or NULL."""
    return f"list_extract([{', '.join(map(text, values))}], {name})"
