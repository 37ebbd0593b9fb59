"""``dpsql audit DB FILE.sql``: whether each statement keeps its promise on the owner's own data."""

from __future__ import annotations

import secrets
import tempfile
import textwrap
import threading
import time
from argparse import Namespace
from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.cli.shared_arguments import Commands, command
from dpsql.errors import Error, InterfaceError
from dpsql.render.box import box
from dpsql.terminal.output import flush, put, refusal, tell, width
from dpsql.terminal.progress import Progress
from dpsql.terminal.waiting import beside, lasting

if TYPE_CHECKING:
    from dpsql.audit.neighbour_views import Lacking
    from dpsql.audit.statements import Part
    from dpsql.dbapi import Connection
    from dpsql.parse.scripts import Statement
    from dpsql.session import Session

FAILED = 1

WARNING = "For the owner only: exact measurements of private rows, without noise. Show nobody else."


def arguments(names: Commands) -> None:
    made = command(
        names,
        "audit",
        "the owner's: whether statements keep their promise on this data",
        "For every statement of a file: leave out one unit after the other, measure exactly, and compare the "
        "largest movement with the declared sensitivity; then release noise many times with and without the "
        "unit that moved most, hold what that proves of epsilon against what was planned, and of what is "
        "chosen, like a median, compare the chances themselves. Nothing is debited. Units that are not tried "
        "may move more. It takes the data itself, no account: who may read the files may run it, and what it "
        "prints is for the owner only. It exits with 1 unless every statement keeps its promise.",
        (
            "dpsql audit clinic.duckdb questions.sql",
            "dpsql audit clinic.duckdb questions.sql --units 50 --trials 0",
        ),
    )
    made.add_argument("database", type=Path, metavar="DB", help="a DuckDB, parquet or csv file, or a folder")
    made.add_argument("file", type=Path, metavar="FILE", help="the statements, each ended by a semicolon")
    made.add_argument("--policy", type=Path, metavar="FILE", help="default: DB with .toml")
    made.add_argument("--epsilon", type=float, metavar="E", help="the price of each; default: the policy's")
    made.add_argument(
        "--units", type=int, default=20, metavar="N", help="how many units are left out, in turn; default: 20"
    )
    made.add_argument(
        "--trials",
        type=int,
        default=1000,
        metavar="N",
        help="releases of noise with and without a unit, 0 for none; default: 1000",
    )
    made.set_defaults(run=audit, usage=made.error)


def audit(options: Namespace) -> int:
    """Audit every statement; 0 if all keep their promise."""
    from dpsql.audit import owners_session
    from dpsql.audit.neighbour_views import Lacking
    from dpsql.dbapi import connect
    from dpsql.parse.scripts import statements

    if options.units < 1 or options.trials < 0:
        options.usage("--units is at least 1, and --trials at least 0")
    text = _text(options.file)
    asked = statements(text, options.file.name)
    try:
        with tempfile.TemporaryDirectory(prefix="dpsql-audit-") as folder:
            ledger = Path(folder) / "audit.ledger"  # its own: nothing is debited, and nothing noted
            with connect(options.database, options.policy, ledger) as db:
                session = owners_session(db)
                with closing(Lacking(options.database, session.policy, session.known)) as neighbour:
                    return _audited(options, db, session, neighbour, asked, text)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped: an audit pays nothing, and leaves nothing behind") from None


