"""``dpsql audit DB FILE.sql``: test on the owner's data that each statement keeps its privacy promise."""

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
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from dpsql.cli.shared_arguments import Commands, command
from dpsql.errors import Error, InterfaceError
from dpsql.render.box import box
from dpsql.terminal.output import flush, put, refusal, tell, width
from dpsql.terminal.progress import Progress
from dpsql.terminal.waiting import beside, lasting

if TYPE_CHECKING:
    from dpsql.audit.neighbour_views import Lacking
    from dpsql.audit.one_run import OneRun
    from dpsql.audit.statements import Part
    from dpsql.audit.whole_statements import Guessed
    from dpsql.dbapi import Connection
    from dpsql.parse.scripts import Statement
    from dpsql.session import Session

FAILED = 1
_FEWEST = 20
_TOGETHER = "all together"

WARNING = "For the owner only: exact measurements of private rows, without noise. Show them to nobody else."


def arguments(names: Commands) -> None:
    parser = command(
        names,
        "audit",
        "the owner's: test that statements keep their promise on this data",
        "For every statement of a file: leave out one unit at a time, measure exactly, and compare the "
        "largest change with the declared sensitivity. Then release noise many times with and without the "
        "unit with the largest change, and compare the epsilon that this proves with the planned one; where "
        "a value is chosen, like a median, compare the probabilities themselves. With --attack, also "
        "release each statement as a whole, with the unit or without it as a coin says, learn from half of "
        "the releases to guess the coin, and compare what the guesses at the other half prove with the "
        "price. With --canaries, release all statements once more, together, with each of some units in or "
        "out by a coin, and guess all these coins. Nothing is debited. Units that are not tried may change "
        "more. Whoever can read the files can run it; no account is asked for, and what it prints is for "
        "the owner only. It exits with 1 unless every statement keeps its promise. With --fuzz, it reads no "
        "private row: queries of the whole language are drawn for the policy's tables, and judged on "
        "made-up rows, with and without one unit. It exits with 1 if a judge minds any.",
        (
            "dpsql audit clinic.duckdb questions.sql",
            "dpsql audit clinic.duckdb questions.sql --units 50 --trials 0",
            "dpsql audit clinic.duckdb questions.sql --attack --trials 2000 --canaries 20",
            "dpsql audit clinic.duckdb --fuzz 50 --seed 7",
        ),
    )
    parser.add_argument(
        "database", type=Path, metavar="DB", help="a DuckDB, parquet or csv file, or a folder"
    )
    parser.add_argument(
        "file", type=Path, metavar="FILE", nargs="?", help="the statements, each ended by a semicolon"
    )
    parser.add_argument("--policy", type=Path, metavar="FILE", help="default: DB with .toml")
    parser.add_argument("--epsilon", type=float, metavar="E", help="the price of each; default: the policy's")
    parser.add_argument(
        "--units",
        type=int,
        default=20,
        metavar="N",
        help="how many units to leave out, one at a time; default: 20",
    )
    parser.add_argument(
        "--trials",
        type=int,
        default=1000,
        metavar="N",
        help="releases of noise with and without a unit, 0 for none; default: 1000",
    )
    parser.add_argument(
        "--attack", action="store_true", help="guess from whole statements whether a unit was in the data"
    )
    parser.add_argument(
        "--canaries",
        type=int,
        default=0,
        metavar="N",
        help="guess of so many units which were in one release of all statements together; default: none",
    )
    parser.add_argument(
        "--fuzz",
        type=int,
        metavar="N",
        help="in place of a FILE: judge so many drawn queries, each on made-up rows with and without a unit",
    )
    parser.add_argument("--seed", type=int, metavar="S", help="draw the same queries and rows again")
    parser.add_argument("--write", type=Path, metavar="FOLDER", help="with --fuzz: a case for each violation")
    parser.set_defaults(run=audit, usage=parser.error)


