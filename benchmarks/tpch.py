"""Which TPC-H queries are answered with the customer as the unit, in what time and with what error?

The data comes from tpchgen-cli (the bench extra). With --quick, or if it is not installed, the data is a tiny
database of the same shape, and errors mean nothing. Queries 2, 11 and 16 read only public tables: they are
exact, and nothing is measured for them. Plain DuckDB reads a copy of the file with its own settings.
"""

from __future__ import annotations

import itertools
import math
import statistics
from typing import Any

import duckdb

import dpsql
from benchmarks.data import connect, plain_copy, session_of, tiny_tpch, tpch, tpch_queries
from benchmarks.timing import Report, Setting, Table, Verdict, alternate
from dpsql.audit.oracles import ready_measures
from dpsql.ir.source import Source
from dpsql.planning import planned

REFUSED = (3, 10, 18)
# How many of a query's first columns name its group; the others are numbers, if there are any.
KEYS = {1: 2, 2: 8, 4: 1, 5: 1, 6: 0, 7: 3, 8: 1, 9: 2, 11: 1, 12: 1, 13: 1}
KEYS |= {14: 0, 15: 4, 16: 3, 17: 0, 19: 0, 20: 2, 21: 1, 22: 1}


def run(setting: Setting) -> Report:
    try:
        path = tiny_tpch(setting) if setting.quick else tpch(setting)
    except FileNotFoundError:
        path = tiny_tpch(setting)
    queries = tpch_queries()
    answered = Table(
        f"answered on {path.stem}, ms; median relative error at epsilon 1",
        ("query", "stages", "shapes", "plain", "measure", "ratio", "execute", "whole ratio", "error"),
    )
    refused = Table(f"refused on {path.stem}", ("query", "code", "why"))
    measured, whole = [], []
    with connect(path) as db, plain_copy(path) as plain:
        for number, keys in KEYS.items():
            try:
                row = _answered(db, plain, queries[number].rstrip().rstrip(";"), keys, setting)
            except dpsql.Error as error:
                answered.rows.append((f"Q{number}", error.code, *[None] * 7))
                continue
            answered.rows.append((f"Q{number}", *row))
            measured += [] if row[4] is None else [row[4]]
            whole.append(row[6])
        for number in REFUSED:
            refused.rows.append((f"Q{number}", *_refused(db, queries[number])))
    wrong = sum(row[1] != "D403" for row in refused.rows)
    return Report(
        (answered, refused),
        (
            Verdict("measure / plain, geometric mean of those with measures", _mean(measured), None),
            Verdict("execute / plain, geometric mean of the answered", _mean(whole), 1.4),
            Verdict("execute / plain, the largest", max(whole), 3.0),
            Verdict("answered of 22", len(whole), len(KEYS), at_least=True),
            Verdict("refused for another reason than D403", wrong, 0),
        ),
    )


def _mean(ratios: list[float]) -> float:
    return math.exp(statistics.fmean(math.log(each) for each in ratios))


def _answered(
    db: dpsql.Connection, plain: duckdb.DuckDBPyConnection, sql: str, keys: int, setting: Setting
) -> tuple[Any, ...]:
    session, prices = session_of(db), itertools.count(1)
    plan = planned(session, Source(sql), (), session.terms(None))
    measures = ready_measures(plan, session.engine, session.sealed)
    answers = []

    def theirs() -> object:
        return plain.execute(sql).fetchall()

    def measured() -> object:
        return [session.engine.measure(each) for each in measures]

    def whole() -> object:
        answers.append(db.execute(sql, epsilon=1 + next(prices) * 1e-6).rows)
        return answers[-1]

    other, sums, mine = alternate([theirs, measured, whole], 2 if setting.quick else 7)
    truth = plain.execute(sql).fetchall()
    error = statistics.median(_error(rows, truth, keys) for rows in answers)
    return (
        len(plan.stages),
        ", ".join(each.shape.name for each in measures),
        other,
        sums if measures else None,
        sums.median / other.median if measures else None,
        mine,
        mine.median / other.median,
        error,
    )


def _error(rows: list[tuple[Any, ...]], truth: list[tuple[Any, ...]], keys: int) -> float:
    """Return the median of |answer - truth| / |truth| over all numbers; missing or NULL counts as 1."""
    found = {row[:keys]: row[keys:] for row in rows}
    errors = []
    for row in truth:
        if keys == len(row):
            errors.append(0.0 if row in found else 1.0)
        numbers = found.get(row[:keys], (None,) * (len(row) - keys))
        for ours, theirs in zip(numbers, row[keys:], strict=True):
            if theirs:
                errors.append(1.0 if ours is None else abs(float(ours) / float(theirs) - 1))
    return statistics.median(errors) if errors else 0.0


def _refused(db: dpsql.Connection, sql: str) -> tuple[str, str]:
    try:
        db.execute(sql)
    except dpsql.Error as error:
        return error.code, str(error).splitlines()[0]
    return "answered", ""
