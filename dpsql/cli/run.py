"""``dpsql run``: a file of statements, priced as a whole, answered into a folder, and taken up again."""

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
    made = command(
        names,
        "run",
        "answer a file of statements, into a folder",
        "Answer all statements of a file, each into a file of its own, with a manifest that tells what they "
        "cost. Everything is read and priced before anything is paid.",
        (
            "dpsql run clinic.duckdb monthly.sql --dry-run",
            "dpsql run clinic.duckdb monthly.sql --epsilon 2 --out november",
            "dpsql run clinic.duckdb monthly.sql --epsilon 2 --out november --resume",
        ),
    )
    shared_arguments.database(made)
    made.add_argument("file", metavar="FILE", help="statements with -- name: comments (-: standard input)")
    made.add_argument("--epsilon", type=float, metavar="TOTAL", help="share this price over the statements")
    made.add_argument("--out", type=Path, metavar="DIR", help="where results go; default: FILE with .results")
    made.add_argument("--format", choices=("csv", "parquet", "json"), help="of the results; default: csv")
    made.add_argument("--dry-run", action="store_true", help="only prices and expected errors: free")
    made.add_argument("--resume", action="store_true", help="go on with a run that was stopped or killed")
    made.add_argument("--keep-going", action="store_true", help="skip what is refused, and go on")
    made.add_argument("--report", type=Path, metavar="HTML", help="write one page with all answers")
    made.set_defaults(run=run, usage=made.error)


def run(options: Namespace) -> int:
    """Answer a file of statements, or say what it would cost."""
    from dpsql.batch.atomic_files import alone
    from dpsql.batch.script import read

    if options.dry_run and options.report is not None:
        options.usage("--report shows answers, and --dry-run gets none")
    script = read(_text(options), Path(options.file).name if options.file != "-" else "standard input")
    if options.dry_run and not options.resume:
        return _priced(options, script)
    _check_report(options)
    folder = _folder(options)
    with alone(folder):
        return _in_folder(options, script, folder)


def _check_report(options: Namespace) -> None:
    """The page takes the place of what is there: neither of what is read, nor of a device."""
    from dpsql.cli.analyst_commands import check_output

    report: Path | None = options.report
    check_output(report, options)
    if report is None or not report.exists():
        return
    script = Path(options.file)
    if not report.is_file() or (options.file != "-" and script.exists() and report.samefile(script)):
        raise InterfaceError(f"{report} is no place for a page", help="name a new file: monthly.html")


# ---- what goes in --------------------------------------------------------------------------------------


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
        options.usage("what is read from standard input needs --out DIR")
    return Path(options.file).with_suffix(".results")


def _again(options: Namespace) -> str:
    """The command that goes on with this run."""
    words = ["dpsql", "run", str(options.database), options.file]
    for name in ("out", "policy", "ledger", "analyst", "report"):
        value = getattr(options, name)
        words += [] if value is None else [f"--{name}", str(value)]
    words += ["--keep-going"] if options.keep_going else []
    return shlex.join([*words, "--resume"])


# ---- what is done --------------------------------------------------------------------------------------


def _priced(options: Namespace, script: Script) -> int:
    """What the whole file would cost from its beginning."""
    from dpsql.batch.bill import first_bill
    from dpsql.batch.start import stand_at

    with _nothing_paid(), opened(options) as db:
        stand_at(db)
        return _show(first_bill(db, script, options.epsilon), db)


@contextmanager
def _nothing_paid() -> Iterator[None]:
    """Ctrl-C in here stops what is free."""
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


def _in_folder(options: Namespace, script: Script, folder: Path) -> int:
    """Begin or go on, in a folder that is ours alone."""
    from dpsql.batch.bill import check_budget, first_bill, second_bill
    from dpsql.batch.manifest import load, save
    from dpsql.batch.start import as_billed, begun, stand_at, taken_up

    manifest = load(folder)
    if manifest is not None and not options.resume:
        raise _taken(manifest, folder, options)
    if manifest is None and options.resume:
        tell(f"there is no run in {on_a_line(folder)} to go on with: this is its beginning")
    with opened(options) as db:
        with _nothing_paid():
            started = stand_at(db, None if manifest is None else manifest.started)
            if manifest is None:
                bill = first_bill(db, script, options.epsilon)
            else:
                manifest = taken_up(db, script, manifest, options.epsilon, options.format)
                bill = second_bill(db, script, manifest)
        if options.dry_run:
            return _show(bill, db)
        _tell_refused(bill)
        if bill.refused and not options.keep_going:
            number = len(bill.refused)
            said = "this statement is" if number == 1 else f"these {number} statements are"
            tell(f"nothing was paid now: {said} refused; mend the file, or skip with --keep-going")
            return REFUSED
        check_budget(bill, manifest is not None)
        if manifest is None:
            manifest = begun(db, script, bill, started, options.epsilon, options.format or "csv")
        else:
            manifest = replace(manifest, statements=as_billed(db, manifest.statements, bill))
        save(manifest, folder)
        return _run(options, script, folder, db, manifest, {each.task.name for each in bill.items})


def _taken(manifest: Manifest, folder: Path, options: Namespace) -> Error:
    from dpsql.batch.summaries import account

    return refuse(
        "D509",
        f"there is {'a run' if manifest.ended is None else 'a finished run'} in {folder} already",
        label=f"begun at {manifest.started[:16].replace('T', ' ')} UTC: {account(manifest)}",
        help=f"go on with it: {_again(options)}; or name another folder with --out"
        if manifest.waiting
        else "name another folder with --out: what was answered at the same price is free there too",
    )


def _run(
    options: Namespace,
    script: Script,
    folder: Path,
    db: Connection,
    manifest: Manifest,
    asked: set[str],
) -> int:
    from dpsql.batch.run import run
    from dpsql.batch.summaries import account, summary_text

    def told(error: Error) -> None:
        tell(refusal(error))

    outcome = run(db, script, manifest, folder, asked, options.keep_going, told)
    if outcome.at:
        said = f"stopped at {outcome.at}: {account(outcome.manifest)}"
        stopped = f"{_filled(said, sys.stderr)}\ngo on with: {_again(options)}"
        if outcome.error is None:
            raise KeyboardInterrupt(stopped)
        tell(f"{refusal(outcome.error)}\n{stopped}")
        return EXHAUSTED if outcome.error.code == "D501" else REFUSED
    said = f"{_filled(account(outcome.manifest), sys.stdout)}\nresults in {on_a_line(folder)}"
    put(f"{summary_text(outcome.manifest, look().width)}\n{said}")
    if options.report is not None:
        from dpsql.batch.atomic_files import write
        from dpsql.batch.report import page
        from dpsql.batch.report_data import report_of

        report = report_of(db, options.database, outcome.manifest, outcome.answers)
        write(page(report).encode(), options.report)
        tell(f"the report is {on_a_line(options.report)}")
    codes = {each.code for each in outcome.manifest.statements if not each.answered}
    return EXHAUSTED if "D501" in codes else REFUSED if codes else 0


def _filled(text: str, stream: TextIO | None) -> str:
    """Words that keep to the width of a terminal."""
    if stream is None or not stream.isatty():
        return text
    return textwrap.fill(text, width(), break_long_words=False, break_on_hyphens=False)