def audit(options: Namespace) -> int:
    """Audit every statement; return 0 if all keep their promise."""
    from dpsql.audit import owners_session
    from dpsql.audit.neighbour_views import Lacking
    from dpsql.dbapi import connect
    from dpsql.parse.scripts import statements

    if options.fuzz is not None:
        return _fuzzed(options)
    if options.file is None or options.seed is not None or options.write is not None:
        options.usage("name a FILE of statements, or --fuzz N, which --seed and --write belong to")
    if options.units < 1 or options.trials < 0:
        options.usage("--units is at least 1, and --trials at least 0")
    if options.attack and options.trials < _FEWEST:
        options.usage(f"--attack needs at least {_FEWEST} trials")
    if options.canaries < 0:
        options.usage("--canaries is at least 0")
    text = _text(options.file)
    asked = statements(text, options.file.name)
    try:
        with tempfile.TemporaryDirectory(prefix="dpsql-audit-") as folder:
            ledger = Path(folder) / "audit.ledger"  # a temporary one: nothing is debited
            with connect(options.database, options.policy, ledger) as db:
                session = owners_session(db)
                with closing(Lacking(options.database, session.policy, session.known)) as neighbour:
                    return _audit_statements(options, db, session, neighbour, asked, text)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped: an audit pays nothing, and leaves nothing behind") from None


def _fuzzed(options: Namespace) -> int:
    from dpsql.cli.fuzz import fuzz

    if options.file is not None or options.attack or options.canaries:
        options.usage("--fuzz draws its own queries: leave out FILE, --attack and --canaries")
    if options.fuzz < 1:
        options.usage("--fuzz is at least 1")
    return fuzz(options)


def _audit_statements(
    options: Namespace,
    db: Connection,
    session: Session,
    neighbour: Lacking,
    asked: tuple[Statement, ...],
    text: str,
) -> int:
    from dpsql.audit.statements import OK
    from dpsql.parse.scripts import in_script

    units = neighbour.units(options.units, secrets.randbits(31))
    if not units:
        raise InterfaceError("the table of units is empty: there is nothing to leave out", help="load data")
    work = _Runner(db, neighbour, sum(statement.setting is None for statement in asked))
    rows: list[tuple[str, ...]] = []
    price, failed, number = options.epsilon or session.policy.query.epsilon, list[str](), 0
    priced = list[tuple[str, float]]()
    for at, statement in enumerate(asked, 1):
        name = statement.name or str(at)
        if statement.setting is not None:
            price = _price_after(statement, price)
            continue
        number += 1
        try:
            parts, guessed = work.done(
                name,
                partial(
                    _audited,
                    (session, statement.text, price, neighbour, units, options.trials, work.going),
                    options.attack,
                ),
            )
        except Error as error:
            in_script(error.within(statement.text, name), statement, text, options.file.name)
            tell(refusal(error))
            rows.append((name, "", "", "", "refused"))
            failed.append(name)
            continue
        priced.append((statement.text, price))
        rows += [_row(name, part) for part in parts] or [(name, "", "", "", "nothing private")]
        if guessed is not None:
            rows.append(_row_guessed(name, "the whole", guessed))
        if any(part.verdict != OK for part in parts) or not (guessed is None or guessed.holds):
            failed.append(name)
    at_once = _at_once(options, session, priced, neighbour, work) if options.canaries else None
    if at_once is not None:
        rows.append(_row_guessed(_TOGETHER, f"{at_once.canaries} canaries", at_once))
        failed += [] if at_once.holds else [_TOGETHER]
    put(WARNING)
    put(box(_TITLES, rows, (False, False, True, True, False)))
    _put_paragraphs(f"{_legend(options, len(units), session.policy.unit.name)}\n\n{_verdict(number, failed)}")
    flush()
    return FAILED if failed else 0


_Asked: TypeAlias = "tuple[Session, str, float, Lacking, list[object], int, Callable[[str], None]]"
_Audited: TypeAlias = "tuple[list[Part], Guessed | None]"


def _audited(asked: _Asked, attack: bool) -> _Audited:
    """Audit the parts of a statement, then the whole."""
    from dpsql.audit.statements import audited
    from dpsql.audit.whole_statements import guessed

    return audited(*asked), guessed(*asked) if attack else None


def _at_once(
    options: Namespace,
    session: Session,
    priced: list[tuple[str, float]],
    neighbour: Lacking,
    work: _Runner,
) -> OneRun | None:
    from dpsql.audit.one_run import audited_at_once

    canaries = neighbour.units(options.canaries, secrets.randbits(31))
    return work.done(_TOGETHER, partial(audited_at_once, session, priced, neighbour, canaries, work.going))


_T = TypeVar("_T")


