"""Guess the format and the types of a csv file, for the draft of a policy only.

DuckDB sniffs the first lines of the file. A column that it takes for text may consist of numbers or dates
except for a few lines: it gets the type of nearly all its values. Names and types leave this file, values do
not.
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
"""Types to try for a column of text, narrowest first, with the condition that a cast is lossless."""

_NUMBER = re.compile(r"[-+]?\d[-\d.,:/ ]*")
_PLAIN_DATES = ("", "%Y-%m-%d")
_PLAIN_TIMES = ("", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f")


def sniffed(
    connection: duckdb.DuckDBPyConnection, path: Path
) -> tuple[CsvRule, tuple[str, ...], dict[str, str]]:
    """Return the guessed csv rule, the column names, and their types by folded name."""
    rule, names, types = _sniff(connection, path)
    types = _retyped(connection, path, rule, types, ("VARCHAR",))
    commas = replace(rule, decimal=",")
    if rule.delim != "," and "VARCHAR" in types:
        retyped = _retyped(connection, path, commas, types, ("VARCHAR", "DOUBLE"))
        if _all_fit(types, retyped):
            rule, types = commas, retyped
    typed = zip(names, types, strict=True)
    folded = [fold(name) for name in names]
    return rule, names, {fold(name): type_ for name, type_ in typed if name and folded.count(fold(name)) == 1}


def _sniff(connection: duckdb.DuckDBPyConnection, path: Path) -> tuple[CsvRule, tuple[str, ...], list[str]]:
    """Return DuckDB's guess; all columns are text if it fails."""
    select = "SELECT Delimiter, Quote, HasHeader, DateFormat, TimestampFormat, Columns FROM"
    columns: list[dict[str, object]] = []
    for encoding in ("utf-8", "latin-1"):  # delimiters can be recognised even if lines are not UTF-8
        try:
            [(delim, quoted, header, dates, times, columns)] = connection.execute(
                f"{select} sniff_csv({text(str(path))}, encoding = '{encoding}')"
            ).fetchall()
            break
        except duckdb.Error:
            continue
    plain = header_of(path, CsvRule())
    if len(columns) < min(2, len(plain)):  # no guess, or one column that contains the delimiters
        return CsvRule(), plain, ["VARCHAR"] * len(plain)
    mark = quoted if len(str(quoted)) == 1 and str(quoted).isprintable() else '"'
    format_ = "" if dates is None or dates in _PLAIN_DATES else str(dates)
    rule = CsvRule(str(delim), mark, bool(header), "", format_)
    names = header_of(path, rule) if header else ()
    if not names or any(_NUMBER.fullmatch(name) for name in names):  # a row of data, not a header
        rule, names = replace(rule, header=False), tuple(f"column{i}" for i in range(len(columns)))
    types = [_type(str(column["type"]), str(times or "")) for column in columns]
    return rule, names, types if len(types) == len(names) else ["VARCHAR"] * len(names)


def _retyped(
    connection: duckdb.DuckDBPyConnection,
    path: Path,
    rule: CsvRule,
    types: list[str],
    doubtful: Sequence[str],
) -> list[str]:
    """Return the types; a doubtful one is replaced by the type of nearly all values."""
    return [
        _common_type(connection, path, rule, len(types), at) if type_ in doubtful else type_
        for at, type_ in enumerate(types)
    ]


def _all_fit(types: list[str], retyped: list[str]) -> bool:
    """Whether decimal commas turn a text column into numbers, and no number column into text."""
    pairs = list(zip(types, retyped, strict=True))
    return ("VARCHAR", "DOUBLE") in pairs and ("DOUBLE", "VARCHAR") not in pairs


def _common_type(
    connection: duckdb.DuckDBPyConnection, path: Path, rule: CsvRule, width: int, at: int
) -> str:
    """Return the type of nearly all values of a column, read with the SQL that is used later."""
    casts = [(at, "VARCHAR", "VARCHAR"), *((at, type_, type_) for type_ in _INSTEAD)]
    counted = ", ".join(f'count("{name}") FILTER ({condition})' for name, condition in _INSTEAD.items())
    lines = f"{csv_sql([path], rule, width, casts)} LIMIT {_LINES}"
    [(values, *of_type)] = connection.execute(f'SELECT count("VARCHAR"), {counted} FROM ({lines})').fetchall()
    fitting = (
        type_ for type_, count in zip(_INSTEAD, of_type, strict=True) if values and count >= _MOST * values
    )
    return next(fitting, "VARCHAR")


def _type(sniffed_type: str, times: str) -> str:
    if sniffed_type.startswith("TIMESTAMP") and times not in _PLAIN_TIMES:
        return "VARCHAR"
    return sniffed_type if sniffed_type in TYPES or sniffed_type.startswith("DECIMAL(") else "VARCHAR"
