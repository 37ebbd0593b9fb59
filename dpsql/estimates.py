"""Count, from an export, how many units have each value that they gave at random.

    for each in estimates("patients.csv")["ward"]:
        each.value, each.count, each.deviation, each.share

Reads the file and, beside it, the manifest that ``dpsql export`` wrote. Formulas and their proof stand in
``post/export.py``; what is computed here costs nothing, however often.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dpsql.dbapi.guard import path_of
from dpsql.errors import InterfaceError
from dpsql.ir.column import Value
from dpsql.post.export import FORMAT


@dataclass(frozen=True, slots=True)
class Estimate:
    """About ``count`` units have this value, give or take ``deviation``; ``share`` of all there are."""

    value: Value
    count: float
    deviation: float
    share: float


def manifest_beside(file: Path) -> Path:
    """Where the manifest of an export lies."""
    return file.with_name(file.name + ".manifest.json")


def estimates(file: str | Path, manifest: str | Path | None = None) -> dict[str, list[Estimate]]:
    """The values of every column of an exported file (CSV, Parquet or JSON), with their estimates."""
    path = path_of(file, "a file")
    if not path.name:
        raise InterfaceError(f"{path} is no file", help="name the file as it was written")
    beside = manifest_beside(path) if manifest is None else path_of(manifest, "a manifest")
    try:
        said = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        said = None
    if not isinstance(said, dict) or said.get("format") != FORMAT:
        raise InterfaceError(
            f"{path.name} has no manifest", help=f"keep {manifest_beside(path).name} beside the file"
        )
    return estimated(_columns(path, said), said)


def estimated(columns: list[Counter[str | None]], manifest: dict[str, Any]) -> dict[str, list[Estimate]]:
    """The same from how often each answer was given, as text (None is NULL)."""
    found = {}
    for column, counts in zip(manifest["columns"], columns, strict=True):
        said = _said(column, counts)
        found[column["name"]] = _estimates(column, said, counts.total(), manifest["rows"])
    return found


def _said(column: dict[str, Any], counts: Counter[str | None]) -> list[int]:
    """How many rows say each value."""
    if column["answers"] == "marks":
        return _marked([(text, n) for text, n in counts.items() if text], len(column["values"]))
    real = column["type"] in ("FLOAT", "DOUBLE")
    told: Counter[str | None] = Counter()
    for text, n in counts.items():
        told[repr(float(text)) if real and text is not None else text] += n
    return [told[_text(value)] for value in column["values"]]


def _marked(texts: list[tuple[str, int]], size: int) -> list[int]:
    """How many ones stand at each place."""
    said = np.zeros(size, dtype=np.int64)
    for start in range(0, len(texts), 10_000):
        part = texts[start : start + 10_000]
        marks = np.frombuffer("".join(text for text, _ in part).encode(), dtype=np.uint8) - ord("0")
        said += np.array([n for _, n in part], dtype=np.int64) @ marks.reshape(len(part), size)
    return [int(n) for n in said]


def _estimates(column: dict[str, Any], said: list[int], total: int, rows: dict[str, Any]) -> list[Estimate]:
    own, other, size = column["own"], column["other"], len(said)
    added, scale = rows["added"], rows["scale"]
    gap, units = own - other, total - added
    mixed = other + gap / size
    found = []
    for value, c in zip(column["values"], said, strict=True):
        count = (c - total * other) / gap - added / size
        having = min(max(count, 0.0), max(units, 0.0))
        coins = having * own * (1 - own) + max(units - having, 0.0) * other * (1 - other)
        coins += added * mixed * (1 - mixed)
        deviation = math.sqrt(coins / gap**2 + 2 * (scale / size) ** 2)
        found.append(Estimate(value, count, deviation, count / units if units > 0 else math.nan))
    return found


def _columns(path: Path, manifest: dict[str, Any]) -> list[Counter[str | None]]:
    """How often each answer stands in the file."""
    width = len(manifest["columns"])
    rows: list[list[Any]]
    if path.suffix == ".json":
        text = path.read_text(encoding="utf-8")
        rows = [list(map(_text, row)) for row in json.loads(text, parse_float=str, parse_int=str)["rows"]]
    else:
        rows = _read(path, width)
    return [Counter(row[at] for row in rows) for at in range(width)]


def _text(value: Any) -> str | None:
    """A JSON value as the text that stands in the file."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _read(path: Path, width: int) -> list[list[Any]]:
    import duckdb

    source = "read_parquet(?)" if path.suffix == ".parquet" else _CSV
    with duckdb.connect(":memory:") as connection:
        names = ", ".join(f"c{i}" for i in range(width))
        listed = ", ".join(f"CAST(c{i} AS VARCHAR)" for i in range(width))
        try:
            found = connection.execute(f"SELECT {listed} FROM {source} AS t({names})", [str(path)])
            return [list(row) for row in found.fetchall()]
        except duckdb.Error:
            words = f"{path.name} is not an exported file"
            raise InterfaceError(words, help="name the file as it was written") from None


_CSV = "read_csv(?, header = true, all_varchar = true, delim = ',', quote = '\"', allow_quoted_nulls = false)"

__all__ = ["Estimate", "estimated", "estimates"]
