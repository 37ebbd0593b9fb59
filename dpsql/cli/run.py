"""``dpsql run``: price a file of statements, answer it into a folder, and resume a stopped run."""

from __future__ import annotations

import shlex
import sys
import textwrap
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from dpsql.cli import shared_arguments
from dpsql.cli.shared_arguments import Commands, command, opened
from dpsql.errors import Error, InterfaceError, refuse
from dpsql.render.digits import on_a_line
from dpsql.terminal.output import look, put, refusal, tell, width

if TYPE_CHECKING:
    from dpsql.batch.bill import Bill
    from dpsql.batch.manifest import Manifest
    from dpsql.batch.script import Script
    from dpsql.dbapi import Connection

REFUSED, EXHAUSTED = 1, 3


def arguments(names: Commands) -> None:
    parser = command(
        names,
        "run",
        "answer a file of statements into a folder",
        "Answer every statement of a file into a file of its own, with a manifest of what they cost. "
        "Everything is read and priced before anything is paid.",
        (
            "dpsql run clinic.duckdb monthly.sql --dry-run",
            "dpsql run clinic.duckdb monthly.sql --epsilon 2 --out november",
            "dpsql run clinic.duckdb monthly.sql --epsilon 2 --out november --resume",
        ),
    )
    shared_arguments.database(parser)
    parser.add_argument("file", metavar="FILE", help="statements with -- name: comments (-: standard input)")
    parser.add_argument(
        "--epsilon", type=float, metavar="TOTAL", help="divide this price among the statements"
    )
    parser.add_argument(
        "--out", type=Path, metavar="DIR", help="the folder for results; default: FILE with .results"
    )
    parser.add_argument(
        "--format", choices=("csv", "parquet", "json"), help="format of the results; default: csv"
    )
    parser.add_argument("--dry-run", action="store_true", help="only print prices and expected errors: free")
    parser.add_argument("--resume", action="store_true", help="continue a run that was stopped or killed")
    parser.add_argument("--keep-going", action="store_true", help="skip refused statements")
    parser.add_argument(
        "--apart", action="store_true", help="measure each statement by itself, none together with others"
    )
    parser.add_argument("--report", type=Path, metavar="HTML", help="write one page with all answers")
    parser.set_defaults(run=run, usage=parser.error)


def run(options: Namespace) -> int:
    """Answer a file of statements, or print what it would cost."""
    from dpsql.batch.atomic_files import alone
    from dpsql.batch.script import read

    if options.dry_run and options.report is not None:
        options.usage("--report shows answers, and --dry-run gets none")
    script = read(_text(options), Path(options.file).name if options.file != "-" else "standard input")
    if options.dry_run and not options.resume:
        return _show_price(options, script)
    _check_report(options)
    folder = _folder(options)
    with alone(folder):
        return _begin_or_resume(options, script, folder)


def _check_report(options: Namespace) -> None:
    """Refuse a report path that is an input or not a regular file."""
    from dpsql.cli.analyst_commands import check_output

    report: Path | None = options.report
    check_output(report, options)
    if report is None or not report.exists():
        return
    script = Path(options.file)
    if not report.is_file() or (options.file != "-" and script.exists() and report.samefile(script)):
        raise InterfaceError(
            f"the report cannot be written to {report}", help="name a new file: monthly.html"
        )


# ---- input ---------------------------------------------------------------------------------------------


def _text(options: Namespace) -> str:
    try:
        content = sys.stdin.buffer.read() if options.file == "-" else Path(options.file).read_bytes()
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InterfaceError(f"{options.file} is not text in UTF-8") from None
    except (OSError, AttributeError) as error:
        reason = getattr(error, "strerror", None) or "there is nothing to read"
        raise InterfaceError(f"{options.file} cannot be read: {reason}", help="check the path") from None


def _folder(options: Namespace) -> Path:
    if options.out is not None:
        assert isinstance(options.out, Path)
        return options.out
    if options.file == "-":
        options.usage("statements from standard input need --out DIR")
    return Path(options.file).with_suffix(".results")


