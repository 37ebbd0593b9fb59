"""How long does it take from text to plan, and how much of that is sqlglot's own parse?"""

from __future__ import annotations

import itertools
import statistics

import duckdb
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


COLUMNS = 30


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
    missing, declared = _wide(setting)
    wide = Table(
        f"explain the sums of {COLUMNS} columns, ms", ("nobody declared a range", "all are declared", "ratio")
    )
    wide.rows.append((missing, declared, missing.median / declared.median))
    first: Runs = table.rows[0][1]
    medians = [plan.median for plan, _ in answered]
    return Report(
        (table, wide),
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
            Verdict(
                f"explain of {COLUMNS} columns, undeclared by declared", missing.median / declared.median, 1.5
            ),
        ),
    )


def _wide(setting: Setting) -> list[Runs]:
    """Time EXPLAIN of a sum of every column, with no declared ranges and with all ranges declared."""
    names = [f"c{i}" for i in range(COLUMNS)]
    sql = f"SELECT {', '.join(f'SUM({name})' for name in names)} FROM wide"
    opened = []
    for declared in (False, True):
        path = setting.folder / f"wide-{declared}.duckdb"
        with duckdb.connect(str(path)) as connection:
            columns = ", ".join(f"{name} DOUBLE" for name in names)
            connection.execute(f"CREATE TABLE wide (person BIGINT PRIMARY KEY, {columns})")
        ranges = "".join(f"{name} = {{ {'range = [0, 100]' if declared else ''} }}\n" for name in names)
        path.with_suffix(".toml").write_text(
            "[budget]\nepsilon = 100.0\ndelta = 1e-6\n[query]\nepsilon = 50.0\nmax_epsilon = 100.0\n"
            f'[unit]\nname = "person"\ntable = "wide"\nkey = "person"\n[tables.wide.columns]\n{ranges}'
        )
        opened.append(dpsql.connect(path))
    numbers = itertools.count()
    try:
        return alternate(
            [lambda db=db: db.explain(f"{sql} -- {next(numbers)}") for db in opened],  # type: ignore[misc]  # bound at once
            5 if setting.quick else 31,
        )
    finally:
        for db in opened:
            db.close()


def _planned(session: Session, sql: str, rounds: int) -> tuple[Runs, Runs, str]:
    """Return both times, and the code of a refusal. Each text is new, so that no cache has it."""
    numbers, codes = itertools.count(), set[str]()

    def ours() -> None:
        try:
            planned(session, Source(f"{sql} -- {next(numbers)}"), (), session.terms(None))
        except dpsql.Error as error:
            codes.add(error.code)

    plan, parse = alternate([ours, lambda: sqlglot.parse_one(sql, read="duckdb")], rounds)
    return plan, parse, "".join(codes)
