"""The list of commands. The file of a command describes its arguments and runs it.

dpsql query clinic.duckdb "SELECT ..."
      |
      COMMANDS["query"] -> dpsql/cli/analyst_commands.py: ``arguments`` describes it, ``query`` runs it
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from importlib import import_module

from dpsql.cli.shared_arguments import EXITS

COMMANDS = {
    "demo": "demo",
    "init": "owner_arguments",
    "policy": "owner_arguments",
    "advise": "advise",
    "shell": "shell",
    "query": "analyst_commands",
    "explain": "analyst_commands",
    "budget": "analyst_commands",
    "why": "analyst_commands",
    "run": "run",
    "audit": "audit",
    "attack": "attack",
    "export": "export",
    "estimate": "export",
    "ledger": "ledger",
    "serve": "serve",
    "analyst": "serve",
}
"""The file of this folder that holds each command."""


def spelled_out(words: list[str]) -> list[str]:
    """Insert the command where a path comes first: ``dpsql clinic.duckdb`` is ``dpsql shell clinic.duckdb``.

    With options that only ``query`` has (``dpsql clinic.duckdb "SELECT ..." --format csv``) it is a query.
    """
    first = words[0] if words else "--help"
    if first in COMMANDS or first in ("-h", "--help", "--version"):
        return words
    if any(character.isspace() for character in first) and not os.path.exists(first):
        parser("shell").error('a database comes first: dpsql DB "SELECT ..."')
    if not ("." in first or first[0] == "-" or os.sep in first or os.path.exists(first)):
        return words
    _, rest = parser("shell").parse_known_args(["shell", *words])
    return ["query" if any(word.startswith("-") for word in rest) else "shell", *words]


def parsed(words: list[str]) -> Namespace:
    """Parse a command line. Older Pythons do not assign SQL that follows an option; do it here."""
    command = parser(words[0])
    options, rest = command.parse_known_args(words)
    if len(rest) == 1 and not rest[0].startswith("-") and getattr(options, "sql", "") is None:
        options.sql = rest[0]
    elif rest and "questions" in options and not any(word.startswith("-") for word in rest):
        options.questions += rest
    elif rest:
        loose = getattr(options, "sql", None) and not rest[0].startswith("-")
        command.error(f"unrecognized arguments: {' '.join(rest)}{' (SQL stands in quotes)' if loose else ''}")
    return options


def parser(first: str = "") -> ArgumentParser:
    """Return the parser of all commands; if ``first`` is a command, load only that one."""
    from dpsql import __version__

    top = ArgumentParser(
        prog="dpsql",
        description="Differentially private SQL over a DuckDB database. With a database instead of a "
        "command, it opens the shell, or answers the SQL that follows.",
        epilog=EXITS,
    )
    top.add_argument("--version", action="version", version=f"dpsql {__version__}")
    names = top.add_subparsers(metavar="COMMAND", required=True)
    files = [COMMANDS[first]] if first in COMMANDS else dict.fromkeys(COMMANDS.values())
    for file in files:
        import_module(f"dpsql.cli.{file}").arguments(names)
    return top
