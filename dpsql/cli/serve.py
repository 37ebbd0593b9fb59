"""``dpsql serve`` and ``dpsql analyst``: answer analysts who hold no file, and say who they are."""

from __future__ import annotations

import sys
from argparse import Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.cli.shared_arguments import Commands, command
from dpsql.dbapi.connection import place_of as database_of

if TYPE_CHECKING:  # they load what only a server needs
    from dpsql.server.setup import Setup
    from dpsql.server.verifiers import VerifierFile


def arguments(names: Commands) -> None:
    parser = command(
        names,
        "serve",
        "the owner's: answer analysts over PostgreSQL's protocol",
        "Answer analysts over PostgreSQL's wire protocol, so that psql and every tool with its driver "
        "can ask, with a password, from the analyst's own budget. Runs until SIGTERM or Ctrl-C. "
        "Who may log in: dpsql analyst add.",
        (
            "dpsql serve clinic.duckdb --check",
            "dpsql serve clinic.duckdb --listen 127.0.0.1:5433 --max-connections 50 --check",
        ),
    )
    parser.add_argument(
        "database",
        type=database_of,
        metavar="DB",
        help="a DuckDB, parquet or csv file, a folder of them, or postgresql://reader@host/db; "
        "or serve.toml, which names several",
    )
    parser.add_argument("--policy", type=Path, metavar="FILE", help="default: DB with .toml")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="default: DB with .ledger")
    parser.add_argument(
        "--analysts", type=Path, metavar="FILE", help="the verifiers of passwords; default: DB with .analysts"
    )
    parser.add_argument(
        "--listen",
        action="append",
        metavar="PLACE",
        help="HOST:PORT, or a folder for a Unix socket; may be repeated; default: 127.0.0.1:5433",
    )
    parser.add_argument(
        "--cert", type=Path, metavar="FILE", help="the certificate, as PEM: needed off the machine"
    )
    parser.add_argument("--key", type=Path, metavar="FILE", help="its key, as PEM")
    parser.add_argument(
        "--max-connections", type=int, metavar="N", help="of all analysts together; default: 200"
    )
    parser.add_argument(
        "--processes",
        type=int,
        metavar="N",
        help="that answer together, a core each; default: 1",
    )
    parser.add_argument("--timeout", type=float, metavar="S", help="seconds of one question; default: 300")
    parser.add_argument("--idle", type=float, metavar="S", help="seconds without a question; default: 3600")
    parser.add_argument(
        "--log", type=Path, metavar="FILE", help="one line of JSON per question; default: standard error"
    )
    parser.add_argument(
        "--check", action="store_true", help="open everything, say what would be served, and end"
    )
    parser.set_defaults(run=serve, usage=parser.error)

    kinds = command(
        names, "analyst", "the owner's: who may log in to dpsql serve", "Say who may log in to dpsql serve."
    ).add_subparsers(metavar="add|passwd|remove|list", required=True)
    for name, said, text in (
        (
            "add",
            "let an analyst of the policy log in",
            "Let an analyst of the policy log in, with a password of at least 12 characters. It is asked for "
            "twice, or read from standard input. Only a verifier of it is kept.",
        ),
        ("passwd", "give an analyst a new password", ""),
        (
            "remove",
            "let an analyst no longer log in",
            "Let an analyst no longer log in; open connections end within a second. What was spent stays "
            "spent, and the policy stays as it is.",
        ),
        ("list", "list who may log in", ""),
    ):
        asks = name in ("add", "passwd")
        line = f"dpsql analyst {name} clinic.duckdb{' ana' if name != 'list' else ''}"
        parser = command(
            kinds, name, said, text, (f"{line} --password-stdin < password.txt" if asks else line,)
        )
        parser.add_argument(
            "database", type=database_of, metavar="DB", help="the database, as dpsql serve takes it"
        )
        if name != "list":
            parser.add_argument("name", metavar="NAME", help="the analyst, as the policy names them")
        parser.add_argument("--policy", type=Path, metavar="FILE", help="default: DB with .toml")
        parser.add_argument("--analysts", type=Path, metavar="FILE", help="default: DB with .analysts")
        if asks:
            parser.add_argument(
                "--password-stdin", action="store_true", help="read the password from standard input"
            )
        parser.set_defaults(run=analyst, kind=name, usage=parser.error)


def serve(options: Namespace) -> int:
    """Check, or serve until a signal."""
    from dpsql.server.running import serve
    from dpsql.server.setup import checked
    from dpsql.terminal.output import put, tell

    made = _setup(options)
    if options.check:
        put("\n".join(checked(made)))
        return 0
    serve(made, tell)
    return 0


def _setup(options: Namespace) -> Setup:
    from dpsql.server.configuration import FILES, OPTIONS, place_of, read_setup, setup_of

    if isinstance(options.database, Path) and options.database.suffix == ".toml":
        for name in (*FILES, *OPTIONS):
            if getattr(options, name) is not None:
                options.usage(f"{options.database} says {name} itself")
        return read_setup(options.database)
    place = place_of(options.database, options.policy, options.ledger, options.analysts)
    return setup_of((place,), {name: getattr(options, name) for name in OPTIONS})


def _file(options: Namespace) -> VerifierFile:
    from dpsql.dbapi.connection import beside
    from dpsql.server.verifiers import VerifierFile

    return VerifierFile(options.analysts or beside(options.database, ".analysts"))


def analyst(options: Namespace) -> int:
    """Add, change, remove or list who may log in."""
    from dpsql.dbapi.connection import beside
    from dpsql.errors import InterfaceError
    from dpsql.policy.names import perhaps
    from dpsql.render.digits import printable
    from dpsql.server.scram import Verifier
    from dpsql.server.verifiers import check_name, check_password
    from dpsql.session.checks import load_policy
    from dpsql.terminal.output import put

    policy = load_policy(options.policy or beside(options.database, ".toml"))
    known = [rule.name for rule in policy.analysts]
    file = _file(options)
    if options.kind == "list":
        for name in file.now().named:
            put(printable(name) + ("" if name in known else "  (not in the policy)"))
        return 0
    name, there = options.name, options.name in file.now().named
    if options.kind == "add" and name not in known:
        raise InterfaceError(
            f"the policy {policy.name} knows no analyst {name}",
            help=perhaps(name, known) or f"write [analysts.{name}] with an epsilon of their own",
        )
    if there == (options.kind == "add"):
        raise InterfaceError(
            f"{name} {'may log in already' if there else 'cannot log in'}",
            help="dpsql analyst passwd sets a new password" if there else "dpsql analyst list says who can",
        )
    check_name(name)
    verifier = None
    if options.kind != "remove":
        password = _password(options.password_stdin)
        check_password(password)
        verifier = Verifier.of(password)
    with file.changing() as named:
        if verifier is None:
            named.pop(name, None)
        else:
            named[name] = verifier
    return 0


def _password(from_input: bool) -> str:
    """Read a password from a line of standard input, or ask for it twice."""
    from getpass import getpass

    from dpsql.errors import InterfaceError

    if from_input:
        return sys.stdin.readline().removesuffix("\n")
    password = getpass("password: ")
    if getpass("again: ") != password:
        raise InterfaceError("the two passwords differ", help="try again")
    return password
