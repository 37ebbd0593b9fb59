"""Create the manifest of a new run, and check that a stopped run can be resumed."""

from __future__ import annotations

import datetime
import platform
import secrets
from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256

from dpsql.batch.bill import Bill
from dpsql.batch.ledger_entries import granted, times, with_paid
from dpsql.batch.manifest import REFUSED, Entry, Manifest
from dpsql.batch.script import Script, Task
from dpsql.dbapi import Connection
from dpsql.errors import Error, refuse
from dpsql.policy.model import version

_CHANGED = {
    "data": "the database has been written to since",
    "database": "this is another database",
    "policy": "the policy has changed its tables, its bounds or its unit",
    "ledger": "this is another ledger",
    "analyst": "another analyst asks",
    "dpsql": "this is another version of dpsql",
}

_START_AGAIN = "start again with another --out: answers on the same data at the same price are free"


def stand_at(db: Connection, started: str | None = None) -> str:
    """Set the clock of the session to the time of a run, or to now; return the time."""
    now = datetime.datetime.now(datetime.UTC)
    moment = now if started is None else datetime.datetime.fromisoformat(started)
    db._open().clock = moment
    return moment.isoformat()


def begun(
    db: Connection, script: Script, bill: Bill, started: str, total: float | None, format: str
) -> Manifest:
    """Return the manifest of a new run."""
    import duckdb

    from dpsql import __version__

    session = db._open()
    moment = datetime.datetime.fromisoformat(started)
    return Manifest(
        run=f"{moment:%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}",
        script=script.name,
        script_sha256=sha256(script.text.encode()).hexdigest(),
        started=started,
        ended=None,
        analyst=db.analyst,
        accountant=session.accountant.name,
        delta=session.budget.delta,
        total=total,
        format=format,
        rests_on=_rests_on(db),
        versions={"dpsql": __version__, "duckdb": duckdb.__version__, "python": platform.python_version()},
        mark=times(db),
        had=bill.remaining,
        remaining=bill.remaining,
        statements=as_billed(db, [_entry(task) for task in script.tasks], bill),
    )


def _entry(task: Task) -> Entry:
    statement = task.statement
    return Entry(
        name=task.name,
        line=statement.line,
        sql=task.sql,
        epsilon=task.epsilon,
        timeout=task.timeout,
        weight=statement.weight,
        price=0.0,
        digest="",
        steps=False,
        set=task.epsilon,
    )


def as_billed(db: Connection, entries: Sequence[Entry], bill: Bill) -> tuple[Entry, ...]:
    """Return the entries with the prices of their statements, or with their refusals.

    A price is set once. What it buys may change with the owner's budgets until it is paid.
    """
    items = {item.task.name: item for item in bill.items}
    errors = {task.name: error for task, error in bill.refused}
    billed, usual, mark = [], db.epsilon, granted(db)
    for entry in entries:
        item = items.get(entry.name)
        if item is not None and not entry.paid:
            entry = replace(
                entry,
                epsilon=usual if item.epsilon is None and item.paid and not item.said else item.epsilon,
                price=item.epsilons,
                digest=item.plan.digest,
                steps=bool(item.plan.steps),
                like=item.like or entry.like,
                together=item.alone is not None,
                granted=mark,
            )
        elif (error := errors.get(entry.name)) is not None:
            entry = refused(entry, error)
        billed.append(entry)
    return tuple(billed)


def refused(entry: Entry, error: Error) -> Entry:
    return replace(entry, state=REFUSED, error=str(error), code=error.code)


def _rests_on(db: Connection) -> dict[str, str]:
    """Return fingerprints of everything that decides what is measured and what was paid for it."""
    from dpsql import __version__

    session = db._open()
    mark = session.ledger.fingerprint
    return {
        "database": mark(session.engine.identity()),
        "data": mark(session.versions.whole()),
        "policy": version(
            session.policy
        ),  # without budgets: the owner may grant more to a run that ran short
        "ledger": mark("ledger"),
        "analyst": db.analyst or "",
        "dpsql": __version__,
    }


def taken_up(
    db: Connection, script: Script, manifest: Manifest, total: float | None, format: str | None
) -> Manifest:
    """Return the manifest of a resumed run; raise D509 if something it depends on has changed."""
    now = _rests_on(db)
    changed = [name for name in _CHANGED if manifest.rests_on.get(name) != now[name]]
    if changed:
        raise refuse(
            "D509",
            f"this run cannot be resumed: {_CHANGED[changed[0]]}",
            notes=tuple(_CHANGED[name] for name in changed[1:]),
            label="its other statements would measure something else, or be paid twice",
            help=_START_AGAIN,
        )
    _check_script(script, manifest)
    for option, asked, noted in (("--epsilon", total, manifest.total), ("--format", format, manifest.format)):
        if asked is not None and asked != noted:
            raise refuse(
                "D509",
                f"this run began with {'no ' + option if noted is None else f'{option} {noted}'}",
                label="this option cannot change during a run",
                help=f"leave {option} out; or start again with another --out",
            )
    now_at = [
        replace(entry, line=task.statement.line, timeout=task.timeout)
        for task, entry in zip(script.tasks, manifest.statements, strict=True)
    ]
    return with_paid(db, replace(manifest, statements=tuple(now_at)))


def _check_script(script: Script, manifest: Manifest) -> None:
    """Raise D509 if a statement has changed."""
    for number, (task, entry) in enumerate(zip(script.tasks, manifest.statements, strict=False), 1):
        if task.said != (entry.name, entry.sql, entry.set, entry.weight):
            raise refuse(
                "D509",
                f"{script.name} was changed: statement {number} ({entry.name}) is not what it was",
                label=f"line {task.statement.line} now, line {entry.line} when the run began",
                help=f"put the old text back; or {_START_AGAIN}",
            )
    now, then = len(script.tasks), len(manifest.statements)
    if now != then:
        raise refuse(
            "D509",
            f"{script.name} was changed: it had {then} statements, and now {now}",
            help=f"put the old text back; or {_START_AGAIN}",
        )
