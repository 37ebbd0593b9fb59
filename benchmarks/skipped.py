"""How much time does it cost to read parquet files in full?

The comparison is the same engine with a reader that gets the conditions and skips by statistics; it is wrong
for some files (grammar_tests/layouts). Only ``measure`` is timed. The visits are sorted by day, so that the
narrow range is the worst case.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from pathlib import Path

import duckdb

import dpsql
from benchmarks.data import session_of
from benchmarks.timing import Report, Runs, Setting, Table, Verdict, alternate
from dpsql.engines import file_sql, folder
from dpsql.ir.source import Source
from dpsql.planning import planned

POLICY = """\
[budget]
epsilon = 1000.0
delta = 1e-6
[query]
epsilon = 1.0
[unit]
table = "people"
key = "id"
[tables.people.columns]
town = {}
age = { range = [0, 90] }
[tables.visits]
unit = { column = "id" }
rows_per_unit = 15
[tables.visits.columns]
day = {}
cost = { range = [0, 1000] }
note = {}
reason = {}
"""

QUERIES = {
    "all rows": "SELECT COUNT(*), SUM(cost) FROM visits",
    "a narrow range": "SELECT COUNT(*) FROM visits WHERE day BETWEEN DATE '2021-03-01' AND DATE '2021-03-09'",
    "a text": "SELECT COUNT(*), SUM(cost) FROM visits WHERE reason = 'reason7'",
    "a rare text": "SELECT COUNT(*), SUM(cost) FROM visits WHERE note LIKE 'abc%'",
    "by reason": "SELECT reason, COUNT(*), SUM(cost) FROM visits GROUP BY reason",
    "of a town": "SELECT COUNT(*), SUM(cost) FROM visits JOIN people USING (id) WHERE town = 'town3'",
    "of few people": "SELECT SUM(cost) FROM visits JOIN people USING (id) WHERE town = 'town3' AND age = 3",
    "in a subquery": "SELECT COUNT(*) FROM visits WHERE id IN (SELECT id FROM people WHERE age > 80)",
    "medians": "SELECT reason, MEDIAN(cost) FROM visits GROUP BY reason",
}


def run(setting: Setting) -> Report:
    path = _files(setting, 20_000 if setting.quick else 3_000_000)
    table = Table("measure over parquet files, ms", ("query", "by statistics", "in full", "ratio"))
    ratios = []
    with _opened(path, by_statistics=True) as one, _opened(path) as other:
        for name, sql in QUERIES.items():
            skipping, whole = _times((one, other), sql, 2 if setting.quick else 9)
            ratios.append(whole.median / skipping.median)
            table.rows.append((name, skipping, whole, ratios[-1]))
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    return Report((table,), (Verdict("in full / by statistics, geometric mean", mean, None),))


def _opened(path: Path, by_statistics: bool = False) -> dpsql.Connection:
    before = folder.parquet_sql, folder.PUSHING
    if by_statistics:
        folder.parquet_sql, folder.PUSHING = _skipping, ()
    try:
        db = dpsql.connect(path, ledger=path.with_suffix(f".{by_statistics}.ledger"))
        session_of(db)
        return db
    finally:
        folder.parquet_sql, folder.PUSHING = before


def _skipping(paths: Sequence[Path], columns: Sequence[str]) -> str:
    return f"FROM {file_sql.parquet_files(paths)}"


def _times(contestants: tuple[dpsql.Connection, ...], sql: str, rounds: int) -> list[Runs]:
    runs = []
    for db in contestants:
        session = session_of(db)
        [stage] = planned(session, Source(sql), (), session.terms(None)).stages
        runs.append(lambda engine=session.engine, stage=stage: [engine.measure(m) for m in stage.measures])
    return alternate(runs, rounds)


def _files(setting: Setting, rows: int) -> Path:
    path = setting.folder / "clinic"
    path.mkdir()
    path.with_suffix(".toml").write_text(POLICY)
    people = rows // 10
    with duckdb.connect() as connection:
        connection.execute(
            f"COPY (SELECT i AS id, 'town' || i % 20 AS town, (hash(i) % 90)::INTEGER AS age "
            f"FROM range({people}) r(i)) TO '{path / 'people.parquet'}'"
        )
        connection.execute(
            f"COPY (SELECT (hash(i, 1) % {people})::BIGINT AS id, "
            f"DATE '2020-01-01' + (i * 1000 // {rows})::INTEGER AS day, "
            "hash(i, 2) % 100000 / 100.0 AS cost, md5(i::VARCHAR) AS note, 'reason' || hash(i, 3) % 40 "
            f"AS reason FROM range({rows}) r(i)) TO '{path / 'visits.parquet'}'"
        )
    return path