class _Runner:
    """Runs the statements one by one in a thread, with progress on a terminal; Ctrl-C stops them."""

    def __init__(self, db: Connection, neighbour: Lacking, statements: int) -> None:
        self._engines, self._stopped = (db, neighbour), threading.Event()
        self._progress, self._now = Progress(statements), ""

    def done(self, name: str, step: Callable[[], _T]) -> _T:
        started, self._now = time.monotonic(), ""

        def tick() -> None:
            self._progress.at(f"{name}: {self._now}  {lasting(time.monotonic() - started)}")

        tick()
        try:
            return beside(self, step, tick)
        finally:
            self._progress.ended()
            self._progress.clear()

    def going(self, step: str) -> None:
        self._now = step
        if self._stopped.is_set():
            raise KeyboardInterrupt

    def interrupt(self) -> None:
        self._stopped.set()
        for engine in self._engines:
            engine.interrupt()


def _legend(options: Namespace, units: int, unit: str) -> str:
    """Return the text that says what was done and how to read the numbers."""
    text = (
        f"{units} {unit}s were left out, one after the other. Moved: the furthest that this moved all exact "
        "numbers together, beside the sensitivity that was declared: in the unit of the numbers, or in rows "
        "that count in full where they have several. Above 100 % there is too little noise."
    )
    if options.trials:
        text += (
            " Epsilon: the privacy loss that was found beside the one that was planned; of noise it is what "
            f"{options.trials:,} releases with and without the furthest {unit} prove, of choices the largest "
            "that there is. A verdict is wrongly not ok once in a billion."
        )
    if options.attack:
        text += (
            f" Guesses: {2 * options.trials:,} releases of the whole statement, in half of which, by coins, "
            f"the furthest {unit} was left out. How to tell was learned from one half; the guesses at the "
            "other prove the epsilon, which is wrongly above the price once in a million."
        )
    if options.canaries:
        text += (
            f" Canaries: {unit}s that were in one release of all statements together, or out, each by a "
            "coin. Which are guessed follows from the release; what the guesses prove is wrongly above the "
            "price of all together once in ten thousand times."
        )
    return text


def _verdict(number: int, failed: list[str]) -> str:
    if failed:
        return f"FAILED: {len(failed)} of {number} statements are not ok: {', '.join(failed)}."
    return f"PASSED: {'the statement keeps' if number == 1 else f'all {number} statements keep'} the promise."


def _put_paragraphs(text: str) -> None:
    for paragraph in text.split("\n\n"):
        put(textwrap.fill(paragraph, max(40, min(width(), 100)), break_on_hyphens=False))


_TITLES = ("statement", "part", "moved of declared", "epsilon found, of planned", "verdict")


def _row(name: str, part: Part) -> tuple[str, ...]:
    declared = _number(part.declared) + (" rows" if part.rows else "")
    moved = f"{_number(part.moved * part.declared)} of {declared} ({100 * part.moved:.2f} %)"
    epsilon = "-" if part.least is None else f"{part.least:.3f}"
    return name, part.name, moved, f"{epsilon} of {part.claimed:.3f}", part.verdict


def _row_guessed(name: str, part: str, guessed: Guessed | OneRun) -> tuple[str, ...]:
    from dpsql.audit.statements import OK, TELLS

    guesses = f"{guessed.right:,} of {guessed.guesses:,} guesses are right"
    epsilon = f"{guessed.proven:.3f} of {guessed.claimed:.3f}"
    return name, part, guesses, epsilon, OK if guessed.holds else TELLS


def _number(value: float) -> str:
    return f"{value:,.2f}".rstrip("0").rstrip(".") if value >= 1 or not value else f"{value:.3g}"


def _price_after(statement: Statement, price: float) -> float:
    """Return the price after a SET statement; only SET epsilon changes it."""
    assert statement.setting is not None
    name, value = statement.setting
    try:
        return float(value) if name == "epsilon" else price
    except ValueError:
        raise InterfaceError(
            f"line {statement.line}: {value} is not a price", help="SET epsilon = 0.2;"
        ) from None


def _text(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise InterfaceError(f"{file} is not text in UTF-8", help="save it as UTF-8") from None
    except OSError as error:
        raise InterfaceError(f"{file} cannot be read: {error.strerror}", help="check the path") from None
