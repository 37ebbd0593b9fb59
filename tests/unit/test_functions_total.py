"""Every function gives a value for every argument, whatever stands in the rows.

A function is not known by the arguments that its author thought of. Here each of its arguments is a column
of every kind in turn, over texts, numbers and dates that break parsers, and every constant that is likely to.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import duckdb
import pytest
from test_functions import COLUMNS, bound, domain, quoted

from dpsql.functions import ArgumentError, Function, shelf
from dpsql.functions.core.meaning import call, fact_of
from dpsql.functions.core.printing import sql_of
from dpsql.ir.column import VARCHAR, type_named
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

HOSTILE = (
    *("%FF", "%", "%%", "%s%s%s", "%d", "%n", "\0", "\\", "'", '"', "''", "{", "}", "{}", "{0}", "{:d}"),
    *(
        "٣٤",
        "\uff11\uff12",
        "²",
        "Ⅻ",
        "-",
        "+",
        ".",
        "e",
        "1e400",
        "-1e-400",
        "nan",
        "Infinity",
        "0x1F",
        "1_0",
    ),
    *("(", "[", "[a-", "*", "(?<", "a{99999999}", "^$", "$.a[", '{"a":', "[1,", "null", "true"),
    *("2024-02-30", "99999999-01-01", "24:00:00", "2024-01-01 00:00:00+99", "infinity", "epoch"),
    *("é", "e\u0301", "\u200d", "\U0001f468\u200d\U0001f469", "\ufeff", "ß", "İ", "\u202e", " ", "\t\n"),
    *("/", "//", "..", "C:\\", "http://%", "=====", "AAA", "\\xFF", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
)
LONG = ("repeat('a', 1000000)", "repeat('%', 1000000)", "repeat('[', 1000000)")

CONSTANTS = tuple(Literal(text, VARCHAR) for text in (*HOSTILE[:30], *HOSTILE[30:43])) + tuple(
    Literal(number, type_named(kind))
    for number, kind in ((-1, "INTEGER"), (0, "INTEGER"), (2**31 - 1, "INTEGER"), (2**63 - 1, "BIGINT"))
)


@pytest.fixture(scope="module")
def rows() -> Iterator[duckdb.DuckDBPyConnection]:
    """Each hostile text in each column of texts, beside all values of the other columns in turn."""
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'UTC'")
    columns = ", ".join(f'"{name}" {each[0]}' for name, each in COLUMNS.items())
    connection.execute(f"CREATE TABLE t ({columns})")
    texts = [
        *(f"'{text.replace(chr(39), chr(39) * 2)}'" for text in HOSTILE if text != "\0"),
        "chr(0)",
        *LONG,
    ]
    for i in range(2 * len(texts)):
        values = []
        for n, (sql, _, inside, outside) in enumerate(COLUMNS.values()):
            own = (*inside, *outside, "NULL")
            text = texts[(i * (1 + n % 2) + n) % len(texts)]
            values.append(text if sql == "VARCHAR" and (i + n) % 5 else own[(i // (1 + n % 3)) % 7])
        connection.execute(f"INSERT INTO t VALUES ({', '.join(values)})")
    yield connection
    connection.close()


def calls(function: Function) -> Iterator[Call]:
    """The function with its example's arguments, and with another thing in the place of each."""
    example = bound(function.example)
    assert example is not None
    made = next(each for each in _calls_in(example) if each.function == function.name)
    yield made
    others = [Ref(name) for name in COLUMNS]  # the elements of a list are arguments too
    for place, argument in enumerate(made.arguments):
        for other in (*others, *CONSTANTS):
            arguments = [*made.arguments]
            arguments[place] = other
            try:
                changed = call(function.name, arguments, domain, made.type)
                fact_of(changed, domain)
            except ArgumentError:
                continue
            if other != argument and isinstance(changed, Call):
                yield changed


def _calls_in(scalar: Scalar) -> Iterator[Call]:
    if isinstance(scalar, Call):
        yield scalar
        for each in scalar.arguments:
            yield from _calls_in(each)


def failures(function: Function, rows: duckdb.DuckDBPyConnection) -> list[str]:
    """What DuckDB says of the function's calls that it cannot compute for some row."""
    sqls = [sql_of(each, domain, quoted) for each in calls(function)]
    found = []
    for start in range(0, len(sqls), 20):
        some = sqls[start : start + 20]
        try:
            rows.execute(f"SELECT {', '.join(f'count({sql})' for sql in some)} FROM t").fetchall()
        except duckdb.Error as error:
            found.append(f"{error} in one of {some}"[:2000])
    return found


@pytest.mark.parametrize("name", sorted(shelf()))
def test_nothing_raises_whatever_the_arguments_are(name: str, rows: duckdb.DuckDBPyConnection) -> None:
    assert failures(shelf()[name], rows) == []


@pytest.mark.parametrize(
    "raises",
    ["url_decode({})", "from_base64({})", "chr(CAST(len({}) AS INTEGER) - 1)", "CAST({} || 1 AS JSON)"],
)
def test_a_function_that_raises_is_found(
    raises: str, rows: duckdb.DuckDBPyConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One line on the shelf, with an example that works."""
    wrong = replace(shelf()["upper"], render=lambda texts, *_: f"CAST({raises.format(texts[0])} AS VARCHAR)")
    rows.execute("SELECT " + raises.format("'1234'"))
    monkeypatch.setattr(shelf(), "_found", {**shelf(), "upper": wrong})
    assert failures(wrong, rows)
