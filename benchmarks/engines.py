"""What the promise costs on another engine: TPC-H's 19 on PostgreSQL, beside its own plain queries.

Measure and plain query run in turns, in one session of one server, which is started for it alone. Every exact
table is compared with DuckDB's, number by number. Queries 2, 11 and 16 read public tables alone: nothing is
measured. Without a server, or without tpchgen-cli, there is nothing to run.
"""

from __future__ import annotations

import math
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

import duckdb
import psycopg

import dpsql
from benchmarks.data import PRIVATE, PUBLIC, TPCH, session_of, tiny_tpch, tpch, tpch_queries
from benchmarks.timing import ROOT, Report, Setting, Table, Verdict, alternate
from dpsql.audit.oracles import ready_measures
from dpsql.engines.postgres.engine import PostgresEngine
from dpsql.ir.source import Source
from dpsql.ir.table import ExactTable
from dpsql.planning import planned

sys.path.insert(0, str(ROOT / "tests"))

from postgres_servers import INITDB, Server, running_server, track

ANSWERED = (1, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 17, 19, 20, 21, 22)
MEMORY = "256MB"
INDEXED = ("lineitem (l_orderkey)", "lineitem (l_partkey, l_suppkey)", "orders (o_custkey)")


def run(setting: Setting) -> Report:
    if INITDB is None:
        return Report((), ())
    try:
        path = tiny_tpch(setting) if setting.quick else tpch(setting)
    except FileNotFoundError:
        path = tiny_tpch(setting)
    columns = ("query", "plain", "measure", "ratio", "as DuckDB's")
    table = Table(f"{path.stem} on PostgreSQL, ms", columns)
    ratios, unlike = [], 0
    with running_server() as server:
        _load(server, path)
        policy = path.with_suffix(".zcdp.toml")
        with (
            dpsql.connect(path, policy, setting.folder / "duckdb.ledger") as there,
            dpsql.connect(server.url("tpch"), policy, setting.folder / "postgres.ledger") as here,
            psycopg.connect(**server.url("tpch").words()) as plain,
        ):
            for number in ANSWERED:
                row, ratio, same = _compared(here, there, plain, tpch_queries()[number], setting)
                table.rows.append((f"Q{number}", *row))
                ratios.append(ratio)
                unlike += not same
    mean = math.exp(statistics.fmean(math.log(each) for each in ratios))
    return Report(
        (table,),
        (
            Verdict("measure / plain on PostgreSQL, geometric mean", mean, 2.0),
            Verdict("measure / plain on PostgreSQL, the largest", max(ratios), 5.0),
            Verdict("queries whose sums are not DuckDB's", unlike, 0),
        ),
    )


def _load(server: Server, path: Path) -> None:
    """Copy the tables into a database, with their keys, and track them."""
    with server.database("tpch") as owner, duckdb.connect(str(path), read_only=True) as source:
        owner.execute(f"ALTER SYSTEM SET work_mem = '{MEMORY}'")
        owner.execute("SELECT pg_reload_conf()")
        owner.execute((TPCH / "schema.sql").read_bytes())
        for name in (*PUBLIC, *PRIVATE):
            _copy(owner, source, name)
            track(owner, name)
        for columns in INDEXED:  # without these, plain queries 17 and 20 take minutes
            owner.execute(f"CREATE INDEX ON {columns}".encode())
        owner.execute("VACUUM ANALYZE")


def _copy(owner: psycopg.Connection[Any], source: duckdb.DuckDBPyConnection, name: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        source.execute(f"COPY {name} TO '{path}' (HEADER false)")
        with (
            owner.cursor() as cursor,
            path.open("rb") as file,
            cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv)".encode()) as copy,
        ):
            while block := file.read(2**20):
                copy.write(block)


def _compared(
    here: dpsql.Connection,
    there: dpsql.Connection,
    plain: psycopg.Connection[Any],
    sql: str,
    setting: Setting,
) -> tuple[tuple[object, ...], float, bool]:
    session, other = session_of(here), session_of(there)
    engine = session.engine
    assert isinstance(engine, PostgresEngine)
    text = sql.rstrip().rstrip(";")
    plan = planned(other, Source(text), (), other.terms(None))
    measures = ready_measures(plan, other.engine, other.sealed)
    same = all(_sums(engine.measure(each)) == _sums(other.engine.measure(each)) for each in measures)
    theirs, ours = alternate(
        (
            lambda: plain.execute(text.encode()).fetchall(),
            lambda: [engine.measure(each) for each in measures],
        ),
        1 if setting.quick else 3,
        warm=0 if setting.quick else 1,
    )
    ratio = ours.median / theirs.median
    return (theirs, ours, ratio, "yes" if same else "no"), ratio, same


def _sums(exact: ExactTable) -> dict[str, tuple[int, ...]]:
    rows = zip(exact.groups, exact.sums.tolist(), strict=True)
    return {repr(group): tuple(sums) for group, sums in rows if any(sums)}
