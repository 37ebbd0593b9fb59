"""The arguments of the owner's commands. The code that runs a command is imported when it runs.

init      init.py           policy draft, policy check      owner_commands.py
                            policy bounds                   bounds.py
"""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path

from dpsql.cli.shared_arguments import FILES, Commands, command
from dpsql.dbapi.connection import place_of


def arguments(names: Commands) -> None:
    _init(names)
    _policy(names)


def _init(names: Commands) -> None:
    parser = command(
        names,
        "init",
        "the owner's: write a policy from a few questions",
        "Ask a few questions, show the policy that they make, check it against the database, and write it. "
        "Enter takes the default of a question; Ctrl-C leaves without a file. Answers may come from a pipe. "
        "(What an epsilon lets an attacker win: dpsql attack, and docs/attacks.md.)",
        ("dpsql init clinic.duckdb", "dpsql init clinic.duckdb --yes --unit patient_id"),
    )
    parser.add_argument(
        "database", type=Path, metavar="DB", help="a DuckDB, parquet or csv file, or a folder of them"
    )
    parser.add_argument(
        "--unit",
        metavar="UNIT",
        help="who is protected: a table and its key, patients.patient_id; or a column, user_id, where each "
        "value is another person; default: guessed from the names",
    )
    parser.add_argument(
        "--policy", type=Path, metavar="FILE", help="the file to write; default: DB with .toml"
    )
    parser.add_argument("--yes", action="store_true", help="ask nothing: take every default")
    parser.set_defaults(run=init)


def _policy(names: Commands) -> None:
    text = (
        "Draft a first policy from the schema alone, check a policy against its database, or show the "
        "bounds that were found."
    )
    kinds = command(names, "policy", "write a first policy, check one, show bounds", text).add_subparsers(
        metavar="draft|check|bounds", required=True
    )
    parser = command(
        kinds,
        "draft",
        "print a first policy from the schema alone, to be edited",
        "Print a first policy, made from names, types and keys alone: no row is read. The "
        "owner decides the lines marked decide. (dpsql init asks for them instead.)",
        ("dpsql policy draft clinic.duckdb > draft.toml",),
    )
    parser.add_argument(
        "database",
        type=place_of,
        metavar="DB",
        help=f"{FILES}, or postgresql://reader@host/name",
    )
    parser.set_defaults(run=draft)
    parser = command(
        kinds,
        "check",
        "check a policy against its database",
        "Check a policy against its database, as opening it for an analyst does, and print what it allows "
        "and what remains in the ledger.",
        ("dpsql policy check clinic.duckdb", "dpsql policy check clinic.duckdb --accept"),
    )
    parser.add_argument(
        "database",
        type=place_of,
        metavar="DB",
        help=f"{FILES}, or postgresql://reader@host/name",
    )
    parser.add_argument("policy", type=Path, nargs="?", metavar="POLICY", help="default: DB with .toml")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="default: DB with .ledger")
    parser.add_argument(
        "--accept",
        action="store_true",
        help="accept column types that have changed since the ledger saw them: declarations still hold",
    )
    parser.set_defaults(run=check)
    parser = command(
        kinds,
        "bounds",
        "show the bounds that queries have found",
        "Show the ranges and rows per unit that queries have found, and up to which price each is used. They "
        "are released numbers: analysts see them too. Copy them into the policy, where they are fixed, or "
        "let one be found anew.",
        ("dpsql policy bounds clinic.duckdb",),
    )
    parser.add_argument(
        "database", type=Path, metavar="DB", help="a DuckDB, parquet or csv file, or a folder of them"
    )
    parser.add_argument("policy", type=Path, nargs="?", metavar="POLICY", help="default: DB with .toml")
    parser.add_argument("--ledger", type=Path, metavar="FILE", help="default: DB with .ledger")
    what = parser.add_mutually_exclusive_group()
    what.add_argument("--write", action="store_true", help="write them into the policy")
    what.add_argument(
        "--forget",
        metavar="NAME",
        help="let the next query that needs it find this bound anew: people.income, or visits for its rows "
        "per unit",
    )
    parser.set_defaults(run=bounds)


def init(options: Namespace) -> int:
    """Ask a few questions, and write a policy."""
    from dpsql.cli.init import init

    return init(options)


def draft(options: Namespace) -> int:
    """Print a first policy."""
    from dpsql.cli.owner_commands import draft

    return draft(options)


def check(options: Namespace) -> int:
    """Check a policy against its database."""
    from dpsql.cli.owner_commands import check

    return check(options)


def bounds(options: Namespace) -> int:
    """Show found bounds, write them into the policy, or forget one."""
    from dpsql.cli.bounds import bounds

    return bounds(options)
