"""What drawing needs to know of a database: tables, columns, what is worth joining and grouping by.

schema.private["visits"].columns[5]    Source("cost", FLOAT, bounded=True)
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum

from dpsql.lazy_dataclass import dataclass


class Sort(Enum):
    """What a column may be used for. A unit and an identity are numbers that no group shows."""

    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    TEXT = "text"
    ENUM = "enum"
    BOOLEAN = "boolean"
    DATE = "date"
    TIMESTAMP = "timestamp"
    UNIT = "unit"
    IDENTITY = "identity"
    OPAQUE = "opaque"


@dataclass(frozen=True, slots=True)
class Source:
    """A column of a table: its sort, whether the policy or its type bounds it, which key it points at."""

    name: str
    sort: Sort
    bounded: bool = False
    key: str = ""


@dataclass(frozen=True, slots=True)
class Stored:
    """A table of the database."""

    name: str
    columns: tuple[Source, ...]

    def of(self, *sorts: Sort) -> list[Source]:
        return [each for each in self.columns if each.sort in sorts]


def stored(name: str, text: str) -> Stored:
    """``age:integer! visit_id:identity@visits``: a bang is a bound, what follows @ is a key of a table."""
    columns = []
    for word in text.split():
        column, _, rest = word.partition(":")
        sort, _, key = rest.partition("@")
        columns.append(Source(column, Sort(sort.rstrip("!")), sort.endswith("!"), key))
    return Stored(name, tuple(columns))


@dataclass(frozen=True, slots=True)
class Lookup:
    """A column that names rows of a public table by their key; ``others`` are expressions that do, too.

    ``shown`` are the columns of the public table to group by.
    """

    table: str
    column: str
    public: str
    key: str
    others: tuple[str, ...]
    shown: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Schema:
    """All that is drawn from. Tables that come up more often stand several times in their tuple.

    ``starts`` are the tables that a tree begins with, ``many_rows`` those where a unit has several rows, and
    ``beside`` those that are joined with them on the unit. A table of a chain leads to the one before it by a
    key. ``natural`` is what an analyst joins: private table and column, public table and column.

    Of names of columns, ``keys`` are worth grouping by, ``listed`` those with declared values,
    ``nearly_listed`` those of rows with few values, ``public_keys`` those of public tables alone.
    """

    private: Mapping[str, Stored]
    public: Mapping[str, Stored]
    starts: tuple[str, ...]
    natural: tuple[tuple[str, str, str, str], ...] = ()
    chains: tuple[tuple[str, ...], ...] = ()
    many_rows: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    lookup: Lookup | None = None
    keys: tuple[str, ...] = ()
    listed: tuple[str, ...] = ()
    nearly_listed: tuple[str, ...] = ()
    public_keys: tuple[str, ...] = ()
    constants: Mapping[Sort, tuple[str, ...]] = field(default_factory=dict)
