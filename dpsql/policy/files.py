"""File settings of the policy: the files of a table, the csv format, the types of csv columns.

    [tables.visits]
    files = "visits/*.parquet"                    a pattern, from the data's folder; else visits.parquet
    [tables.people]
    csv = { delim = ";", nullstr = "NA" }         for lines that are not written with commas and quotes
    [tables.people.columns]
    age = { type = "INTEGER", range = [0, 120] }  a csv file declares no types, and none are guessed

A pattern never leaves the folder. Nothing here looks into a file: that is ``engines.files``.
"""

from __future__ import annotations

import re
from pathlib import Path, PurePosixPath

from dpsql.ir.column import Kind, type_named
from dpsql.policy.model import CsvRule, Policy
from dpsql.policy.names import perhaps
from dpsql.policy.toml_keys import CSV
from dpsql.policy.toml_positions import document_of
from dpsql.policy.toml_section import Section
from dpsql.policy.toml_values import optional, regular_values

ENDINGS = (".parquet", ".csv")
"""Files with other endings are not read."""

TYPES = (
    *("BOOLEAN", "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER"),
    *("UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "VARCHAR", "DATE", "TIME", "TIMESTAMP", "UUID"),
    "TIMESTAMP WITH TIME ZONE",
)
_ALSO = {
    "BOOL": "BOOLEAN",
    "INT": "INTEGER",
    "TEXT": "VARCHAR",
    "REAL": "FLOAT",
    "TIMESTAMPTZ": "TIMESTAMP WITH TIME ZONE",
}
_DECIMAL_TYPE = re.compile(r"(?:DECIMAL|NUMERIC) ?\( ?(\d{1,2}) ?, ?(\d{1,2}) ?\)")
_DATE = re.compile(r"(?:[^%]|%%|%-?[dm]|%[yYbB])+")


def read_files(section: Section) -> str:
    """Read a relative pattern for one kind of file, or refuse it (D803)."""
    pattern = section.string("files")
    parts = pattern.split("/")
    trouble = ""
    if pattern.startswith(("/", "~")) or re.match(r"[A-Za-z]:", pattern) or "\\" in pattern:
        trouble = "must be relative to the data's folder, with / between its parts"
    elif "://" in pattern:
        trouble = "this is an address outside the folder"
    elif ".." in parts:
        trouble = ".. is not allowed: a pattern stays in the folder"
    elif any("**" in part and part != "**" for part in parts):
        trouble = "** stands for whole folders: **/*.csv"
    elif "" in parts or "." in parts or not pattern.isprintable():
        trouble = "one of its parts is empty, `.` or not printable"
    elif PurePosixPath(pattern).suffix not in ENDINGS:
        trouble = "it must end in .parquet or in .csv"
    if trouble:
        raise section.wrong(
            "files",
            "files must be a pattern relative to the data's folder, and inside it",
            label=trouble,
            help='for example: files = "visits/*.parquet"',
        )
    return pattern


def read_csv(section: Section) -> CsvRule:
    """Read the csv format; every key has a default."""
    inner = section.table("csv")
    inner.allow(CSV)
    delim = optional(inner, CSV["delim"], _delim)
    quote = optional(inner, CSV["quote"], _quote)
    if delim == quote:
        raise inner.wrong(
            "delim" if "delim" in inner.values else "quote", "delim and quote must be different characters"
        )
    return CsvRule(
        delim=delim,
        quote=quote,
        dateformat=optional(inner, CSV["dateformat"], _dateformat),
        decimal=optional(inner, CSV["decimal"], _decimal),
        **regular_values(inner, CSV),
    )


def _delim(section: Section) -> str:
    return _mark(section, "delim")


def _quote(section: Section) -> str:
    return "" if section.values["quote"] == "" else _mark(section, "quote")


def _dateformat(section: Section) -> str:
    dateformat = section.string("dateformat")
    if not (_DATE.fullmatch(dateformat) and "%" in dateformat):
        raise section.wrong(
            "dateformat",
            "this is not a date format",
            help='for example: dateformat = "%d.%m.%Y"; there are %d, %m, %y, %Y, %b (Jan), %B (January)',
        )
    return dateformat


def _decimal(section: Section) -> str:
    decimal = section.string("decimal")
    if decimal not in (".", ","):
        raise section.wrong("decimal", 'decimal must be "." or ","', help='decimal = ",", for 1.234,50')
    return decimal


def _mark(section: Section, key: str) -> str:
    mark = section.string(key)
    if len(mark) != 1 or mark.isalnum() or mark in "\r\n\0":
        raise section.wrong(
            key,
            f"{key} must be one character, neither a letter nor a digit",
            help='for example: delim = ";" or "\\t"'
            if key == "delim"
            else 'for example: quote = "\'", or "" for none',
        )
    return mark


def read_type(section: Section) -> str:
    """Read a type, in DuckDB's spelling."""
    written = " ".join(section.string("type").upper().split())
    decimal = _DECIMAL_TYPE.fullmatch(written)
    if decimal and int(decimal[2]) <= int(decimal[1]) and 1 <= int(decimal[1]) <= 38:
        return f"DECIMAL({int(decimal[1])},{int(decimal[2])})"
    name = _ALSO.get(written, written)
    if name not in TYPES:
        raise section.wrong(
            "type",
            f"text of a csv file cannot be read as {section.string('type')}",
            help=perhaps(written, TYPES) or f"the types are {', '.join(TYPES)} and DECIMAL(18, 2)",
        )
    assert type_named(name).kind is not Kind.OPAQUE
    return name


def is_files(path: Path) -> bool:
    """Whether a path is a folder or a table's file, rather than a DuckDB database."""
    return path.is_dir() or path.suffix.casefold() in ENDINGS


def no_files(policy: Policy) -> None:
    """Refuse (D804) a policy with file settings for a DuckDB database, which holds its tables itself."""
    for rule in policy.tables:
        for key, value in (("files", rule.files), ("csv", rule.csv)):
            if value:
                raise document_of(policy.text, policy.name).refuse(
                    "D804",
                    f"the database holds {rule.name} itself, not in files",
                    ("tables", rule.name, key),
                    help="leave it out, or open the folder of the files",
                )
