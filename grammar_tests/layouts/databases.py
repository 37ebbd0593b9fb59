"""DuckDB files in drawn layouts: how the rows came into the file, and what lies there beside them.

CREATE TABLE t; INSERT; CHECKPOINT; INSERT; DELETE; UPDATE; ...      the same steps with the unit and without
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.compute as pc

from layouts.rows import UNIT, Drawn

_COMPRESSIONS = "auto uncompressed rle dictionary bitpacking fsst alp alprd zstd roaring dict_fsst".split()
_STEPS = ("junk", "update", "deleted", "index")
_VERSIONS = ("v1.0.0", "v1.2.0", "v1.4.0", "latest")

Filler = Callable[[duckdb.DuckDBPyConnection, str, pa.Table], None]


def attached(rng: random.Random) -> str:
    """How a database file is laid out: what ATTACH takes."""
    return ", ".join(
        (
            f"ROW_GROUP_SIZE {rng.choice((2048, 4096, 122_880))}",
            f"BLOCK_SIZE {rng.choice((16_384, 262_144))}",
            f"STORAGE_VERSION '{rng.choice(_VERSIONS)}'",
        )
    )


@contextmanager
def made(path: Path, options: str, logged: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """A new database ``d``; what is ``logged`` alone stays in the log when it is closed."""
    with duckdb.connect() as connection:
        connection.execute("SET checkpoint_threshold = '1TB'")
        connection.execute(f"SET debug_skip_checkpoint_on_commit = {str(logged).lower()}")
        connection.execute(f"ATTACH '{path}' AS d ({options})")
        yield connection
        connection.execute("DETACH d")


def layout(rng: random.Random, drawn: Drawn) -> tuple[str, Filler]:
    """What makes a table of ``d`` out of rows, and what it does in words."""
    compression, parts, seed = rng.choice(_COMPRESSIONS), rng.choice((1, 1, 2, 4)), rng.random()
    steps = [each for each in _STEPS if rng.random() < 0.3]
    return f"duckdb file, {compression}, {parts} parts, {steps}", partial(
        _fill, compression, parts, steps, seed, drawn
    )


def _fill(
    compression: str,
    parts: int,
    steps: list[str],
    seed: float,
    drawn: Drawn,
    connection: duckdb.DuckDBPyConnection,
    name: str,
    rows: pa.Table,
) -> None:
    """What is drawn here follows from the seed alone, so that both tables come about in the same way."""
    rng, table, do = random.Random(seed), f"d.{name}", connection.execute
    connection.register("rows_of_it", rows)
    connection.register("gone", drawn.whole.filter(pc.equal(drawn.whole["unit"], UNIT)))
    last, size = drawn.columns[-1].name, -(-len(drawn.whole) // parts)
    do(f"SET force_compression = '{compression}'")
    do(f"CREATE TABLE {table} AS FROM rows_of_it LIMIT 0")
    if "index" in steps:
        do(f"CREATE UNIQUE INDEX one_{name} ON {table} (id)")
    for part in range(parts):
        do(f"INSERT INTO {table} FROM rows_of_it WHERE id >= {part * size} AND id < {part * size + size}")
        if "junk" in steps:
            do(f"INSERT INTO {table} SELECT * REPLACE (-1 - {parts} * id - {part} AS id) FROM gone")
        if "update" in steps:
            do(f"UPDATE {table} SET {last} = NULL WHERE id % 5 = {part}")
        if rng.random() < 0.4:
            do("CHECKPOINT d")
    if "deleted" in steps and not pc.any(pc.equal(rows["unit"], UNIT)).as_py():
        do(f"INSERT INTO {table} FROM gone")
        do("CHECKPOINT d")
        do(f"DELETE FROM {table} WHERE unit = {UNIT} AND id >= 0")
    do(f"DELETE FROM {table} WHERE id < 0")
    if "update" in steps:
        right = f"SELECT id, {last} FROM rows_of_it WHERE id % 5 < {parts}"
        do(f"UPDATE {table} AS t SET {last} = r.{last} FROM ({right}) AS r WHERE r.id = t.id")
    if rng.random() < 0.4:
        do("CHECKPOINT d")
