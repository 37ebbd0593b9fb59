"""Estimates from an export: how many units have each value, from the randomized responses.

    for estimate in estimates("patients.csv")["ward"]:
        estimate.value, estimate.count, estimate.deviation, estimate.share

Reads the file and the manifest beside it, which ``dpsql export`` wrote. The formulas and their proof are in
``post/export.py``. What is computed here is post-processing and costs nothing.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from pathlib import Path
from typing import Any

from dpsql.dbapi.guard import path_of
from dpsql.errors import InterfaceError
from dpsql.ir.column import Value
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.post.export import FORMAT


@dataclass(frozen=True, slots=True)
class Estimate:
    """About ``count`` units have this value, with standard error ``deviation``; ``share`` of all units."""

    value: Value
    count: float
    deviation: float
    share: float


def manifest_beside(file: Path) -> Path:
    """Return the path of an export's manifest."""
    return file.with_name(file.name + ".manifest.json")


def estimates(file: str | Path, manifest: str | Path | None = None) -> dict[str, list[Estimate]]:
    """Estimate the counts of every column's values in an exported file (CSV, Parquet or JSON)."""
    path = path_of(file, "a file")
    if not path.name:
        raise InterfaceError(f"{path} is not a file", help="give the path of the exported file")
    beside = manifest_beside(path) if manifest is None else path_of(manifest, "a manifest")
    try:
        content = json.loads(beside.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        content = None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise InterfaceError(
            f"{path.name} has no manifest", help=f"keep {manifest_beside(path).name} beside the file"
        )
    return estimated(_columns(path, content), content)


def estimated(columns: list[Counter[str | None]], manifest: dict[str, Any]) -> dict[str, list[Estimate]]:
    """Estimate from the number of each answer, as text (None is NULL)."""
    by_column = {}
    for column, counts in zip(manifest["columns"], columns, strict=True):
        answers = _answers_per_value(column, counts)
        by_column[column["name"]] = _estimates(column, answers, counts.total(), manifest["rows"])
    return by_column


def _answers_per_value(column: dict[str, Any], counts: Counter[str | None]) -> list[int]:
    """Count the rows that answer each value."""
    if column["answers"] == "marks":
        return _ones_per_mark([(text, n) for text, n in counts.items() if text], len(column["values"]))
    real = column["type"] in ("FLOAT", "DOUBLE")
    by_text: Counter[str | None] = Counter()
    for text, n in counts.items():
        by_text[repr(float(text)) if real and text is not None else text] += n
    return [by_text[_text(value)] for value in column["values"]]


def _ones_per_mark(texts: list[tuple[str, int]], size: int) -> list[int]:
    """Count the ones at each position of the marks."""
    ones = np.zeros(size, dtype=np.int64)
    for start in range(0, len(texts), 10_000):
        part = texts[start : start + 10_000]
        marks = np.frombuffer("".join(text for text, _ in part).encode(), dtype=np.uint8) - ord("0")
        ones += np.array([n for _, n in part], dtype=np.int64) @ marks.reshape(len(part), size)
    return [int(n) for n in ones]


def _estimates(
    column: dict[str, Any], answers: list[int], total: int, rows: dict[str, Any]
) -> list[Estimate]:
    own_chance, other_chance, size = column["own"], column["other"], len(answers)
    added, scale = rows["added"], rows["scale"]
    gap, units = own_chance - other_chance, total - added
    mixed = other_chance + gap / size
    column_estimates = []
    for value, c in zip(column["values"], answers, strict=True):
        count = (c - total * other_chance) / gap - added / size
        having = min(max(count, 0.0), max(units, 0.0))
        coins = having * own_chance * (1 - own_chance) + max(units - having, 0.0) * other_chance * (
            1 - other_chance
        )
        coins += added * mixed * (1 - mixed)
        deviation = math.sqrt(coins / gap**2 + 2 * (scale / size) ** 2)
        column_estimates.append(Estimate(value, count, deviation, count / units if units > 0 else math.nan))
    return column_estimates


def _columns(path: Path, manifest: dict[str, Any]) -> list[Counter[str | None]]:
    """Count the answers of every column of the file."""
    width = len(manifest["columns"])
    rows: list[list[Any]]
    if path.suffix == ".json":
        text = path.read_text(encoding="utf-8")
        rows = [list(map(_text, row)) for row in json.loads(text, parse_float=str, parse_int=str)["rows"]]
    else:
        rows = _read(path, width)
    return [Counter(row[at] for row in rows) for at in range(width)]


def _text(value: Any) -> str | None:
    """Return a JSON value as the text in a CSV file."""
    return value if value is None or isinstance(value, str) else json.dumps(value)


def _read(path: Path, width: int) -> list[list[Any]]:
    import duckdb

    source = "read_parquet(?)" if path.suffix == ".parquet" else _CSV
    with duckdb.connect(":memory:") as connection:
        names = ", ".join(f"c{i}" for i in range(width))
        listed = ", ".join(f"CAST(c{i} AS VARCHAR)" for i in range(width))
        try:
            result = connection.execute(f"SELECT {listed} FROM {source} AS t({names})", [str(path)])
            return [list(row) for row in result.fetchall()]
        except duckdb.Error:
            words = f"{path.name} is not an exported file"
            raise InterfaceError(words, help="give the path of the exported file") from None


_CSV = "read_csv(?, header = true, all_varchar = true, delim = ',', quote = '\"', allow_quoted_nulls = false)"

__all__ = ["Estimate", "estimated", "estimates"]
