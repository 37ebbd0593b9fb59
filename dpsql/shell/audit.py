"""``dpsql audit DB FILE.sql``: whether each statement keeps its promise on the owner's own data."""

from __future__ import annotations

import secrets
import tempfile
from argparse import Namespace
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.answer.box import box
from dpsql.errors import Error, InterfaceError
from dpsql.screen.terminal import flush, interactive, put, refusal, tell
from dpsql.shell.given import Commands, command

if TYPE_CHECKING:
    from dpsql.audit.lacking import Lacking
    from dpsql.audit.statements import Part
    from dpsql.parse.scripts import Statement
    from dpsql.session import Session

FAILED = 1

WARNING = (
    "What this prints is about private rows, without noise: it is the owner's to read, and nobody else's."
)


def arguments(names: Commands) -> None:
    made = command(
        names,
        "audit",
        "the owner's: whether statements keep their promise on this data",
        "For every statement of a file: leave out one unit after the other, measure exactly, and compare the "
        "largest movement with the declared sensitivity; then release many times with and without the unit "
        "that moved most, and hold what that proves of epsilon against what was claimed. Nothing is debited. "
        "Units that are not tried may move more. " + WARNING,
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
        help="releases with and without a unit, 0 for none; default: 1000",
    )
    made.set_defaults(run=audit, usage=made.error)


def audit(options: Namespace) -> int:
    """Audit every statement; 0 if all keep their promise."""
    from dpsql.audit import owners_session
    from dpsql.audit.lacking import Lacking
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
                    return _audited(options, session, neighbour, asked, text)
    except KeyboardInterrupt:
        raise KeyboardInterrupt("stopped: an audit pays nothing, and leaves nothing behind") from None


def _audited(
    options: Namespace, session: Session, neighbour: Lacking, asked: tuple[Statement, ...], text: str
) -> int:
    from dpsql.audit.statements import OK, audited
    from dpsql.parse.scripts import in_script

    units = neighbour.units(options.units, secrets.randbits(31))
    if not units:
        raise InterfaceError("nobody is in this database: there is nothing to leave out", help="load data")
    tell(WARNING)
    rows: list[tuple[str, ...]] = []
    price, failed = options.epsilon or session.policy.query.epsilon, False
    for number, each in enumerate(asked, 1):
        name = each.name or str(number)
        if each.setting is not None:
            price = _price(each, price)
            continue
        if interactive():
            tell(f"{name} ...")
        try:
            parts = audited(session, each.text, price, neighbour, units, options.trials)
        except Error as error:
            in_script(error.within(each.text, name), each, text, options.file.name)
            tell(refusal(error))
            rows.append((name, "", "", "", "refused"))
            failed = True
            continue
        rows += [_row(name, part) for part in parts] or [(name, "", "", "", "nothing private")]
        failed = failed or any(part.verdict != OK for part in parts)
    put(box(_TITLES, rows, (False, False, True, True, False)))
    flush()
    tried = f"{len(units)} {session.policy.unit.name}s left out in turn"
    if options.trials:
        tried += f", {options.trials:,} releases with and without one; wrongly not ok once in a billion"
    put(f"{tried}.")
    return FAILED if failed else 0


_TITLES = ("statement", "part", "moved / declared", "epsilon at least / claimed", "verdict")


def _row(name: str, part: Part) -> tuple[str, ...]:
    proven = "-" if part.least is None else f"{part.least:.3f}"
    return name, part.name, f"{part.moved:.4f}", f"{proven} / {part.claimed:.3f}", part.verdict


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
