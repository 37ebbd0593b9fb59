"""Parquet files in drawn layouts: the same call writes the rows with the unit and without it.

t0/0.parquet, t0/1.parquet      the table's rows in order, over one to three files
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import polars
import pyarrow as pa
import pyarrow.parquet as pq

from layouts.rows import Drawn

Writer = Callable[[pa.Table, Path], None]
_SMALL = (1, 64, 500, 4000)
_BYTES = ("PLAIN", "DELTA_BYTE_ARRAY", "DELTA_LENGTH_BYTE_ARRAY")
_WHOLE = ("PLAIN", "DELTA_BINARY_PACKED", "BYTE_STREAM_SPLIT")
_REAL = ("PLAIN", "BYTE_STREAM_SPLIT")


def layout(rng: random.Random, drawn: Drawn) -> tuple[str, Writer]:
    """A writer of files into a folder, and what it does in words."""
    choice = rng.random()
    if choice < 0.7:
        said, one = _arrow(rng, drawn)
    elif choice < 0.88:
        said, one = _duckdb(rng)
    else:
        said, one = _polars(rng)
    files = rng.choice((1, 1, 1, 2, 3))
    return f"{said}, {files} files", partial(_split, one, files)


def _split(one: Writer, files: int, table: pa.Table, folder: Path) -> None:
    folder.mkdir(parents=True)
    size = -(-len(table) // files)
    for i in range(files):
        one(table.slice(i * size, size), folder / f"{i}.parquet")


def _arrow(rng: random.Random, drawn: Drawn) -> tuple[str, Writer]:
    encoded = rng.random() < 0.75
    options: dict[str, Any] = {
        "use_dictionary": not encoded and rng.choice((True, [rng.choice(drawn.columns).name])),
        "data_page_version": rng.choice(("1.0", "2.0")),
        "compression": rng.choice(("none", "snappy", "zstd", "gzip", "brotli", "lz4")),
        "write_statistics": rng.choice((True, True, True, False)),
        "row_group_size": rng.choice((100, 1000, 2048, None)),
        "data_page_size": rng.choice((*_SMALL, None)),
        "write_batch_size": rng.choice((10, 100, None)),
        "write_page_index": rng.random() < 0.3,
        "store_decimal_as_integer": rng.random() < 0.5,
        "version": rng.choice(("1.0", "2.4", "2.6")),
        "store_schema": rng.random() < 0.5,
    }
    if rng.random() < 0.2:
        options["dictionary_pagesize_limit"] = 20
    if encoded:
        options["column_encoding"] = {
            leaf: rng.choice(_encodings(type_)) for leaf, type_ in _leaves(drawn.whole.schema)
        }
    return f"pyarrow {options}", lambda table, path: pq.write_table(table, path, **options)


def _leaves(schema: pa.Schema) -> Iterator[tuple[str, pa.DataType]]:
    for field in schema:
        if pa.types.is_struct(field.type):
            yield from ((f"{field.name}.{inner.name}", inner.type) for inner in field.type)
        else:
            yield field.name, field.type


def _encodings(type_: pa.DataType) -> tuple[str, ...]:
    if pa.types.is_string(type_) or pa.types.is_binary(type_):
        return _BYTES
    if pa.types.is_floating(type_):
        return _REAL
    if pa.types.is_integer(type_) or pa.types.is_temporal(type_):
        return _WHOLE
    return ("PLAIN",)


def _duckdb(rng: random.Random) -> tuple[str, Writer]:
    options = ", ".join(
        (
            "FORMAT parquet",
            f"ROW_GROUP_SIZE {rng.choice((100, 2048, 100_000))}",
            f"COMPRESSION {rng.choice(('uncompressed', 'snappy', 'zstd', 'lz4_raw', 'brotli', 'gzip'))}",
            f"PARQUET_VERSION {rng.choice(('V1', 'V2'))}",
            f"DICTIONARY_SIZE_LIMIT {rng.choice((1, 3, 1000))}",
            f"WRITE_BLOOM_FILTER {rng.choice(('true', 'false'))}",
        )
    )

    def write(table: pa.Table, path: Path) -> None:
        with duckdb.connect() as connection:
            connection.register("rows_of_it", table)
            connection.execute(f"COPY (FROM rows_of_it) TO '{path}' ({options})")

    return f"duckdb ({options})", write


def _polars(rng: random.Random) -> tuple[str, Writer]:
    options: dict[str, Any] = {
        "compression": rng.choice(("uncompressed", "snappy", "zstd", "lz4")),
        "statistics": rng.choice((True, True, "full", False)),
        "row_group_size": rng.choice((100, 1000, None)),
        "data_page_size": rng.choice((64, 500, None)),
    }

    def write(table: pa.Table, path: Path) -> None:
        frame = polars.from_arrow(table)
        assert isinstance(frame, polars.DataFrame)
        frame.write_parquet(path, **options)

    return f"polars {options}", write
