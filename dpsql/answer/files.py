"""Answers for programs: every digit, as CSV, JSON or Parquet."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any

from dpsql.answer.box import answer_text
from dpsql.answer.digits import plain, token
from dpsql.answer.told import Told
from dpsql.errors import refuse

SCREENS = ("table", "csv", "json")
"""What can be shown on a screen, or written to a file as text."""

FORMATS = {".csv": "csv", ".json": "json", ".parquet": "parquet", ".txt": "table"}
"""What a file of that name holds."""


def content(answer: Told, format: str, margins: bool = False) -> bytes:
    """An answer as a file of a format; csv and parquet with a column of margins after each noised one."""
    if format == "table":
        return (answer_text(answer) + "\n").encode("utf-8")
    if format == "json":
        return to_json(answer).encode("utf-8")
    told = with_margins(answer) if margins else answer
    return to_parquet(told) if format == "parquet" else to_csv(told).encode("utf-8")


def with_margins(answer: Told) -> Told:
    """A column ``<name>_margin`` after each column that has margins."""
    places: list[tuple[int, bool]] = []
    for at in range(len(answer.columns)):
        places.append((at, False))
        if any(margins[at] is not None for margins in answer.margins):
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
    )


def to_csv(answer: Told) -> str:
    """A header and the values; NULL is nothing, an empty text is a pair of quotes."""
    rows: list[Iterable[Any]] = [answer.columns, *answer.rows]
    return "".join(",".join(map(_field, row)) + "\n" for row in rows)


def _field(value: Any) -> str:
    text = plain(value)
    quoted = value is not None and (
        not text or text != text.strip() or any(each in text for each in ',"\r\n')
    )
    return '"' + text.replace('"', '""') + '"' if quoted else text


def to_json(answer: Told) -> str:
    """One object; rows and margins are lists in the order of the columns."""
    columns = [{"name": name, "type": sql} for name, sql in zip(answer.columns, answer.types, strict=True)]
    parts = {
        "columns": json.dumps(columns, ensure_ascii=False),
        "rows": _lines(answer.rows),
        "margins": _lines(answer.margins),
        "cost": token(answer.cost),
        "remaining": token(answer.remaining),
        "repeated": token(answer.repeated),
        "note": token(answer.note),
    }
    return "{\n" + ",\n".join(f'  "{name}": {part}' for name, part in parts.items()) + "\n}\n"


def rows_to_json(answer: Told) -> str:
    """The same without what the rows cost: for files that are given away."""
    names = json.dumps(answer.columns, ensure_ascii=False)
    return f'{{\n  "columns": {names},\n  "rows": {_lines(answer.rows)}\n}}\n'


def _lines(rows: Iterable[Iterable[Any]]) -> str:
    listed = [f"    {token(list(row))}" for row in rows]
    return "[\n" + ",\n".join(listed) + "\n  ]" if listed else "[]"


def to_parquet(answer: Told) -> bytes:
    """The rows with their types, written by DuckDB."""
    import duckdb

    with tempfile.TemporaryDirectory(prefix="dpsql-") as folder:
        file = Path(folder) / "answer.parquet"
        connection = duckdb.connect(":memory:")
        try:
            types = [_storable(sql, answer, at) for at, sql in enumerate(answer.types)]
            listed = ", ".join(
                f"{_quoted(name)} {sql}" for name, sql in zip(_distinct(answer.columns), types, strict=True)
            )
            connection.execute(f"CREATE TABLE answer ({listed})")
            if answer.rows:
                values = [[_sent(value) for value in column] for column in zip(*answer.rows, strict=True)]
                unnested = ", ".join(f"unnest(CAST(? AS {sql}[]))" for sql in types)
                connection.execute(f"INSERT INTO answer SELECT {unnested}", values)
            where = str(file).replace("'", "''")
            connection.execute(f"COPY answer TO '{where}' (FORMAT parquet)")
        except duckdb.Error:
            raise refuse(
                "D601",
                "the answer has a column that Parquet cannot hold",
                help="cast it to VARCHAR, or choose another format: asked again, the query is free",
            ) from None
        finally:
            connection.close()
        return file.read_bytes()


def _storable(sql: str, answer: Told, at: int) -> str:
    """Parquet has no HUGEINT (DuckDB would write it as DOUBLE) and no column without a type."""
    if sql == "HUGEINT" and all(row[at] is None or abs(row[at]) < 10**38 for row in answer.rows):
        return "DECIMAL(38,0)"
    return "INTEGER" if sql == '"NULL"' else sql


def _sent(value: Any) -> Any:
    """Dates, times and decimals travel as text, which DuckDB reads back as the column's type."""
    if isinstance(value, Decimal):
        return f"{value:f}"
    return (
        value
        if value is None or isinstance(value, bool | int | float | str | list | dict | bytes)
        else str(value)
    )


def _distinct(names: Iterable[str]) -> list[str]:
    found: list[str] = []
    taken: set[str] = set()
    for name in names:
        number, each = 1, name
        while each.casefold() in taken:
            number, each = number + 1, f"{name}_{number}"
        taken.add(each.casefold())
        found.append(each)
    return found


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
