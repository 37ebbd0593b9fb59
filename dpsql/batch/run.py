"""The loop: one statement after the other is asked, kept in a file, and noted in the manifest."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Container
from dataclasses import dataclass, replace
from pathlib import Path

from dpsql.answer import Answer
from dpsql.batch.ledger_entries import with_paid
from dpsql.batch.manifest import Entry, Manifest, save
from dpsql.batch.results import keep
from dpsql.batch.script import Script
from dpsql.batch.start import refused
from dpsql.dbapi import Connection
from dpsql.errors import Error
from dpsql.terminal.progress import Progress
from dpsql.terminal.waiting import beside


@dataclass(frozen=True, slots=True)
class Outcome:
    """How far a run has come; ``answers`` are those of this time.

    ``at`` names the statement at which it was stopped, by ``error`` or by hand.
    """

    manifest: Manifest
    answers: dict[str, Answer]
    at: str = ""
    error: Error | None = None


def run(
    db: Connection,
    script: Script,
    manifest: Manifest,
    folder: Path,
    asked: Container[str],
    keep_going: bool,
    told: Callable[[Error], None],
) -> Outcome:
    """Ask the statements of these names. With ``keep_going`` a refusal is told, and the next one is asked."""
    answers: dict[str, Answer] = {}
    done = sum(each.name not in asked for each in manifest.statements)
    progress = Progress(len(manifest.statements), done)
    try:
        for at, (task, entry) in enumerate(zip(script.tasks, manifest.statements, strict=True)):
            if entry.name not in asked:
                continue
            progress.at(entry.name)
            try:
                answer = _asked(db, entry, progress)
                kept = keep(answer, entry, folder, manifest.format)
                kept = replace(kept, paid=_paid(db, manifest, at, answer))
            except Error as found:
                if found.code == "D001":  # the file could not be written, nor will the next ones be
                    raise
                error = script.error(found, task)
                manifest = with_paid(db, _with(manifest, at, refused(entry, error)))
                save(manifest, folder)
                progress.clear()
                if not keep_going:
                    return Outcome(manifest, answers, entry.name, error)
                told(error)
            else:
                manifest = replace(_with(manifest, at, kept), remaining=answer.remaining)
                save(manifest, folder)
                answers[entry.name] = answer
            progress.ended()
    except KeyboardInterrupt:
        progress.clear()
        manifest = with_paid(db, manifest)
        save(manifest, folder)
        return Outcome(manifest, answers, entry.name)
    progress.clear()
    ended = datetime.datetime.now(datetime.UTC).isoformat()
    manifest = replace(manifest, ended=ended)
    save(manifest, folder)
    return Outcome(manifest, answers)


def _asked(db: Connection, entry: Entry, progress: Progress) -> Answer:
    db.timeout = entry.timeout
    return beside(db, lambda: db.execute(entry.sql, epsilon=entry.epsilon), progress.tick)


def _paid(db: Connection, manifest: Manifest, at: int, answer: Answer) -> float:
    """What an answer cost this run; one that was interrupted before is completed for what was paid then."""
    if not manifest.statements[at].paid:
        return answer.cost
    return with_paid(db, manifest).statements[at].paid


def _with(manifest: Manifest, at: int, entry: Entry) -> Manifest:
    found = list(manifest.statements)
    found[at] = entry
    return replace(manifest, statements=tuple(found))
