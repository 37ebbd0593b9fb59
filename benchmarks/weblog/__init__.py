"""Which of 43 questions about a web log are answered at epsilon 1 with the user as unit, and how well?

The shapes are those that ClickBench made known; names, constants and rows are our own. The policy is what a
careful owner would write: ranges of numbers and times, the number of users, no list of a text. About a third
of the queries list single rows, or users, or show a text of one of them: these are refused. What is shown of
the truth's rows is the same ``LIMIT`` of both: the rows with the largest noisy numbers.

``told`` is what is said before anything is paid: that groups or numbers could hardly show. A query that would
show nothing is refused free (D511).
"""

from __future__ import annotations

import math
import time
from pathlib import Path

import duckdb

import dpsql
from benchmarks.questions import Question, read
from benchmarks.questions.compare import Truth, compared
from benchmarks.timing import Report, Setting, Table, Verdict
from benchmarks.weblog.made import HERE, made

COLUMNS = ("question", "outcome", "rows", "half-width", "error", "s", "told before")


def questions() -> list[Question]:
    """Return all questions in order; the one of ninety sums is written here."""
    found = list(read(HERE / "queries.sql"))
    sums = ", ".join(f"SUM(width + {added})" for added in range(90))
    found.insert(29, Question("29 ninety sums", f"SELECT {sums} FROM views", (), None, None))
    return found


def run(setting: Setting) -> Report:
    asked = _asked(made(setting), questions())
    table = Table("a web log at epsilon 1, the user as unit", COLUMNS, asked)
    outcomes = [str(row[1]) for row in table.rows]
    untold = sum(row[1] == "empty" and not row[-1] for row in table.rows)
    refused = sum(outcome.startswith("D") for outcome in outcomes)
    return Report(
        (table,),
        (
            Verdict("questions answered", outcomes.count("answered"), None),
            Verdict("questions refused", refused, None),
            Verdict("questions answered with nothing, though paid for", outcomes.count("empty"), None),
            Verdict("of these without being told before", untold, None if setting.quick else 0),
        ),
    )


def _asked(path: Path, questions: list[Question]) -> list[tuple[object, ...]]:
    with duckdb.connect(str(path), read_only=True) as plain:
        truths = []
        for each in questions:
            found = plain.execute(each.sql)
            truths.append(Truth(tuple(column[0] for column in found.description), found.fetchall()))
    with dpsql.connect(path) as db:
        return [_one(db, each, truth) for each, truth in zip(questions, truths, strict=True)]


def _one(db: dpsql.Connection, question: Question, truth: Truth) -> tuple[object, ...]:
    start = time.perf_counter()
    try:
        told = "; ".join(db.price(question.sql).doubts)
        answer = db.execute(question.sql)
    except dpsql.Error as error:
        said = f"{error.title}: {error.label}" if error.code == "D511" else error.title
        return (question.name, error.code, "", None, None, time.perf_counter() - start, said)
    passed = time.perf_counter() - start
    found = compared(answer, truth, question.by)
    rows = f"{found.shown} of {len(truth.rows)}" + (f" and {found.others}" if found.others else "")
    numbers = [each if math.isfinite(each) else None for each in (found.half_width, found.error)]
    outcome = "answered" if answer.rows else "empty"
    return (question.name, outcome, rows, *numbers, passed, told)
