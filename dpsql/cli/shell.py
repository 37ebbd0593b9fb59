"""``dpsql shell``: the interactive shell, and statements from a pipe, on files or against a server."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING

from dpsql.cli import shared_arguments
from dpsql.cli.shared_arguments import Commands, command
from dpsql.dbapi.connection import place_of

if TYPE_CHECKING:  # loaded when a server is named
    from dpsql.dbapi.connection import Where
    from dpsql.remote.login import Login

_URLS = ("postgresql://", "postgres://")


def arguments(names: Commands) -> None:
    """Describe the command."""
    parser = command(
        names,
        "shell",
        "ask queries interactively, with completion; dpsql DB does the same",
        "Ask queries interactively. In a terminal: history, completion by Tab, colours; \\? lists all "
        "commands. In a pipe: statements from standard input, answers to standard output. "
        "dpsql shell --host db.example.org -U ana clinic is the same at a server.",
        examples=(
            "dpsql shell clinic.duckdb --analyst ana",
            "dpsql shell clinic.duckdb < questions.sql",
            'dpsql shell clinic.duckdb "SELECT COUNT(*) FROM wards"',
        ),
    )
    shared_arguments.database(parser)
    database = next(action for action in parser._actions if action.dest == "database")
    database.type, database.nargs = _place, "?"
    database.help = (
        f"{shared_arguments.FILES}; or "
        "postgresql://NAME@HOST/DB, at a server of dpsql; with --host: the server's name of it"
    )
    shared_arguments.text(parser, "statements or commands to run and leave, as if they came from a pipe")
    _server(parser)
    parser.set_defaults(run=shell, usage=parser.error)


def _server(parser: ArgumentParser) -> None:
    parser.add_argument("--host", metavar="HOST", help="the server's address, or the folder of its socket")
    parser.add_argument("-p", "--port", type=int, metavar="PORT", help="default: 5433")
    parser.add_argument("-U", "--user", metavar="NAME", help="the analyst who logs in")
    parser.add_argument("-d", "--dbname", metavar="DB", help="the server's name of the database")


def _place(text: str) -> Where | str:
    return text if text.startswith(_URLS) else place_of(text)


def shell(options: Namespace) -> int:
    """Run the shell."""
    from dpsql.shell import run
    from dpsql.shell.places import Files, Server

    login = _login(options)
    files = Files(options.database, options.policy, options.ledger, options.analyst, options.study)
    return run(files if login is None else Server(login, options.study), shared_arguments.text_of(options))


def _login(options: Namespace) -> Login | None:
    """Return where the server is that the options name; None for files."""
    url = options.database if isinstance(options.database, str) else None
    remote = url is not None or options.host is not None
    if not remote:
        for name in ("port", "user", "dbname"):
            if getattr(options, name) is not None:
                options.usage(f"--{name} is of a server: add --host, or give a URL")
        if options.database is None:
            options.usage("a database comes first: dpsql shell DB, a URL, or --host HOST -U NAME")
        return None
    for name in ("policy", "ledger", "analyst"):
        if getattr(options, name) is not None:
            options.usage(f"--{name} is of files: a server has its own (-U names the analyst)")
    if url is None and options.database is not None:
        if options.dbname is not None and options.sql is None:
            options.sql = str(options.database)  # with --dbname, what follows is SQL
        elif options.dbname is None:
            options.dbname = str(options.database)
    from dpsql.remote.login import Login

    return Login.of(url, options.host, options.port, options.user, options.dbname)
