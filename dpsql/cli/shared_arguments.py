"""The arguments that several commands share, and functions that read their values."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TypeAlias

from dpsql.dbapi import Connection, connect
from dpsql.dbapi.connection import beside, place_of
from dpsql.errors import InterfaceError, refuse
from dpsql.ir.column import Value
from dpsql.render.digits import on_a_line
from dpsql.terminal.output import tell

EXITS = "exit codes: 0 answered, 1 refused, 2 wrong usage, 3 budget exhausted"

Commands: TypeAlias = "argparse._SubParsersAction[ArgumentParser]"


def command(
    names: Commands, name: str, help: str, text: str = "", examples: tuple[str, ...] = ()
) -> ArgumentParser:
    """Add a command with its line in the list, its description and its examples."""
    description = text or f"{help[0].upper()}{help[1:]}."
    lines = "".join(f"  {example}\n" for example in examples)
    return names.add_parser(
        name,
        help=help,
        description=textwrap.fill(description, 78),
        epilog=f"{'examples' if len(examples) > 1 else 'example'}:\n{lines}\n{EXITS}" if lines else EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


FILES = (
    "a DuckDB, parquet or csv file, a folder of them, spark:local[2]:FOLDER, "
    "spark+connect://HOST:PORT;use_ssl=true:FOLDER"
)
"""The places of private rows, in help."""

_SERVERS = ("postgresql", "postgres", "spark", "spark+connect", "http", "https")


def check_is_there(database: Path) -> None:
    """Refuse what is no file, for commands that read files alone; an address may hold a password."""
    if database.exists():
        return
    if str(database).partition(":")[0] in _SERVERS:
        raise refuse("D602", "this command reads files, not a server", help="name a DuckDB file or a folder")
    raise refuse("D602", f"there is no database {database}", help="check the path")


def database(parser: ArgumentParser, analyst: bool = True) -> None:
    """Add the database, its policy and ledger, and (unless the command is the owner's) the analyst."""
    parser.add_argument(
        "database",
        type=place_of,
        metavar="DB",
        help=f"{FILES}, or postgresql://reader@host/name",
    )
    parser.add_argument("--policy", type=Path, metavar="FILE", help="default: DB with .toml")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="default: DB with .ledger")
    if not analyst:
        parser.set_defaults(analyst=None, study=None)
        return
    parser.add_argument("--analyst", metavar="NAME", help="who asks; the analyst's own budget pays too")
    parser.add_argument("--study", metavar="NAME", help="what it is asked for; the study's budget pays too")


def query(parser: ArgumentParser) -> None:
    """Add a query, its price and its parameters."""
    text(parser, "the query (- or nothing: from standard input)")
    parser.add_argument("--epsilon", type=float, metavar="E", help="the price; default: the policy's")
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="VALUE",
        help="the value of the next question mark: 65, 1.5, true, null, else text ('65' in quotes is text)",
    )


def text(parser: ArgumentParser, help: str) -> None:
    """Add SQL, as an argument after the database or as an option."""
    parser.add_argument("sql", nargs="?", metavar="SQL", help=help)
    parser.add_argument("-c", "--command", metavar="SQL", help="the same, as an option")


def text_of(options: Namespace) -> str | None:
    """Return the SQL of the command line, or None."""
    if options.sql is not None and options.command is not None:
        options.usage("give the query once: with -c, or after the database")
    sql: str | None = options.command if options.sql is None else options.sql
    return sql


def opened(options: Namespace) -> Connection:
    """Open the connection that the options describe; tell if a ledger was created."""
    db = connect(options.database, options.policy, options.ledger, options.analyst, options.study)
    if db.ledger_created:
        path = on_a_line(db.ledger_path)
        tell(f"created the ledger {path}: it keeps what was spent and every answer, so keep it")
    return db


def files_read(options: Namespace) -> tuple[Path, ...]:
    """Return the database, its policy and its ledger: outputs must not overwrite them."""
    database = options.database
    policy: Path = options.policy or beside(database, ".toml")
    ledger: Path = options.ledger or beside(database, ".ledger")
    return (database, policy, ledger) if isinstance(database, Path) else (policy, ledger)


def sql_of(options: Namespace) -> str:
    """Return the query, from an argument or from standard input."""
    text = text_of(options)
    try:
        if text is None and (sys.stdin is None or sys.stdin.isatty()):
            options.usage("give a query after the database, with -c, or on standard input")
        if text is None or text == "-":
            text = sys.stdin.buffer.read().decode("utf-8")
        text.encode("utf-8")
    except UnicodeError:
        raise InterfaceError("the query is not text in UTF-8") from None
    return text


def values_of(texts: list[str]) -> tuple[Value, ...]:
    """Return the values of the question marks."""
    return tuple(map(value_of, texts))


def value_of(text: str) -> Value:
    """Read a parameter as a SQL literal, except that text needs no quotes."""
    folded = text.strip().casefold()
    if folded in ("true", "false", "null"):
        return {"true": True, "false": False, "null": None}[folded]
    if re.fullmatch(r"[+-]?\d{1,38}", folded, re.ASCII):
        return int(folded)
    if re.fullmatch(r"[+-]?(\d+\.\d*|\.?\d+)(e[+-]?\d+)?", folded, re.ASCII):
        return float(folded)
    if len(text) >= 2 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    return text
