"""The analyst's commands: query, explain, budget and why."""

from __future__ import annotations

import json
import os
import re
from argparse import Namespace
from pathlib import Path

from dpsql.answer import Answer
from dpsql.cli import shared_arguments
from dpsql.cli.shared_arguments import Commands, command, opened, sql_of, values_of
from dpsql.dbapi import Connection
from dpsql.errors import InterfaceError
from dpsql.ir.column import Value
from dpsql.render.box import answer_text, summary
from dpsql.render.digits import printable
from dpsql.render.formats import content
from dpsql.terminal.accounts import LATEST, budget_csv, budget_json, budget_text
from dpsql.terminal.explanation import wrapped
from dpsql.terminal.output import look, put, put_data, tell, width
from dpsql.terminal.waiting import beside
from dpsql.terminal.why import why as entry_of

_COUNT = '"SELECT COUNT(*) FROM patients"'


def arguments(names: Commands) -> None:
    parser = command(
        names,
        "query",
        "answer one query",
        examples=(
            f"dpsql query clinic.duckdb --analyst ana -c {_COUNT}",
            "dpsql query clinic.duckdb --epsilon 0.1 --param 65 -c "
            '"SELECT ward, AVG(age) FROM patients WHERE age >= ? GROUP BY ward"',
            f"dpsql query clinic.duckdb --as ana -c {_COUNT}",
            'dpsql query clinic.duckdb -c "CREATE PRIVATE VIEW census AS SELECT age, sex FROM patients"',
        ),
    )
    shared_arguments.database(parser)
    shared_arguments.query(parser)
    parser.add_argument(
        "--format", choices=("table", "csv", "json", "parquet"), default="table", help="default: table"
    )
    parser.add_argument(
        "--margins", action="store_true", help="csv, parquet: add a margin after each noised column"
    )
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write the answer to a file")
    parser.add_argument(
        "--as",
        dest="as_analyst",
        metavar="NAME",
        help="the owner's: show what this analyst would see, and pay nothing: the refusal, the answer that "
        "they have paid for, or else its price",
    )
    parser.set_defaults(run=query, usage=parser.error)

    parser = command(
        names,
        "explain",
        "what a query would release, and at what price: free",
        "Show what a query would release, its expected errors, the bounds it uses and its price. "
        "Reads no private row, and costs nothing.",
        (f"dpsql explain clinic.duckdb -c {_COUNT}",),
    )
    shared_arguments.database(parser)
    shared_arguments.query(parser)
    parser.add_argument("--format", choices=("text", "json"), default="text", help="default: text")
    parser.set_defaults(run=explain, usage=parser.error)

    parser = command(
        names,
        "budget",
        "the epsilon granted and spent, by analyst, and the latest purchases",
        "Show the epsilon granted and spent, by analyst, and the latest purchases; of several databases "
        "about the same people, what they add up to. The word verify before the database checks the "
        "ledger instead: every entry, and each price against what it paid for.",
        (
            "dpsql budget clinic.duckdb",
            "dpsql budget clinic.duckdb --all",
            "dpsql budget clinic.duckdb --plot spending.svg",
            "dpsql budget clinic.duckdb labs.duckdb",
            "dpsql budget verify clinic.duckdb",
        ),
    )
    shared_arguments.database(parser)
    parser.add_argument(
        "more", type=Path, nargs="*", metavar="DB", help="others about the same people: the sum over all"
    )
    parser.add_argument(
        "--all",
        action="store_true",
        help=f"show every purchase, not only the latest {LATEST}; reads and checks the whole ledger",
    )
    parser.add_argument(
        "--format",
        choices=("table", "csv", "json"),
        default="table",
        help="default: table; csv has the purchases alone, with the blocks that each was paid in",
    )
    parser.add_argument(
        "--plot",
        type=Path,
        metavar="FILE",
        help="also draw how spending grew, as SVG: a line for the database and each analyst; reads and "
        "checks the whole ledger",
    )
    parser.set_defaults(run=budget, usage=parser.error)

    parser = command(
        names,
        "why",
        "explain the code of a refusal, and show what to write instead",
        examples=("dpsql why D301",),
    )
    parser.add_argument("code", metavar="CODE", help="as in error[D301]")
    parser.set_defaults(run=why)


