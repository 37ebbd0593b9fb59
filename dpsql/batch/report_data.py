"""A run, its answers and the owner's policy -> what the report page tells of them."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from dpsql.batch.manifest import Entry, Manifest
from dpsql.batch.report import Guarded, Part, Promise, Report
from dpsql.batch.results import content_of
from dpsql.dbapi import Connection
from dpsql.errors import Error
from dpsql.policy.listing import Table
from dpsql.render.answer_fields import AnswerFields


def report_of(
    db: Connection, database: Path, manifest: Manifest, answers: Mapping[str, AnswerFields]
) -> Report:
    """What was answered before comes from the ledger once more, free and as it was: as it is in its file."""
    return Report(
        title=Path(manifest.script).stem.replace("_", " ") or manifest.script,
        database=database.name,
        analyst=manifest.analyst or "",
        time=f"{(manifest.ended or manifest.started)[:16].replace('T', ' ')} UTC",
        parts=tuple(_part(db, each, answers, manifest.format) for each in manifest.statements),
        paid=manifest.paid,
        taken=max(0.0, manifest.had - manifest.remaining),
        remaining=manifest.remaining,
        promise=promise_of(db),
        versions=(("run", manifest.run), *manifest.versions.items()),
    )


def _part(db: Connection, entry: Entry, answers: Mapping[str, AnswerFields], format: str) -> Part:
    answer = answers.get(entry.name)
    if answer is None and entry.answered:
        answer = _again(db, entry, format)
    error = entry.error or (f"The answer is in {entry.file}." if entry.answered else "Not asked yet.")
    return Part(entry.name, entry.sql, answer, entry.price, entry.paid, error, entry.digest)


def _again(db: Connection, entry: Entry, format: str) -> AnswerFields | None:
    """Nothing is paid for a page; and no answer stands there that is not the one in the file."""
    try:
        if db.price(entry.sql, epsilon=entry.epsilon).cost:
            return None
        answer = db.execute(entry.sql, epsilon=entry.epsilon)
    except Error:  # the owner's prices have changed since
        return None
    return answer if sha256(content_of(answer, format)).hexdigest() == entry.sha256 else None


def promise_of(db: Connection) -> Promise:
    """The owner's policy, in short."""
    policy = db._open().policy
    return Promise(
        unit=policy.unit.name,
        key=f"{policy.unit.table}.{policy.unit.key}",
        epsilon=policy.budget.epsilon,
        delta=policy.budget.delta,
        accountant=policy.budget.accountant,
        tables=tuple(Guarded(each.name, _whose(each), _columns(each)) for each in db.tables),
    )


def _whose(table: Table) -> str:
    if table.view:
        return table.view
    if table.public:
        return "public"
    rows = {None: "many rows each, found privately", 1: "one row each"}.get(
        table.rows_per_unit, f"{table.rows_per_unit} rows each, more are scaled down"
    )
    return f"of every {table.unit}; {rows}"


def _columns(table: Table) -> tuple[str, ...]:
    if table.public:
        return (", ".join(each.name for each in table.columns),)
    return tuple(f"{each.name}: {each.hint}" if each.hint else each.name for each in table.columns)
