"""How long does it take from text to plan, and how much of that is sqlglot's own parse?"""

from __future__ import annotations

import itertools

import sqlglot

from benchmarks.data import connect, session_of, tiny_tpch, tpch_queries
from benchmarks.timing import Report, Runs, Setting, Table, Verdict, alternate
from dpsql.ir.source import Source
from dpsql.pipeline import planned
from dpsql.session import Session

JOIN = """
SELECT c_mktsegment, COUNT(*) AS lines, AVG(l_quantity) AS quantity
FROM customer JOIN orders ON c_custkey = o_custkey JOIN lineitem ON l_orderkey = o_orderkey
WHERE o_orderdate >= DATE '1994-01-01' AND l_discount < 0.05
GROUP BY c_mktsegment HAVING COUNT(*) > 10 ORDER BY quantity DESC
"""


def run(setting: Setting) -> Report:
    texts = {"three-table join": JOIN}
    texts |= {f"TPC-H {n}": sql for n, sql in tpch_queries().items() if n in (1, 5, 6, 12, 14)}
    table = Table("text -> plan, ms", ("query", "plan", "sqlglot's parse", "ratio"))
    with connect(tiny_tpch(setting)) as db:
        for name, sql in texts.items():
            plan, parse = _planned(session_of(db), sql.rstrip().rstrip(";"), 5 if setting.quick else 31)
            table.rows.append((name, plan, parse, plan.median / parse.median))
    first: Runs = table.rows[0][1]
    verdict = Verdict("three-table join, ms", first.median, 10.0, low=first.best, high=max(first.times))
    return Report((table,), (verdict,))


def _planned(session: Session, sql: str, rounds: int) -> list[Runs]:
    """Each text is new, lest anything remembers it."""
    numbers = itertools.count()

    def ours() -> object:
        return planned(session, Source(f"{sql} -- {next(numbers)}"), (), session.terms(None))

    return alternate([ours, lambda: sqlglot.parse_one(sql, read="duckdb")], rounds)
