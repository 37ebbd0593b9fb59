"""Collect the contents of the report page: from a run, its answers and the owner's policy."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from dpsql.batch.manifest import Entry, Manifest
from dpsql.batch.report import Guarded, Part, Promise, Report
from dpsql.batch.results import content_of
from dpsql.batch.together import asked_together
from dpsql.dbapi import Connection
from dpsql.engines.postgres.url import PostgresUrl
from dpsql.engines.spark.address import SparkAddress
from dpsql.errors import Error
from dpsql.policy.listing import Table
from dpsql.render.answer_fields import AnswerFields


def report_of(
    db: Connection,
    database: Path | PostgresUrl | SparkAddress,
    manifest: Manifest,
    answers: Mapping[str, AnswerFields],
) -> Report:
    """Return the report of a run; answers of an earlier call are repeated from the ledger, which is free."""
    return Report(
        title=Path(manifest.script).stem.replace("_", " ") or manifest.script,
        database=database.name,
        analyst=manifest.analyst or "",
        time=f"{(manifest.ended or manifest.started)[:16].replace('T', ' ')} UTC",
        parts=tuple(_part(db, entry, answers, manifest.format) for entry in manifest.statements),
        paid=manifest.paid,
        taken=max(0.0, manifest.had - manifest.remaining),
        remaining=manifest.remaining,
        promise=promise_of(db),
        versions=(("run", manifest.run), *manifest.versions.items()),
    )


def _part(db: Connection, entry: Entry, answers: Mapping[str, AnswerFields], format: str) -> Part:
    """Return the part of one statement: its answer, or why there is none."""
    answer = answers.get(entry.name)
    if answer is None and entry.answered:
        answer = _repeated_answer(db, entry, format)
    error = entry.error or (f"The answer is in {entry.file}." if entry.answered else "Not asked yet.")
    return Part(entry.name, entry.sql, answer, entry.price, entry.paid, error, entry.digest)


def _repeated_answer(db: Connection, entry: Entry, format: str) -> AnswerFields | None:
    """Return an earlier answer, if it is free and the same as in its file; a page never pays."""
    try:
        with asked_together(db, entry.name):
            if db.price(entry.sql, epsilon=entry.epsilon).cost:
                return None
            answer = db.execute(entry.sql, epsilon=entry.epsilon)
    except Error:  # the owner's prices have changed since
        return None
    return answer if sha256(content_of(answer, format)).hexdigest() == entry.sha256 else None


def promise_of(db: Connection) -> Promise:
    """Return a summary of the owner's policy."""
    policy = db._open().policy
    return Promise(
        unit=policy.unit.name,
        key=policy.unit.told if db._open().known.shows_unit else f"each {policy.unit.name}",
        epsilon=policy.budget.epsilon,
        delta=policy.budget.delta,
        accountant=policy.budget.accountant,
        tables=tuple(Guarded(table.name, _rows_said(table), _columns(table)) for table in db.tables),
    )


def _rows_said(table: Table) -> str:
    """Say whether a table is public, or how many of its rows belong to a unit."""
    if table.view:
        return table.view
    if table.public:
        return "public"
    rows = {None: "many rows each, found privately", 1: "one row each"}.get(
        table.rows_per_unit, f"{table.rows_per_unit} rows each, more are scaled down"
    )
    return f"of every {table.unit}; {rows}"


def _columns(table: Table) -> tuple[str, ...]:
    """Return the names of a public table's columns in one line, or a line for each private column."""
    if table.public:
        return (", ".join(column.name for column in table.columns),)
    return tuple(f"{column.name}: {column.hint}" if column.hint else column.name for column in table.columns)
