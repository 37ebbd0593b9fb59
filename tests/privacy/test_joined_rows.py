"""Joins of joins, drawn: DuckDB answers them all as we read tables and set it up, whatever the rows.

What a join brings is a dictionary in most chunks; a CASE, a coalesce() or a cast makes some chunks of
others, and what is behind the join fails on them, on some rows and not on others.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.engines.duckdb import configuration, lock_down
from dpsql.engines.measure_sql import measure_sql
from dpsql.engines.relation_sql import twofold

# Keys with gaps, few beside many: their joins look rows up by their place. ``many`` has enough rows for
# DuckDB's other way to dictionaries.
TABLES = """
CREATE TABLE small AS SELECT (3 * i)::INTEGER AS id, i AS a, 'the first of two, ' || i AS s,
    TIMESTAMP '2020-01-01' + to_hours(i) AS t FROM range(200) AS r(i);
CREATE TABLE other AS SELECT (3 * i)::INTEGER AS id, 100000 + i AS a, 'the other ' || i AS s,
    TIMESTAMP '2021-01-01' + to_hours(i) AS t FROM range(100) AS r(i);
CREATE TABLE rows AS SELECT i AS k, (hash(i) % 200 * 3)::INTEGER AS id, 1000000 + i AS a, 'r' || i AS s,
    TIMESTAMP '2022-01-01' + to_seconds(i) AS t FROM range(8192) AS r(i);
CREATE TABLE more AS SELECT i AS k, (i % 150 * 3)::INTEGER AS id, 2000000 + i AS a, 'm' || i AS s,
    TIMESTAMP '2023-01-01' + to_seconds(i) AS t FROM range(10240) AS r(i);
CREATE TABLE many AS SELECT i AS k, (i % 100 * 3)::INTEGER AS id, i AS a, 'g' AS s,
    TIMESTAMP '2024-01-01' AS t FROM range(300000) AS r(i);
