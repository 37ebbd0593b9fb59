"""What other people's tools see of dpsql.

These tests use the installed package and nothing else of the repository: they run here with the rest, and
once more from elsewhere against the wheel.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.cli.demo_data import build

KINDS = """
CREATE TABLE kinds (
    n INTEGER PRIMARY KEY, small UTINYINT, wide HUGEINT, real FLOAT, number DOUBLE, money DECIMAL(9, 2),
    word VARCHAR, color ENUM('red', 'green'), yes BOOLEAN, id UUID, day DATE, clock TIME, moment TIMESTAMP,
    there TIMESTAMPTZ, span INTERVAL, bytes BLOB, items INTEGER[]
);
INSERT INTO kinds VALUES
    (1, 200, 170141183460469231731687303715884105727, 0.5, 0.1, 12.34,
     'æ', 'red', true, '6f2c1a40-0000-4000-8000-000000000001', '2024-02-29', '23:59:01',
     '2024-02-29 08:30:00', '2024-02-29 08:30:00+00', INTERVAL 3 DAY, '\\x00\\xFF'::BLOB, [1, 2]),
    (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
"""
PUBLIC = """
[tables.kinds]
public = true
"""
VIEWS = """
[views.seniors]
sql = "SELECT * FROM patients WHERE age >= 65"
"""


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's clinic with a public table of all types and a view; nobody changes it.

    A question costs so much that its noise is nothing: what comes back can be compared with DuckDB's.
    """
    database = build(tmp_path_factory.mktemp("built"))
    with duckdb.connect(str(database)) as owner:
        owner.execute(KINDS)
    file = database.with_suffix(".toml")
    policy = file.read_text()
    for demo, ours in (
        ("epsilon = 5.0", "epsilon = 1e9"),
        ("epsilon = 4.0", "epsilon = 1e9"),
        ("epsilon = 0.5", "epsilon = 1e6"),
        ("max_epsilon = 2.0", "max_epsilon = 1e6\nmin_epsilon = 0.001"),
        ("rows_per_unit = 15", "rows_per_unit = 1000"),
        ("range = [0, 1000]", "range = [0, 100000]"),
    ):
        assert demo in policy
        policy = policy.replace(demo, ours, 1)
    file.write_text(policy + PUBLIC + VIEWS)
    return database


@pytest.fixture
def ledger(tmp_path: Path) -> Path:
    return tmp_path / "own.ledger"


@pytest.fixture
def db(built: Path, ledger: Path) -> Iterator[dpsql.Connection]:
    with dpsql.connect(built, ledger=ledger) as connection:
        yield connection


@pytest.fixture
def url(built: Path, ledger: Path) -> str:
    """The same database as SQLAlchemy is told of it."""
    return f"dpsql:///{built}?ledger={ledger}"


@pytest.fixture
def slow() -> str:
    """A question to the crowd that takes a core a minute and more."""
    alike = (f"levenshtein(name, '{letter * 128}') < 3" for letter in "abcdefghijklmnopqrstuvwxyz0123456789")
    return "SELECT COUNT(*) FROM people WHERE " + " OR ".join(alike)


@pytest.fixture(scope="session")
def crowd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """People with long names, over whom questions can be made to take long."""
    database = tmp_path_factory.mktemp("crowd") / "crowd.duckdb"
    with duckdb.connect(str(database)) as owner:
        owner.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, name VARCHAR)")
        owner.execute("INSERT INTO people SELECT i, repeat(md5(i::VARCHAR), 4) FROM range(200000) AS t(i)")
    database.with_suffix(".toml").write_text(
        '[budget]\nepsilon = 10.0\ndelta = 1e-6\n[query]\nepsilon = 0.1\n[unit]\nname = "person"\n'
        'table = "people"\nkey = "id"\n[tables.people.columns]\nname = {}\n'
    )
    return database
