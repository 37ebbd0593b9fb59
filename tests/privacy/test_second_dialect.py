"""Measures printed in PostgreSQL's dialect and run there: DuckDB's exact tables, and the clip holds there.

The rows are those on which PostgreSQL raises: floats that underflow, squares above 64 bits, NaN, infinity.
The errors planted in the dialect are each found.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import psycopg
import pytest
from postgres_servers import needs_postgres, running_server

import dpsql
from dpsql.audit import plan_of
from dpsql.engines.dialect import Dialect
from dpsql.engines.measure_sql import measure_sql
from dpsql.engines.postgres import dialect
from dpsql.ir.plan import MeasurePlan, Norm, Shape

POLICY = """\
[budget]
epsilon = 1000.0
delta = {delta}
accountant = "{accountant}"
[query]
max_epsilon = 1000.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
id = {{}}
k = {{ values = [0, 1, 2] }}
real = {{ range = [-2.0, 7.5] }}
whole = {{ range = [-100, 900] }}
[tables.stays]
unit = {{ column = "id" }}
rows_per_unit = 3
[tables.stays.columns]
id = {{}}
k = {{ values = [0, 1, 2] }}
real = {{ range = [-1e30, 1e30] }}
whole = {{ range = [0, 2000000000] }}
"""

QUERIES = (
    "SELECT k, COUNT(*), SUM(real), AVG(whole) FROM people GROUP BY k",
    "SELECT SUM(real) FROM people WHERE whole > 5",
    "SELECT SUM(real), COUNT(*) FROM stays",
    "SELECT k, SUM(whole), COUNT(real) FROM stays GROUP BY k",
    "SELECT k, AVG(real) FROM stays GROUP BY k",
    "SELECT k, COUNT(DISTINCT id), SUM(real) FROM stays GROUP BY k",
    "SELECT VAR_SAMP(whole) FROM stays",
    "SELECT p.k, SUM(s.real) FROM people p JOIN stays s ON p.id = s.id GROUP BY p.k",
)

REALS = ("NULL", "nan", "inf", "-inf", "0", "5e-324", "-5e-324", "1e-310", "1e308", "-1e308", "0.1", "7.5")
WHOLES = ("NULL", "-2147483648", "2147483647", "0", "7", "900")

Tables = dict[tuple[object, ...], tuple[int, ...]]


class Postgres(dialect.Postgres):
    """That of the engine, for tables that are read as they are."""

    def __init__(self) -> None:
        tables = ("people", "stays")
        super().__init__({table: f"SELECT * FROM main.{table}" for table in tables})


class Unguarded(Postgres):
    def scaled(self, sql: str, factor: float) -> str:
        return f"{sql} * {self.number(factor)}"


class Narrow(Postgres):
    def wide(self, sql: str) -> str:
        return f"CAST({sql} AS bigint)"


class Cutting(Postgres):
    def whole(self, sql: str) -> str:
        return self.cut(sql)


class Unclipped(Postgres):
    def cut(self, sql: str) -> str:
        return f"CAST(2 * ({sql}) AS bigint)"


PLANTED: tuple[tuple[Callable[[], Dialect], str], ...] = (
    (Unguarded, "NumericValueOutOfRange"),
    (Narrow, "NumericValueOutOfRange"),
    (Cutting, "another table"),
    (Unclipped, "above the clip"),
)


pytestmark = needs_postgres


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with running_server() as running:
        yield running.words("postgres")


def _people() -> list[str]:
    pairs = itertools.product(REALS, WHOLES)
    return [f"({at}, {at % 4}, {_real(real)}, {whole})" for at, (real, whole) in enumerate(pairs)]


def _stays() -> list[str]:
    """Some persons have no row, others five or six with all extremes."""
    rows = [(at % 11, at % 5, REALS[at % len(REALS)], WHOLES[at % len(WHOLES)]) for at in range(60)]
    return [f"({unit}, {k}, {_real(real)}, {whole})" for unit, k, real, whole in rows]


def _real(text: str) -> str:
    return "NULL" if text == "NULL" else f"'{text}'"


def _script(double: str) -> str:
    """Person 12 has so many rows that the squares of the sums need more than 64 bits."""
    columns = f"k INTEGER NOT NULL, real {double}, whole INTEGER"
    return (
        f"CREATE TABLE main.people (id INTEGER PRIMARY KEY, {columns});"
        f"CREATE TABLE main.stays (id INTEGER, {columns});"
        f"INSERT INTO main.people VALUES {', '.join(_people())};"
        f"INSERT INTO main.stays VALUES {', '.join(_stays())};"
        f"INSERT INTO main.stays SELECT 12, n % 3, CAST('1e308' AS {double}), 2147483647 "
        "FROM generate_series(0, 9999) AS t(n)"
    )


@dataclass(frozen=True)
class Both:
    """One world in two databases, and the measures of the queries under two accountants."""

    postgres: psycopg.Connection[Any]
    duckdb: Any
    measures: tuple[MeasurePlan, ...]

    def here(self, planned: MeasurePlan, dialect: Dialect) -> Tables:
        rows = self.postgres.execute(measure_sql(planned, dialect=dialect).encode()).fetchall()
        return _tables(planned, rows)

    def there(self, planned: MeasurePlan) -> Tables:
        return _tables(planned, self.duckdb._all(measure_sql(planned)))

    def without(self, unit: int, planned: MeasurePlan, dialect: Dialect) -> Tables:
        """Measure on a neighbour, on PostgreSQL itself."""
        with self.postgres.transaction(force_rollback=True):
            for table in ("people", "stays"):
                self.postgres.execute(f"DELETE FROM main.{table} WHERE id = {unit}".encode())
            return self.here(planned, dialect)


def _tables(planned: MeasurePlan, rows: Sequence[Sequence[Any]]) -> Tables:
    width = len(planned.keys)
    read = {tuple(row[:width]): tuple(map(int, row[width:])) for row in rows}
    assert len(read) == len(rows)
    return read


@pytest.fixture(scope="module")
def both(server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder: Path = tmp_path_factory.mktemp("dialects")
    with duckdb.connect(str(folder / "world.duckdb")) as made:
        made.execute(_script("DOUBLE"))
    measures: list[MeasurePlan] = []
    with psycopg.connect(server, autocommit=True) as postgres:
        postgres.execute("CREATE SCHEMA main")
        postgres.execute(_script("float8").encode())
        connections = []
        try:
            for accountant, delta in (("zcdp", "1e-6"), ("pure", "0.0")):
                policy = folder / f"{accountant}.toml"
                policy.write_text(POLICY.format(accountant=accountant, delta=delta))
                opened = dpsql.connect(folder / "world.duckdb", policy, folder / f"{accountant}.ledger")
                connections.append(opened)
                for sql in QUERIES:
                    measures += plan_of(opened._open(), sql, 1.0).stages[0].measures
            yield Both(postgres, connections[0]._open().engine, tuple(measures))
        finally:
            for each in connections:
                each.close()


def _norm(planned: MeasurePlan, whole: Tables, part: Tables) -> float:
    """Return the norm of what one unit changes."""
    nothing = (0,) * len(planned.measure.statistics)
    pairs = ((whole.get(group, nothing), part.get(group, nothing)) for group in {*whole, *part})
    changes = [abs(a - b) for here, there in pairs for a, b in zip(here, there, strict=True)]
    return sum(changes) if planned.bound[0] is Norm.L1 else math.sqrt(sum(each**2 for each in changes))


def _faults(both: Both, dialect: Dialect) -> Iterator[str]:
    """Say what is wrong: a failure, a table unlike DuckDB's, a unit that changes more than the clip."""
    for planned in both.measures:
        try:
            whole = both.here(planned, dialect)
            if whole != both.there(planned):
                yield "another table"
            for unit in (0, 1, 8, 12):
                part = both.without(unit, planned, dialect)
                if _norm(planned, whole, part) > planned.bound[1] * (1 + 1e-9):
                    yield "above the clip"
        except psycopg.DataError as error:
            yield type(error).__name__


def test_exact_tables_are_equal_and_clipped(both: Both) -> None:
    assert {each.shape for each in both.measures} == set(Shape)
    assert [*_faults(both, Postgres())] == []


@pytest.mark.parametrize(("plant", "fault"), PLANTED)
def test_planted_errors_are_found(both: Both, plant: Callable[[], Dialect], fault: str) -> None:
    assert fault in _faults(both, plant())
