"""Schemas and policies, drawn at random: what an owner may have, and what no fixture has.

    CREATE TABLE people (id USMALLINT, club VARCHAR, age TINYINT NOT NULL, kind ENUM('a', 'B'), ...);
    [budget]             epsilon, delta, accountant: any of them
    [unit]               one column or two, of any type; with a table of its own or without
    [tables.visits]      rows_per_unit = 1 ... 200 or found, key, check, a path of one link or two
    [tables.x.columns]   {}, range, values, length, null = false, tells_unit

Columns of different tables often have the same name, so that joins and lists of public tables meet.
"""

from __future__ import annotations

import random

from dpsql.accounting import accountant, names
from dpsql.engines.identifiers import quote
from dpsql.ir.column import INTEGERS, Kind, type_named, type_range
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class DrawnPolicy:
    """The SQL of an empty database with its public rows, and a policy for it."""

    script: str
    policy: str


_NAMES = (
    *("age", "cost", "kind", "day", "at", "score", "size", "flag", "note", "grade", "town", "code", "level"),
    *("dose", "stay", "tag", "item", "price", "Odd Name", "select", "größe", "Mixed"),
)
_UNITS = (
    *("INTEGER", "INTEGER", "BIGINT", "SMALLINT", "UBIGINT", "HUGEINT"),
    *("VARCHAR", "VARCHAR", "UUID"),
)
_MEMBERS = "ENUM('a', 'B', '0', 'b ')"
_TYPES = (
    *INTEGERS,
    *("INTEGER", "DECIMAL(5,2)", "DECIMAL(12,2)", "DECIMAL(18,4)", "DECIMAL(38,10)"),
    *("DOUBLE", "DOUBLE", "DOUBLE", "FLOAT", "VARCHAR", "VARCHAR", "VARCHAR", _MEMBERS, "BOOLEAN", "BOOLEAN"),
    *("DATE", "DATE", "TIMESTAMP", "TIMESTAMP_S", "TIMESTAMP_MS", "TIMESTAMP_NS", "TIMESTAMPTZ"),
    *("TIME", "UUID", "INTEGER[]", "VARCHAR[]", "STRUCT(a INTEGER, b VARCHAR)"),
)
_RANGES = {
    Kind.INTEGER: ("[0, 1]", "[0, 100]", "[3, 3]", "[1, 7]", "[0, 127]"),
    Kind.DECIMAL: ("[0, 99.99]", "[-5.5, 5.5]", "[0, 500]", "[0.01, 0.02]"),
    Kind.FLOAT: ("[0, 1]", "[-1e6, 1e6]", "[0, 500000]", "[-0.001, 0.002]", "[5, 5]"),
    Kind.DATE: ("[2020-01-01, 2025-12-31]", "[2024-02-28, 2024-03-01]"),
    Kind.TIMESTAMP: ("[2020-01-01T00:00:00, 2025-12-31T23:59:59]",),
    Kind.TIMESTAMPTZ: (),
}
_SIGNED = ("[-5, 5]", "[-100, 20]", "[-128, 127]")
_VALUES = {
    Kind.INTEGER: ("[0, 1, 2]", "[7]", "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11]"),
    Kind.TEXT: ('["a", "B", "0"]', '["a", ""]', '["Oslo", "a"]'),
    Kind.BOOLEAN: ("[true, false]", "[true]"),
    Kind.DATE: ("[2023-01-05, 2024-02-29]",),
}
_PUBLIC = {
    "places": (
        "place INTEGER, town VARCHAR, kind VARCHAR, level SMALLINT",
        "(1, 'Oslo', 'a', 1), (2, 'Bergen', 'B', 1), (3, 'Oslo', 'a', 2), (4, NULL, '0', 3), (5, '', 'a', 9)",
        'key = "place"',
    ),
    "bands": (
        "grade TINYINT, low INTEGER, high INTEGER, day DATE",
        "(0, 0, 17, '2023-01-05'), (1, 18, 64, '2024-02-29'), (1, 65, 120, NULL), (2, NULL, NULL, NULL)",
        "",
    ),
}


