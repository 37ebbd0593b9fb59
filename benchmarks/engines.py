"""What the promise costs on another engine: TPC-H's 19 on PostgreSQL and Spark, beside their plain queries.

Measure and plain query run in turns: on PostgreSQL in a server that is started for it alone, on Spark in this
process, over the same files. Every exact table is compared with DuckDB's, number by number. Queries 2, 11 and
16 read public tables alone: nothing is measured. An engine that is not installed is left out. Above scale 1
only Spark is asked, and one round is counted, after all that is found of the tables: it takes long enough.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import psycopg

import dpsql
from benchmarks.data import PRIVATE, PUBLIC, TPCH, session_of, tiny_tpch, tpch, tpch_queries
from benchmarks.timing import ROOT, Report, Setting, Table, Verdict, alternate
from dpsql.audit.oracles import ready_measures
from dpsql.engines import Engine
from dpsql.engines.spark.address import LocalAddress
from dpsql.engines.spark.engine import SparkEngine
from dpsql.engines.spark.settings import PARTITIONS, SETTINGS
from dpsql.ir.source import Source
from dpsql.ir.table import ExactTable
from dpsql.planning import planned
from dpsql.session.checks import parse_policy

sys.path.insert(0, str(ROOT / "tests"))

from postgres_servers import INITDB, Server, running_server, track
from sparks import MISSING

ANSWERED = (1, 4, 5, 6, 7, 8, 9, 12, 13, 14, 15, 17, 19, 20, 21, 22)
MEMORY = "256MB"
INDEXED = ("lineitem (l_orderkey)", "lineitem (l_partkey, l_suppkey)", "orders (o_custkey)")


def run(setting: Setting) -> Report:
    try:
        path = tiny_tpch(setting) if setting.quick else tpch(setting)
    except FileNotFoundError:
        path = tiny_tpch(setting)
    reports = [_on_postgres(path, setting)] if INITDB is not None and setting.scale <= 1 else []
    reports += [] if MISSING else [_on_spark(path, setting)]
    return Report(
        tuple(table for report in reports for table in report.tables),
        tuple(verdict for report in reports for verdict in report.verdicts),
    )


def _on_postgres(path: Path, setting: Setting) -> Report:
    with running_server() as server:
        _load(server, path)
        policy = path.with_suffix(".zcdp.toml")
        with (
            dpsql.connect(server.url("tpch"), policy, setting.folder / "postgres.ledger") as here,
            psycopg.connect(**server.url("tpch").words()) as plain,
        ):
            return _measured(
                "PostgreSQL",
                session_of(here).engine,
                lambda sql: plain.execute(sql.encode()).fetchall(),
                path,
                setting,
            )


def _on_spark(path: Path, setting: Setting) -> Report:
    """Both read parquet files of the same tables, with two threads and the same settings."""
    memory = 4 if setting.scale <= 1 else 12
    os.environ.setdefault("PYSPARK_SUBMIT_ARGS", f"--driver-memory {memory}g pyspark-shell")
    folder = setting.folder / f"{path.stem} files"
    folder.mkdir(exist_ok=True)
    with duckdb.connect(str(path), read_only=True) as source:
        for name in (*PUBLIC, *PRIVATE):
            source.execute(f"COPY {name} TO '{folder / name}.parquet'")
    rules = parse_policy(path.with_suffix(".zcdp.toml").read_text(), "tpch.toml")
    with closing(SparkEngine(LocalAddress(folder, "2"), rules)) as engine:
        plain = engine._session.newSession()
        for name in (*SETTINGS, PARTITIONS):
            plain.conf.set(name, engine._session.conf.get(name))
        for name in (*PUBLIC, *PRIVATE):
            plain.read.parquet(str(folder / f"{name}.parquet")).createOrReplaceTempView(name)
        report = _measured("Spark", engine, lambda sql: plain.sql(sql).collect(), path, setting)
        peak = _peak_of(plain._jvm.java.lang.ProcessHandle.current().pid())
        return replace(report, verdicts=(*report.verdicts, Verdict("peak memory of Spark, GB", peak, 20.0)))


def _peak_of(process: int) -> float:
    """Return the most memory that a process has had, in GB."""
    with Path(f"/proc/{process}/status").open() as status:
        return sum(int(line.split()[1]) / 1e6 for line in status if line.startswith("VmHWM"))


def _measured(
    name: str, engine: Engine, plain: Callable[[str], object], path: Path, setting: Setting
) -> Report:
    columns = ("query", "plain", "measure", "ratio", "as DuckDB's")
    table = Table(f"{path.stem} on {name}, ms", columns)
    ratios, unlike, refused = [], 0, 0
    policy = path.with_suffix(".zcdp.toml")
    with dpsql.connect(path, policy, setting.folder / f"duckdb beside {name}.ledger") as there:
        for number in ANSWERED:
            try:
                row, ratio, same = _compared(engine, there, plain, tpch_queries()[number], setting)
            except dpsql.OperationalError as refusal:
                if refusal.code != "D605":
                    raise
                table.rows.append((f"Q{number}", "", "", "", "not answered"))
                refused += 1
                continue
            table.rows.append((f"Q{number}", *row))
            ratios.append(ratio)
            unlike += not same
    mean = math.exp(statistics.fmean(math.log(each) for each in ratios))
    return Report(
        (table,),
        (
            Verdict(f"measure / plain on {name}, geometric mean", mean, 2.0),
            Verdict(f"measure / plain on {name}, the largest", max(ratios), 5.0),
            Verdict(f"queries whose sums on {name} are not DuckDB's", unlike, 0),
            Verdict(f"queries that are not answered on {name}", refused, 0),
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
    engine: Engine, there: dpsql.Connection, plain: Callable[[str], object], sql: str, setting: Setting
) -> tuple[tuple[object, ...], float, bool]:
    other = session_of(there)
    text = sql.rstrip().rstrip(";")
    plan = planned(other, Source(text), (), other.terms(None))
    measures = ready_measures(plan, other.engine, other.sealed)
    same = all(_sums(engine.measure(each)) == _sums(other.engine.measure(each)) for each in measures)
    theirs, ours = alternate(
        (lambda: plain(text), lambda: [engine.measure(each) for each in measures]),
        1 if setting.quick or setting.scale > 1 else 3,
        warm=0 if setting.quick else 1 if setting.scale <= 1 else 2,  # the third one still finds something
    )
    ratio = ours.median / theirs.median
    return (theirs, ours, ratio, "yes" if same else "no"), ratio, same


def _sums(exact: ExactTable) -> dict[str, tuple[int, ...]]:
    rows = zip(exact.groups, exact.sums.tolist(), strict=True)
    return {repr(group): tuple(sums) for group, sums in rows if any(sums)}
