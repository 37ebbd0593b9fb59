"""What goes into a command: the arguments that several commands share, and what is read by them."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import TypeAlias

from dpsql.dbapi import Connection, connect
from dpsql.dbapi.connection import beside
from dpsql.errors import InterfaceError
from dpsql.ir.column import Value
from dpsql.render.digits import on_a_line
from dpsql.terminal.output import tell

EXITS = "exit codes: 0 answered, 1 refused, 2 wrong usage, 3 budget exhausted"

Commands: TypeAlias = "argparse._SubParsersAction[ArgumentParser]"


def command(
    names: Commands, name: str, help: str, text: str = "", examples: tuple[str, ...] = ()
) -> ArgumentParser:
    """One more command: its line in the list, and what its own ``--help`` says around the arguments."""
    said = text or f"{help[0].upper()}{help[1:]}."
    shown = "".join(f"  {each}\n" for each in examples)
    return names.add_parser(
        name,
        help=help,
        description=textwrap.fill(said, 78),
        epilog=f"{'examples' if len(examples) > 1 else 'example'}:\n{shown}\n{EXITS}" if shown else EXITS,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def database(made: ArgumentParser, analyst: bool = True) -> None:
    """The database, the files beside it, and (unless the command is the owner's) who asks."""
    made.add_argument(
        "database", type=Path, metavar="DB", help="a DuckDB, parquet or csv file, or a folder of them"
    )
    made.add_argument("--policy", type=Path, metavar="FILE", help="default: DB with .toml")
    made.add_argument("--ledger", type=Path, metavar="FILE", help="default: DB with .ledger")
    if not analyst:
        made.set_defaults(analyst=None)
        return
    made.add_argument("--analyst", metavar="NAME", help="who asks, and whose budget pays as well")


def query(made: ArgumentParser) -> None:
    """One query, its price and its parameters."""
    text(made, "the query (- or nothing: standard input)")
    made.add_argument("--epsilon", type=float, metavar="E", help="the price; default: the policy's")
    made.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="VALUE",
        help="a value for the next question mark: 65, 1.5, true, null, else text ('65' in quotes is text)",
    )


def text(made: ArgumentParser, help: str) -> None:
    """SQL, as a word behind the database or as an option: people are used to either."""
    made.add_argument("sql", nargs="?", metavar="SQL", help=help)
    made.add_argument("-c", "--command", metavar="SQL", help="the same, as an option")


def text_of(options: Namespace) -> str | None:
    """The SQL that stands on the command line, if any does."""
    if options.sql is not None and options.command is not None:
        options.usage("give the query once: with -c, or behind the database")
    found: str | None = options.command if options.sql is None else options.sql
    return found


def opened(options: Namespace) -> Connection:
    """The connection that these options describe."""
    db = connect(options.database, options.policy, options.ledger, options.analyst)
    if db.ledger_created:
        path = on_a_line(db.ledger_path)
        tell(f"created the ledger {path}: it keeps what was spent and every answer, so keep it")
    return db


def files_read(options: Namespace) -> tuple[Path, ...]:
    """The database, its policy and its ledger: nothing is written over them."""
    database: Path = options.database
    policy: Path = options.policy or beside(database, ".toml")
    ledger: Path = options.ledger or beside(database, ".ledger")
    return database, policy, ledger


def sql_of(options: Namespace) -> str:
    """The query: an argument, or what stands on standard input."""
    text = text_of(options)
    try:
        if text is None and (sys.stdin is None or sys.stdin.isatty()):
            options.usage("give a query behind the database, with -c, or on standard input")
        if text is None or text == "-":
            text = sys.stdin.buffer.read().decode("utf-8")
        text.encode("utf-8")
    except UnicodeError:
        raise InterfaceError("the query is not text in UTF-8") from None
    return text


def values_of(texts: list[str]) -> tuple[Value, ...]:
    """What stands for the question marks."""
    return tuple(map(value_of, texts))


def value_of(text: str) -> Value:
    """A parameter as it would be read in SQL, but that text needs no quotes."""
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
