"""What the command line understands: one parser, its help, and which function runs which command."""

from __future__ import annotations

import argparse
from pathlib import Path

from dpsql import console
from dpsql.shell import commands, demo, owner, responses

_EXITS = "exit codes: 0 answered, 1 refused, 2 wrong usage, 3 budget exhausted"


def parser() -> argparse.ArgumentParser:
    """The whole command line."""
    from dpsql import __version__

    top = argparse.ArgumentParser(
        prog="dpsql", description="Differentially private SQL over a DuckDB database.", epilog=_EXITS
    )
    top.add_argument("--version", action="version", version=f"dpsql {__version__}")
    names = top.add_subparsers(metavar="COMMAND", required=True)

    made = names.add_parser("demo", help="build a made-up clinic and show a few answers")
    made.add_argument("--dir", type=Path, metavar="DIR", help="keep the clinic's files in this folder")
    made.set_defaults(run=demo.demo)

    made = names.add_parser("shell", help="ask one query after the other", epilog=_EXITS)
    _database(made)
    made.set_defaults(run=console.run)

    made = names.add_parser("query", help="answer one query", epilog=_EXITS)
    _database(made)
    _query(made)
    made.add_argument(
        "--format", choices=("table", "csv", "json", "parquet"), default="table", help="default: table"
    )
    made.add_argument(
        "--margins", action="store_true", help="csv, parquet: a margin after each noised column"
    )
    made.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the answer to a file")
    made.set_defaults(run=commands.query, usage=made.error)

    made = names.add_parser(
        "explain", help="what a query would release, and at what price: free", epilog=_EXITS
    )
    _database(made)
    _query(made)
    made.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    made.set_defaults(run=commands.explain, usage=made.error)

    made = names.add_parser(
        "export",
        help="the owner's: rows of randomized responses, to give away",
        description="Write rows in which every column answers at random: SELECT "
        "DP_RANDOMIZED_RESPONSE(ward, 1.0) AS ward, ... FROM patients. A manifest for whoever counts by them "
        "is written beside the file.",
        epilog=_EXITS,
    )
    _database(made, analyst=False)
    _query(made)
    made.add_argument("--format", choices=("csv", "json", "parquet"), default="csv", help="default: csv")
    made.add_argument("-o", "--output", type=Path, metavar="FILE", required=True, help="the file to write")
    made.set_defaults(run=responses.export, usage=made.error)

    made = names.add_parser("estimate", help="how many have each value, by an exported file: free")
    made.add_argument("file", type=Path, metavar="FILE", help="with its manifest beside it")
    made.set_defaults(run=responses.estimate)

    made = names.add_parser("budget", help="what was granted and spent, by whom, on what")
    _database(made)
    made.add_argument("--format", choices=("table", "json"), default="table", help="default: table")
    made.set_defaults(run=commands.budget)

    policy = names.add_parser("policy", help="write a first policy, or check one")
    kinds = policy.add_subparsers(metavar="draft|check", required=True)
    made = kinds.add_parser("draft", help="a first policy from the schema alone, to be edited")
    made.add_argument("database", type=Path, metavar="DB")
    made.set_defaults(run=owner.draft)
    made = kinds.add_parser("check", help="hold a policy against its database")
    made.add_argument("database", type=Path, metavar="DB")
    made.add_argument("policy", type=Path, nargs="?", metavar="POLICY", help="default: DB with .toml")
    made.set_defaults(run=owner.check)
    return top


def _database(made: argparse.ArgumentParser, analyst: bool = True) -> None:
    made.add_argument("database", type=Path, metavar="DB", help="a DuckDB file")
    made.add_argument("--policy", type=Path, metavar="FILE", help="default: DB with .toml")
    made.add_argument("--ledger", type=Path, metavar="FILE", help="default: DB with .ledger")
    if not analyst:
        made.set_defaults(analyst=None)
        return
    made.add_argument("--analyst", metavar="NAME", help="who asks, and whose budget pays as well")


def _query(made: argparse.ArgumentParser) -> None:
    made.add_argument("-c", "--command", metavar="SQL", help="the query (- or nothing: standard input)")
    made.add_argument("--epsilon", type=float, metavar="E", help="the price; default: the policy's")
    made.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="VALUE",
        help="a value for the next question mark: 65, 1.5, true, null, else text ('65' in quotes is text)",
    )
