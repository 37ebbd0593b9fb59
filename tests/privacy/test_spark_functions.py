"""The functions vetted for Spark: on values that break engines none raises, and DuckDB agrees.

python -m pytest tests/privacy/test_spark_functions.py -n0    some minutes

Values lie in parquet files, as rows do: a constant would be computed by Spark's optimizer, which has code of
its own. Each formula is computed by the code that Spark compiles and by its interpreter, which Spark may
choose for a formula that is too long.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
from sparks import MASTER, needs_spark
from test_postgres_functions import (
    IOTA,
    NAMES,
    THREE,
    VALUES,
    alike,
    calls,
    columns_of,
    constant,
    is_of,
    lookup,
)

from dpsql.engines.dialect import DUCKDB
from dpsql.engines.identifiers import quote
from dpsql.engines.spark.dialect import Spark, backquoted
from dpsql.engines.spark.functions import RENDERS
from dpsql.engines.spark.texts import MOST_BYTES
from dpsql.engines.spark.this_process import ThisProcess
from dpsql.errors import OperationalError
from dpsql.functions.core.meaning import call
from dpsql.ir.column import Kind
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

pytestmark = needs_spark

NAMED = (*RENDERS, "timezone")
ZONES = ("UTC", "Europe/Oslo", "America/New_York")
FAR = frozenset(("infinity", "-infinity", "294246-12-31", "294247-06-01"))
"""Moments outside of Spark's calendar, which the engine reads as NULL."""

MORE = {
    "VARCHAR": (
        *(" 42\t", "+4", "nan", "1e400", "1e2", "-.5", "٤٢", "1_000", "2024-02-30", "9999-12-31"),
        *("é" * 3, "Straße", "ﬁ", "İı", "Σας", "😀b", "a\nb"),
    ),
    "DECIMAL(38,10)": ("-9999999999999999999999999999.9999999999",),
    "DATE": ("9999-12-31", "2024-02-29", "1582-10-10"),
    "TIMESTAMP": ("0001-01-01 00:00:00", "9999-12-31 23:59:59.999999", "1969-12-31 23:59:59.999999"),
}
"""Values beside those for PostgreSQL."""

BATCH = 24


def is_an_end(value: str) -> bool:
    try:
        number = abs(float(value))
    except ValueError:
        return False
    return not 1e-300 <= number <= 9e13 and value not in ("0", "0.0")


UNLIKE: Mapping[str, Callable[[str], bool]] = {
    **dict.fromkeys(("+", "-", "*", "/", "//", "%", "abs", "negate", "case", "coalesce", "round"), is_an_end),
    "cast": lambda value: is_an_end(value) or value in ("1e2", "1_000"),
    **dict.fromkeys(("upper", "lower", "ilike"), lambda value: not value.isascii()),
    "timezone": "9999-12-31 23:59:59.999999".__eq__,
}
"""Functions whose values differ, and for which: never for NULL.

Decimals and DuckDB's sums lose digits at the ends of types, texts of whole numbers have no exponent and no
underscore on Spark, and its letters are those of ICU: a sharp s in capitals is SS. On
DuckDB, time zones end at the last midnight of the year 9999.
"""


def in_a_moment(interval: Call) -> Call:
    return call("+", (Ref(f"{NAMES['TIMESTAMP']}b"), interval), lookup)


def values_of(sql: str) -> list[str | None]:
    return [each for each in (*VALUES[sql], *MORE.get(sql, ()), None) if each not in FAR]


