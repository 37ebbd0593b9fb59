"""information_schema and pg_catalog as PostgreSQL's clients ask them, answered from names and types alone.

    catalogue = Catalogue("clinic", "ana", relations_of(connection))
    if catalogue.asks(sql):
        table = catalogue.answer(sql)

relations.py      what exists for an analyst        routing.py        which statements ask the catalogue
reading.py        statements as PostgreSQL's SQL    translation.py    ... as SQL of the sealed engine
contents.py       rows of catalogue tables          functions.py      pg_get_expr, format_type, ... as macros
engine.py         the sealed engine, a process      engines.py        one for each analyst who asks
result_types.py   PostgreSQL's types of the answer  array_values.py   values of the catalogue's types
reference.py      what every PostgreSQL says

Claim   no answer of the catalogue depends on a row of a private table.
Proof   Answers come from an engine that holds ``World`` (names and types of the policy) and constants, and
        can open nothing else (engine.py). ``World`` holds nothing of rows (relations.py).
Test    tests/server/test_catalogue_privacy.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dpsql.lazy_dataclass import dataclass
from dpsql.server.catalogue.contents import World
from dpsql.server.catalogue.engines import Engines
from dpsql.server.catalogue.errors import CatalogueError
from dpsql.server.catalogue.functions import class_oids
from dpsql.server.catalogue.reference import function_oids, type_oids, types_by_any_name
from dpsql.server.catalogue.relations import Column, Relation, relations_of, with_public
from dpsql.server.catalogue.result_types import oid_of
from dpsql.server.catalogue.routing import asked_of
from dpsql.server.catalogue.settings import VERSION
from dpsql.server.catalogue.translation import parameter_types, translated


@dataclass(frozen=True, slots=True)
class CatalogueTable:
    """An answer: columns with types as DuckDB prints them, rows of Python values, and PostgreSQL's types."""

    columns: tuple[tuple[str, str], ...]
    rows: tuple[tuple[object, ...], ...]
    oids: tuple[int, ...]


class Catalogue:
    """The catalogue of one analyst. Threads may share it; the engine starts with the first answer."""

    def __init__(
        self, database: str, analyst: str, relations: Sequence[Relation], engines: Engines | None = None
    ) -> None:
        self._world = World(database, analyst, tuple(map(with_public, relations)))
        self._hidden = {
            (relation.schema.casefold(), relation.name.casefold()) for relation in self._world.relations
        }
        self._engines = engines or Engines()

    def asks(self, sql: str) -> bool:
        """Whether a statement reads the catalogue alone, or asks about the server without reading a table."""
        return asked_of(sql, self._world.database, self._hidden) is not None

    def answer(self, sql: str, parameters: Sequence[object] = ()) -> CatalogueTable:
        """Answer a statement that ``asks``; ``$1``, ``$2``, ... are the parameters. Costs nothing."""
        tree = asked_of(sql, self._world.database, self._hidden)
        if tree is None:
            raise CatalogueError("this does not read the catalogue alone")
        try:
            made = translated(tree, parameters, self._oid)
        except RecursionError:
            raise CatalogueError("this statement is nested too deeply") from None
        columns, rows = self._engines.run(self._world, made.sql, made.reads)
        names = made.names or tuple(name for name, _ in columns)
        kinds = made.types if len(made.types) == len(columns) else ("",) * len(columns)
        oids = tuple(oid_of(kind, engine) for kind, (_, engine) in zip(kinds, columns, strict=True))
        typed = tuple((name, engine) for name, (_, engine) in zip(names, columns, strict=True))
        return CatalogueTable(typed, tuple(rows), oids)

    def parameter_oids(self, sql: str) -> tuple[int, ...]:
        """Return PostgreSQL's types of ``$1``, ``$2``, ... in a statement: of their casts, or text."""
        tree = asked_of(sql, self._world.database, self._hidden)
        kinds = () if tree is None else parameter_types(tree)
        return tuple(types_by_any_name().get(kind, 25) for kind in kinds)

    def _oid(self, kind: str, name: str) -> int | None:
        named: dict[str, Callable[[], Mapping[str, int]]] = {
            "regclass": lambda: class_oids(self._world),
            "regtype": types_by_any_name,
            "regproc": function_oids,
            "regprocedure": function_oids,
            "regnamespace": lambda: self._world.schemas,
        }
        found = named[kind]() if kind in named else {}
        return found.get(name, found.get(name.removeprefix("pg_catalog.")))


__all__ = [
    "Catalogue",
    "CatalogueError",
    "CatalogueTable",
    "Column",
    "Engines",
    "Relation",
    "VERSION",
    "relations_of",
    "type_oids",
]