class _Table:
    """A private table that is being drawn: its columns in SQL and in the policy."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.sql: list[str] = []
        self.rules: list[str] = []
        self.head: list[str] = []

    def column(self, name: str, sql: str, rule: str | None, more: str = "") -> None:
        self.sql.append(f"{quote(name)} {sql}{more}")
        if rule is not None:
            self.rules.append(f'"{name}" = {{ {rule} }}' if rule else f'"{name}" = {{}}')

    def created(self) -> str:
        return f"CREATE TABLE {self.name} ({', '.join(self.sql)});"

    def declared(self) -> str:
        head = "\n".join([f'[tables."{self.name}"]', *self.head])
        return f'{head}\n\n[tables."{self.name}".columns]\n' + "\n".join(self.rules)


def draw(rng: random.Random) -> DrawnPolicy:
    """Draw a schema and a policy; a policy may be one that is refused."""
    return _Drawing(rng).drawn()


class _Drawing:
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.unit_types = [rng.choice(_UNITS)]
        if rng.random() < 0.25:
            self.unit_types.append(rng.choice(("VARCHAR", "INTEGER")))
        self.unit = ["id", "club"][: len(self.unit_types)]
        self.own = rng.random() < 0.7

    def drawn(self) -> DrawnPolicy:
        rng = self.rng
        tables = [self._owned("visits"), *([self._owned("orders")] if rng.random() < 0.6 else [])]
        if self.own:
            tables.insert(0, self._people())
        if rng.random() < 0.6:
            tables.append(self._linked("lines", "visits"))
            if rng.random() < 0.4:
                tables.append(self._linked("parts", "lines"))
        public = rng.sample(sorted(_PUBLIC), rng.randint(0, 2))
        script = [table.created() for table in tables]
        for name in public:
            columns, rows, _ = _PUBLIC[name]
            script += [f"CREATE TABLE {name} ({columns});", f"INSERT INTO {name} VALUES {rows};"]
        policy = [self._first(), *(table.declared() for table in tables)]
        policy += [f"[tables.{name}]\npublic = true\n{_PUBLIC[name][2]}" for name in public]
        return DrawnPolicy("\n".join(script), "\n\n".join(policy) + "\n")

    def _first(self) -> str:
        rng = self.rng
        rules = accountant(rng.choice(names()))
        delta = rng.choice(("1e-6", "1e-9", "0.001"))
        lines = [
            f'timezone = "{rng.choice(("UTC", "UTC", "Europe/Oslo", "America/New_York"))}"',
            "",
            "[budget]",
        ]
        lines += ["epsilon = 1000000.0", f'accountant = "{rules.name}"']
        lines += [f"delta = {delta}"] if rules.has_delta else []
        lines += ["", "[query]", "epsilon = 1.0", "max_epsilon = 1000.0"]
        lines.append(f"find_bounds = {rng.choice(('true', 'false'))}")
        lines += [f"min_units = {rng.choice((2, 10))}"] if rng.random() < 0.2 else []
        columns = self._columns(self.unit)
        lines += ["", "[unit]", 'name = "person"']
        lines += ['table = "people"', f"key = {columns}"] if self.own else [f"column = {columns}"]
        return "\n".join(lines)

    def _columns(self, names: list[str]) -> str:
        listed = ", ".join(f'"{name}"' for name in names)
        return listed if len(names) == 1 else f"[{listed}]"

    def _people(self) -> _Table:
        table = _Table("people")
        enforced = len(self.unit) == 1 and self.rng.random() < 0.5
        for name, sql in zip(self.unit, self.unit_types, strict=True):
            table.column(name, sql, "", " PRIMARY KEY" if enforced else "")
        self._fill(table)
        return table

    def _owned(self, name: str) -> _Table:
        """A table whose rows hold their unit; integers may be of another type than elsewhere."""
        table, rng = _Table(name), self.rng
        table.column("row", rng.choice(("INTEGER", "INTEGER", "UINTEGER", "HUGEINT")), "")
        table.head += ['key = "row"'] if rng.random() < 0.7 else []
        for column, sql in zip(self.unit, self.unit_types, strict=True):
            other = rng.choice(("INTEGER", "BIGINT", "SMALLINT", "HUGEINT"))
            table.column(column, other if sql in INTEGERS and rng.random() < 0.4 else sql, "")
        if self.own or rng.random() < 0.5:
            table.head.append(f"unit = {{ column = {self._columns(self.unit)} }}")
        self._rows(table)
        self._fill(table)
        if rng.random() < 0.5:
            table.column("place", "INTEGER", "")
        return table

    def _linked(self, name: str, to: str) -> _Table:
        """A table whose rows lead to rows of another one."""
        table = _Table(name)
        table.column("row", "INTEGER", "")
        table.column("of", self.rng.choice(("INTEGER", "BIGINT")), "")
        table.head += ['key = "row"', f'unit = {{ column = "of", references = "{to}.row" }}']
        self._rows(table)
        self._fill(table)
        return table

    def _rows(self, table: _Table) -> None:
        rows = self.rng.choice((1, 2, 3, 20, 200, None))
        table.head += [] if rows is None else [f"rows_per_unit = {rows}"]

    def _fill(self, table: _Table) -> None:
        rng = self.rng
        chosen = rng.sample(_NAMES, rng.randint(3, 7))
        types = [rng.choice(_TYPES) for _ in chosen]
        for name, sql in zip(chosen, types, strict=True):
            filled = " NOT NULL" if rng.random() < 0.15 else ""
            table.column(name, sql, self._rule(sql), filled)
        pairs = [
            (a, b)
            for i, a in enumerate(chosen)
            for j, b in enumerate(chosen)
            if i != j and types[i] == types[j] and type_named(types[i]).numeric
        ]
        if pairs and rng.random() < 0.5:
            one, other = (quote(name) for name in rng.choice(pairs))
            table.head.append(f"check = '{one} <= {other}'")

    def _rule(self, sql: str) -> str:
        """What the policy declares of a column of this type."""
        rng, type_ = self.rng, type_named(sql)
        rules = []
        chance = rng.random()
        ranges = _RANGES.get(type_.kind, ())
        if type_.kind is Kind.INTEGER and type_range(type_).low < 0:
            ranges += _SIGNED
        if ranges and chance < 0.6:
            rules.append(f"range = {rng.choice(ranges)}")
        elif type_.kind in _VALUES and chance > 0.5:
            values = _VALUES[type_.kind][: 1 if sql == _MEMBERS else None]
            rules.append(f"values = {rng.choice(values)}")
        elif (sql == "VARCHAR" or sql.endswith("[]")) and chance < 0.4:
            rules.append(f"length = {rng.choice((1, 3, 40))}")
        rules += ["null = false"] if rng.random() < 0.12 else []
        rules += ["tells_unit = true"] if rng.random() < 0.04 else []
        return ", ".join(rules)


__all__ = ["DrawnPolicy", "draw"]