def _audited(
    options: Namespace,
    db: Connection,
    session: Session,
    neighbour: Lacking,
    asked: tuple[Statement, ...],
    text: str,
) -> int:
    from dpsql.audit.statements import OK, audited
    from dpsql.parse.scripts import in_script

    units = neighbour.units(options.units, secrets.randbits(31))
    if not units:
        raise InterfaceError("nobody is in this database: there is nothing to leave out", help="load data")
    work = _Work(db, neighbour, sum(each.setting is None for each in asked))
    rows: list[tuple[str, ...]] = []
    price, failed, number = options.epsilon or session.policy.query.epsilon, list[str](), 0
    for at, each in enumerate(asked, 1):
        name = each.name or str(at)
        if each.setting is not None:
            price = _price(each, price)
            continue
        number += 1
        try:
            parts = work.done(
                name,
                partial(audited, session, each.text, price, neighbour, units, options.trials, work.going),
            )
        except Error as error:
            in_script(error.within(each.text, name), each, text, options.file.name)
            tell(refusal(error))
            rows.append((name, "", "", "", "refused"))
            failed.append(name)
            continue
        rows += [_row(name, part) for part in parts] or [(name, "", "", "", "nothing private")]
        if any(part.verdict != OK for part in parts):
            failed.append(name)
    put(WARNING)
    put(box(_TITLES, rows, (False, False, True, True, False)))
    _say(f"{_tried(options, len(units), session.policy.unit.name)}\n\n{_verdict(number, failed)}")
    flush()
    return FAILED if failed else 0


class _Work:
    """Statements at work beside us, one by one: a terminal shows how far they are, and Ctrl-C stops them."""

    def __init__(self, db: Connection, neighbour: Lacking, statements: int) -> None:
        self._engines, self._stopped = (db, neighbour), threading.Event()
        self._progress, self._now = Progress(statements), ""

    def done(self, name: str, step: Callable[[], list[Part]]) -> list[Part]:
        started, self._now = time.monotonic(), ""

        def tick() -> None:
            self._progress.at(f"{name}: {self._now}  {lasting(time.monotonic() - started)}")

        tick()
        try:
            return beside(self, step, tick)
        finally:
            self._progress.ended()
            self._progress.clear()

    def going(self, what: str) -> None:
        self._now = what
        if self._stopped.is_set():
            raise KeyboardInterrupt

    def interrupt(self) -> None:
        self._stopped.set()
        for each in self._engines:
            each.interrupt()


def _tried(options: Namespace, units: int, unit: str) -> str:
    """What was done, and how to read the numbers."""
    said = (
        f"{units} {unit}s were left out, one after the other. Moved: the furthest that this moved exact "
        "numbers, in parts of what was declared; above 100 % there is too little noise."
    )
    if options.trials:
        said += (
            " Epsilon: the privacy loss that was found beside the one that was planned; of noise it is what "
            f"{options.trials:,} releases with and without the furthest {unit} prove, of choices the largest "
            "that there is. A verdict is wrongly not ok once in a billion."
        )
    return said


def _verdict(number: int, failed: list[str]) -> str:
    if failed:
        return f"FAILED: {len(failed)} of {number} statements are not ok: {', '.join(failed)}."
    return f"PASSED: {'the statement keeps' if number == 1 else f'all {number} statements keep'} the promise."


def _say(text: str) -> None:
    for paragraph in text.split("\n\n"):
        put(textwrap.fill(paragraph, max(40, min(width(), 100)), break_on_hyphens=False))


_TITLES = ("statement", "part", "moved, of declared", "epsilon found, of planned", "verdict")


def _row(name: str, part: Part) -> tuple[str, ...]:
    moved = f"{100 * part.moved:.2f} % of {part.declared:,}"
    found = "-" if part.least is None else f"{part.least:.3f}"
    return name, part.name, moved, f"{found} of {part.claimed:.3f}", part.verdict


def _price(each: Statement, price: float) -> float:
    """What SET epsilon says; other settings are no matter of an audit."""
    assert each.setting is not None
    name, value = each.setting
    try:
        return float(value) if name == "epsilon" else price
    except ValueError:
        raise InterfaceError(f"line {each.line}: {value} is not a price", help="SET epsilon = 0.2;") from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InterfaceError(f"{file} is not text in UTF-8", help="save it as UTF-8") from None
    except OSError as error:
        raise InterfaceError(f"{file} cannot be read: {error.strerror}", help="check the path") from None
