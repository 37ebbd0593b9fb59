"""``dpsql shell``: the interactive shell, and statements from a pipe."""

from __future__ import annotations

from argparse import Namespace

from dpsql.cli import shared_arguments
from dpsql.cli.shared_arguments import Commands, command


def arguments(names: Commands) -> None:
    """Describe the command."""
    parser = command(
        names,
        "shell",
        "ask queries interactively, with completion; dpsql DB does the same",
        "Ask queries interactively. In a terminal: history, completion by Tab, colours; \\? lists all "
        "commands. In a pipe: statements from standard input, answers to standard output.",
        examples=(
            "dpsql shell clinic.duckdb --analyst ana",
            "dpsql shell clinic.duckdb < questions.sql",
            'dpsql shell clinic.duckdb "SELECT COUNT(*) FROM wards"',
        ),
    )
    shared_arguments.database(parser)
    shared_arguments.text(parser, "statements or commands to run and leave, as if they came from a pipe")
    parser.set_defaults(run=shell, usage=parser.error)


def shell(options: Namespace) -> int:
    """Run the shell."""
    from dpsql.shell import run

    return run(options, shared_arguments.text_of(options))
