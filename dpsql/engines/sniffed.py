"""What a csv file seems to hold: for the draft of a policy, and for nothing else.

DuckDB looks at the first lines of the file. Names and types leave this file, values do not.
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import duckdb

from dpsql.engines.files import header_of
from dpsql.engines.names import text
from dpsql.policy.files import TYPES
from dpsql.policy.model import CsvRule
from dpsql.policy.names import fold

_NUMBER = re.compile(r"[-+]?\d[-\d.,:/ ]*")
_PLAIN_DATES = ("", "%Y-%m-%d")
_PLAIN_TIMES = ("", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M:%S.%f")


def sniffed(
    connection: duckdb.DuckDBPyConnection, path: Path
) -> tuple[CsvRule, tuple[str, ...], dict[str, str]]:
    """How the file seems to be written, its columns, and their types by folded name."""
    asked = "SELECT Delimiter, Quote, HasHeader, DateFormat, TimestampFormat, Columns FROM"
    try:
        [(delim, quoted, header, dates, times, columns)] = connection.execute(
            f"{asked} sniff_csv({text(str(path))})"
        ).fetchall()
    except duckdb.Error:
        names = header_of(path, CsvRule())
        return CsvRule(), names, {fold(name): "VARCHAR" for name in names if name}
    mark = quoted if len(str(quoted)) == 1 and str(quoted).isprintable() else '"'
    format_ = "" if dates is None or dates in _PLAIN_DATES else str(dates)
    rule = CsvRule(str(delim), mark, bool(header), "", format_)
    names = header_of(path, rule) if header else ()
    if not names or any(_NUMBER.fullmatch(each) for each in names):  # somebody's row, not a header
        rule, names = replace(rule, header=False), tuple(f"column{i}" for i in range(len(columns)))
    types = [_type(str(each["type"]), str(times or "")) for each in columns]
    if len(types) != len(names):
        types = ["VARCHAR"] * len(names)
    told = zip(names, types, strict=True)
    once = [fold(each) for each in names]
    return rule, names, {fold(name): type_ for name, type_ in told if name and once.count(fold(name)) == 1}


def _type(found: str, times: str) -> str:
    if found.startswith("TIMESTAMP") and times not in _PLAIN_TIMES:
        return "VARCHAR"
    return found if found in TYPES or found.startswith("DECIMAL(") else "VARCHAR"