def _resume_command(options: Namespace) -> str:
    """Return the command that resumes this run."""
    words = ["dpsql", "run", str(options.database), options.file]
    for name in ("out", "policy", "ledger", "analyst", "report"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    words += ["--keep-going"] if options.keep_going else []
    return shlex.join([*words, "--resume"])


# ---- the run -------------------------------------------------------------------------------------------


def _show_price(options: Namespace, script: Script) -> int:
    """Print what the whole file would cost, from its beginning."""
    from dpsql.batch.bill import first_bill
    from dpsql.batch.start import stand_at

    with _nothing_paid(), opened(options) as db:
        stand_at(db)
        return _show(first_bill(db, script, options.epsilon, options.apart), db)


@contextmanager
def _nothing_paid() -> Iterator[None]:
    """Say on Ctrl-C that nothing was paid: steps in this context are free."""
    try:
        yield
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped: nothing was paid now") from None


def _show(bill: Bill, db: Connection) -> int:
    from dpsql.batch.bill import check_budget
    from dpsql.batch.summaries import bill_text

    put(bill_text(bill, db.budget.accountant, look().width))
    _tell_refused(bill)
    check_budget(bill)
    return REFUSED if bill.refused else 0


def _tell_refused(bill: Bill) -> None:
    if bill.refused:
        tell("\n\n".join(refusal(error) for _, error in bill.refused) + "\n")


def _begin_or_resume(options: Namespace, script: Script, folder: Path) -> int:
    """Begin or resume a run in a locked folder."""
    from dpsql.batch.bill import check_budget, first_bill, second_bill
    from dpsql.batch.manifest import load, save
    from dpsql.batch.start import as_billed, begun, stand_at, taken_up

    manifest = load(folder)
    if manifest is not None and not options.resume:
        raise _folder_in_use(manifest, folder, options)
    if manifest is None and options.resume:
        tell(f"there is no run in {on_a_line(folder)} to resume: this run begins now")
    with opened(options) as db:
        with _nothing_paid():
            started = stand_at(db, None if manifest is None else manifest.started)
            if manifest is None:
                bill = first_bill(db, script, options.epsilon, options.apart)
            else:
                manifest = taken_up(db, script, manifest, options.epsilon, options.format)
                bill = second_bill(db, script, manifest)
        if options.dry_run:
            return _show(bill, db)
        _tell_refused(bill)
        if bill.refused and not options.keep_going:
            number = len(bill.refused)
            subject = "this statement is" if number == 1 else f"these {number} statements are"
            tell(f"nothing was paid now: {subject} refused; correct the file, or skip with --keep-going")
            return REFUSED
        check_budget(bill, manifest is not None)
        if manifest is None:
            manifest = begun(db, script, bill, started, options.epsilon, options.format or "csv")
        else:
            manifest = replace(manifest, statements=as_billed(db, manifest.statements, bill))
        save(manifest, folder)
        return _answer_all(options, script, folder, db, manifest, {item.task.name for item in bill.items})


def _folder_in_use(manifest: Manifest, folder: Path, options: Namespace) -> Error:
    from dpsql.batch.summaries import account

    return refuse(
        "D509",
        f"there is {'a run' if manifest.ended is None else 'a finished run'} in {folder} already",
        label=f"begun at {manifest.started[:16].replace('T', ' ')} UTC: {account(manifest)}",
        help=f"continue it: {_resume_command(options)}; or name another folder with --out"
        if manifest.waiting
        else "name another folder with --out: statements answered at the same price are free there too",
    )


def _answer_all(
    options: Namespace,
    script: Script,
    folder: Path,
    db: Connection,
    manifest: Manifest,
    asked: set[str],
) -> int:
    from dpsql.batch.run import run
    from dpsql.batch.summaries import account, summary_text

    def tell_error(error: Error) -> None:
        tell(refusal(error))

    outcome = run(db, script, manifest, folder, asked, options.keep_going, tell_error)
    if outcome.at:
        text = f"stopped at {outcome.at}: {account(outcome.manifest)}"
        stopped = f"{_wrapped(text, sys.stderr)}\ncontinue with: {_resume_command(options)}"
        if outcome.error is None:
            raise KeyboardInterrupt(stopped)
        tell(f"{refusal(outcome.error)}\n{stopped}")
        return EXHAUSTED if outcome.error.code == "D501" else REFUSED
    text = f"{_wrapped(account(outcome.manifest), sys.stdout)}\nresults in {on_a_line(folder)}"
    put(f"{summary_text(outcome.manifest, look().width)}\n{text}")
    if options.report is not None:
        from dpsql.batch.atomic_files import write
        from dpsql.batch.report import page
        from dpsql.batch.report_data import report_of

        report = report_of(db, options.database, outcome.manifest, outcome.answers)
        write(page(report).encode(), options.report)
        tell(f"the report is {on_a_line(options.report)}")
    codes = {entry.code for entry in outcome.manifest.statements if not entry.answered}
    return EXHAUSTED if "D501" in codes else REFUSED if codes else 0


def _wrapped(text: str, stream: TextIO | None) -> str:
    """Wrap a text to the width of the terminal; leave it alone elsewhere."""
    if stream is None or not stream.isatty():
        return text
    return textwrap.fill(text, width(), break_long_words=False, break_on_hyphens=False)
