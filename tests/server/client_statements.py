"""The statements of client_statements.sql and bi_statements.sql, and the catalogue that they are asked of."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpsql.server.catalogue import Catalogue, Column, Relation

HERE = Path(__file__).parent


def columns(**types: str) -> tuple[Column, ...]:
    """Columns by name and type; "INTEGER!" is NOT NULL."""
    return tuple(Column(name, kind.rstrip("!"), not kind.endswith("!")) for name, kind in types.items())


PERSON = {"age": "INTEGER", "sex": "VARCHAR", "ward": "VARCHAR", "town": "VARCHAR", "smoker": "BOOLEAN"}
RELATIONS = (
    Relation("public", "patients", "table", columns(patient_id="INTEGER!", **PERSON)),
    Relation(
        "public",
        "visits",
        "table",
        columns(patient_id="INTEGER", day="DATE", ward="VARCHAR", cost="DOUBLE", reason="VARCHAR"),
    ),
    Relation("public", "wards", "table", columns(ward="VARCHAR!", building="VARCHAR", beds="INTEGER")),
    Relation(
        "public",
        "samples",
        "table",
        columns(
            patient_id="BIGINT",
            taken="TIMESTAMP",
            stored="TIMESTAMP WITH TIME ZONE",
            at="TIME",
            level="DECIMAL(10,2)",
            dose="FLOAT",
            small="SMALLINT",
            mark="UUID",
            tags="VARCHAR[]",
            raw="BLOB",
        ),
    ),
    Relation("public", "seniors", "view", columns(patient_id="INTEGER", **PERSON)),
)


def catalogue() -> Catalogue:
    return Catalogue("clinic", "ana", RELATIONS)


@dataclass(frozen=True)
class Statement:
    """What a client sent, with the values of its parameters, and what is right to answer."""

    client: str
    sql: str
    given: tuple[str | None, ...]
    columns: tuple[tuple[str, int], ...]
    count: int | None
    rows: tuple[str, ...]


def statements(file: str) -> Iterator[Statement]:
    for block in (HERE / file).read_text("utf-8").split("\n\n"):
        lines = block.strip().split("\n")
        notes = [line.removeprefix("-- ") for line in lines if line.startswith("-- ")]
        sql = "\n".join(line for line in lines if not line.startswith("--"))
        if not sql:
            continue
        fields = dict(note.split(": ", 1) for note in notes[1:] if not note.startswith("row: "))
        named = [each.rsplit(" ", 1) for each in re.split(r", (?=[^,]+ \d+(?:,|$))", fields["columns"])]
        rows = tuple(note.removeprefix("row: ") for note in notes if note.startswith("row: "))
        count = int(fields["rows"]) if "rows" in fields else None
        given = tuple(json.loads(fields.get("given", "[]")))
        yield Statement(notes[0], sql, given, tuple((name, int(oid)) for name, oid in named), count, rows)