class Engines:
    """Spark, compiled and interpreted, and DuckDB, over the same files."""

    def __init__(self, folder: Path) -> None:
        self.duck = duckdb.connect()
        self.duck.execute("SET TimeZone = 'UTC'")
        self.compiled, self.interpreted = (ThisProcess(MASTER).session for _ in range(2))
        self.interpreted.conf.set("spark.sql.codegen.wholeStage", "false")
        self.interpreted.conf.set("spark.sql.codegen.factoryMode", "NO_CODEGEN")
        self.interpreted.conf.set("spark.sql.shuffle.partitions", "1")
        for sql, name in NAMES.items():
            values = values_of(sql)
            rows = (
                f"SELECT i, CAST(v AS {sql}) AS v FROM (VALUES {', '.join('(?, ?)' for _ in values)}) t(i, v)"
            )
            file = folder / f"{name}.parquet"
            self.duck.execute(
                f"COPY ({rows}) TO '{file}'", [each for pair in enumerate(values) for each in pair]
            )
            self.duck.execute(f"CREATE VIEW {name} AS FROM '{file}'")
            for session in (self.compiled, self.interpreted):
                session.read.parquet(str(file)).createOrReplaceTempView(name)

    def spark(self, session: Any, sql: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(map(spelled, row)) for row in session.sql(backquoted(sql)).collect())

    def known(self, sql: str) -> list[tuple[Any, ...]]:
        return sorted(tuple(map(spelled, row)) for row in self.duck.execute(sql).fetchall())


@pytest.fixture(scope="module")
def engines(tmp_path_factory: pytest.TempPathFactory) -> Engines:
    return Engines(tmp_path_factory.mktemp("values"))


def spelled(value: object) -> object:
    """Return a fetched value so that equal ones of both engines are equal: one NaN, one zero."""
    if isinstance(value, float):
        return "nan" if math.isnan(value) else value + 0.0
    return value + 0 if isinstance(value, Decimal) else value


def rows_sql(columns: Sequence[str], printed: Sequence[str]) -> str:
    """Print formulas over all rows of some columns, behind the places of the rows, in order."""
    tables = [f"(SELECT i AS i{column}, v AS {column} FROM {column[:-1]}) AS t{column}" for column in columns]
    listed = [f"i{column}" for column in columns] + [
        f"{sql} AS r{place}" for place, sql in enumerate(printed)
    ]
    return f"SELECT {', '.join(listed)} FROM {' CROSS JOIN '.join(tables)}"


def texts_of(scalar: Call, dialect: Spark) -> tuple[str, str]:
    """Print a formula for both engines, so that equal values are fetched as equal ones."""
    sql, known = dialect.scalar(scalar, lookup, quote), DUCKDB.scalar(scalar, lookup, quote)
    if is_of(scalar, (Kind.TIMESTAMPTZ,)):
        return f"concat(CAST({sql} AS string), '+00')", f"CAST({known} AS VARCHAR)"
    if is_of(scalar, (Kind.DATE, Kind.TIMESTAMP)):
        return f"CAST({sql} AS string)", f"CAST({known} AS VARCHAR)"
    if is_of(scalar, (Kind.FLOAT,)):
        return f"CAST({sql} AS double)", f"CAST({known} AS DOUBLE)"
    return sql, known


def vetted_calls(dialect: Spark) -> dict[tuple[str, ...], list[tuple[Call, str, str]]]:
    """All calls that have a text, by the columns that they read."""
    grouped: dict[tuple[str, ...], list[tuple[Call, str, str]]] = {}
    for scalar in calls(NAMED, in_a_moment):
        try:
            texts = texts_of(scalar, dialect)
        except OperationalError:
            continue  # not vetted for these types
        columns = tuple(sorted(columns_of(scalar))) or (f"{NAMES['BOOLEAN']}a",)
        grouped.setdefault(columns, []).append((scalar, *texts))
    return grouped


