"""``dpsql advise DB``: what prices, budgets, rows per unit and accountants give, free and without rows."""

from __future__ import annotations

import json
from argparse import Namespace
from contextlib import closing
from pathlib import Path

from dpsql.cli.shared_arguments import Commands, command
from dpsql.dbapi.connection import beside
from dpsql.errors import InterfaceError


def arguments(names: Commands) -> None:
    parser = command(
        names,
        "advise",
        "the owner's: what a price, a budget, an accountant give: free",
        "Show which errors prices, budgets, rows_per_unit and accountants give, and how many questions fit, "
        "for a few questions: those given, or some made from the policy. Reads no private row, costs "
        "nothing, and opens no ledger.",
        (
            "dpsql advise clinic.duckdb",
            'dpsql advise clinic.duckdb --persons 20000 "SELECT ward, AVG(cost) FROM visits GROUP BY ward"',
            "dpsql advise clinic.duckdb --file questions.sql --format json",
        ),
    )
    parser.add_argument(
        "database", type=Path, metavar="DB", help="a DuckDB, parquet or csv file, or a folder of them"
    )
    parser.add_argument(
        "questions", nargs="*", metavar="SQL", help="questions to try; default: a few made from the policy"
    )
    parser.add_argument("--file", type=Path, metavar="FILE", help="more questions, each with a semicolon")
    parser.add_argument(
        "--persons",
        type=number,
        metavar="N",
        help="about how many units there are; default: about in [unit]",
    )
    parser.add_argument("--policy", type=Path, metavar="FILE", help="default: DB with .toml")
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.set_defaults(run=advise, usage=parser.error)


def number(text: str) -> int:
    found = int(text.replace(",", "").replace("_", ""))
    if not 1 <= found <= 10**12:
        raise ValueError
    return found


def advise(options: Namespace) -> int:
    """Print the tables and the plot, or write the figures as JSON."""
    from dpsql.advice.advice import advice
    from dpsql.advice.planner import Planner
    from dpsql.engines.open_database import open_database
    from dpsql.session.checks import load_policy
    from dpsql.terminal.advice import advice_text
    from dpsql.terminal.output import put, put_data, width

    policy = load_policy(options.policy or beside(options.database, ".toml"))
    questions = [*options.questions, *_in_file(options.file)]
    with (
        closing(open_database(options.database, policy)) as engine,
        closing(Planner(policy, engine)) as planner,
    ):
        found = advice(planner, questions, options.persons)
    if options.format == "json":
        put_data(json.dumps(found.to_dict(), indent=2, ensure_ascii=False).encode())
    else:
        put(advice_text(found, width()))
    return 0


def _in_file(file: Path | None) -> list[str]:
    from dpsql.parse.scripts import statements

    if file is None:
        return []
    try:
        text = file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InterfaceError(f"{file} is not text in UTF-8") from None
    except OSError as error:
        raise InterfaceError(f"{file} cannot be read: {error.strerror}", help="check the path") from None
    return [each.text for each in statements(text, file.name) if each.setting is None]
