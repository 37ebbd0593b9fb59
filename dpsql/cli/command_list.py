"""What the command line understands: the list of commands. Each file says what arguments its own take.

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
    "shell": "shell",
    "query": "analyst_commands",
    "explain": "analyst_commands",
    "budget": "analyst_commands",
    "why": "analyst_commands",
    "run": "run",
    "audit": "audit",
    "export": "export",
    "estimate": "export",
}
"""Every command, and the file of this folder that holds it."""


def spelled_out(words: list[str]) -> list[str]:
    """``dpsql clinic.duckdb`` is ``dpsql shell clinic.duckdb``: its first word is a path, and no command.

    With options that are a query's alone (``dpsql clinic.duckdb "SELECT ..." --format csv``) it is a query.
    """
    first = words[0] if words else "--help"
    if first in COMMANDS or first in ("-h", "--help", "--version"):
        return words
    if any(each.isspace() for each in first) and not os.path.exists(first):
        parser("shell").error('a database comes first: dpsql DB "SELECT ..."')
    if not ("." in first or first[0] == "-" or os.sep in first or os.path.exists(first)):
        return words
    _, over = parser("shell").parse_known_args(["shell", *words])
    return ["query" if any(each.startswith("-") for each in over) else "shell", *words]


def parsed(words: list[str]) -> Namespace:
    """The options of a command line. Older Pythons leave the SQL over that stands behind an option."""
    made = parser(words[0])
    options, over = made.parse_known_args(words)
    if len(over) == 1 and not over[0].startswith("-") and getattr(options, "sql", "") is None:
        options.sql = over[0]
    elif over:
        loose = getattr(options, "sql", None) and not over[0].startswith("-")
        made.error(f"unrecognized arguments: {' '.join(over)}{' (SQL stands in quotes)' if loose else ''}")
    return options


def parser(first: str = "") -> ArgumentParser:
    """The whole command line; for a first word that is a command, only what that one needs is loaded."""
    from dpsql import __version__

    top = ArgumentParser(
        prog="dpsql",
        description="Differentially private SQL over a DuckDB database. With a database in the place of a "
        "command, it opens the shell, or answers the SQL behind it.",
        epilog=EXITS,
    )
    top.add_argument("--version", action="version", version=f"dpsql {__version__}")
    names = top.add_subparsers(metavar="COMMAND", required=True)
    files = [COMMANDS[first]] if first in COMMANDS else dict.fromkeys(COMMANDS.values())
    for file in files:
        import_module(f"dpsql.cli.{file}").arguments(names)
    return top
