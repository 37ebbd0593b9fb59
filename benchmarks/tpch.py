"""Which TPC-H queries are answered with a customer as the unit, at what price in time and accuracy?

The data comes from tpchgen-cli (the bench extra); with --quick, or where it is not installed, it is a tiny
database of the same shape, whose errors say nothing.
"""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Any

import dpsql
from benchmarks.data import connect, plain, session_of, tiny_tpch, tpch, tpch_queries
from benchmarks.timing import Report, Setting, Table, Verdict, alternate
from dpsql.ir.source import Source
from dpsql.pipeline import planned

ANSWERED = (1, 5, 6, 12, 14)
REFUSED = (3, 10, 18)
KEYS = {1: 2, 5: 1, 6: 0, 12: 1, 14: 0}  # how many of a query's first columns name its group


def run(setting: Setting) -> Report:
    try:
        path = tiny_tpch(setting) if setting.quick else tpch(setting)
    except FileNotFoundError:
        path = tiny_tpch(setting)
    queries = tpch_queries()
    answered = Table(
        f"answered on {path.stem}, ms; median relative error at epsilon 1",
        ("query", "shape", "plain", "measure", "ratio", "execute", "whole ratio", "error"),
    )
    refused = Table(f"refused on {path.stem}", ("query", "code", "why"))
    ratios = []
    with connect(path) as db:
        for number in ANSWERED:
            try:
                row = _answered(db, number, queries[number].rstrip().rstrip(";"), setting)
            except dpsql.Error as error:
                answered.rows.append((f"Q{number}", error.code, *[None] * 6))
                continue
            answered.rows.append((f"Q{number}", *row))
            ratios.append(row[3])
        for number in REFUSED:
            refused.rows.append((f"Q{number}", *_refused(db, queries[number])))
    mean = math.exp(statistics.fmean(math.log(each) for each in ratios))
    whole = Verdict("measure / plain, geometric mean of the answered", mean, None)
    wrong = sum(row[1] != "D403" for row in refused.rows)
    return Report(
        (answered, refused),
        (
            whole,
            Verdict("answered of five", len(ratios), len(ANSWERED), at_least=True),
            Verdict("refused for another reason than D403", wrong, 0),
        ),
    )


def _answered(db: dpsql.Connection, number: int, sql: str, setting: Setting) -> tuple[Any, ...]:
    session, cursor, prices = session_of(db), plain(db), itertools.count(1)
    measure = planned(session, Source(sql), (), session.terms(None)).stages[0].measures[0]
    answers = []

    def theirs() -> object:
        return cursor.execute(sql).fetchall()

    def measured() -> object:
        return session.engine.measure(measure)

    def whole() -> object:
        answers.append(db.execute(sql, epsilon=1 + next(prices) * 1e-6).rows)
        return answers[-1]

    other, sums, mine = alternate([theirs, measured, whole], 2 if setting.quick else 7)
    truth = cursor.execute(sql).fetchall()
    error = statistics.median(_error(rows, truth, KEYS[number]) for rows in answers)
    return (
        measure.shape.name,
        other,
        sums,
        sums.median / other.median,
        mine,
        mine.median / other.median,
        error,
    )


def _error(rows: list[tuple[Any, ...]], truth: list[tuple[Any, ...]], keys: int) -> float:
    """The median over all numbers of |answer - truth| / |truth|; a missing or NULL number is wholly wrong."""
    found = {row[:keys]: row[keys:] for row in rows}
    errors = []
    for row in truth:
        numbers = found.get(row[:keys], (None,) * (len(row) - keys))
        for ours, theirs in zip(numbers, row[keys:], strict=True):
            if theirs:
                errors.append(1.0 if ours is None else abs(float(ours) / float(theirs) - 1))
    return statistics.median(errors) if errors else math.nan


def _refused(db: dpsql.Connection, sql: str) -> tuple[str, str]:
    try:
        db.execute(sql)
    except dpsql.Error as error:
        return error.code, str(error).splitlines()[0]
    return "answered", ""
