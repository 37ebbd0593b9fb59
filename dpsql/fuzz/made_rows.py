"""Private rows, made up for any schema: what breaks engines, in the types and under the keys that are there.

    ends of ranges and one beyond them, listed values and others, the ends of each type, NaN, infinities,
    NULL, ties, references that dangle, rows of nobody, one unit with far more rows than count in full

Nothing is read but the schema, the policy and public tables. What the database's own constraints forbid is
left out.
"""

from __future__ import annotations

import random
import uuid
from collections.abc import Sequence

from dpsql.driver import duckdb
from dpsql.engines.identifiers import quote, table_sql
from dpsql.ir.column import (
    ANYTHING,
    Categories,
    Column,
    Fact,
    Interval,
    Kind,
    Listed,
    as_text,
    type_named,
    type_range,
)
from dpsql.ir.relation import names_of
from dpsql.policy.catalogue import Known, KnownTable

Cell = str | None
"""A value as text, which the engine casts to the column's type."""

_AWKWARD: dict[Kind, tuple[str, ...]] = {
    Kind.INTEGER: ("0", "1", "2", "3", "-1", "7"),
    Kind.DECIMAL: ("0", "1.5", "-2.25", "0.01", "20"),
    Kind.FLOAT: ("0.5", "-0.0", "0", "0.1", "1e300", "-1e300", "nan", "inf", "-inf", "5e-324", "1e16"),
    Kind.TEXT: ("a", "B", "0", "", "Oslo", "Bergen", "A", "a ", "%_", "2023-01-05", "O'Brien", "only one"),
    Kind.BOOLEAN: ("true", "false"),
    Kind.DATE: ("2023-01-05", "2024-02-29", "infinity", "-infinity", "1899-12-31", "9999-12-31"),
    Kind.TIMESTAMP: (
        *("2023-01-05 09:00:00", "2024-02-29 23:59:59.999999", "infinity", "-infinity"),
        "1899-12-31 00:00:00",
    ),
    Kind.TIMESTAMPTZ: ("2023-01-05 09:00:00+00", "2023-10-29 01:30:00+01", "2024-03-31 01:30:00+00"),
    Kind.TIME: ("00:00:00", "09:30:00", "23:59:59.999999"),
    Kind.UUID: ("00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
}  # fmt: skip
_LISTS = ("[1, 2, NULL]", "[]", "[a]", "[7, 7]", "{'a': 1, 'b': x}", "{'a': NULL, 'b': ''}")
_TIED = 0.15
"""How often a row is there once more, but for its keys."""


def fill(connection: duckdb.DuckDBPyConnection, known: Known, rng: random.Random) -> None:
    """Insert rows into every private table; the tables that others lead to first."""
    _Maker(connection, known, rng).fill()


class _Maker:
    def __init__(self, connection: duckdb.DuckDBPyConnection, known: Known, rng: random.Random) -> None:
        self.connection, self.known, self.rng = connection, known, rng
        self.wild = rng.choice((0.2, 0.5, 0.9))
        self.endless = rng.random() < 0.5  # infinite dates hide finite extremes from statistics
        self.keys: dict[tuple[str, str], list[Cell]] = {}
        self.taken = set[tuple[str, tuple[str, ...], tuple[Cell, ...]]]()
        width = max((len(names_of(t.unit_column)) for t in known.tables if t.unit_column), default=1)
        self.units = [
            tuple(self._unit(number, place) for place in range(width)) for number in range(rng.randint(5, 12))
        ]
        self.strangers = [
            tuple(self._unit(900 + number, place) for place in range(width)) for number in (0, 1)
        ]

    def fill(self) -> None:
        for table in sorted(self.known.tables, key=lambda t: (len(t.links), t.at_most != 1)):
            if not table.public:
                self._fill(table)

    def _unit(self, number: int, place: int) -> str:
        """A part of a unit, as a number: columns make of it what their type holds."""
        return str(number if place == 0 else self.rng.choice((1, 1, 2, 11)))

    def _fill(self, table: KnownTable) -> None:
        described = self.connection.execute(f"DESCRIBE {table_sql(table.name)}").fetchall()
        columns = [(str(row[0]), str(row[1])) for row in described]
        one_each = table.at_most == 1
        owners: list[tuple[str, ...] | None] = [*self.units]
        if not one_each:
            count = self.rng.randint(8, 24)
            owners = [self.rng.choice((*self.units, *self.strangers, None)) for _ in range(count)]
            owners += [self.units[0]] * self.rng.choice((5, 25, 60))  # one unit is everywhere
        for place, owner in enumerate(owners):
            row = {name: self._cell(table, name, sql, owner, place) for name, sql in columns}
            tied = not one_each and self.rng.random() < _TIED
            for number in (place, place + 5000)[: 1 + tied]:
                row |= self._own(table, columns, number, owner)
                self._insert(table, columns, row)

    def _insert(self, table: KnownTable, columns: Sequence[tuple[str, str]], row: dict[str, Cell]) -> None:
        keys = {
            (table.name, key, tuple(row[name] for name in key)) for key in table.keys or (table.key,) if key
        }
        if keys & self.taken:
            return
        self.taken |= {key for key in keys if None not in key[2]}
        cells = ", ".join(f"TRY_CAST(? AS {sql})" for _, sql in columns)
        names = ", ".join(quote(name) for name, _ in columns)
        try:
            self.connection.execute(
                f"INSERT INTO {table_sql(table.name)} ({names}) SELECT {cells}",
                [row[name] for name, _ in columns],
            )
        except duckdb.Error:  # a constraint of the schema: the row is left out
            return
        for name, _ in columns:
            self.keys.setdefault((table.name, name), []).append(row[name])

    def _own(
        self,
        table: KnownTable,
        columns: Sequence[tuple[str, str]],
        number: int,
        owner: tuple[str, ...] | None,
    ) -> dict[str, Cell]:
        """The row's own keys: no other row has them."""
        units = names_of(table.unit_column) if table.unit_column and not table.links else ()
        own: dict[str, Cell] = {}
        for key in table.keys or ((table.key,) if table.key else ()):
            free = [name for name in key if name not in units]
            if len(free) == len(key) or (free and not table.links and table.at_most != 1):
                sql = dict(columns)[free[-1]]
                own[free[-1]] = _fitted(100 + number, sql)
        return own

    def _cell(
        self, table: KnownTable, name: str, sql: str, owner: tuple[str, ...] | None, place: int
    ) -> Cell:
        units = names_of(table.unit_column) if table.unit_column and not table.links else ()
        if name in units:
            return None if owner is None else _fitted(int(owner[units.index(name)]), sql)
        if table.links and name in names_of(table.links[0].column):
            link = table.links[0]
            key = names_of(link.key)[names_of(link.column).index(name)]
            held = self.keys.get((link.table, key), [])
            return self.rng.choice((*held[-3:], *held, *held, "777777", None))
        column = next((each for each in table.columns if each.name == name), None)
        return self._value(column or Column(name, Fact(type_named(sql), ANYTHING)))

    def _value(self, column: Column) -> Cell:
        """A value: mostly of those that are declared; of the wild ones, any."""
        rng, kind = self.rng, column.fact.type.kind
        declared = self._declared(column)
        if declared and rng.random() >= self.wild:
            return rng.choice(declared)
        if rng.random() < 0.15:
            return None
        if kind is Kind.OPAQUE:
            return rng.choice(_LISTS)
        values = [*declared, *_AWKWARD.get(kind, ())]
        if not self.endless:
            values = [value for value in values if "infinity" not in value]
        if kind is Kind.INTEGER:
            ends = type_range(column.fact.type)
            values += [str(int(ends.low)), str(int(ends.high))]
        if kind is Kind.DECIMAL:
            width, _, scale = column.fact.type.sql[8:-1].partition(",")
            nines = "9" * (int(width) - int(scale or 0)) + "." + "9" * int(scale or 0)
            values += [nines, f"-{nines}"]
        return rng.choice(values)

    def _declared(self, column: Column) -> list[str]:
        """What the policy, the type or a public table lists; of a range its ends, and numbers beside them."""
        fact = column.fact
        if fact.type.sql.startswith("ENUM(") and not isinstance(fact.domain, Categories):
            return [member.replace("''", "'") for member in fact.type.sql[6:-2].split("', '")]
        match fact.domain:
            case Interval() as ends if ends.finite and fact.type.numeric:
                middle = (ends.low + ends.high) / 2
                whole = fact.type.kind is Kind.INTEGER
                numbers = (ends.low, ends.high, int(middle) if whole else middle, ends.low - 1, ends.high + 1)
                return [repr(number) for number in numbers[: 3 if self.rng.random() >= self.wild else 5]]
            case Interval() as ends if ends.finite:
                return [
                    as_text(ends.low, fact.type),
                    as_text(ends.high, fact.type),
                    *_AWKWARD[fact.type.kind][:2],
                ]
            case Categories(values):
                return [str(value) for value in values if value is not None]
            case Listed(table, listed):
                rows = self.connection.execute(
                    f"SELECT CAST({quote(listed)} AS VARCHAR) FROM {table_sql(table)} LIMIT 9"
                ).fetchall()
                return [str(row[0]) for row in rows if row[0] is not None]
            case _:
                return []


def _fitted(number: int, sql: str) -> str:
    """A number as a value of a type, distinct for distinct numbers; some stand for the ends of a type."""
    type_ = type_named(sql)
    match type_.kind:
        case Kind.INTEGER:
            ends = type_range(type_)
            low, high = int(ends.low), int(ends.high)
            number = {3: low or 3, 4: high, 900: low + 1 if low else 900, 901: high - 1}.get(number, number)
            return str(number if low <= number <= high else high - number % 97)
        case Kind.UUID:
            return str(uuid.UUID(int=number))
        case Kind.DATE:
            return f"{2000 + number % 50}-01-{1 + number % 28:02d}"
        case Kind.TEXT:
            return {1: "", 2: "a", 3: "A", 4: "a "}.get(number, str(number))
        case _:
            return str(number)
