"""COPY (query) TO STDOUT: the rows of an answer in PostgreSQL's three formats.

text      one line a row, tabs between, \\N for NULL        csv      RFC 4180; NULL is nothing, '' is ""
binary    lengths before values, as clients of Arrow read

Test: tests/unit/test_server_values.py, tests/drivers/test_server_clients.py
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from dpsql.server.results import Column
from dpsql.server.statements import Copy

_ESCAPED = str.maketrans(
    {"\\": "\\\\", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}
)


def copied(how: Copy, columns: Sequence[Column], rows: Sequence[tuple[Any, ...]]) -> Iterator[bytes]:
    """Yield the data of each row, with what comes before and after all of them."""
    kinds = [column.kind for column in columns]
    if how.format == "binary":
        head = b"PGCOPY\n\xff\r\n\0" + bytes(8)
        for row in rows:
            cells = [kind.encode(value, 1) for kind, value in zip(kinds, row, strict=True)]
            yield head + len(cells).to_bytes(2, "big") + b"".join(map(_sized, cells))
            head = b""  # it comes with the first row, as PostgreSQL sends it
        yield head + b"\xff\xff"
        return
    csv = how.format == "csv"
    delimiter = how.delimiter or ("," if csv else "\t")
    null = how.null if how.null is not None else ("" if csv else "\\N")

    def cell(text: str | None) -> str:
        if text is None:
            return null
        if not csv:
            escaped = text.translate(_ESCAPED)
            return escaped if delimiter == "\t" else escaped.replace(delimiter, "\\" + delimiter)
        quoted = text == null or text == "\\." or any(char in text for char in (delimiter, '"', "\n", "\r"))
        return '"' + text.replace('"', '""') + '"' if quoted else text

    if how.header:
        yield (delimiter.join(cell(column.name) for column in columns) + "\n").encode()
    for row in rows:
        texts = [None if value is None else kind.text(value) for kind, value in zip(kinds, row, strict=True)]
        yield (delimiter.join(map(cell, texts)) + "\n").encode("utf-8", "replace")


def _sized(cell: bytes | None) -> bytes:
    return b"\xff\xff\xff\xff" if cell is None else len(cell).to_bytes(4, "big") + cell
