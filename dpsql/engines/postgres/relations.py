"""The tables of a PostgreSQL database that a role may read, as its catalogue says; no row is read.

    people     public.people      id INTEGER key, ward VARCHAR, seen TIMESTAMP
    sales.orders                  columns of other types are not there

A table is read where it is: no view, no partition, no foreign table, nothing inherited, no row security.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from dpsql.engines.identifiers import quote
from dpsql.engines.postgres.types import type_of_column
from dpsql.ir.column import type_named
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import FoundColumn, FoundTable

Ask = Callable[[str, Sequence[object]], list[tuple[object, ...]]]
"""Runs a statement with its parameters on the system's catalogue, and fetches its rows."""

MARKS = """
    c.relkind::text, c.relpersistence::text, c.relrowsecurity, c.relispartition OR EXISTS (
        SELECT 1 FROM pg_catalog.pg_inherits AS i WHERE i.inhrelid = c.oid OR i.inhparent = c.oid),
    EXISTS (SELECT 1 FROM pg_catalog.pg_subscription_rel AS s WHERE s.srrelid = c.oid),
    EXISTS (SELECT 1 FROM pg_catalog.pg_am AS m WHERE m.oid = c.relam AND m.amname = 'heap')
"""
"""What decides whether the table ``c`` is read (``_unread``); the table's state has it too (versions.py)."""

_RELATIONS = f"""
SELECT c.oid::int8, n.nspname::text, c.relname::text, {MARKS}
FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'f', 'v', 'm') AND n.nspname NOT LIKE 'pg\\_%%'
    AND n.nspname NOT IN ('information_schema', 'dpsql') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
    AND pg_catalog.has_schema_privilege(n.oid, 'USAGE')
ORDER BY 2, 3
"""

_COLUMNS = """
SELECT a.attrelid::int8, a.attname::text, a.atttypid::int8, a.atttypmod, a.attnotnull,
    CASE WHEN l.collisdeterministic IS FALSE THEN l.collname::text END
FROM pg_catalog.pg_attribute AS a LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = a.attcollation
WHERE a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.attrelid = ANY(%s)
ORDER BY a.attrelid, a.attnum
"""

_UNIQUE = """
SELECT i.indrelid::int8, array_agg(a.attname::text ORDER BY k.place)
FROM pg_catalog.pg_index AS i CROSS JOIN unnest(i.indkey::int2[], i.indclass::oid[]) WITH ORDINALITY
    AS k(attnum, class, place)
JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = k.attnum
JOIN pg_catalog.pg_opclass AS o ON o.oid = k.class AND o.opcnamespace = 'pg_catalog'::regnamespace
WHERE i.indisunique AND i.indisvalid AND i.indimmediate AND i.indpred IS NULL AND i.indexprs IS NULL
    AND k.place <= i.indnkeyatts AND i.indrelid = ANY(%s)
GROUP BY i.indexrelid, i.indrelid, i.indnkeyatts HAVING count(*) = i.indnkeyatts
ORDER BY 1, 2
"""

_KINDS = {"p": "a partitioned table", "f": "a foreign table", "v": "a view", "m": "a materialized view"}


@dataclass(frozen=True, slots=True)
class Relation:
    """A table as it is found. ``unread`` says why its rows are not read; None if they are."""

    oid: int
    schema: str
    name: str
    columns: tuple[FoundColumn, ...]
    unique: tuple[tuple[str, ...], ...]
    unread: str | None

    @property
    def called(self) -> str:
        """The name in policies and queries: without its schema, if that is ``public``."""
        return self.name if self.schema == "public" else f"{self.schema}.{self.name}"

    @property
    def place(self) -> str:
        """The table's own name in SQL."""
        return f"{quote(self.schema)}.{quote(self.name)}"

    @property
    def found(self) -> FoundTable:
        return FoundTable(self.called, self.columns, self.unique)

    def select(self) -> str:
        """Print the rows, with texts that compare by their bytes."""
        listed = ", ".join(_column_sql(column) for column in self.columns)
        return f"SELECT {listed} FROM ONLY {self.place}"


def _column_sql(column: FoundColumn) -> str:
    name = quote(column.name)
    is_text = type_named(column.sql).sql == "VARCHAR"
    return f'CAST({name} AS text) COLLATE "C" AS {name}' if is_text else name


def relations(ask: Ask) -> tuple[Relation, ...]:
    """Return all tables, views and the like that the role may read."""
    found = ask(_RELATIONS, ())
    oids = [[oid for oid, *_ in found]]
    columns, unique = ask(_COLUMNS, oids), ask(_UNIQUE, oids)
    return tuple(
        Relation(
            int(str(oid)),
            str(schema),
            str(name),
            tuple(_columns(row[1:] for row in columns if row[0] == oid)),
            tuple(_names(row[1]) for row in unique if row[0] == oid),
            _unread(str(kind), str(kept), *marks),
        )
        for oid, schema, name, kind, kept, *marks in found
    )


def _columns(rows: Iterable[tuple[object, ...]]) -> Iterable[FoundColumn]:
    for name, oid, modifier, filled, collation in rows:
        sql = type_of_column(int(str(oid)), int(str(modifier)))
        if sql is not None:
            yield FoundColumn(str(name), sql, not filled, None if collation is None else str(collation))


def _names(names: object) -> tuple[str, ...]:
    assert isinstance(names, list)
    return tuple(map(str, names))


def _unread(
    kind: str, kept: str, row_security: object, inherits: object, subscribed: object, heap: object
) -> str | None:
    if kind != "r":
        return _KINDS[kind]
    if inherits:
        return "a table that inherits, or a partition"
    if kept != "p":
        return "a table that a crash of the server empties"
    if row_security:
        return "a table with row security"
    if subscribed:
        return "a table that a subscription writes to"
    return None if heap else "a table of another storage"
