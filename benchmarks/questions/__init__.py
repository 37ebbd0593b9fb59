"""Which questions of analysts are answered at epsilon 1, and how well, on four made-up data sets?

    events.sql     a product's event log           hospital.sql   stays, diagnoses and lab values
    shop.sql       customers, orders and items     meters.sql     readings of electricity

The SQL is what analysts write for DuckDB; none of it was adapted to what dpsql answers, so a refusal is a
result too. Each question names in comments the columns that say which row is which (``by``), and a ``target``
if it has one, ``beside`` another question's half-width if it names one. An answer is useful if its median
half-width is at most a fifth of the number. A margin does not show the bias of clipping; ``error`` and
``held`` do. A new run draws new noise, so a question near the limit may change sides. Each data set is one
session, and so it is for plain DuckDB, whose seconds stand beside ours.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb

import dpsql
from benchmarks.questions.compare import Compared, Truth, compared
from benchmarks.questions.made import HERE, MAKERS, made
from benchmarks.timing import Report, Setting, Table, Verdict

USEFUL = 0.2


@dataclass(frozen=True, slots=True)
class Question:
    """One question of a file, with what its comments say."""

    name: str
    sql: str
    by: tuple[str, ...]
    target: float | None
    beside: str | None


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a question: ``outcome`` is answered, empty, or the code of a refusal with its reason."""

    name: str
    outcome: str
    seconds: float
    plain: float
    rows: str = ""
    found: Compared | None = None
    why: str = ""

    @property
    def half_width(self) -> float:
        return math.nan if self.found is None else self.found.half_width

    @property
    def answered(self) -> bool:
        return self.outcome == "answered"

    @property
    def useful(self) -> bool:
        return self.answered and self.half_width <= USEFUL

    def row(self) -> tuple[object, ...]:
        figures = ("half_width", "worst", "error", "held")
        numbers = [None if self.found is None else getattr(self.found, each) for each in figures]
        finite = [None if each is None or not math.isfinite(each) else each for each in numbers]
        says = "useful" if self.useful else self.outcome
        return (self.name, says, self.rows, *finite, self.seconds, self.plain, self.why)


COLUMNS = (
    *("question", "outcome", "rows", "half-width", "worst", "error", "held", "s", "plain s"),
    "refused because",
)


def run(setting: Setting) -> Report:
    summary = Table(
        "in all: questions, shares, medians over the answered",
        ("data", "questions", "answered", "share", "useful", "share useful", "half-width", "error"),
    )
    tables, verdicts = [], []
    everything: list[Result] = []
    for name in MAKERS:
        questions = list(read(HERE / f"{name}.sql"))
        if setting.quick:
            questions = [each for n, each in enumerate(questions) if n % 4 == 0 or each.target is not None]
        results = _asked(made(setting, name), questions)
        tables.append(Table(f"{name}, epsilon 1", COLUMNS, [each.row() for each in results.values()]))
        verdicts += [_judged(each, results) for each in questions if each.target is not None]
        summary.rows.append(_sum(name, list(results.values())))
        everything += results.values()
    summary.rows.append(_sum("all", everything))
    return Report((summary, *tables), (*verdicts, *_shares(everything)))


def read(path: Path) -> Iterator[Question]:
    """Read a file of questions."""
    for part in path.read_text(encoding="utf-8").split("-- question: ")[1:]:
        name, *lines = part.splitlines()
        said = dict(each[3:].split(": ", 1) for each in lines if each.startswith("-- "))
        sql = "\n".join(each for each in lines if not each.startswith("-- ")).strip()
        target = float(said["target"]) if "target" in said else None
        yield Question(
            name, sql, tuple(filter(None, said.get("by", "").split(", "))), target, said.get("beside")
        )


def _asked(path: Path, questions: list[Question]) -> dict[str, Result]:
    """Ask each question once, all in one session of each engine."""
    with duckdb.connect(str(path), read_only=True) as plain:
        truths = {}
        for each in questions:
            start = time.perf_counter()
            found = plain.execute(each.sql)
            truth = Truth(tuple(column[0] for column in found.description), found.fetchall())
            truths[each.name] = truth, time.perf_counter() - start
    with dpsql.connect(path) as db:
        return {each.name: _one(db, each, *truths[each.name]) for each in questions}


def _one(db: dpsql.Connection, question: Question, truth: Truth, plain: float) -> Result:
    start = time.perf_counter()
    try:
        answer = db.execute(question.sql, epsilon=1.0)
    except dpsql.Error as error:
        return Result(question.name, error.code, time.perf_counter() - start, plain, why=error.title)
    passed = time.perf_counter() - start
    found = compared(answer, truth, question.by)
    rows = f"{found.shown} of {len(truth.rows)}" + (f" and {found.others}" if found.others else "")
    return Result(question.name, "empty" if found.empty else "answered", passed, plain, rows, found)


def _judged(question: Question, results: dict[str, Result]) -> Verdict:
    """Judge a half-width by its target; one that is not known misses it."""
    width = results[question.name].half_width
    what = f"{question.name}: half-width"
    if question.beside is not None:
        width, what = width / results[question.beside].half_width, f"{what} / that of {question.beside}"
    return Verdict(what, width, question.target)


def _sum(name: str, results: list[Result]) -> tuple[str | int | float, ...]:
    answered = [each for each in results if each.answered]
    useful = sum(each.useful for each in results)
    found = [each.found for each in answered if each.found is not None]
    shares = (len(answered), len(answered) / len(results), useful, useful / len(results))
    widths, errors = [each.half_width for each in found], [each.error for each in found]
    return (name, len(results), *shares, statistics.median(widths), statistics.median(errors))


def _shares(results: list[Result]) -> list[Verdict]:
    """Return what is not judged: the shares of all questions."""
    good = [each.found for each in results if each.useful and each.found is not None]
    counts = {
        "answered": sum(each.answered for each in results),
        "useful": len(good),
        "useful in every column": sum(each.worst <= USEFUL for each in good),
        f"useful, with an error above {USEFUL}": sum(each.error > USEFUL for each in good),
    }
    shares = [
        Verdict(f"share of questions {what}", many / len(results), None) for what, many in counts.items()
    ]
    answered = [each for each in results if each.answered]
    ratio = sum(each.seconds for each in answered) / sum(each.plain for each in answered)
    return [*shares, Verdict("sessions that ask each question once, of plain", ratio, None)]
