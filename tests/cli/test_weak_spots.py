"""What ``policy check`` asks the owner to decide once more: public people, large deltas, units of nobody."""

from __future__ import annotations

from pathlib import Path

import duckdb
import pytest

from dpsql.cli import main

POLICY = """
[budget]
epsilon = {epsilon}
delta = {delta}
[unit]
name = "customer"
{unit}
about = 20_000
{tables}
"""

OF_CUSTOMERS = """
[tables.customers.columns]
age = { range = [0, 120] }
"""


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE customers (customer_id INTEGER PRIMARY KEY, age INTEGER);"
            "CREATE TABLE events (user_id INTEGER, session_id INTEGER, event VARCHAR);"
            "CREATE TABLE orders (customer_id INTEGER, price DOUBLE);"
            "CREATE TABLE places (place_id INTEGER PRIMARY KEY, city VARCHAR);"
            "INSERT INTO customers VALUES (1, 30); INSERT INTO events VALUES (1, 1, 'a');"
            "INSERT INTO orders VALUES (1, 2.5); INSERT INTO places VALUES (1, 'Oslo')"
        )
    return path


def decided(
    shop: Path,
    capsys: pytest.CaptureFixture[str],
    tables: str = "",
    unit: str = 'table = "customers"\nkey = "customer_id"',
    budget: tuple[float, float] = (1.0, 1e-6),
) -> list[str]:
    epsilon, delta = budget
    text = POLICY.format(epsilon=epsilon, delta=delta, unit=unit, tables=tables or OF_CUSTOMERS)
    shop.with_suffix(".toml").write_text(text)
    assert main(["policy", "check", str(shop)]) == 0
    return [line for line in capsys.readouterr().out.splitlines() if line.startswith("decide")]


def test_a_sound_policy_has_nothing_to_decide(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert decided(shop, capsys, OF_CUSTOMERS + "[tables.places]\npublic = true\n") == []


@pytest.mark.parametrize(("table", "column"), [("events", "user_id"), ("orders", "customer_id")])
def test_public_rows_that_may_name_people(
    shop: Path, capsys: pytest.CaptureFixture[str], table: str, column: str
) -> None:
    (line,) = decided(shop, capsys, f"{OF_CUSTOMERS}[tables.{table}]\npublic = true\n")
    assert f"{table} is public, and {table}.{column} may name people" in line


def test_a_delta_of_more_than_one_in_all(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert decided(shop, capsys, budget=(1.0, 4e-5)) == []
    (line,) = decided(shop, capsys, budget=(1.0, 6e-5))
    assert "delta = 6e-05 is more than one in about 20,000 customers" in line
    assert "1e-06 or less is usual" in line


def test_a_budget_that_nobody_means(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert decided(shop, capsys, budget=(50.0, 1e-6)) == []
    (line,) = decided(shop, capsys, budget=(100_000.0, 1e-6))
    assert "epsilon = 100,000 in all" in line


@pytest.mark.parametrize(("column", "lines"), [("session_id", 1), ("user_id", 0)])
def test_a_unit_that_is_no_person(
    shop: Path, capsys: pytest.CaptureFixture[str], column: str, lines: int
) -> None:
    tables = "[tables.events.columns]\nevent = {}\n"
    found = decided(shop, capsys, tables, unit=f'column = "{column}"')
    assert len(found) == lines
    assert all("each session_id is one customer" in line for line in found)


@pytest.mark.parametrize(
    ("declared", "kind", "values", "said"),
    [
        ('values = ["paid", "shipped"]', "VARCHAR", "['paid', 'shipped'][1 + i % 2]", False),
        ('values = ["paid", "shipped"]', "VARCHAR", "if(i < 9, 'Paid ', 'paid')", False),
        ('values = ["paid", "shipped"]', "VARCHAR", "if(i < 11, 'Paid ', 'paid')", True),
        ("range = [0, 10]", "DOUBLE", "if(i < 11, 10.5, 1)", True),
        ("range = [0, 10]", "INTEGER", "if(i < 11, NULL, i % 11)", False),
        ("range = [2024-01-01, 2024-12-31]", "DATE", "DATE '2024-12-01' + (i // 10)::INTEGER", True),
        ("range = [2024-01-01, 2024-12-31]", "TIMESTAMP", "TIMESTAMP '2024-12-01'", False),
        ("", "INTEGER", "i", False),
    ],
)
def test_values_that_are_not_declared(
    shop: Path, capsys: pytest.CaptureFixture[str], declared: str, kind: str, values: str, said: bool
) -> None:
    """Of a thousand rows, more than ten."""
    with duckdb.connect(str(shop)) as connection:
        connection.execute(f"CREATE TABLE bills (customer_id INTEGER, x {kind})")
        connection.execute(f"INSERT INTO bills SELECT 1, {values} FROM range(1000) AS t(i)")
    tables = OF_CUSTOMERS + '[tables.bills]\nunit = { column = "customer_id" }\nrows_per_unit = 9\n'
    found = decided(shop, capsys, f"{tables}[tables.bills.columns]\nx = {{ {declared} }}\n")
    assert [line.partition(" has ")[0] for line in found] == [
        "decide    bills.x: more than one row in a hundred"
    ] * said
