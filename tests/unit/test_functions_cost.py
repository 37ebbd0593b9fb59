"""No function's work or output grows with a value beyond a fixed cap, or beyond its input's own length."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import pytest
import sqlglot
from sqlglot import exp

from dpsql.functions import ArgumentError, shelf
from dpsql.functions.core.meaning import call, fact_of
from dpsql.functions.core.printing import sql_of
from dpsql.functions.reading import literal_of, read
from dpsql.functions.text.common import LONGEST
from dpsql.functions.text.similarity import MOST
from dpsql.ir.column import Fact, Kind, type_named
from dpsql.ir.scalar import Call, Ref, Scalar

LENGTH = 150_000
COLUMNS = {
    "s": ("VARCHAR", f"repeat('aé%.', {LENGTH // 4})"), "c": ("VARCHAR", "'x'"),
    "near": ("VARCHAR", f"repeat('b', {MOST})"), "far": ("VARCHAR", f"repeat('b', {MOST + 1})"),
    "i": ("INTEGER", "2147483647"),
    "j": ("INTEGER", "-2147483648"), "k": ("INTEGER", "2147483647"), "l": ("BIGINT", "9223372036854775807"),
    "x": ("DOUBLE", "1e308"), "y": ("DOUBLE", "-1e308"), "b": ("BOOLEAN", "true"),
    "d": ("DATE", "'infinity'"),
    "e": ("ENUM('lo','hi')", "'hi'"), "ts": ("TIMESTAMP", "'294247-01-10 04:00:54'"),
    "tz": ("TIMESTAMP WITH TIME ZONE", "'2020-01-01 00:00:00+00'"),
    "li": ("VARCHAR[]", "CAST(range(10000) AS VARCHAR[])"),
    "mp": ("MAP(VARCHAR, INTEGER)", "MAP {'a': 1}"),
    "js": ("JSON", "'{\"a\": 1}'"),
    "st": ("STRUCT(a INTEGER, \"b c\" VARCHAR[])", "{'a': 1, 'b c': ['x']}"),
    "u": ("UUID", "'ffffffff-ffff-ffff-ffff-ffffffffffff'"),
}  # fmt: skip


def column(name: str) -> Fact:
    return Fact(type_named(COLUMNS[name][0]))


def bind(node: exp.Expr) -> Scalar:
    if isinstance(node, exp.Paren):
        return bind(node.this)
    if isinstance(node, exp.Column):
        return Ref(node.name)
    literal = literal_of(node)
    if literal is not None:
        return literal
    reading = read(node)
    assert reading is not None, node.sql("duckdb")
    return call(reading.name, [bind(each) for each in reading.arguments], column, reading.type)


def example(name: str) -> Scalar:
    return bind(sqlglot.parse_one(f"SELECT {shelf()[name].example}", dialect="duckdb").expressions[0])


def sql(scalar: Scalar) -> str:
    return sql_of(scalar, column, lambda name: f'"{name}"')


@pytest.fixture(scope="module")
def database() -> Iterator[duckdb.DuckDBPyConnection]:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    connection.execute(f"CREATE TABLE t ({', '.join(f'{name} {each[0]}' for name, each in COLUMNS.items())})")
    connection.execute(f"INSERT INTO t VALUES ({', '.join(each[1] for each in COLUMNS.values())})")
    yield connection
    connection.close()


MAKES_TEXT = [name for name in sorted(shelf()) if fact_of(example(name), column).type.kind is Kind.TEXT]


def test_many_functions_make_text() -> None:
    assert len(MAKES_TEXT) > 40


@pytest.mark.parametrize("name", MAKES_TEXT)
def test_text_is_no_longer_than_its_input_or_the_cap(name: str, database: duckdb.DuckDBPyConnection) -> None:
    """Also when the function is applied to its own output, which would multiply what one call adds."""
    scalar = example(name)
    for _ in range(6):
        found = database.execute(f"SELECT length({sql(scalar)}) FROM t").fetchone()
        assert found is not None
        assert found[0] is None or found[0] <= max(LENGTH, LONGEST), sql(scalar)[:200]
        if not isinstance(scalar, Call) or Ref("s") not in example_arguments(name):
            break
        parts = tuple(scalar if each == Ref("s") else each for each in example_arguments(name))
        scalar = Call(name, parts)


def example_arguments(name: str) -> tuple[Scalar, ...]:
    scalar = example(name)
    return scalar.arguments if isinstance(scalar, Call) else ()


@pytest.mark.parametrize(
    "text",
    [
        "repeat(s, 100)", "hex(s)", "bin(s)", "s || s || s", "replace(s, 'a', 'aaaaaa')", "url_encode(s)",
        "regexp_replace(s, '.', '\\0\\0\\0\\0', 'g')", "concat(s, s, s)", "regexp_escape(s)",
        "array_to_string([s, s, s], '')", "format('{}{}', s, s)", "printf('%s%s', s, s)",
        "concat_ws('-', s, s)",
    ],
)  # fmt: skip
def test_growing_text_is_cut(text: str, database: duckdb.DuckDBPyConnection) -> None:
    scalar = bind(sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").expressions[0])
    found = database.execute(f"SELECT length({sql(scalar)}) FROM t").fetchone()
    assert found is not None
    assert LONGEST - 100 <= found[0] <= LONGEST


@pytest.mark.parametrize(
    "name",
    [
        "levenshtein",
        "damerau_levenshtein",
        "hamming",
        "jaccard",
        "jaro_similarity",
        "jaro_winkler_similarity",
    ],
)
def test_long_texts_are_not_compared(name: str, database: duckdb.DuckDBPyConnection) -> None:
    for other, compared in (("near", True), ("far", False), ("s", False)):
        scalar = Call(name, (Ref("near"), Ref(other)))
        row = database.execute(f"SELECT {sql(scalar)} IS NOT NULL FROM t").fetchone()
        assert row == (compared,), other


@pytest.mark.parametrize(
    "text",
    [
        "repeat(s, i)", "repeat(s, 101)", "repeat(s, -1)", "lpad(s, i, 'x')", "rpad(s, 5000, 'x')",
        "s GLOB c",
        "format(s, c)", "format('{0}', s)", "format('{:>10}', s)", "printf('%10d', i)", "printf('%s', i)",
        "overlay(s, c, 1)", "overlay(s, 'x', i)", "to_base(i, j)", "to_base(i, 2, i)", "i << j", "i << 64",
        "time_bucket(to_days(i), d)", "time_bucket(INTERVAL '0 days', d)", "array_to_string([s], c)",
        "array_to_string([i], '-')", "to_days(s)", "to_days(x)", "make_time(x, 1, 1)", "make_timestamp(i, i)",
        "enum_code(s)", "hamming(i, s)", "MAP {'a': 1, 'a': 2}[s]", "MAP {s: 1}[c]",
        "list_contains([1, 2], s)",
        "list_sum([s])", "['a', 1][i]", "['a', 'b'][x]", "list_distance([s], [1])", "lcm(x, 1)",
        "binom(x, 1)",
    ],
)  # fmt: skip
def test_what_a_row_may_not_decide(text: str) -> None:
    with pytest.raises(ArgumentError):
        fact_of(bind(sqlglot.parse_one(f"SELECT {text}", dialect="duckdb").expressions[0]), column)
