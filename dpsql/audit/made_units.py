"""Made-up units that hold the ends of every declared range, in as many rows as count in full.

    trial    visits of the unit 900000 + trial, in a database without any other unit
    1        20 rows of 5000, 480, 'surgery', NULL, ...
    2        20 rows of 0 and 5000 in turns, ...
    3        no row; but one in patients

What one unit adds does not depend on the others, so the exact table over one made-up unit is what leaving it
out of any database moves. Values are the ends of ranges, listed values, what the query's text names, what
breaks engines, and NULL; keys are the unit's own, references lead to its own rows or to public ones. In one
trial of three all rows are alike, in one they alternate, in one they differ. Nothing is private.

Test    grammar_tests/test_made_units.py; python -m benchmarks tightness
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from dpsql.audit.neighbour_views import attached
from dpsql.engines.duckdb import DuckDB
from dpsql.engines.identifiers import quote, table_sql, text
from dpsql.ir.column import Categories, Column, Interval, Kind, as_text, type_range
from dpsql.ir.plan import MeasurePlan
from dpsql.ir.relation import names_of
from dpsql.ir.table import ExactTable
from dpsql.policy.catalogue import Known, KnownTable

USUAL = 20
"""Rows in a table whose policy does not say how many."""

_FIRST = 900_000
_WORDS = re.compile(r"'((?:[^']|'')*)'|(?<![\w.])(\d+(?:\.\d+)?)")

_AWKWARD = {
    Kind.INTEGER: ("0", "1", "2", "-1", "2147483647", "-2147483648", "9223372036854775807"),
    Kind.DECIMAL: ("0", "1", "-1", "999.99", "-999.99", "0.01"),
    Kind.FLOAT: ("0", "1", "1000", "1e300", "-1e300", "nan", "inf", "-inf", "0.1"),
    Kind.TEXT: ("", "a", "A", "Oslo", "%"),
    Kind.DATE: ("2023-01-01", "2023-12-31", "2024-02-29", "infinity"),
    Kind.TIMESTAMP: ("2023-01-01 00:00:00", "2024-02-29 23:59:59.999999", "-infinity"),
    Kind.TIMESTAMPTZ: ("2023-01-01 00:00:00+00", "2024-10-27 00:30:00+00", "infinity"),
    Kind.BOOLEAN: ("true", "false"),
}


class MadeUnits(DuckDB):
    """A database of the public tables of another one, and of one made-up unit at a time."""

    def __init__(self, path: Path, known: Known) -> None:
        self._known = known
        super().__init__(path, known.timezone, threads=1)

    def _open(self, timezone: str, threads: int | None) -> None:
        self._connection = attached(self._file.path, timezone, threads)
        self._same_file()
        self._connection.execute("CREATE SCHEMA pool")
        self._connection.execute("SET VARIABLE trial = 0")
        for table in self._known.tables:
            whole, here = f"whole.{table_sql(table.name)}", table_sql(table.name)
            if "." in table.name:
                self._connection.execute(f"CREATE SCHEMA IF NOT EXISTS {quote(table.name.split('.', 1)[0])}")
            if table.public:
                self._connection.execute(f"CREATE VIEW {here} AS SELECT * FROM {whole}")
                continue
            self._connection.execute(
                f"CREATE TABLE {_pool(table)} AS SELECT 0::BIGINT AS trial, * FROM {whole} LIMIT 0"
            )
            self._connection.execute(
                f"CREATE VIEW {here} AS SELECT * EXCLUDE (trial) FROM {_pool(table)} "
                "WHERE trial = getvariable('trial')"
            )

    def make(self, named: str, read: str, trials: range, times: int = 1) -> None:
        """Make a unit for each trial; ``named`` is a text with constants worth trying.

        A unit has ``times`` as many rows as count in full, in the tables that the SQL in ``read`` names.
        """
        words = [single.replace("''", "'") or number for single, number in _WORDS.findall(named)]
        tables = {table.name: table for table in self._known.tables}
        for table in self._known.tables:
            if not table.public and table_sql(table.name) in read:
                columns = [(str(row[0]), str(row[1])) for row in self._all(f"DESCRIBE {_pool(table)}")][1:]
                cells = ", ".join(self._cell(table, *column, words, tables) for column in columns)
                rows = _rows(table, times)
                self._connection.execute(f"DELETE FROM {_pool(table)}")
                self._connection.execute(
                    f"INSERT INTO {_pool(table)} SELECT trial, {cells} "
                    f"FROM range({trials.start}, {trials.stop}) AS t(trial), range({rows}) AS r(place) "
                    f"WHERE place < CASE hash(trial, {text(table.name)}) % 12 WHEN 0 THEN 0 WHEN 1 THEN 1 "
                    f"ELSE {rows} END"
                )

    def only(self, trial: int) -> None:
        """Have the unit of this trial, and no other."""
        self._connection.execute(f"SET VARIABLE trial = {trial}")

    def measured(self, planned: MeasurePlan, trial: int) -> ExactTable:
        self.only(trial)
        return self.measure(planned)

    def _cell(
        self, table: KnownTable, name: str, sql: str, words: Sequence[str], tables: dict[str, KnownTable]
    ) -> str:
        """Print the value of a column in a row."""
        if name in table.unit_columns:
            return f"CAST({_FIRST} + trial AS {sql})"
        place = self._place(table, name, tables)
        if place:
            return f"CAST({place} AS {sql})"
        own = f"{_FIRST} + place"
        if (name,) in (table.keys or (table.key,)):
            return f"CAST({own} AS {sql})"
        pick = f"hash(trial, {text(table.name + '.' + name)}"
        varied = f"CASE {pick}, 'how') % 3 WHEN 0 THEN {pick}, place) WHEN 1 THEN place ELSE {pick}) END"
        at = f"CASE trial % 3 WHEN 0 THEN {pick}) WHEN 1 THEN {pick}, place % 2) ELSE {varied} END"
        there = next((link.table for link in table.links[:1] if name in names_of(link.column)), None) or next(
            (
                other.name
                for other in tables.values()
                if other is not table and name in other.key and not other.public
            ),
            None,
        )
        if there is not None and tables[there].at_most != 1:
            return f"CAST({_FIRST} + ({at}) % {_rows(tables[there], 1)} AS {sql})"
        ends, values = self._values(table, name, words, tables)
        listed = ", ".join(values)
        few = f"CASE WHEN trial % 6 < 4 AND {pick}, 'few') % 4 > 0 THEN {len(ends)} ELSE {len(values)} END"
        return f"TRY_CAST(list_extract([{listed}], 1 + (({at}) % {few})::BIGINT) AS {sql})"

    @staticmethod
    def _place(table: KnownTable, name: str, tables: dict[str, KnownTable]) -> str:
        """Print the number of a row in a key of several columns that a link leads to, or in such a link."""
        step = table.links[0] if table.links else None
        if step is not None and not isinstance(step.column, str) and name in step.column:
            return f"hash(trial, {text(table.name)}, place) % {_rows(tables[step.table], 1)}"
        links = (link for other in tables.values() for link in other.links if link.table == table.name)
        return "place" if any(name in link.key for link in links if not isinstance(link.key, str)) else ""

    def _values(
        self, table: KnownTable, name: str, words: Sequence[str], tables: dict[str, KnownTable]
    ) -> tuple[list[str], list[str]]:
        """Return the ends of a column, or all there is, and all values worth trying."""
        column = next((column for column in table.columns if column.name == name), None)
        if column is None:
            return ["NULL"], ["NULL"]
        ends = _ends(column)
        kind = column.fact.type.kind
        values = ["NULL"]
        near = [text(word) for word in words]
        if kind is Kind.INTEGER:
            numbers = [int(word) for word in words if re.fullmatch(r"\d{1,9}", word)]
            near = [text(str(number + by)) for number in numbers for by in (-1, 0, 1)]
            near += [text(str(int(end) + by)) for end, by in zip(ends, (1, -1), strict=False)]
        elif kind in (Kind.FLOAT, Kind.DECIMAL):
            numbered = [word for word in words if re.fullmatch(r"\d+\.?\d*|\.\d+", word)]
            near = [text(str(float(word) * by)) for word in numbered for by in (1, 0.999, 1.001)]
        elif kind is Kind.BOOLEAN or kind is Kind.OPAQUE:
            near = ["'true'", "'false'", "'[a, b]'"]
        values += near + [text(word) for word in _AWKWARD.get(kind, ())][: 3 if ends else None]
        public = [
            other.name
            for other in tables.values()
            if other.public and any(column.name == name for column in other.columns)
        ]
        for other in public:
            found = self._all(
                f"SELECT DISTINCT CAST({quote(name)} AS VARCHAR) FROM {table_sql(other)} ORDER BY 1 LIMIT 8"
            )
            values += [text(str(value)) for (value,) in found if value is not None]
        corners = [*dict.fromkeys(map(text, ends))]
        every = [*dict.fromkeys(corners + values)]
        return corners or every, every


def _ends(column: Column) -> list[str]:
    """Return the ends of a column's range, or the values of its list, as text."""
    match column.fact.domain:
        case Interval() as ends:
            return _texts(column, ends)
        case Categories(values):
            return [str(value) for value in values]
        case _:
            return (
                _texts(column, type_range(column.fact.type)) if column.fact.type.kind is Kind.INTEGER else []
            )


def _texts(column: Column, ends: Interval) -> list[str]:
    if column.fact.type.numeric:
        return [repr(ends.low), repr(ends.high)]
    return [as_text(end, column.fact.type) for end in (ends.low, ends.high)]


def _rows(table: KnownTable, times: int) -> int:
    return 1 if table.at_most == 1 else times * (table.rows or USUAL)


def _pool(table: KnownTable) -> str:
    return f"pool.{quote(table.name)}"


__all__ = ["MadeUnits"]
