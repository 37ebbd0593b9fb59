"""Csv files in drawn layouts; the unit's fields hold whatever could end a row early, or never."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa

from layouts.parquet import Writer
from layouts.rows import UNIT, Column

KINDS = ("text", "integer", "double", "boolean", "date")
_ODD = ('"', '"never closed', "\r", "a\rb", "\x00", "é" * 3000, '""', ',,,"', "\\", "\x1f\x1e", "\ufeff", "'")


@dataclass(frozen=True, slots=True)
class Marks:
    """What stands between fields, around them, and between lines."""

    delim: str
    quote: str
    newline: str


def layout(rng: random.Random) -> tuple[Marks, Writer]:
    """Marks, and a writer of such files into a folder."""
    marks = Marks(
        rng.choice((",", ";", "\t", "|")), rng.choice(('"', "'", "")), rng.choice(("\n", "\r\n", "\r"))
    )
    return marks, partial(_write, marks, rng.choice((1, 2)), rng.random())


def policy(marks: Marks, table: str, columns: Sequence[Column]) -> str:
    """What the policy says of a table of such files."""
    typed = [("id", "BIGINT"), ("unit", "BIGINT"), *((each.name, each.kind.duckdb) for each in columns)]
    rule = f"csv = {{ delim = {_toml(marks.delim)}, quote = {_toml(marks.quote)}, nullstr = '-' }}\n"
    return f"{rule}[tables.{table}.columns]\n" + "".join(
        f'{name} = {{ type = "{type_}" }}\n' for name, type_ in typed
    )


def _toml(mark: str) -> str:
    return '"' + mark.replace("\t", "\\t").replace('"', '\\"') + '"'


def _write(marks: Marks, files: int, seed: float, table: pa.Table, folder: Path) -> None:
    """The unit's odd fields are the same wherever its rows are written."""
    folder.mkdir(parents=True)
    size = -(-len(table) // files)
    for i in range(files):
        rows = table.slice(i * size, size).to_pydict()
        lines = [marks.delim.join(rows)]
        for row in zip(*rows.values(), strict=True):
            odd = random.Random(f"{seed} {row[0]}") if row[1] == UNIT else None
            fields = (_field(each, marks.quote, odd if at > 1 else None) for at, each in enumerate(row))
            lines.append(marks.delim.join(fields))
        (folder / f"{i}.csv").write_bytes(marks.newline.join([*lines, ""]).encode())


def _field(value: object, quote: str, odd: random.Random | None) -> str:
    if odd is not None and odd.random() < 0.5:
        return odd.choice(_ODD)
    if value is None:
        return "-"
    return f"{quote}{value}{quote}" if isinstance(value, str) and quote else str(value)
