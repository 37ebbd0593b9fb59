"""What a run has paid for a statement, where nobody could say it at the time: the ledger knows.

debit  "SELECT COUNT(*) ..."      0.5      the run was killed here: there is no answer,
                                            and its manifest still says that nothing was paid
"""

from __future__ import annotations

import math
from dataclasses import replace

from dpsql.accounting import Spent
from dpsql.accounting.entries import Entry as Line
from dpsql.batch.manifest import Entry, Manifest
from dpsql.dbapi import Connection


def purchases(db: Connection) -> list[Line]:
    """Everything that this analyst has paid for, oldest first."""
    payer = db.analyst or ""
    lines = db._open().ledger.entries()
    return [each for each in lines if each.kind in ("debit", "share") and each.analyst == payer]


def with_paid(db: Connection, manifest: Manifest) -> Manifest:
    """The manifest, with what was paid for the statements that it does not call answered.

    A run goes through its statements in order: what was paid for a text since its beginning, and belongs
    to none that was answered, was paid for the first of the others.
    """
    lines = purchases(db)[manifest.mark :]
    known: dict[str, float] = {}
    for entry in manifest.statements:
        if entry.answered:
            known[entry.sql] = known.get(entry.sql, 0.0) + entry.paid
    found = []
    for entry in manifest.statements:
        if not entry.answered:
            paid = max(0.0, _paid(db, entry, lines) - known.get(entry.sql, 0.0))
            known[entry.sql] = known.get(entry.sql, 0.0) + paid
            entry = replace(entry, paid=paid)
        found.append(entry)
    return replace(manifest, statements=tuple(found), remaining=db._open().remaining())


def _paid(db: Connection, entry: Entry, lines: list[Line]) -> float:
    """For a text, and for what had to be found for it. Steps cost together what they add up to."""
    after = f"*/ {entry.sql}"
    own = [each for each in lines if each.sql == entry.sql]
    finding = [each for each in lines if each.sql.startswith("/* finds ") and each.sql.endswith(after)]
    if len(own) > 1 and entry.steps:
        session = db._open()
        return session.accountant.epsilon(sum((each.price for each in own), Spent()), session.budget)
    return math.fsum(each.epsilon for each in [*own, *finding])
