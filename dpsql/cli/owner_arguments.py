"""What the owner's commands understand; what runs them loads when they do.

init      init.py           policy draft, policy check      owner_commands.py
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from dpsql.cli.shared_arguments import Commands, command


def arguments(names: Commands) -> None:
    _init(names)
    _policy(names)


def _init(names: Commands) -> None:
    made = command(
        names,
        "init",
        "the owner's: a few questions that make a policy",
        "Ask the few questions that make a policy, show it, hold it against the database, and write it. "
        "Enter takes the default of a question; Ctrl-C leaves without a file. Answers may come from a pipe.",
        ("dpsql init clinic.duckdb", "dpsql init clinic.duckdb --yes"),
    )
    made.add_argument(
        "database", type=Path, metavar="DB", help="a DuckDB, parquet or csv file, or a folder of them"
    )
    made.add_argument("--policy", type=Path, metavar="FILE", help="the file to write; default: DB with .toml")
    made.add_argument("--yes", action="store_true", help="ask nothing: take every default")
    made.set_defaults(run=init)


def _policy(names: Commands) -> None:
    text = "Draft a first policy from the schema alone, or hold a policy against its database."
    kinds = command(names, "policy", "write a first policy, or check one", text).add_subparsers(
        metavar="draft|check", required=True
    )
    made = command(
        kinds,
        "draft",
        "a first policy from the schema alone, to be edited",
        "Print a first policy, made from names, types and keys alone: no row is read. Lines "
        "marked decide are yours to settle. (dpsql init asks for them instead.)",
        ("dpsql policy draft clinic.duckdb > draft.toml",),
    )
    made.add_argument(
        "database", type=Path, metavar="DB", help="a DuckDB, parquet or csv file, or a folder of them"
    )
    made.set_defaults(run=draft)
    made = command(
        kinds,
        "check",
        "hold a policy against its database",
        "Hold a policy against its database, with everything that opening it for an analyst would check, and "
        "say what it amounts to and what the ledger has left.",
        ("dpsql policy check clinic.duckdb", "dpsql policy check clinic.duckdb --accept"),
    )
    made.add_argument(
        "database", type=Path, metavar="DB", help="a DuckDB, parquet or csv file, or a folder of them"
    )
    made.add_argument("policy", type=Path, nargs="?", metavar="POLICY", help="default: DB with .toml")
    made.add_argument("--ledger", type=Path, metavar="FILE", help="default: DB with .ledger")
    made.add_argument(
        "--accept",
        action="store_true",
        help="columns have other types than the ledger has seen, and what is declared of them still holds",
    )
    made.set_defaults(run=check)


def init(options: Namespace) -> int:
    """A few questions, and a policy."""
    from dpsql.cli.init import init

    return init(options)


def draft(options: Namespace) -> int:
    """A first policy, on standard output."""
    from dpsql.cli.owner_commands import draft

    return draft(options)


def check(options: Namespace) -> int:
    """A policy, held against its database."""
    from dpsql.cli.owner_commands import check

    return check(options)
