"""How much longer than plain DuckDB does a private answer take on millions of rows?

Both use the same file, process, threads and settings; each statement is new on both sides (it has a condition
that is always true). ``measure`` is the SQL that dpsql runs. ``execute`` is the whole query, with the two
durable writes of the ledger, which take the same time on any data.
"""

from __future__ import annotations

import itertools
from typing import Any

import dpsql
from benchmarks.data import connect, people, plain, session_of, visits
from benchmarks.timing import Report, Setting, Table, Verdict, alternate, ratio
from dpsql.ir.source import Source
from dpsql.planning import planned

PEOPLE = {
    "COUNT": "COUNT(*)",
    "SUM(age)": "SUM(age)",
    "AVG(age)": "AVG(age)",
    "AVG(income)": "AVG(income)",
    "COUNT, SUM, AVG of age": "COUNT(*), SUM(age), AVG(age)",
    "COUNT, SUM, AVG of income": "COUNT(*), SUM(income), AVG(income)",
}
VISITS = {
    "COUNT": "COUNT(*)",
    "SUM(minutes)": "SUM(minutes)",
    "COUNT, SUM, AVG of minutes": "COUNT(*), SUM(minutes), AVG(minutes)",
    "COUNT, SUM, AVG of cost": "COUNT(*), SUM(cost), AVG(cost)",
}


def run(setting: Setting) -> Report:
    one = people(setting, 20_000 if setting.quick else 1_000_000)
    many = visits(setting, *((50_000, 2_000) if setting.quick else (5_000_000, 200_000)))
    tables, verdicts = [], []
    for title, path, accountant, keys, sums, tail, limit in (
        ("one row per unit", one, "zcdp", ("state",), PEOPLE, "FROM people WHERE person >= -{n}", 2.0),
        (
            "L1 clip",
            many,
            "pure",
            ("place", "place_no"),
            VISITS,
            "FROM visits WHERE minutes >= -{n}",
            10.0,
        ),
        (
            "L2 clip",
            many,
            "zcdp",
            ("place", "place_no"),
            VISITS,
            "FROM visits WHERE minutes >= -{n}",
            None,
        ),
    ):
        table = Table(
            f"{title}: {path.stem}, by group, ms",
            ("query", "shape", "plain", "measure", "ratio", "execute", "whole ratio"),
        )
        with connect(path, accountant) as db:
            for key in keys:
                for name, aggregates in sums.items():
                    sql = f"SELECT {key}, {aggregates} {tail} GROUP BY {key}"
                    row, verdict = _one(db, sql, f"{title}, {name} by {key}", limit, setting)
                    table.rows.append((f"{name} by {key}", *row))
                    verdicts.append(verdict)
        tables.append(table)
    return Report(tuple(tables), tuple(verdicts))


def _one(
    db: dpsql.Connection, sql: str, what: str, limit: float | None, setting: Setting
) -> tuple[tuple[Any, ...], Verdict]:
    session, cursor, numbers = session_of(db), plain(db), itertools.count(1)
    first = planned(session, Source(sql.format(n=0)), (), session.terms(None)).stages[0].measures[0]

    def theirs() -> object:
        return cursor.execute(sql.format(n=next(numbers))).fetchall()

    def measured() -> object:
        return session.engine.measure(first)

    def whole() -> object:
        return db.execute(sql.format(n=next(numbers)))

    other, sums, mine = alternate([theirs, measured, whole], 1 if setting.quick else 7)
    row = (first.shape.name, other, sums, sums.median / other.median, mine, mine.median / other.median)
    verdict: Verdict = ratio(f"{what}: measure / plain", sums, other, limit)
    return row, verdict