def problems(engines: Engines, known: list[tuple[Call, str, str]], columns: Sequence[str]) -> list[str]:
    """Say which formulas raise on Spark, or have other values than on DuckDB."""
    theirs = engines.known(rows_sql(columns, [sql for *_, sql in known]))
    found, width = [], len(columns)
    for mode, session in (("compiled", engines.compiled), ("interpreted", engines.interpreted)):
        try:
            ours = engines.spark(session, rows_sql(columns, [sql for _, sql, _ in known]))
        except Exception as error:  # which row raised is found out one by one
            if len(known) > 1:
                return [line for each in known for line in problems(engines, [each], columns)]
            return [f"{mode} {known[0][0]}: {str(error)[:300]}"]
        assert [row[:width] for row in ours] == [row[:width] for row in theirs]
        for place, (scalar, *_) in enumerate(known, width):
            unlike = [
                (a[:width], a[place], b[place])
                for a, b in zip(ours, theirs, strict=True)
                if not alike(a[place], b[place]) and not (a[place] is None and is_beyond(b[place]))
            ]
            excused = all(is_excused(scalar, columns, row) for row, *_ in unlike)
            if unlike and not excused:
                found.append(f"{mode} {scalar}: {unlike[:3]}")
    return found


def is_excused(scalar: Call, columns: Sequence[str], places: tuple[int, ...]) -> bool:
    """Whether a row without NULL has a value for which the function may differ."""
    sqls = [next(sql for sql, name in NAMES.items() if name == column[:-1]) for column in columns]
    values = [values_of(sql)[place] for sql, place in zip(sqls, places, strict=True)]
    literals = [str(each.value) for each in scalar.arguments if isinstance(each, Literal)]
    may = UNLIKE.get(scalar.function, lambda _: False)
    return None not in values and any(may(each) for each in (*values, *literals) if each is not None)


def is_beyond(value: object) -> bool:
    """Whether a value is a moment outside of the years 1 to 9999, which is NULL on Spark."""
    return isinstance(value, str) and re.match(r"\d{5,}-\d\d-\d\d|.*\(BC\)", value) is not None


def test_no_text_grows_with_each_use(engines: Engines) -> None:
    """The longest text, twice as long and then three times, again and again, and many of it in one."""
    dialect, name = Spark({}, lambda: ZONES), f"{NAMES['VARCHAR']}a"
    nested: Scalar = Ref(name)
    for _ in range(8):
        nested = Call("upper", (Call("translate", (nested, constant(f"1{THREE}"), constant(IOTA * 4))),))
    for scalar in (nested, Call("||", (nested,) * 2 + (Ref(name),) * 998)):
        sql = dialect.scalar(scalar, lookup, quote)
        rows = f"(SELECT repeat(substring('1', 1, CAST(rand() AS int) + 1), {MOST_BYTES}) AS {name})"
        for session in (engines.compiled, engines.interpreted):
            [(size,)] = engines.spark(session, f"SELECT octet_length({sql}) FROM {rows}")
            assert size <= MOST_BYTES


def test_functions_are_total_and_mean_what_duckdb_means(engines: Engines) -> None:
    """All calls that Spark answers."""
    wrong, checked = [], set()
    for columns, known in vetted_calls(Spark({}, lambda: ZONES)).items():
        for start in range(0, len(known), BATCH):
            part = known[start : start + BATCH]
            wrong += problems(engines, part, columns)
            checked |= {name for scalar, *_ in part for name in functions_of(scalar)}
    assert not wrong, "\n".join(wrong)
    assert checked == {*NAMED}


def functions_of(scalar: object) -> set[str]:
    if not isinstance(scalar, Call):
        return set()
    return {scalar.function}.union(*map(functions_of, scalar.arguments))


def test_logarithms_are_those_that_java_says_each_bit_of(engines: Engines, tmp_path: Path) -> None:
    """Exponentials, logarithms and powers are StrictMath's."""
    file = tmp_path / "numbers.parquet"
    engines.duck.execute(f"COPY (SELECT 0.1e0 * n * n + 1e-3 AS x FROM range(40) AS t(n)) TO '{file}'")
    strict = engines.compiled._jvm.java.lang.StrictMath
    for session in (engines.compiled, engines.interpreted):
        frame = session.read.parquet(str(file)).selectExpr(
            "x", "exp(x)", "ln(x)", "log10(x)", "power(x, 0.37D)"
        )
        for x, *values in frame.collect():
            assert values == [strict.exp(x), strict.log(x), strict.log10(x), strict.pow(x, 0.37)]
