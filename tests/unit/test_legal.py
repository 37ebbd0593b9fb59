"""Bits that are no value of their type: DuckDB takes them from frames and files, and fails on them later."""

from __future__ import annotations

from datetime import time, timedelta, timezone
from pathlib import Path

import duckdb
import numpy
import pandas
import pyarrow
import pyarrow.parquet
import pytest

import dpsql

POLICY = """
timezone = "Pacific/Kiritimati"
[budget]
epsilon = 10.0
delta = 1e-6
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
id = {}
x = {}
"""
MOMENT = {"s": 10**6, "ms": 10**3, "us": 1}
FIRST, LAST = -9_223_372_022_400_000_000, 2**63 - 2  # microseconds


def database(folder: Path, type_: pyarrow.DataType, *numbers: int) -> Path:
    """A table of these bits, as DuckDB makes it of a frame."""
    path = folder / "people.duckdb"
    content = b"".join(each.to_bytes(type_.bit_width // 8, "little", signed=True) for each in numbers)
    frame = pyarrow.table(  # noqa: F841 - DuckDB finds it by its name
        {
            "id": range(len(numbers)),
            "x": pyarrow.Array.from_buffers(type_, len(numbers), [None, pyarrow.py_buffer(content)]),
        }
    )
    with duckdb.connect(str(path)) as owner:
        owner.execute("CREATE TABLE people AS FROM frame")
    path.with_suffix(".toml").write_text(POLICY)
    return path


@pytest.mark.parametrize(
    ("type_", "first", "last"),
    [
        *((pyarrow.timestamp(unit), -(-FIRST // size), LAST // size) for unit, size in MOMENT.items()),
        (pyarrow.timestamp("us", tz="UTC"), FIRST, LAST),
        (pyarrow.time64("us"), 0, 86_400_000_000),
        (pyarrow.decimal128(5, 2), -99999, 99999),
    ],
    ids=str,
)
def test_the_first_and_the_last_value_are_kept_apart_from_what_lies_beyond(
    tmp_path: Path, type_: pyarrow.DataType, first: int, last: int
) -> None:
    moments = pyarrow.types.is_timestamp(type_)
    ends = (1 - 2**63, 2**63 - 1) if moments else ()
    (tmp_path / "within").mkdir()
    with dpsql.connect(database(tmp_path / "within", type_, 0, first, last, *ends)) as db:
        assert db.execute("SELECT COUNT(*) FROM people WHERE x IS NOT NULL", epsilon=0.1).rows
    beyond = [first - 1, *([] if last == LAST else [last + 1])]
    for number in beyond:
        folder = tmp_path / f"beyond {number}"
        folder.mkdir()
        with pytest.raises(dpsql.OperationalError, match="people holds values that cannot be read"):
            dpsql.connect(database(folder, type_, 0, number))


@pytest.mark.parametrize(
    "nested",
    [
        "[NULL, x]",
        "[[], [x]]",
        "{'a \"b''s\"': x, 'c': NULL}",
        "MAP {'k': x}",
        "MAP {x: 1}",
        "[{'m': MAP {'k': [x]}}, NULL]",
        "[array_value(x, x)]",
        "{'u': union_value(u := x)}",
    ],
)
@pytest.mark.parametrize(
    ("type_", "legal", "beyond"),
    [
        (pyarrow.timestamp("us"), FIRST, FIRST - 1),
        (pyarrow.timestamp("us", tz="UTC"), FIRST, FIRST - 1),
        (pyarrow.decimal128(5, 2), 99999, 100000),
        (pyarrow.date32(), -(2**31) + 1, -(2**31)),
        (pyarrow.time64("ns"), 86_400 * 10**9, 86_400 * 10**9 + 1),
    ],
    ids=str,
)
def test_values_inside_a_nested_value_are_kept_apart_in_the_same_way(
    tmp_path: Path, type_: pyarrow.DataType, legal: int, beyond: int, nested: str
) -> None:
    def wrapped(name: str, number: int) -> Path:
        (tmp_path / name).mkdir()
        path = database(tmp_path / name, type_, 0, number)
        with duckdb.connect(str(path)) as owner:
            owner.execute("ALTER TABLE people RENAME TO plain")
            rows = f"SELECT id, {nested} AS x FROM plain UNION ALL VALUES (9, NULL)"
            owner.execute(f"CREATE TABLE people AS {rows}")
        return path

    with dpsql.connect(wrapped("within", legal)) as db:
        assert db.execute("SELECT COUNT(*) FROM people WHERE x IS NOT NULL", epsilon=0.1).rows
    with pytest.raises(dpsql.OperationalError, match="people holds values that cannot be read"):
        dpsql.connect(wrapped("beyond", beyond))


@pytest.mark.parametrize("nested", ["[x]", "{'at': x}", "MAP {'k': x}"])
def test_so_are_times_with_an_offset_that_no_clock_has(tmp_path: Path, nested: str) -> None:
    """As pandas has them: the text of 12:00+16 cannot be made, and windows sort by texts of nested values."""

    def written(name: str, hours: int) -> Path:
        path = tmp_path / f"{name}.duckdb"
        noon = time(12, tzinfo=timezone(timedelta(hours=hours)))
        frame = pandas.DataFrame({"x": pandas.Series([noon], dtype=object)})  # noqa: F841 - found by its name
        with duckdb.connect(str(path)) as owner:
            owner.execute(f"CREATE TABLE people AS SELECT 1 AS id, {nested} AS x FROM frame")
        path.with_suffix(".toml").write_text(POLICY)
        return path

    with dpsql.connect(written("within", 15)) as db:
        assert db.execute("SELECT COUNT(*) FROM people WHERE x IS NOT NULL", epsilon=0.1).rows
    with pytest.raises(dpsql.OperationalError, match="people holds values that cannot be read"):
        dpsql.connect(written("beyond", 16))


def test_a_map_with_a_key_twice_is_kept_apart(tmp_path: Path) -> None:
    def folder(name: str, keys: list[str]) -> Path:
        (tmp_path / name).mkdir()
        maps = pyarrow.MapArray.from_arrays([0, 2, 2], pyarrow.array(keys), pyarrow.array([1, 2]))
        people = pyarrow.table({"id": [1, 2], "x": maps})
        pyarrow.parquet.write_table(people, tmp_path / name / "people.parquet")
        (tmp_path / f"{name}.toml").write_text(POLICY)
        return tmp_path / name

    with dpsql.connect(folder("within", ["a", "b"]), tmp_path / "within.toml") as db:
        assert db.execute("SELECT COUNT(*) FROM people WHERE x['a'] = 1", epsilon=0.1).rows
    with pytest.raises(dpsql.OperationalError, match="people holds values that cannot be read"):
        dpsql.connect(folder("beyond", ["a", "a"]), tmp_path / "beyond.toml")


def found_unreadable(path: Path) -> bool:
    path.with_suffix(".toml").write_text(POLICY)
    try:
        with dpsql.connect(path) as db:
            db.execute("SELECT COUNT(*) FROM people")
    except dpsql.OperationalError as error:
        return "holds values that cannot be read" in str(error)
    return False


@pytest.mark.parametrize("byte", [1, 2])
def test_a_byte_that_is_no_boolean_is_found(tmp_path: Path, byte: int) -> None:
    """A checkpoint makes it false: only a log keeps it."""
    path = tmp_path / "people.duckdb"
    bits = numpy.array([0, 1, byte], dtype=numpy.uint8).view(bool)
    frame = pandas.DataFrame({"id": range(3), "x": bits})  # noqa: F841 - DuckDB finds it by its name
    with duckdb.connect(str(path)) as owner:
        owner.execute("PRAGMA disable_checkpoint_on_shutdown; SET wal_autocheckpoint = '1TB'")
        owner.execute("CREATE TABLE people (id BIGINT, x BOOLEAN); INSERT INTO people FROM frame")
    assert found_unreadable(path) == (byte > 1)


@pytest.mark.parametrize("code", [1, 77])
def test_a_code_that_no_value_of_an_enum_has_is_found(tmp_path: Path, code: int) -> None:
    path = tmp_path / "people.duckdb"
    values = pandas.Categorical.from_codes([0, 1, 1], ["a", "b"])
    values._codes.setflags(write=True)
    values._codes[2] = code
    frame = pandas.DataFrame({"id": range(3), "x": values})  # noqa: F841 - DuckDB finds it by its name
    with duckdb.connect(str(path)) as owner:
        owner.execute("CREATE TABLE people AS FROM frame")
    assert found_unreadable(path) == (code > 1)
