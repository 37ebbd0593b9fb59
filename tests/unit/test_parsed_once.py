"""Statements that are kept have the rows of their texts, whatever has changed since."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest

from dpsql.engines import parsed_once
from dpsql.engines.parsed_once import ParsedOnce


@pytest.fixture
def connection() -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:") as opened:
        yield opened


def long(sql: str) -> str:
    return f"SELECT * FROM ({sql}) -- {'x' * parsed_once._SHORT}"


def test_what_was_asked_twice_is_parsed_once(connection: duckdb.DuckDBPyConnection) -> None:
    parsed, sql = ParsedOnce(connection), long("SELECT 1")
    assert parsed(sql) == sql
    statement = parsed(sql)
    assert isinstance(statement, duckdb.Statement)
    assert parsed(sql) is statement
    assert parsed("SELECT 1") == parsed("SELECT 1") == "SELECT 1"


def test_a_statement_reads_what_is_there(connection: duckdb.DuckDBPyConnection) -> None:
    """Rows that are added, and a table of another type under the same name."""
    parsed, sql = ParsedOnce(connection), long("SELECT max(x) + 1 AS y FROM t")
    for kind, value, found in (("INTEGER", "1", 2), ("DOUBLE", "1.5", 2.5), ("DECIMAL(5, 2)", "0.25", 1.25)):
        connection.execute(f"CREATE OR REPLACE TEMP TABLE t AS SELECT CAST({value} AS {kind}) AS x")
        assert connection.execute(parsed(sql)).fetchall() == [(found,)]
        connection.execute(f"INSERT INTO t VALUES ({value} + 1)")
        assert connection.execute(parsed(sql)).fetchall() == [(found + 1,)]
    assert isinstance(parsed(sql), duckdb.Statement)


def test_a_statement_makes_tables_again(connection: duckdb.DuckDBPyConnection) -> None:
    parsed, sql = ParsedOnce(connection), f"CREATE OR REPLACE TEMP TABLE made AS {long('SELECT 7 AS x')}"
    for _ in range(4):
        connection.execute(parsed(sql))
        assert connection.execute("DELETE FROM made RETURNING x").fetchall() == [(7,)]


def test_few_are_kept(connection: duckdb.DuckDBPyConnection) -> None:
    parsed = ParsedOnce(connection)
    for number in range(2 * parsed_once._MOST):
        for _ in range(2):
            parsed(long("SELECT 0"))
            parsed(long(f"SELECT {number}"))
    assert len(parsed._known) == parsed_once._MOST
    assert isinstance(parsed(long("SELECT 0")), duckdb.Statement)
    assert parsed(long("SELECT 1")) == long("SELECT 1")
    assert parsed("x" * parsed_once._LONG) not in parsed._known
