"""What the command line understands: the list of commands. Each file says what arguments its own take.

dpsql query clinic.duckdb -c "SELECT ..."
      |
      COMMANDS["query"] -> dpsql/shell/commands.py: ``arguments`` describes it, ``query`` runs it
"""

from __future__ import annotations

import os
from argparse import ArgumentParser
from importlib import import_module

from dpsql.shell.given import EXITS

COMMANDS = {
    "demo": "demo",
    "init": "owners",
    "policy": "owners",
    "shell": "sessions",
    "query": "commands",
    "explain": "commands",
    "budget": "commands",
    "why": "commands",
    "run": "run",
    "audit": "audit",
    "export": "responses",
    "estimate": "responses",
}
"""Every command, and the file of this folder that holds it."""


def spelled_out(words: list[str]) -> list[str]:
    """``dpsql clinic.duckdb`` is ``dpsql shell clinic.duckdb``: its first word is a path, and no command."""
    if not words or words[0] in COMMANDS or words[0].startswith("-"):
        return words
    first = words[0]
    return ["shell", *words] if "." in first or os.sep in first or os.path.exists(first) else words


def parser(first: str = "") -> ArgumentParser:
    """The whole command line; for a first word that is a command, only what that one needs is loaded."""
    from dpsql import __version__

    top = ArgumentParser(
        prog="dpsql",
        description="Differentially private SQL over a DuckDB database. With a database in the place of a "
        "command, it opens the shell.",
        epilog=EXITS,
    )
    top.add_argument("--version", action="version", version=f"dpsql {__version__}")
    names = top.add_subparsers(metavar="COMMAND", required=True)
    files = [COMMANDS[first]] if first in COMMANDS else dict.fromkeys(COMMANDS.values())
    for file in files:
        import_module(f"dpsql.shell.{file}").arguments(names)
    return top
