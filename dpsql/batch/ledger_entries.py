"""What a run has paid for a statement, where nobody could say it at the time: the ledger knows.

debit  "SELECT COUNT(*) ..."      0.5      the run was killed here: there is no answer,
                                            and its manifest still says that nothing was paid
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from dpsql.accounting import Amount
from dpsql.accounting.entries import Entry as Line
from dpsql.accounting.entries import kept_text
from dpsql.batch.item import Item
from dpsql.batch.manifest import Entry, Manifest
from dpsql.batch.script import Task
from dpsql.dbapi import Connection
from dpsql.errors import Error, refuse
from dpsql.ir.source import Span
from dpsql.policy.model import digest


def times(db: Connection) -> int:
    """How often this analyst has paid."""
    return db._open().ledger.times(db.analyst or "")


def purchases(db: Connection, mark: int) -> tuple[Line, ...]:
    """What this analyst has paid for since there were so many payments, oldest first."""
    return db._open().ledger.bought(db.analyst or "", times(db) - mark)


def granted(db: Connection) -> str:
    """A mark of the owner's budgets and prices: how noise is drawn for a price rests on them too."""
    session = db._open()
    return session.ledger.fingerprint(digest(session.policy))


def with_paid(db: Connection, manifest: Manifest) -> Manifest:
    """The manifest, with what was paid for the statements that it does not call answered.

    A run goes through its statements in order: what was paid for a text since its beginning, and belongs
    to none that was answered, was paid for the first of the others.
    """
    session, lines = db._open(), _by_text(purchases(db, manifest.mark))
    known: dict[str, float] = {}
    for entry in manifest.statements:
        if entry.answered:
            known[entry.sql] = known.get(entry.sql, 0.0) + entry.paid
    found = []
    for entry in manifest.statements:
        if not entry.answered:
            paid = max(0.0, _paid(db, entry, lines.get(kept_text(entry.sql), [])) - known.get(entry.sql, 0.0))
            known[entry.sql] = known.get(entry.sql, 0.0) + paid
            entry = replace(entry, paid=paid)
        found.append(entry)
    ours = [
        line for sql in dict.fromkeys(kept_text(each.sql) for each in found) for line in lines.get(sql, [])
    ]
    had = session.remained(
        *(_sum(db, [each for each in ours if each.kind == kind]) for kind in ("debit", "share"))
    )
    return replace(manifest, statements=tuple(found), had=had, remaining=session.remaining())


def _by_text(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """What was paid for each text, and for what had to be found for it."""
    found: dict[str, list[Line]] = {}
    for each in lines:
        text = each.sql.partition("*/ ")[2] if each.sql.startswith("/* finds ") else each.sql
        found.setdefault(text, []).append(each)
    return found


def _paid(db: Connection, entry: Entry, lines: list[Line]) -> float:
    """Steps cost together what they add up to."""
    if entry.steps and len(lines) > 1 and all(each.sql == kept_text(entry.sql) for each in lines):
        session = db._open()
        return session.accountant.epsilon(_sum(db, lines), session.budget)
    return math.fsum(each.epsilon for each in lines)


def _sum(db: Connection, lines: Iterable[Line]) -> Amount:
    return sum((each.price for each in lines), db._open().accountant.zero)


def lost(db: Connection, manifest: Manifest, items: Sequence[Item]) -> list[Item]:
    """What was paid for, but not answered, and would be paid for again: the budgets are not what they were.

    Another budget is another noise at the same price, so that the old debit buys nothing any more.
    """
    mark, entries = granted(db), {each.name: each for each in manifest.statements}
    found: dict[str, Item] = {}
    for item in items:
        entry = entries[item.task.name]
        if entry.like in found or (entry.paid and entry.granted != mark and _is_lost(item, entry)):
            found[entry.name] = item
    return list(found.values())


def _is_lost(item: Item, entry: Entry) -> bool:
    if entry.steps:
        return True  # whose first ones may have been others
    if item.plan.bounds:  # what finds them, and what uses them, are paid one after the other
        return entry.paid + item.cost > entry.price * (1 + 1e-9)
    return item.plan.digest != entry.digest


def loss(task: Task) -> Error:
    error = refuse(
        "D509",
        f"what was paid for {task.name} does not buy its answer any more",
        Span(0, len(task.sql)),
        label="the owner changed the budget before it was answered, and with it the noise",
        notes=("asked now, it would be paid for once more",),
        help="it can be completed while the policy says the old budget; --keep-going leaves it out",
    )
    return error.within(task.sql, task.name)
