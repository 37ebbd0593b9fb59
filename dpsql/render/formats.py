"""Answers for programs: every digit, as CSV, JSON or Parquet."""

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
"""What can be shown on a screen, or written to a file as text."""

FORMATS = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".txt": "table"}
"""What a file of that name holds."""


def content(answer: AnswerFields, format: str, margins: bool = False) -> bytes:
    """An answer as a file of a format; csv and parquet with a column of margins after each noised one."""
    if format == "table":
        return (answer_text(answer) + "\n").encode("utf-8")
    if format == "json":
        return to_json(answer).encode("utf-8")
    told = with_margins(answer) if margins else answer
    return to_parquet(told) if format == "parquet" else to_csv(told).encode("utf-8")


def with_margins(answer: AnswerFields) -> AnswerFields:
    """A column ``<name>_margin`` after each column that carries noise."""
    places: list[tuple[int, bool]] = []
    for at in range(len(answer.columns)):
        places.append((at, False))
        if answer.noised(at):
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
    )


def to_csv(answer: AnswerFields) -> str:
    """A header and the values; NULL is nothing, an empty text is a pair of quotes."""
    rows: list[Iterable[Any]] = [answer.columns, *answer.rows]
    return "".join(",".join(map(_field, row)) + "\n" for row in rows)


def _field(value: Any) -> str:
    text = plain(value)
    quoted = value is not None and (
        not text or text != text.strip() or any(each in text for each in ',"\r\n')
    )
    return '"' + text.replace('"', '""') + '"' if quoted else text


def to_json(answer: AnswerFields) -> str:
    """One object; rows and margins are lists in the order of the columns."""
    account = {
        "cost": token(answer.cost),
        "remaining": token(answer.remaining),
        "repeated": token(answer.repeated),
    }
    return _object(_answer(answer) | account | {"note": token(answer.note)})


def answer_to_json(answer: AnswerFields) -> str:
    """The same without the account: whenever it is written, it is the same."""
    return _object(_answer(answer) | {"note": token(answer.note)})


def _answer(answer: AnswerFields) -> dict[str, str]:
    columns = [{"name": name, "type": sql} for name, sql in zip(answer.columns, answer.types, strict=True)]
    return {
        "columns": json.dumps(columns, ensure_ascii=False),
        "rows": _lines(answer.rows),
        "margins": _lines(answer.margins),
    }


def _object(parts: dict[str, str]) -> str:
    return "{\n" + ",\n".join(f'  "{name}": {part}' for name, part in parts.items()) + "\n}\n"


def rows_to_json(answer: AnswerFields) -> str:
    """The same without what the rows cost: for files that are given away."""
    names = json.dumps(answer.columns, ensure_ascii=False)
    return f'{{\n  "columns": {names},\n  "rows": {_lines(answer.rows)}\n}}\n'


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    listed = [f"    {token(list(row))}" for row in rows]
    return "[\n" + ",\n".join(listed) + "\n  ]" if listed else "[]"


def to_parquet(answer: AnswerFields) -> bytes:
    """The rows with their types, written by DuckDB."""
    with tempfile.TemporaryDirectory(prefix="dpsql-") as folder:
        file = Path(folder) / "answer.parquet"
        with table_of(_storable(answer), "Parquet") as table:
            table.to_parquet(str(file))
        return file.read_bytes()


def _storable(answer: AnswerFields) -> AnswerFields:
    """Parquet has no HUGEINT: DuckDB would write it as DOUBLE."""
    return replace(
        answer,
        types=tuple(
            "DECIMAL(38,0)"
            if sql == "HUGEINT" and all(row[at] is None or abs(row[at]) < 10**38 for row in answer.rows)
            else sql
            for at, sql in enumerate(answer.types)
        ),
    )
