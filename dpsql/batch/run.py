"""Answer the statements of a run in order: ask each, write its file, and update the manifest."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Container
from dataclasses import replace
from pathlib import Path

from dpsql.answer import Answer
from dpsql.batch.ledger_entries import with_paid
from dpsql.batch.manifest import Entry, Manifest, save
from dpsql.batch.results import keep
from dpsql.batch.script import Script
from dpsql.batch.start import refused
from dpsql.batch.together import asked_together
from dpsql.dbapi import Connection
from dpsql.errors import Error
from dpsql.lazy_dataclass import dataclass
from dpsql.terminal.progress import Progress
from dpsql.terminal.waiting import beside


@dataclass(frozen=True, slots=True)
class Outcome:
    """The state of a run when it ends or stops; ``answers`` are those of this call.

    ``at`` names the statement at which it stopped, because of ``error`` or of Ctrl-C.
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
    report_error: Callable[[Error], None],
) -> Outcome:
    """Answer the statements named in ``asked``. With ``keep_going`` report a refusal and continue."""
    answers: dict[str, Answer] = {}
    done = sum(entry.name not in asked for entry in manifest.statements)
    progress = Progress(len(manifest.statements), done)
    try:
        for at, (task, entry) in enumerate(zip(script.tasks, manifest.statements, strict=True)):
            if entry.name not in asked:
                continue
            progress.at(entry.name)
            try:
                answer = _ask(db, entry, progress)
                answered = keep(answer, entry, folder, manifest.format)
                answered = replace(answered, paid=_paid(db, manifest, at, answer))
            except Error as caught:
                if caught.code == "D001":  # the file could not be written: the next ones would fail too
                    raise
                error = script.error(caught, task)
                manifest = with_paid(db, _with_entry(manifest, at, refused(entry, error)))
                save(manifest, folder)
                progress.clear()
                if not keep_going:
                    return Outcome(manifest, answers, entry.name, error)
                report_error(error)
            else:
                manifest = replace(_with_entry(manifest, at, answered), remaining=answer.remaining)
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


def _ask(db: Connection, entry: Entry, progress: Progress) -> Answer:
    db.timeout = entry.timeout
    with asked_together(db, entry.name):
        return beside(db, lambda: db.execute(entry.sql, epsilon=entry.epsilon), progress.tick)


def _paid(db: Connection, manifest: Manifest, at: int, answer: Answer) -> float:
    """Return what an answer cost this run, including a payment before an interruption."""
    if not manifest.statements[at].paid:
        return answer.cost
    return with_paid(db, manifest).statements[at].paid


def _with_entry(manifest: Manifest, at: int, entry: Entry) -> Manifest:
    entries = list(manifest.statements)
    entries[at] = entry
    return replace(manifest, statements=tuple(entries))
