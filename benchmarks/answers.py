"""On five million rows, how long do moments and medians take, compared with plain aggregates?

Moments by group are compared with dpsql's own SUM by group, a median with plain DuckDB's.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import dpsql
from benchmarks.data import connect, people, plain, session_of, visits
from benchmarks.timing import Report, Setting, Table, Verdict, alternate, ratio
from dpsql.ir.source import Source
from dpsql.planning import planned


def run(setting: Setting) -> Report:
    one = people(setting, 20_000 if setting.quick else 5_000_000)
    many = visits(setting, *((50_000, 2_000) if setting.quick else (5_000_000, 200_000)))
    table = Table("five million rows, ms", ("query", "beside", "its time", "ours", "ratio"))
    verdicts = []
    with connect(one) as db:
        tail = "FROM people WHERE person >= -{n} GROUP BY state"
        for call in ("VAR_POP(age)", "AVG(age), STDDEV(age)", "CORR(age, income)"):
            sums = _measured(db, f"SELECT state, SUM(age) {tail}")
            verdicts.append(_beside(table, call, "our SUM(age)", sums, db, tail, "state", 1.5, setting))
        for key in ("", "state"):
            grouped = "FROM people WHERE person >= -{n}" + (f" GROUP BY {key}" if key else "")
            other = _plainly(db, f"SELECT {f'{key}, ' if key else ''}MEDIAN(age) {grouped}")
            verdicts.append(_beside(table, "MEDIAN(age)", "plain", other, db, grouped, key, 3.0, setting))
    with connect(many) as db:
        tail = "FROM visits WHERE user_id >= -{n} GROUP BY place"
        for call in ("VAR_POP(minutes)", "CORR(minutes, cost)"):
            sums = _measured(db, f"SELECT place, SUM(minutes) {tail}")
            verdicts.append(_beside(table, call, "our SUM(minutes)", sums, db, tail, "place", 1.5, setting))
        other = _plainly(db, f"SELECT place, MEDIAN(minutes) {tail}")
        verdicts.append(_beside(table, "MEDIAN(minutes)", "plain", other, db, tail, "place", 3.0, setting))
    return Report((table,), tuple(verdicts))


def _measured(db: dpsql.Connection, sql: str) -> Callable[[], object]:
    """Return the engine's work for a paid query, each time as a new statement."""
    session, numbers = session_of(db), itertools.count(1)

    def once() -> object:
        what = planned(session, Source(sql.format(n=next(numbers))), (), session.terms(None))
        return session.engine.measure(what.stages[0].measures[0])

    return once


def _plainly(db: dpsql.Connection, sql: str) -> Callable[[], object]:
    cursor, numbers = plain(db), itertools.count(1)
    return lambda: cursor.execute(sql.format(n=next(numbers))).fetchall()


def _beside(
    table: Table,
    call: str,
    what: str,
    other: Callable[[], object],
    db: dpsql.Connection,
    tail: str,
    key: str,
    limit: float,
    setting: Setting,
) -> Verdict:
    mine = _measured(db, f"SELECT {f'{key}, ' if key else ''}{call} {tail}")
    theirs, ours = alternate([other, mine], 3 if setting.quick else 5)
    name = f"{call} by {key}" if key else call
    table.rows.append((name, what, theirs, ours, ours.median / theirs.median))
    return ratio(f"{name} / {what}", ours, theirs, limit)
