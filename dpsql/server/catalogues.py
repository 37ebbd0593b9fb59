"""What clients ask about names and types, never about rows; and what they write as PostgreSQL knows it.

    names.asks("SELECT relname FROM pg_class")    True: ``answer`` gives columns and rows
    names.asks("SELECT COUNT(*) FROM t")          False: a question for dpsql, which pays before it looks
    names.understood("SELECT * FROM public.t")    the same in the spelling that dpsql reads

Claim   what is answered here is the same on all databases with this policy and these types.
Proof   It is made of words and of the names and types of ``tables`` of the analyst's connection.
Test    tests/unit/test_server_statements.py, tests/drivers/test_server_walls.py
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cached_property, partial

from dpsql.dbapi import Connection
from dpsql.server.catalogue import Catalogue, CatalogueError, Engines, relations_of
from dpsql.server.catalogue.array_values import encoded, size_of
from dpsql.server.dialect import Understood, understood
from dpsql.server.encoding import Kind
from dpsql.server.results import Column, Result

_MOST_KEPT, _LONGEST_KEPT = 64, 4_000
"""Statements that are kept as they were read, and the characters of the longest: a dashboard asks again."""


class Unanswered(Exception):
    """The catalogue does not answer this statement; the message says why."""


class Names:
    """What exists for an analyst of a database, for all of their connections and in any thread."""

    def __init__(self, database: str, analyst: str, db: Connection, engines: Engines | None = None) -> None:
        self.version = object()
        tables = db.tables
        self.types: Mapping[str, Mapping[str, str]] = {
            table.name.casefold(): {column.name.casefold(): column.type for column in table.columns}
            for table in tables
        }
        self._schemas = {table.name.rpartition(".")[0] for table in tables} - {""}
        self._database, self._analyst, self._engines = database, analyst, engines
        self._relations = relations_of(db)
        self._kept: dict[tuple[str, str], Understood] = {}
        self._lock = threading.Lock()

    @cached_property
    def _catalogue(self) -> Catalogue:
        return Catalogue(self._database, self._analyst, self._relations, self._engines)

    def asks(self, sql: str) -> bool:
        """Whether a statement asks for names, types and constants alone."""
        return self._catalogue.asks(sql)

    def parameter_oids(self, sql: str) -> tuple[int, ...]:
        """Return the types of ``$1``, ``$2`` ... of a statement that ``asks``."""
        try:
            return self._catalogue.parameter_oids(sql)
        except CatalogueError as error:
            raise Unanswered(str(error)) from None

    def answer(self, sql: str, values: Sequence[object]) -> Result:
        """Answer a statement that ``asks``."""
        try:
            found = self._catalogue.answer(sql, values)
        except CatalogueError as error:
            raise Unanswered(str(error)) from None
        named = zip(found.columns, found.oids, strict=True)
        return Result(tuple(Column(name, _kind(oid)) for (name, _), oid in named), found.rows)

    def understood(self, sql: str) -> Understood:
        """Return a statement in the spelling that dpsql reads."""
        return understood(sql, self._database, self._schemas)

    def read(self, written: str, sql: str) -> Understood | None:
        """Return a statement in the spelling that dpsql reads, and keep it; None if it ``asks``."""
        if self.asks(written):
            return None
        made = self.understood(sql)
        if len(written) + len(sql) <= _LONGEST_KEPT:
            with self._lock:
                self._kept[written, sql] = made
                if len(self._kept) > _MOST_KEPT:
                    del self._kept[next(iter(self._kept))]
        return made

    def read_before(self, written: str, sql: str) -> Understood | None:
        """Return what ``read`` returned, if it is kept."""
        return self._kept.get((written, sql))


def _kind(oid: int) -> Kind:
    """Return a type of the catalogue's own: oid, name, "char", arrays of them."""
    written = partial(encoded, oid=oid)
    return Kind(
        oid,
        size_of(oid),
        lambda value: str(written(value, binary=False) or b"", "utf-8"),
        lambda value: written(value, binary=True) or b"",
    )
