"""How many triples (a query, a database, the same without one unit) does the fuzzer judge in a second?

On schemas, policies and rows that are drawn, as ``dpsql audit DB --fuzz N`` judges queries on an owner's.
"""

from __future__ import annotations

import random
import time

import duckdb

from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.fuzz.drawn_policies import draw
from dpsql.fuzz.long_run import long_run
from dpsql.fuzz.run import Empty

SEED = 20_261_126


def run(setting: Setting) -> Report:
    triples, per_world = (50, 50) if setting.quick else (6_000, 500)
    began, spent = time.perf_counter(), time.process_time()
    tally = long_run(_empty_of, SEED, triples, lambda *_: None, per_world=per_world, drawn=True)
    wall, processor = time.perf_counter() - began, time.process_time() - spent
    table = Table(
        f"drawn schemas, seed {SEED}",
        ("triples", "queries", "databases", "violations", "a second", "ms of the processor each"),
    )
    row = (tally.triples, tally.accepted, tally.worlds, len(tally.found))
    table.rows.append((*row, tally.triples / wall, 1000 * processor / tally.triples))
    return Report((table,), (Verdict("violations", len(tally.found), 0),))


def _empty_of(seed: int) -> Empty:
    drawn = draw(random.Random(f"schema {seed}"))
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(drawn.script)
    return Empty(connection, drawn.policy)
