"""What a run paid for a statement, read from the ledger where the manifest could not record it.

debit  "SELECT COUNT(*) ..."      0.5      the run was killed here: there is no answer,
                                            and its manifest still says that nothing was paid
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from dpsql.accounting import Amount
from dpsql.accounting.entries import Entry as Line
from dpsql.accounting.entries import in_two
from dpsql.batch.item import Item
from dpsql.batch.manifest import Entry, Manifest
from dpsql.batch.script import Task
from dpsql.dbapi import Connection
from dpsql.errors import Error, refuse
from dpsql.ir.source import Span
from dpsql.policy.model import digest
from dpsql.session import Session


def times(db: Connection) -> int:
    """Return the number of payments of this analyst."""
    return db._open().ledger.times(db.analyst or "")


def purchases(db: Connection, mark: int) -> tuple[Line, ...]:
    """Return the payments of this analyst after the first ``mark``, oldest first."""
    return db._open().ledger.bought(db.analyst or "", times(db) - mark)


def granted(db: Connection) -> str:
    """Return a fingerprint of the owner's budgets and prices: the noise at a price depends on them too."""
    session = db._open()
    return session.ledger.fingerprint(digest(session.policy))


def with_paid(db: Connection, manifest: Manifest) -> Manifest:
    """Return the manifest with the payments for its statements that are not answered.

    A run answers its statements in order. So a payment for a text since the beginning that belongs to no
    answered statement belongs to the first unanswered one with that text.
    """
    session, lines = db._open(), _by_text(purchases(db, manifest.mark))
    paid_by_sql: dict[str, float] = {}
    for entry in manifest.statements:
        if entry.answered:
            paid_by_sql[entry.sql] = paid_by_sql.get(entry.sql, 0.0) + entry.paid
    entries = []
    for entry in manifest.statements:
        if not entry.answered:
            paid = max(
                0.0, _paid(db, entry, _of(entry.sql, lines, session)) - paid_by_sql.get(entry.sql, 0.0)
            )
            paid_by_sql[entry.sql] = paid_by_sql.get(entry.sql, 0.0) + paid
            entry = replace(entry, paid=paid)
        entries.append(entry)
    ours = [
        line for sql in dict.fromkeys(entry.sql for entry in entries) for line in _of(sql, lines, session)
    ]
    had = session.remained(*([line for line in ours if line.kind == kind] for kind in ("debit", "share")))
    return replace(manifest, statements=tuple(entries), had=had, remaining=session.remaining())


def _by_text(lines: Sequence[Line]) -> dict[str, list[Line]]:
    """Group payments by the text of the query, with the payments that found bounds for it."""
    by_text: dict[str, list[Line]] = {}
    for line in lines:
        by_text.setdefault(in_two(line.sql)[1], []).append(line)
    return by_text


def _of(sql: str, lines: Mapping[str, list[Line]], session: Session) -> list[Line]:
    """Return the payments of a query, by its text and by its digest: the policy may say otherwise by now."""
    return [line for spelled in session.ledger.spellings(sql) for line in lines.get(spelled, [])]


def _paid(db: Connection, entry: Entry, lines: list[Line]) -> float:
    """Return what was paid for a statement; steps are composed by the accountant."""
    session = db._open()
    if (
        entry.steps
        and len(lines) > 1
        and all(line.sql in session.ledger.spellings(entry.sql) for line in lines)
    ):
        return session.accountant.epsilon(_sum(db, lines), session.budget)
    return math.fsum(line.epsilon for line in lines)


def _sum(db: Connection, lines: Iterable[Line]) -> Amount:
    """Return the sum of payments in the accountant's currency."""
    return sum((line.price for line in lines), db._open().accountant.zero)


def lost(db: Connection, manifest: Manifest, items: Sequence[Item]) -> list[Item]:
    """Return the unanswered items with a payment that is lost because the budgets have changed.

    Under another budget the same price buys other noise, so the old debit no longer pays for the answer.
    """
    mark, entries = granted(db), {entry.name: entry for entry in manifest.statements}
    lost_items: dict[str, Item] = {}
    for item in items:
        entry = entries[item.task.name]
        if entry.like in lost_items or (entry.paid and entry.granted != mark and _is_lost(item, entry)):
            lost_items[entry.name] = item
    return list(lost_items.values())


def _is_lost(item: Item, entry: Entry) -> bool:
    if entry.steps:
        return True  # the first steps may differ now
    if item.plan.bounds:  # finding the bounds and using them are paid one after the other
        return entry.paid + item.cost > entry.price * (1 + 1e-9)
    return item.plan.digest != entry.digest


def loss(task: Task) -> Error:
    error = refuse(
        "D509",
        f"what was paid for {task.name} no longer buys its answer",
        Span(0, len(task.sql)),
        label="the owner changed the budget before it was answered, so the noise would differ",
        notes=("asked now, it would be paid for again",),
        help="restore the old budget in the policy to complete it; --keep-going skips it",
    )
    return error.within(task.sql, task.name)
