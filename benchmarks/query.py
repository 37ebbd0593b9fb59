"""How long does a whole query on a thousand rows take, durable debit included, and which steps take it?

Every statement is new, so the ledger serves no repeat.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator

import dpsql
from benchmarks.data import connect, people, plain, session_of, visits
from benchmarks.timing import Report, Runs, Setting, Table, Verdict, alternate, stopwatch
from dpsql import planning, releasing
from dpsql.post import stages

# (a path from the session or from a module; what it is)
STEPS = (
    ("planning.parse", "parse"),
    ("planning.bind", "bind"),
    ("planning.rewrite", "rewrite"),
    ("planning.plan", "plan"),
    ("session.sealed.check", "check the post-processing"),
    ("session.pay", "debit (durable)"),
    ("session.engine.measure", "measure"),
    ("releasing.release", "release"),
    ("releasing.to_bytes", "released tables to bytes"),
    ("session.store", "store the answer (durable)"),
    ("releasing.from_bytes", "and back"),
    ("stages.finish", "finish (estimates and margins)"),
    ("session.sealed.run", "post-process"),
    ("session.remaining", "what remains"),
)


def run(setting: Setting) -> Report:
    cases = (
        (
            "by group, one row per person",
            people(setting, 1000),
            "SELECT state, COUNT(*), SUM(age), AVG(age) FROM people WHERE age < {n} GROUP BY state",
        ),
        ("one number", people(setting, 1000), "SELECT AVG(income) FROM people WHERE age < {n}"),
        (
            "by group, many rows per user",
            visits(setting, 1000, 100),
            "SELECT place, COUNT(*), AVG(cost) FROM visits WHERE minutes < {n} GROUP BY place",
        ),
    )
    rounds = 10 if setting.quick else 101
    summary = Table("a whole query on 1,000 rows, ms", ("query", "execute", "plain DuckDB", "ratio"))
    breakdown = Table("where it goes, ms (medians)", ("step", *(case[0] for case in cases)))
    columns: list[dict[str, float]] = []
    verdicts = []
    for name, path, sql in cases:
        with connect(path) as db:
            numbers = itertools.count(50)
            mine, other = _whole(db, sql, numbers, rounds)
            summary.rows.append((name, mine, other, mine.median / other.median))
            verdicts.append(
                Verdict(f"{name}, ms", mine.median, 15.0, low=mine.best, high=max(mine.times)),
            )
            columns.append(_breakdown(db, sql, numbers, rounds))
    for step in (*(label for _, label in STEPS), "everything else", "whole"):
        breakdown.rows.append((step, *(column[step] for column in columns)))
    return Report((summary, breakdown), tuple(verdicts))


def _whole(db: dpsql.Connection, sql: str, numbers: Iterator[int], rounds: int) -> list[Runs]:
    cursor = plain(db)

    def theirs() -> object:
        return cursor.execute(sql.format(n=next(numbers))).fetchall()

    return alternate([lambda: db.execute(sql.format(n=next(numbers))), theirs], rounds, warm=3)


def _breakdown(db: dpsql.Connection, sql: str, numbers: Iterator[int], rounds: int) -> dict[str, float]:
    session = session_of(db)
    starts = {"session": session, "planning": planning, "releasing": releasing, "stages": stages}
    places = []
    for path, label in STEPS:
        *holders, name = path.split(".")
        owner: object = None
        for part in holders:
            owner = starts[part] if owner is None else getattr(owner, part)
        places.append((owner, name, label))
    kept: dict[str, list[float]] = {label: [] for _, label in STEPS}
    kept |= {"everything else": [], "whole": []}
    for _ in range(rounds):
        with stopwatch(places) as spent:
            start = time.perf_counter()
            db.execute(sql.format(n=next(numbers)))
            whole = (time.perf_counter() - start) * 1e3
        for label, took in spent.items():
            kept[label].append(took)
        kept["whole"].append(whole)
        kept["everything else"].append(whole - sum(spent.values()))
    return {label: Runs(tuple(times)).median for label, times in kept.items()}
