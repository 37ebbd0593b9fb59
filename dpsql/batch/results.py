"""Write an answer to its file, and describe it for the manifest.

    old.csv    n,n_margin      old.json    rows and margins      old.parquet    as csv, with types
               4422,25

A file holds only the answer, not what was paid or what remained: writing it again gives the same bytes.
"""

from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from statistics import median

from dpsql.batch.atomic_files import write
from dpsql.batch.manifest import ANSWERED, Entry, Margin
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.formats import answer_to_json, to_csv, to_parquet, with_margins

FORMATS = ("csv", "parquet", "json")


def keep(answer: AnswerFields, entry: Entry, folder: Path, format: str) -> Entry:
    """Write the file of an answer; return the entry that records it."""
    content = content_of(answer, format)
    file = folder / f"{entry.name}.{format}"
    write(content, file)
    return replace(
        entry,
        state=ANSWERED,
        repeated=answer.repeated,
        rows=len(answer.rows),
        columns=_columns(answer),
        note=answer.note,
        file=file.name,
        sha256=sha256(content).hexdigest(),
        error=None,
        code=None,
    )


def content_of(answer: AnswerFields, format: str) -> bytes:
    match format:
        case "json":
            return answer_to_json(answer).encode("utf-8")
        case "parquet":
            return to_parquet(with_margins(answer))
        case _:
            return to_csv(with_margins(answer)).encode("utf-8")


def _columns(answer: AnswerFields) -> tuple[Margin, ...]:
    columns = []
    for at, (name, sql) in enumerate(zip(answer.columns, answer.types, strict=True)):
        widths = [width for row in answer.margins if (width := row[at]) is not None]
        columns.append(Margin(name, sql, median(widths) if widths else None, max(widths, default=None)))
    return tuple(columns)
