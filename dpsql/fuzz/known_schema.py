"""What a policy declares of a database -> what queries are drawn from.

visits(visit_id, patient_id, kind, cost)     kind is worth grouping by, cost is bounded, rows join on
                                             patient_id with all of the unit's, on visit_id with its lines
"""

from __future__ import annotations

import re

from dpsql.engines.identifiers import quote, text
from dpsql.fuzz.scalars import CONSTANTS, NUMBERS
from dpsql.fuzz.schemas import Lookup, Schema, Sort, Source, Stored
from dpsql.ir.column import Categories, Column, Interval, Kind, Listed, Value
from dpsql.ir.relation import names_of
from dpsql.policy.catalogue import Known, KnownTable

_SORTS = {
    Kind.INTEGER: Sort.INTEGER,
    Kind.DECIMAL: Sort.DECIMAL,
    Kind.FLOAT: Sort.FLOAT,
    Kind.TEXT: Sort.TEXT,
    Kind.BOOLEAN: Sort.BOOLEAN,
    Kind.DATE: Sort.DATE,
    Kind.TIMESTAMP: Sort.TIMESTAMP,
}
_FEW = (Sort.BOOLEAN, Sort.ENUM, Sort.DATE)
_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")


def schema_of(known: Known) -> Schema:
    """Return what is drawn from: the tables and columns that exist for who asks."""
    tables = {table.name: table for table in known.seen}
    private = {name: _stored(table, tables) for name, table in tables.items() if not table.public}
    public = {name: _stored(table, tables) for name, table in tables.items() if table.public}
    columns = [(table, column) for table in tables.values() for column in table.seen]
    listed = [(t, c) for t, c in columns if not t.public and _is_listed(c)]
    few = [*listed, *((t, c) for t, c in columns if not t.public and _sort(c) in _FEW)]
    nearly = tuple(dict.fromkeys(_written(c.name) for _, c in few))
    many = [name for name, table in tables.items() if not table.public and table.at_most != 1]
    many = [
        name
        for name in many
        if any(column.sort is Sort.UNIT for column in private[name].columns)
        and any(column.name in nearly for column in private[name].of(*_SORTS.values(), Sort.ENUM))
    ]
    of_public = tuple(dict.fromkeys(c.name for t in public.values() for c in t.columns))
    own = {column.name for table in private.values() for column in table.columns}
    return Schema(
        private,
        public,
        starts=tuple(name for name in private for _ in range(2 if tables[name].unit_columns else 1)),
        natural=_natural(private, public, tables),
        chains=_chains(tables),
        many_rows=tuple(many),
        beside=tuple(n for n, t in private.items() if any(c.sort is Sort.UNIT for c in t.columns)),
        lookup=_lookup(private, public, tables),
        keys=(*nearly, *(name for name in of_public if name not in nearly)),
        listed=tuple(dict.fromkeys(_written(c.name) for _, c in listed)),
        nearly_listed=nearly,
        public_keys=tuple(name for name in of_public if name not in own),
        constants=_constants(columns),
    )


def _written(name: str) -> str:
    """Write a name as SQL; in quotes unless it needs none."""
    return name if _PLAIN.fullmatch(name) and name not in _RESERVED else quote(name)


_RESERVED = frozenset(
    ("all", "select", "from", "to", "at", "of", "row", "order", "group", "left", "right", "at")
)


def _table_written(name: str) -> str:
    return ".".join(_written(part) for part in name.split("."))


def _stored(table: KnownTable, tables: dict[str, KnownTable]) -> Stored:
    units = names_of(table.unit_column) if table.unit_column and not table.links else ()
    links = {
        names_of(link.column)[0]: link.table for link in table.links[:1] if len(names_of(link.column)) == 1
    }
    keys = {key[0]: table.name for key in (table.keys or (table.key,)) if len(key) == 1}
    columns = []
    for column in table.seen:
        name = _written(column.name)
        if column.name in units[1:]:
            continue  # written beside the first one
        if column.name in units:
            columns.append(Source(name, Sort.UNIT))
        elif not table.public and column.name in (links.keys() | keys.keys()):
            columns.append(Source(name, Sort.IDENTITY, key=(links | keys)[column.name]))
        elif column.name in table.tied:
            there = [t.name for t in tables.values() if t.key == (column.name,)]
            columns.append(Source(name, Sort.IDENTITY, key=there[0] if there else ""))
        else:
            bounded = isinstance(column.fact.domain, Interval) or column.name in table.found
            columns.append(Source(name, _sort(column), bounded))
    return Stored(_table_written(table.name), tuple(columns))


def _sort(column: Column) -> Sort:
    if column.fact.type.sql.startswith("ENUM("):
        return Sort.ENUM
    return _SORTS.get(column.fact.type.kind, Sort.OPAQUE)


def _is_listed(column: Column) -> bool:
    return isinstance(column.fact.domain, Categories | Listed) and column.fact.type.kind is not Kind.BOOLEAN


def _natural(
    private: dict[str, Stored], public: dict[str, Stored], tables: dict[str, KnownTable]
) -> tuple[tuple[str, str, str, str], ...]:
    """Columns of one name and sort; now and then numbers of different names are joined anyway."""
    return tuple(
        (name, ours.name, there, theirs.name)
        for name, table in private.items()
        for ours in table.columns
        for there, other in public.items()
        for theirs in other.columns
        if ours.name == theirs.name and (ours.sort is theirs.sort or {ours.sort, theirs.sort} <= {*NUMBERS})
    )


def _chains(tables: dict[str, KnownTable]) -> tuple[tuple[str, ...], ...]:
    own = next((t.name for t in tables.values() if t.at_most == 1 and not t.links and not t.public), None)
    chains = []
    for table in tables.values():
        if table.public or table.name == own:
            continue
        path = [link.table for link in reversed(table.links)] + [table.name]
        chain = tuple(name for name in ([own] if own else []) + path if name in tables)
        chains += [chain] if len(chain) > 1 else []
    return tuple(chains)


def _lookup(
    private: dict[str, Stored], public: dict[str, Stored], tables: dict[str, KnownTable]
) -> Lookup | None:
    for name, column, there, key in _natural(private, public, tables):
        table, shown = private[name], public[there].of(*_SORTS.values())
        numbers = [c.name for c in table.of(Sort.INTEGER) if _PLAIN.fullmatch(c.name)]
        unique = tables[there].key == (key,)
        if unique and _PLAIN.fullmatch(column) and len(shown) > 1:
            others = [f"{{{column}}}", *(f"{{{number}}} % 6" for number in numbers)]
            return Lookup(name, column, there, key, tuple(others), tuple(c.name for c in shown))
    return None


def _constants(columns: list[tuple[KnownTable, Column]]) -> dict[Sort, tuple[str, ...]]:
    """Values that the policy names, so that conditions meet some rows; and what breaks engines."""
    found: dict[Sort, list[str]] = {}
    for _, column in columns:
        sort = _sort(column)
        match column.fact.domain:
            case Categories(values) if sort in CONSTANTS:
                found.setdefault(sort, []).extend(
                    _literal(value) for value in values[:4] if value is not None
                )
            case Interval(low, high) as ends if ends.finite and column.fact.type.kind is Kind.INTEGER:
                found.setdefault(sort, []).extend((str(int(low)), str(int(high)), str(int(low + high) // 2)))
    return {sort: (*dict.fromkeys(values), *CONSTANTS[sort]) for sort, values in found.items()}


def _literal(value: Value) -> str:
    if isinstance(value, bool | int | float):
        return str(value).lower()
    return text(value) if isinstance(value, str) else f"DATE {text(str(value))}"