def query(options: Namespace) -> int:
    """Answer one query."""
    if options.format == "parquet" and options.output is None:
        options.usage("--format parquet needs -o FILE")
    if options.as_analyst is not None:
        return _tried(options)
    sql = sql_of(options)
    check_output(options.output, options)
    with opened(options) as db:
        answer = answered(db, sql, values_of(options.param), options.epsilon)
    if options.output is None:
        _print(answer, options)
    else:
        write(content(answer, options.format, options.margins), options.output)
        tell(summary(answer))
    return 0


def _tried(options: Namespace) -> int:
    """Print what an analyst would see, without asking for them."""
    from dpsql.shell.commands.prices import cost_text

    if options.analyst is not None or options.output is not None:
        options.usage("--as asks nothing for anybody: it goes with neither --analyst nor -o")
    options.analyst = options.as_analyst
    sql, values = sql_of(options), values_of(options.param)
    with opened(options) as db:
        answer = beside(db, lambda: db.stored(sql, values, epsilon=options.epsilon))
        price = db.price(sql, values, epsilon=options.epsilon) if answer is None else None
    if answer is not None:
        _print(answer, options)
    elif price is not None:
        put(f"for {printable(options.analyst)}, not asked: {cost_text(price)}")
    return 0


def explain(options: Namespace) -> int:
    """Print what a query would release, or write it as JSON."""
    sql = sql_of(options)
    with opened(options) as db:
        explanation = db.explain(sql, values_of(options.param), epsilon=options.epsilon)
    if options.format == "json":
        put_data(json.dumps(explanation.to_dict(), indent=2, ensure_ascii=False, default=str).encode())
    else:
        put(wrapped(explanation, width()))
    return 0


def budget(options: Namespace) -> int:
    """Print what was granted and spent, and the purchases; of several databases, the sum.

    ``budget verify DB`` checks the ledger.
    """
    if options.database == Path("verify") and len(options.more) == 1:
        from dpsql.cli.verify import verified

        return verified(options.more[0], options.policy, options.ledger)
    if options.more:
        from dpsql.cli.several_budgets import budgets

        if options.policy is not None or options.ledger is not None or options.all:
            options.usage("with several databases, each has its own policy and ledger beside it")
        if options.format == "csv" or options.plot is not None:
            options.usage("--format csv and --plot go with one database")
        return budgets(options)
    check_output(options.plot, options)
    with opened(options) as db:
        most = None if options.all else LATEST
        if options.plot is not None:
            from dpsql.terminal.spending import spending_svg

            write(spending_svg(db.spending).encode(), options.plot)
        if options.format == "table":
            put(budget_text(db, width(), most))
        else:
            put_data((budget_csv if options.format == "csv" else budget_json)(db, most).encode())
    return 0


def why(options: Namespace) -> int:
    """Explain the code of a refusal."""
    code = re.sub(r"^error\[(\w+)\].*", r"\1", options.code)
    entry = entry_of(code)
    if entry is None:
        raise InterfaceError(f"there is no code {code}", help="copy the code from a message: D301")
    put(entry)
    return 0


def answered(
    db: Connection, sql: str, values: tuple[Value, ...] = (), epsilon: float | None = None
) -> Answer:
    """Return the answer to one query; Ctrl-C interrupts it."""
    return beside(db, lambda: db.execute(sql, values, epsilon=epsilon))


# ---- output -------------------------------------------------------------------------------------------


def _print(answer: Answer, options: Namespace) -> None:
    if options.format == "table":
        put(answer_text(answer, look("-o FILE writes them all")))
        return
    put_data(content(answer, options.format, options.margins))
    tell(summary(answer))


def check_output(file: Path | None, options: Namespace | None = None) -> None:
    """Refuse an output file that cannot be written or that is an input. Runs before anything is paid."""
    if file is None:
        return
    folder = file.parent
    try:
        place = file if file.exists() else folder
        writable = folder.is_dir() and not file.is_dir() and os.access(place, os.W_OK)
    except OSError:  # a name that is too long for a file
        writable = False
    if not writable:
        raise InterfaceError(
            f"{file} cannot be written", help="name a file in a folder that you can write to"
        )
    if options is not None and any(_same_file(file, path) for path in shared_arguments.files_read(options)):
        raise InterfaceError(
            f"{file} is an input of this command, and is not overwritten", help="name another file"
        )


def _same_file(first: Path, second: Path) -> bool:
    return first.exists() and second.exists() and first.samefile(second)


def write(content: bytes, file: Path) -> None:
    try:
        file.write_bytes(content)
    except OSError as error:
        raise InterfaceError(
            f"{file} could not be written: {error.strerror}",
            help="nothing is lost: ask the same query again, and the ledger answers it, free",
        ) from None
