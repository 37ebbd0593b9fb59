"""``dpsql shell``: one question after the other."""

from __future__ import annotations

from argparse import Namespace

from dpsql.cli import shared_arguments
from dpsql.cli.shared_arguments import Commands, command


def arguments(names: Commands) -> None:
    """What the command takes."""
    made = command(
        names,
        "shell",
        "ask one query after the other, with completion; dpsql DB does the same",
        "Ask one query after the other. In a terminal: history, completion by Tab, colours; \\? lists all. "
        "Behind a pipe: statements from standard input, answers to standard output.",
        examples=(
            "dpsql shell clinic.duckdb --analyst ana",
            "dpsql shell clinic.duckdb < questions.sql",
            'dpsql shell clinic.duckdb "SELECT COUNT(*) FROM wards"',
        ),
    )
    shared_arguments.database(made)
    shared_arguments.text(made, "statements or commands to do instead of asking, as if they came from a pipe")
    made.set_defaults(run=shell, usage=made.error)


def shell(options: Namespace) -> int:
    """A session."""
    from dpsql.shell import run

    return run(options, shared_arguments.text_of(options))
