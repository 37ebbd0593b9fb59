"""Write answers for programs with all digits: as CSV, JSON or Parquet."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from dpsql.render.answer_fields import AnswerFields
from dpsql.render.box import answer_text
from dpsql.render.digits import plain, token
from dpsql.render.table import table_of

SCREENS = ("table", "csv", "json")
"""The formats for the screen, and for text files."""

FORMATS = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".txt": "table"}
"""The format of each file extension."""


def content(answer: AnswerFields, format: str, margins: bool = False) -> bytes:
    """Return an answer in a format; with ``margins``, csv and parquet get a column after each noised one."""
    if format == "table":
        return (answer_text(answer) + "\n").encode("utf-8")
    if format == "json":
        return to_json(answer).encode("utf-8")
    table = with_margins(answer) if margins else answer
    return to_parquet(table) if format == "parquet" else to_csv(table).encode("utf-8")


def with_margins(answer: AnswerFields) -> AnswerFields:
    """Add a column ``<name>_margin`` after each noised column; NULL where there is no margin."""
    places: list[tuple[int, bool]] = []
    for at in range(len(answer.columns)):
        places.append((at, False))
        if answer.noised(at) or at in answer.without:
            places.append((at, True))
    return replace(
        answer,
        columns=tuple(answer.columns[at] + ("_margin" if margin else "") for at, margin in places),
        types=tuple("DOUBLE" if margin else answer.types[at] for at, margin in places),
        rows=[
            tuple(margins[at] if margin else row[at] for at, margin in places)
            for row, margins in zip(answer.rows, answer.margins, strict=True)
        ],
        margins=[(None,) * len(places) for _ in answer.rows],
        open=(),
        without=(),
        totals=frozenset(
            (row, place)
            for row, at in answer.totals
            for place, found in enumerate(places)
            if found == (at, False)
        ),
    )


def to_csv(answer: AnswerFields) -> str:
    """Return a header and the rows as CSV; NULL is empty, an empty text is a pair of quotes."""
    return csv_text(answer.columns, answer.rows)


def csv_text(columns: Iterable[str], rows: Iterable[Iterable[Any]]) -> str:
    """Return a header and rows of any values in the same form."""
    return "".join(",".join(map(_field, row)) + "\n" for row in (columns, *rows))


def _field(value: Any) -> str:
    text = plain(value)
    quoted = value is not None and (
        not text or text != text.strip() or any(char in text for char in ',"\r\n')
    )
    return '"' + text.replace('"', '""') + '"' if quoted else text


def to_json(answer: AnswerFields) -> str:
    """Return an answer as a JSON object; rows and margins are lists in the order of the columns."""
    account = {
        "cost": token(answer.cost),
        "remaining": token(answer.remaining),
        "repeated": token(answer.repeated),
    }
    return _object(_table_fields(answer) | account | {"note": token(answer.note)})


def answer_to_json(answer: AnswerFields) -> str:
    """Return the same without cost and remaining budget, so that repeats are byte-identical."""
    return _object(_table_fields(answer) | {"note": token(answer.note)})


def _table_fields(answer: AnswerFields) -> dict[str, str]:
    columns = [{"name": name, "type": sql} for name, sql in zip(answer.columns, answer.types, strict=True)]
    return {
        "columns": json.dumps(columns, ensure_ascii=False),
        "rows": _lines(answer.rows),
        "margins": _lines(answer.margins),
    }


def _object(parts: dict[str, str]) -> str:
    return "{\n" + ",\n".join(f'  "{name}": {part}' for name, part in parts.items()) + "\n}\n"


def rows_to_json(answer: AnswerFields) -> str:
    """Return only the columns and rows as JSON, for files that are handed to others."""
    names = json.dumps(answer.columns, ensure_ascii=False)
    return f'{{\n  "columns": {names},\n  "rows": {_lines(answer.rows)}\n}}\n'


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    lines = [f"    {token(list(row))}" for row in rows]
    return "[\n" + ",\n".join(lines) + "\n  ]" if lines else "[]"


def to_parquet(answer: AnswerFields) -> bytes:
    """Return the rows with their types as Parquet, written by DuckDB."""
    with tempfile.TemporaryDirectory(prefix="dpsql-") as folder:
        file = Path(folder) / "answer.parquet"
        with table_of(_with_parquet_types(answer), "Parquet") as table:
            table.to_parquet(str(file))
        return file.read_bytes()


def _with_parquet_types(answer: AnswerFields) -> AnswerFields:
    """Replace HUGEINT, which DuckDB would write to Parquet as DOUBLE, by DECIMAL if the values fit."""
    return replace(
        answer,
        types=tuple(
            "DECIMAL(38,0)"
            if sql == "HUGEINT" and all(row[at] is None or abs(row[at]) < 10**38 for row in answer.rows)
            else sql
            for at, sql in enumerate(answer.types)
        ),
    )