"""
CASTS = {
    "a": ("CAST(CAST({} AS UBIGINT) AS BIGINT)",),
    "s": ("decode(CAST({} AS BLOB))",),
    "t": ("CAST(CAST({} AS TIMESTAMPTZ) AS TIMESTAMP)", "CAST(CAST({} AS TIMESTAMP_S) AS TIMESTAMP)"),
}
COMPARED = (
    " AND (l.a < r.a OR l.s = r.s)",
    " AND ((l.a = 7 AND r.s = 'r9') OR (r.a BETWEEN 5 AND 2000100 AND l.a <> 8))",
    " AND l.a <> r.a",
    " AND (l.id = 3 OR NOT l.t > r.t)",
)


class Drawn:
    """Queries over the tables above; ``read`` spells a table. The same seed draws the same query.

    ``stored``: inner, semi and anti joins alone, and nothing is computed below them.
    """

    def __init__(self, seed: int, read: Callable[[str], str], stored: bool = False) -> None:
        self._one, self._read, self._stored = random.Random(seed), read, stored

    def query(self) -> str:
        """One row that depends on every value: sums of hashes."""
        sums = ", ".join(f"sum(hash({each}, k) % 1000003)" for each in ("id", "a", "s", "t"))
        rows = self._rows(self._one.choice((2, 2, 3)))
        if self._stored:
            self._stored = False
            rows = self._shaped(rows, 0.8)
        return f"SELECT count(*), {sums} FROM ({rows})"

    def _lookup(self, depth: int) -> str:
        """One row for an ``id``."""
        if depth == 0 or self._one.random() < 0.8:
            return f"SELECT id AS k, * FROM {self._read(self._one.choice(('small', 'other')))} AS x"
        sides = f"({self._lookup(depth - 1)}) AS l JOIN ({self._lookup(depth - 1)}) AS r ON l.id = r.id"
        return self._shaped(f"SELECT l.k, l.id, {self._either()} FROM {sides}", 0.6)

    def _rows(self, depth: int) -> str:
        """One row for a ``k``."""
        if depth == 0 or self._one.random() < 0.15:
            table = self._one.choice((*["rows", "more"] * 8, "many"))
            return self._shaped(f"SELECT * FROM {self._read(table)} AS x", 0.3)
        left = self._rows(depth - 1)
        if self._one.random() < 0.6:
            right, on = self._lookup(max(depth - 2, 0)), "l.id = r.id"
            kind = self._one.choice((*["INNER"] * 6, "LEFT", "SEMI"))
        else:
            right, on = self._rows(depth - 1), "l.k = r.k"
            kind = self._one.choice(
                ("INNER", "INNER", "LEFT", "LEFT", "RIGHT", "RIGHT", "FULL", "SEMI", "ANTI")
            )
        if self._stored:
            kind = self._one.choice((*["INNER"] * 4, "SEMI", "ANTI"))
            on += self._one.choice(("", *COMPARED))
        sides = f"({left}) AS l {kind} JOIN ({right}) AS r ON {on}"
        if kind in ("SEMI", "ANTI"):
            return self._shaped(f"SELECT l.* FROM {sides}", 0.6)
        keys = "l.k, l.id"
        if kind in ("RIGHT", "FULL"):
            keys = "coalesce(l.k, r.k) AS k, coalesce(l.id, r.id) AS id"
        return self._shaped(f"SELECT {keys}, {self._either()} FROM {sides}", 0.6)

    def _either(self) -> str:
        return ", ".join(f"{self._of(each, f'l.{each}', f'r.{each}', 'l.k')} AS {each}" for each in CASTS)

    def _shaped(self, sql: str, often: float) -> str:
        if self._one.random() < often and not self._stored:
            columns = ", ".join(f"{self._of(each, each, each, 'k')} AS {each}" for each in CASTS)
            sql = f"SELECT k, id, {columns} FROM ({sql})"
        if self._one.random() < often / 2:
            kept = self._one.choice(("hash(k, a)", "hash(k, s)", "hash(t, k)", "hash(k)"))
            sql = f"SELECT * FROM ({sql}) WHERE {kept} % {self._one.choice((2, 30, 300))} = 0"
        return sql

    def _of(self, column: str, one: str, two: str, k: str) -> str:
        when = self._one.choice(
            (
                f"{k} < 2048",
                f"{k} < 4096",
                f"{k} < 5000",
                f"{k} % 8192 < 4096",
                f"{k} % 97 = 0",
                f"{k} IS NULL",
            )
        )
        forms = [
            "{one}",
            "{two}",
            "CASE WHEN {when} THEN {two} END",
            "CASE WHEN {when} THEN {one} ELSE {two} END",
            "CASE WHEN {when} THEN {two} ELSE {one} END",
            "coalesce({one}, {two})",
            "coalesce({two}, {one})",
            self._one.choice(CASTS[column]).format("{two}"),
        ]
        return self._one.choice(forms[:2] if self._stored else forms).format(one=one, two=two, when=when)


def picked(table: str) -> str:
    """Some rows of a table, as those of special units are read."""
    return f"(SELECT t.* FROM {table} AS t WHERE t.id IN (SELECT id FROM other))"


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("joined") / "d.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(TABLES)
    return path


@pytest.fixture(params=[1, 2, 4])
def threads(request: pytest.FixtureRequest) -> int:
    assert isinstance(request.param, int)
    return request.param


@pytest.fixture
def ours(database: Path, threads: int) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(str(database), read_only=True, config=configuration(threads)) as connection:
        lock_down(connection, "UTC")
        yield connection


def test_joins_of_joins_fail_on_no_rows(ours: duckdb.DuckDBPyConnection) -> None:
    """And tables that are read twofold have the rows of tables that are not, wherever those are answered."""
    for seed in range(150):
        said = ours.execute(Drawn(seed, twofold).query()).fetchall()
        try:
            plain = ours.execute(Drawn(seed, str).query()).fetchall()
        except duckdb.InternalException:
            continue
        assert said == plain, seed


def test_joins_of_stored_columns_fail_on_no_rows(ours: duckdb.DuckDBPyConnection) -> None:
    """So tables below them are read as they are (``joins_stored_columns``)."""
    for seed in range(150):
        ours.execute(Drawn(seed, (str, picked)[seed % 2], stored=True).query()).fetchall()


@pytest.mark.parametrize("gathered", [True, False])
def test_joins_of_joins_fail_otherwise(database: Path, gathered: bool) -> None:
    """So the test above finds what it looks for. Where this fails, DuckDB needs these precautions no more."""
    with duckdb.connect(str(database), read_only=True, config=configuration(1)) as connection:
        connection.execute("SET TimeZone = 'UTC'")
        connection.execute("SET disabled_optimizers = 'statistics_propagation'")
        connection.execute(f"SET enable_caching_operators = {gathered}")
        with pytest.raises(duckdb.InternalException, match="cache" if gathered else "join"):
            _all_plainly(connection)


def _all_plainly(connection: duckdb.DuckDBPyConnection) -> None:
    for seed in range(150):
        connection.execute(Drawn(seed, str).query()).fetchall()


VISITS = (
    "visits JOIN patients ON visits.patient_id = patients.patient_id JOIN wards ON patients.ward = wards.ward"
)


def looked_up(rows: int, kinds: int, join: str, read: Callable[[str], str]) -> str:
    """A join that pairs chunks of what another one has looked up by its place, below a third one."""
    small = f"(SELECT range AS q, range % 7 AS y FROM range({kinds}))"
    held = f"(SELECT range AS k, range * 7 % 700 * 3 AS id, range % 50 AS x FROM range({rows}))"
    found = "(SELECT range * 3 AS of, range % 50 AS z, 'b' || range % 7 AS s FROM range(700))"
    many = f"(SELECT range % {rows} AS p, range % 97 AS w FROM range(60000))"
    pairs = f"{read(held)} AS h JOIN {read(found)} AS f ON id = of {join.format(read(small))}"
    joined = f"{read(many)} AS m JOIN (SELECT k, s FROM {pairs}) ON p = k"
    return f"SELECT count(*), sum(w) FILTER (WHERE s = 'b3') FROM {joined}"


PAIRS = ("JOIN {} AS t ON x = q OR z = q", "CROSS JOIN {} AS t", "JOIN {} AS t ON q < 4 OR x = y")


@pytest.mark.parametrize("join", PAIRS)
def test_joins_that_pair_chunks_fail_on_no_rows(ours: duckdb.DuckDBPyConnection, join: str) -> None:
    for rows in (4096, 4097, 6145, 8193):
        for kinds in (8, 30, 300):
            ours.execute(looked_up(rows, kinds, join, twofold)).fetchall()


def test_joins_that_pair_chunks_fail_otherwise(ours: duckdb.DuckDBPyConnection) -> None:
    """Planted: tables are read once. Whether they fail depends on one row."""
    failed = set[int]()
    for rows in (4096, 4097):
        try:
            ours.execute(looked_up(rows, 30, PAIRS[0], str)).fetchall()
        except duckdb.InternalException:
            failed.add(rows)
    assert failed == {4097}


JOINED = "JOIN visits USING (visit_id) JOIN patients USING (patient_id)"


@pytest.mark.parametrize(
    ("rows", "stored"),
    [
        ("visits JOIN patients USING (patient_id) JOIN wards USING (ward)", True),
        (
            "(SELECT patient_id AS p FROM visits WHERE cost > 1) AS t JOIN patients ON p = patient_id "
            "JOIN wards USING (ward)",
            True,
        ),
        (f"drugs {JOINED}", True),  # the unit is lent, so that no path to it compares other types
        ("drugs JOIN wards ON dose = floor", False),
        (f"(SELECT visit_id, CASE WHEN dose > 1 THEN dose END AS d FROM drugs) AS t {JOINED}", False),
        ("drugs JOIN visits USING (visit_id) LEFT JOIN patients USING (patient_id)", False),
        (f"drugs {JOINED} WHERE patient_id IN (SELECT patient_id FROM visits)", True),
        (f"{VISITS} AND (kind = 'surgery' OR floor = 1 AND minutes < 9)", True),
        (
            f"{VISITS} WHERE NOT EXISTS (SELECT 1 FROM patients AS p WHERE p.patient_id = visits.patient_id)",
            True,
        ),
        (f"{VISITS} AND (kind = 'surgery' OR minutes + floor < 9)", False),
        ("visits JOIN patients USING (patient_id) JOIN wards ON floor = 1 OR minutes = floor", False),
        ("visits JOIN patients USING (patient_id) CROSS JOIN wards", False),
        ("visits JOIN patients USING (patient_id) JOIN wards ON minutes < floor", False),
    ],
)
def test_tables_below_computed_columns_are_read_twofold(
    db: dpsql.Connection, rows: str, stored: bool
) -> None:
    sql = f"SELECT COUNT(*) FROM {rows}"
    [planned] = plan_of(db._open(), sql, 1.0).measures
    assert ("range(0)" not in measure_sql(planned)) == stored
