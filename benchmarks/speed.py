"""How much longer than plain DuckDB does a whole private call take, from the text to the answer?

Plain DuckDB reads a copy of the file with its own settings and as many threads; the two take turns. A call of
ours has everything in it: planning, the durable debit, the measure, noise, margins. Each is at a price of its
own, so that no answer is a repeat; what the engine finds out about a table is found before the first turn, as
on the second question of any session. A table of its own has the first three calls of a session, beside the
first of a session of plain DuckDB.
"""

from __future__ import annotations

import itertools
import math
import statistics
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from benchmarks.data import baskets, connect, people, plain_copy, tiny_tpch, tpch, tpch_queries, visits
from benchmarks.timing import Report, Runs, Setting, Table, Verdict, alternate

LINES = """
SELECT l_returnflag, l_linestatus, SUM(l_quantity), SUM(l_extendedprice), AVG(l_quantity), COUNT(*)
FROM lineitem WHERE l_shipdate <= DATE '1998-09-02' GROUP BY l_returnflag, l_linestatus
"""
SEGMENTS = """
SELECT c_mktsegment, COUNT(*), SUM(l_extendedprice) FROM customer
JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey GROUP BY c_mktsegment
"""
REVENUE = """
SELECT SUM(l_extendedprice * (1 - l_discount)) FROM lineitem
WHERE l_shipdate >= DATE '1994-01-01' AND l_shipdate < DATE '1995-01-01'
"""
PARTS = """
SELECT place, COUNT(*), SUM(cost) FROM (SELECT place, cost FROM visits WHERE place_no < 20
UNION ALL SELECT place, cost FROM visits WHERE place_no >= 20) AS parts GROUP BY place
"""
ASKED = (
    ("people", "zcdp", "count", "SELECT COUNT(*) FROM people", None),
    ("people", "zcdp", "people by state", "SELECT state, SUM(income), AVG(age) FROM people GROUP BY 1", 2.0),
    ("people", "zcdp", "median", "SELECT MEDIAN(age) FROM people", 1.5),
    (
        "visits",
        "zcdp",
        "visits by place, L2",
        "SELECT place, COUNT(*), SUM(cost) FROM visits GROUP BY 1",
        4.0,
    ),
    (
        "visits",
        "pure",
        "visits by place, L1",
        "SELECT place, COUNT(*), SUM(cost) FROM visits GROUP BY 1",
        5.0,
    ),
    ("visits", "zcdp", "both parts by place, L2", PARTS, None),
    (
        *("visits", "zcdp", "users by place"),
        *("SELECT place, COUNT(*), COUNT(DISTINCT user_id), SUM(cost) FROM visits GROUP BY 1", 1.6),
    ),
    ("baskets", "zcdp", "private keys", "SELECT item, COUNT(DISTINCT user_id) FROM baskets GROUP BY 1", 1.6),
    ("tpch", "zcdp", "lineitem", LINES, 1.7),
    ("tpch", "zcdp", "three-way join", SEGMENTS, 1.3),
    ("tpch", "zcdp", "revenue of a year", REVENUE, 1.6),
)
FIVE = (1, 5, 6, 14, 19)
"""The queries of TPC-H that are the most often compared."""
FIRST = ("first", "second", "third")
_PRICES = itertools.count()
"""No price comes twice in a process, so no call is a repeat of another benchmark's."""


def run(setting: Setting) -> Report:
    table = Table("whole calls, ms", ("question", "plain", "ours", "ratio", "target"))
    over = [f"{call}, ratio" for call in FIRST]
    starts = Table("the first calls of a session, ms", ("question", "plain", *FIRST, *over))
    verdicts, of_tpch = [], []
    asked = [*ASKED, *(("tpch", "zcdp", f"TPC-H {n}", tpch_queries()[n], None) for n in FIVE)]
    rounds, warm = (2, 1) if setting.quick else (11, 3)
    for (source, accountant), each in itertools.groupby(asked, key=lambda each: each[:2]):
        group = list(each)
        path, texts = _path(source, setting), [text.strip().rstrip(";") for _, _, _, text, _ in group]
        found = whole_calls(path, accountant, texts, rounds, warm)
        for (_, _, name, _, limit), (theirs, ours) in zip(group, found, strict=True):
            ratio = ours.median / theirs.median
            table.rows.append((name, theirs, ours, ratio, limit))
            of_tpch += [ratio] if name.startswith("TPC-H") else []
            verdicts.append(Verdict(f"{name}, of plain", ratio, limit))
        for (_, _, name, _, _), sql in zip(group, texts, strict=True):
            theirs, *calls = first_calls(path, accountant, sql, 1 if setting.quick else 3)
            starts.rows.append((name, theirs, *calls, *(each.median / theirs.median for each in calls)))
    verdicts.append(Verdict(f"TPC-H {', '.join(map(str, FIVE))}, geometric mean", _mean(of_tpch), 1.35))
    for at, name in enumerate(FIRST, -len(FIRST)):
        mean = _mean([row[at] for row in starts.rows])
        verdicts.append(Verdict(f"the {name} call of a session, geometric mean", mean, None))
    return Report((table, starts), tuple(verdicts))


def _mean(ratios: Sequence[float]) -> float:
    return math.exp(statistics.fmean(map(math.log, ratios)))


def whole_calls(
    path: Path, accountant: str, texts: Sequence[str], rounds: int, warm: int
) -> Iterator[tuple[Runs, Runs]]:
    """Yield plain DuckDB's times and ours for each text, all in one session."""
    with connect(path, accountant) as db, plain_copy(path) as plain:
        for sql in texts:

            def theirs(sql: str = sql) -> object:
                return plain.execute(sql).fetchall()

            def ours(sql: str = sql) -> object:
                return db.execute(sql, epsilon=1 + next(_PRICES) * 1e-6).fetchall()

            first, second = alternate([theirs, ours], rounds, warm=warm)
            yield first, second


def first_calls(path: Path, accountant: str, sql: str, rounds: int) -> list[Runs]:
    """Return the times of the first call of a session of plain DuckDB, and of the first three of ours."""
    calls: list[list[float]] = [[] for _ in ("plain", *FIRST)]
    for _ in range(rounds):
        with plain_copy(path) as plain:
            start = time.perf_counter()
            plain.execute(sql).fetchall()
            calls[0].append((time.perf_counter() - start) * 1e3)
        with connect(path, accountant) as db:
            for call in calls[1:]:
                start = time.perf_counter()
                db.execute(sql, epsilon=1 + next(_PRICES) * 1e-6)
                call.append((time.perf_counter() - start) * 1e3)
    return [Runs(tuple(times)) for times in calls]


def _path(source: str, setting: Setting) -> Path:
    quick = setting.quick
    match source:
        case "people":
            return people(setting, 20_000 if quick else 1_000_000)
        case "visits":
            return visits(setting, *((50_000, 2_000) if quick else (5_000_000, 200_000)))
        case "baskets":
            return baskets(setting, *((20_000, 2_000) if quick else (2_000_000, 100_000)))
        case _:
            return tiny_tpch(setting) if quick else tpch(setting)
