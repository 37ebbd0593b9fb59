"""What the policy says of files: which ones are a table, how a csv file's lines are written, of what types.

    [tables.visits]
    files = "visits/*.parquet"                    a pattern, from the data's folder; else visits.parquet
    [tables.people]
    csv = { delim = ";", nullstr = "NA" }         of lines that are not written with commas and quotes
    [tables.people.columns]
    age = { type = "INTEGER", range = [0, 120] }  a csv file says no types, and nobody guesses them

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
"""Files of other names are not read."""

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
    """A relative pattern of one kind of file, or D803."""
    pattern = section.string("files")
    parts = pattern.split("/")
    trouble = ""
    if pattern.startswith(("/", "~")) or re.match(r"[A-Za-z]:", pattern) or "\\" in pattern:
        trouble = "it begins in the data's folder, and its parts are divided by /"
    elif "://" in pattern:
        trouble = "this is an address elsewhere"
    elif ".." in parts:
        trouble = "it may not climb out of the folder"
    elif any("**" in part and part != "**" for part in parts):
        trouble = "** stands for whole folders: **/*.csv"
    elif "" in parts or "." in parts or not pattern.isprintable():
        trouble = "one of its parts is empty, or none"
    elif PurePosixPath(pattern).suffix not in ENDINGS:
        trouble = "it must end in .parquet or in .csv"
    if trouble:
        raise section.wrong(
            "files",
            "files are named from the data's folder, and stay within it",
            label=trouble,
            help='files = "visits/*.parquet", say',
        )
    return pattern


def read_csv(section: Section) -> CsvRule:
    """How lines are written, each key with a default."""
    inner = section.table("csv")
    inner.allow(CSV)
    delim = optional(inner, CSV["delim"], _delim)
    quote = optional(inner, CSV["quote"], _quote)
    if delim == quote:
        raise inner.wrong("delim" if "delim" in inner.values else "quote", "delim and quote are one mark")
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
            "this is not a format of dates",
            help='dateformat = "%d.%m.%Y", say: of %d, %m, %y, %Y, %b (Jan), %B (January)',
        )
    return dateformat


def _decimal(section: Section) -> str:
    decimal = section.string("decimal")
    if decimal not in (".", ","):
        raise section.wrong("decimal", "a number has a point or a comma", help='decimal = ",", for 1.234,50')
    return decimal


def _mark(section: Section, key: str) -> str:
    mark = section.string(key)
    if len(mark) != 1 or mark.isalnum() or mark in "\r\n\0":
        raise section.wrong(
            key,
            f"{key} is one mark, neither a letter nor a digit",
            help='delim = ";" or "\\t", say' if key == "delim" else 'quote = "\'", or "" for none',
        )
    return mark


def read_type(section: Section) -> str:
    """A type of DuckDB's, in DuckDB's spelling."""
    written = " ".join(section.string("type").upper().split())
    decimal = _DECIMAL_TYPE.fullmatch(written)
    if decimal and int(decimal[2]) <= int(decimal[1]) and 1 <= int(decimal[1]) <= 38:
        return f"DECIMAL({int(decimal[1])},{int(decimal[2])})"
    name = _ALSO.get(written, written)
    if name not in TYPES:
        raise section.wrong(
            "type",
            f"{section.string('type')} is not a type that a csv file's text is read as",
            help=perhaps(written, TYPES) or f"there are DECIMAL(18, 2) and {', '.join(TYPES)}",
        )
    assert type_named(name).kind is not Kind.OPAQUE
    return name


def is_files(path: Path) -> bool:
    """A folder, or a file of one table; else it is a DuckDB database."""
    return path.is_dir() or path.suffix.casefold() in ENDINGS


def no_files(policy: Policy) -> None:
    """A DuckDB database holds its tables itself: D804 where a policy names files of one."""
    for rule in policy.tables:
        for key, said in (("files", rule.files), ("csv", rule.csv)):
            if said:
                raise document_of(policy.text, policy.name).refuse(
                    "D804",
                    f"the database holds {rule.name} itself, not in files",
                    ("tables", rule.name, key),
                    help="leave it out, or open the folder of the files",
                )
