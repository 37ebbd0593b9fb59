"""What every PostgreSQL 15 says alike: the columns of its catalogue, built-in types, keywords.

    RELATIONS["pg_catalog.pg_class"]     the oid and the columns with their types
    ROWS["pg_type"]                      the rows of built-in types

The file is written by tests/server/make_reference.py from a server's catalogue. PostgreSQL's names and
numbers are facts of its interface; nothing of any database is in it.
"""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple

Row = tuple[object, ...]


class Layout(NamedTuple):
    """A relation of PostgreSQL's catalogue: its oid, and its columns with PostgreSQL's types."""

    oid: int
    columns: dict[str, str]


@cache
def _read() -> tuple[dict[str, Layout], dict[str, list[Row]]]:
    text = files("dpsql.server.catalogue").joinpath("postgres_15.json").read_text("utf-8")
    found = json.loads(text)
    layouts = {name: Layout(oid, columns) for name, (oid, columns) in found["relations"].items()}
    return layouts, {name: [tuple(row) for row in rows] for name, rows in found["rows"].items()}


def relations() -> dict[str, Layout]:
    """Return every relation of pg_catalog and information_schema, by its full name."""
    return _read()[0]


def rows_of(name: str) -> list[Row]:
    """Return the rows that a relation of pg_catalog has on every server; most have none."""
    return _read()[1].get(name, [])


def at(relation: str, column: str) -> int:
    """Return the place of a column in the rows of a relation."""
    return list(relations()[f"pg_catalog.{relation}"].columns).index(column)


@cache
def type_oids() -> dict[str, int]:
    """Return the oids of built-in types by their short names: int4, _text, oid."""
    oid, name = at("pg_type", "oid"), at("pg_type", "typname")
    return {str(row[name]): int(str(row[oid])) for row in rows_of("pg_type")}


_LONG = {
    "bool": "boolean",
    "int2": "smallint",
    "int4": "integer",
    "int8": "bigint",
    "float4": "real",
    "float8": "double precision",
    "bpchar": "character",
    "varchar": "character varying",
    "varbit": "bit varying",
    "time": "time without time zone",
    "timetz": "time with time zone",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
    "char": '"char"',
}


@cache
def type_names() -> dict[int, str]:
    """Return the names that SQL has for types: 23 is integer, 1007 is integer[]."""
    return {
        oid: f"{_LONG.get(name[1:], name[1:])}[]" if name[0] == "_" else _LONG.get(name, name)
        for name, oid in type_oids().items()
    }


@cache
def types_by_any_name() -> dict[str, int]:
    """Return the oids of types by their short names and by those of SQL: int4, integer, int."""
    named = {name: oid for oid, name in type_names().items()}
    return {**named, **type_oids(), "int": 23, "decimal": 1700, "timestamp": 1114, "time": 1083}


@cache
def function_oids() -> dict[str, int]:
    """Return the oids of the functions that read and write types."""
    oid, name = at("pg_proc", "oid"), at("pg_proc", "proname")
    return {str(row[name]): int(str(row[oid])) for row in rows_of("pg_proc")}
