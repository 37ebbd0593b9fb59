"""Released tables as bytes for the ledger, and back: a repeat shows the first answer unchanged."""

from __future__ import annotations

import base64
import datetime
import json
from decimal import Decimal

import numpy as np

from dpsql.ir.column import Value
from dpsql.ir.export import ExportPlan, RandomizedColumn, ReleasedExport
from dpsql.ir.table import ReleasedTable


def to_bytes(tables: list[ReleasedTable]) -> bytes:
    """Serialize all tables of an answer, in the order of their measures."""
    stored = [
        {
            "groups": [[_tagged(value) for value in group] for group in table.groups],
            "sums": table.sums.tolist(),
        }
        for table in tables
    ]
    return json.dumps(stored, separators=(",", ":")).encode()


def from_bytes(stored: bytes, widths: list[int]) -> list[ReleasedTable]:
    """Restore the tables; ``widths`` are the numbers of statistics of their measures."""
    tables = []
    for table, width in zip(json.loads(stored), widths, strict=True):
        groups = [tuple(_untagged(value) for value in group) for group in table["groups"]]
        tables.append(
            ReleasedTable(groups, np.array(table["sums"], dtype=np.int64).reshape(len(groups), width))
        )
    return tables


def _tagged(value: Value) -> object:
    match value:
        case None | bool() | int() | float() | str():
            return value
        case Decimal():
            return {"decimal": str(value)}
        case datetime.datetime():
            return {"timestamp": value.isoformat()}
        case datetime.date():
            return {"date": value.isoformat()}


def _untagged(value: object) -> Value:
    match value:
        case {"decimal": str(text)}:
            return Decimal(text)
        case {"timestamp": str(text)}:
            return datetime.datetime.fromisoformat(text)
        case {"date": str(text)}:
            return datetime.date.fromisoformat(text)
        case None | bool() | int() | float() | str():
            return value
        case _:
            raise ValueError("not a stored key")


def export_to_bytes(export: ReleasedExport) -> bytes:
    """Serialize the rows of an export."""
    contents = [column.astype(column.dtype.newbyteorder("<")).tobytes() for column in export.columns]
    columns = [base64.b64encode(column).decode() for column in contents]
    return json.dumps({"rows": export.rows, "columns": columns}, separators=(",", ":")).encode()


def export_from_bytes(stored: bytes, planned: ExportPlan) -> ReleasedExport:
    """Restore the rows of an export, each column in the format of its question's design."""
    export = json.loads(stored)
    columns: list[RandomizedColumn] = []
    for text, question in zip(export["columns"], planned.questions, strict=True):
        content, design = base64.b64decode(text), question.design
        if design.marks:
            columns.append(
                np.frombuffer(content, dtype=np.uint8).reshape(export["rows"], -(-design.size // 8))
            )
        else:
            columns.append(np.frombuffer(content, dtype="<u2").astype(np.uint16))
    return ReleasedExport(export["rows"], tuple(columns))
