"""What a csv file seems to hold: for the draft of a policy, and for nothing else.

DuckDB looks at the first lines of the file. What it takes for text may nearly all be numbers or dates: one
odd line is no reason to sum nothing. Names and types leave this file, values do not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import duckdb

from dpsql.engines.file_sql import csv_sql
from dpsql.engines.files import header_of
from dpsql.engines.identifiers import text
from dpsql.policy.files import TYPES
from dpsql.policy.model import CsvRule
from dpsql.policy.names import fold

_LINES, _MOST = 20_000, 0.95
_INSTEAD = {
    "BIGINT": '"BIGINT" = "DOUBLE"',
    "DOUBLE": '"DOUBLE" IS NOT NULL',
    "DATE": 'length("VARCHAR") <= 10',
}
"""Types that a column of text may nearly all be of, narrowest first, and where a cast cuts nothing off."""

_NUMBER = re.compile(r"[-+]?\d[-\d.,:/ ]*")
_PLAIN_DATES = ("", "%Y-%m-%d")
_PLAIN_TIMES = ("", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f")


def sniffed(
    connection: duckdb.DuckDBPyConnection, path: Path
) -> tuple[CsvRule, tuple[str, ...], dict[str, str]]:
    """How the file seems to be written, its columns, and their types by folded name."""
    rule, names, types = _guessed(connection, path)
    types = _retyped(connection, path, rule, types, ("VARCHAR",))
    commas = replace(rule, decimal=",")
    if rule.delim != "," and "VARCHAR" in types:
        read = _retyped(connection, path, commas, types, ("VARCHAR", "DOUBLE"))
        if _all_fit(types, read):
            rule, types = commas, read
    told = zip(names, types, strict=True)
    once = [fold(each) for each in names]
    return rule, names, {fold(name): type_ for name, type_ in told if name and once.count(fold(name)) == 1}


def _guessed(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[CsvRule, tuple[str, ...], list[str]]:
    """What DuckDB makes of it; all text where it can make nothing of it."""
    asked = "SELECT Delimiter, Quote, HasHeader, DateFormat, TimestampFormat, Columns FROM"
    columns: list[dict[str, object]] = []
    for encoding in ("utf-8", "latin-1"):  # of lines that are not UTF-8 the marks may still be told
        try:
            [(delim, quoted, header, dates, times, columns)] = connection.execute(
                f"{asked} sniff_csv({text(str(path))}, encoding = '{encoding}')"
            ).fetchall()
            break
        except duckdb.Error:
            continue
    plain = header_of(path, CsvRule())
    if len(columns) < min(2, len(plain)):  # it made nothing of the file, or a single column of commas
        return CsvRule(), plain, ["VARCHAR"] * len(plain)
    mark = quoted if len(str(quoted)) == 1 and str(quoted).isprintable() else '"'
    format_ = "" if dates is None or dates in _PLAIN_DATES else str(dates)
    rule = CsvRule(str(delim), mark, bool(header), "", format_)
    names = header_of(path, rule) if header else ()
    if not names or any(_NUMBER.fullmatch(each) for each in names):  # somebody's row, not a header
        rule, names = replace(rule, header=False), tuple(f"column{i}" for i in range(len(columns)))
    types = [_type(str(each["type"]), str(times or "")) for each in columns]
    return rule, names, types if len(types) == len(names) else ["VARCHAR"] * len(names)


def _retyped(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    rule: CsvRule,
    types: list[str],
    doubtful: Sequence[str],
) -> list[str]:
    """The types, with what nearly all values are of where that is in doubt."""
    return [
        _mostly(connection, path, rule, len(types), at) if each in doubtful else each
        for at, each in enumerate(types)
    ]


def _all_fit(types: list[str], read: list[str]) -> bool:
    """Whether commas make numbers of some text, and text of no number."""
    pairs = list(zip(types, read, strict=True))
    return ("VARCHAR", "DOUBLE") in pairs and ("DOUBLE", "VARCHAR") not in pairs


def _mostly(connection: duckdb.DuckDBPyConnection, path: Path, rule: CsvRule, width: int, at: int) -> str:
    """The type of nearly all values of a column, read as they would be read later."""
    read = [(at, "VARCHAR", "VARCHAR"), *((at, each, each) for each in _INSTEAD)]
    counted = ", ".join(f'count("{name}") FILTER ({whole})' for name, whole in _INSTEAD.items())
    lines = f"{csv_sql([path], rule, width, read)} LIMIT {_LINES}"
    [(values, *of_type)] = connection.execute(f'SELECT count("VARCHAR"), {counted} FROM ({lines})').fetchall()
    fits = (each for each, count in zip(_INSTEAD, of_type, strict=True) if values and count >= _MOST * values)
    return next(fits, "VARCHAR")


def _type(found: str, times: str) -> str:
    if found.startswith("TIMESTAMP") and times not in _PLAIN_TIMES:
        return "VARCHAR"
    return found if found in TYPES or found.startswith("DECIMAL(") else "VARCHAR"
