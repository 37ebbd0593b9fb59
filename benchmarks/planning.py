"""How long does it take from text to plan, and how much of that is sqlglot's own parse?"""

from __future__ import annotations

import itertools

import sqlglot

from benchmarks.data import connect, session_of, tiny_tpch, tpch_queries
from benchmarks.timing import Report, Setting, Table, Verdict, alternate
from dpsql.ir.source import Source
from dpsql.pipeline import planned

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
    verdicts = []
    with connect(tiny_tpch(setting)) as db:
        session = session_of(db)
        for name, sql in texts.items():
            numbers = itertools.count()

            def ours(sql: str = sql, numbers: itertools.count[int] = numbers) -> object:
                text = f"{sql.rstrip().rstrip(';')} -- {next(numbers)}"
                return planned(session, Source(text), (), session.terms(None))

            def theirs(sql: str = sql) -> object:
                return sqlglot.parse_one(sql, read="duckdb")

            mine, parse = alternate([ours, theirs], 5 if setting.quick else 31)
            table.rows.append((name, mine, parse, mine.median / parse.median))
            limit = 10.0 if name == "three-table join" else None
            verdicts.append(Verdict(f"{name}, ms", mine.median, limit, low=mine.best, high=max(mine.times)))
    return Report((table,), tuple(verdicts[:1]))
