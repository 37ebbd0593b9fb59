"""How long does it take from text to plan, and how much of that is sqlglot's own parse?"""

from __future__ import annotations

import itertools
import statistics

import sqlglot

import dpsql
from benchmarks.data import connect, session_of, tiny_tpch, tpch_queries
from benchmarks.timing import Report, Runs, Setting, Table, Verdict, alternate
from dpsql.ir.source import Source
from dpsql.planning import planned
from dpsql.session import Session

JOIN = """
SELECT c_mktsegment, COUNT(*) AS lines, AVG(l_quantity) AS quantity
FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
WHERE o_orderdate >= DATE '1994-01-01' AND l_discount < 0.05
GROUP BY c_mktsegment HAVING COUNT(*) > 10 ORDER BY quantity DESC
"""


def run(setting: Setting) -> Report:
    texts = {"three-table join": JOIN} | {f"TPC-H {n}": sql for n, sql in tpch_queries().items()}
    table = Table(
        "text -> plan, ms", ("query", "plan", "sqlglot's parse", "ratio", "of the bests", "refused")
    )
    answered: list[tuple[Runs, Runs]] = []
    with connect(tiny_tpch(setting)) as db:
        for name, sql in texts.items():
            plan, parse, code = _planned(session_of(db), sql.rstrip().rstrip(";"), 5 if setting.quick else 31)
            ratios = plan.median / parse.median, plan.best / parse.best
            table.rows.append((name, plan, parse, *ratios, code))
            if name != "three-table join" and not code:
                answered.append((plan, parse))
    first: Runs = table.rows[0][1]
    medians = [plan.median for plan, _ in answered]
    return Report(
        (table,),
        (
            Verdict("three-table join, ms", first.median, 10.0, low=first.best, high=max(first.times)),
            Verdict(
                f"median of the {len(answered)} TPC-H queries that are answered, ms",
                statistics.median(medians),
                10.0,
                low=min(medians),
                high=max(medians),
            ),
            Verdict(
                "median of their ratios to sqlglot's parse",
                statistics.median(plan.median / parse.median for plan, parse in answered),
                None,
            ),
        ),
    )


def _planned(session: Session, sql: str, rounds: int) -> tuple[Runs, Runs, str]:
    """The times of both, and the code of a refusal. Each text is new, lest anything remembers it."""
    numbers, codes = itertools.count(), set[str]()

    def ours() -> None:
        try:
            planned(session, Source(f"{sql} -- {next(numbers)}"), (), session.terms(None))
        except dpsql.Error as error:
            codes.add(error.code)

    plan, parse = alternate([ours, lambda: sqlglot.parse_one(sql, read="duckdb")], rounds)
    return plan, parse, "".join(codes)
