"""dpsql policy bounds: the owner sees what was found, fixes it in the policy, or has it found anew."""

from __future__ import annotations

import json
import re
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.cli import main

POLICY = """\
[budget]
epsilon = 5000
delta = 1e-6

[query]
epsilon = 1.0
max_epsilon = 1000.0

[unit]
name = "customer"
table = "customers"
key = "id"

[tables.customers.columns]
Income = {}    # euros
debt = { null = false }

[tables.orders.columns]
customer = {}
[tables.orders.columns.amount]

[tables.orders]
unit = { column = "customer" }
"""

INCOME = "SELECT SUM(income) FROM customers"
AMOUNT = "SELECT SUM(amount) FROM orders"


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE customers (id INTEGER PRIMARY KEY, income DOUBLE, debt INTEGER);"
            "CREATE TABLE orders (customer INTEGER, amount INTEGER);"
            "INSERT INTO customers SELECT i, i % 900, i % 30 FROM range(3000) AS r(i);"
            "INSERT INTO orders SELECT i % 3000, i % 70 FROM range(9000) AS r(i);"
        )
    path.with_suffix(".toml").write_text(POLICY)
    return path


def says(capsys: pytest.CaptureFixture[str], *words: str | Path) -> tuple[int, str]:
    code = main(["policy", "bounds", *map(str, words)])
    done = capsys.readouterr()
    return code, done.out + done.err


def range_of(line: str) -> tuple[float, float]:
    low, high = re.findall(r"(\S+) to (\S+)", line)[0]
    return float(low), float(high)


def ask(path: Path, *queries: str) -> list[float]:
    with dpsql.connect(path) as db:
        return [db.execute(sql, epsilon=1000).cost for sql in queries]


def test_what_was_found_is_listed(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A range that cuts many off is never chosen at this price; a far wider one is, now and then."""
    assert says(capsys, shop) == (0, "no bounds are found yet: there is no ledger\n")
    ask(shop, INCOME, AMOUNT)
    code, text = says(capsys, shop)
    lines = {line.split()[0]: line for line in text.splitlines()}
    assert code == 0
    assert list(lines)[-1] == "customers.debt"
    assert lines["customers.debt"] == "customers.debt    not found yet"
    low, high = range_of(lines["customers.income"])
    assert low <= 0 < 600 < high
    assert "for epsilon 200: serves prices up to 2000" in lines["customers.income"]
    assert re.search("orders +at most [0-9]+ rows +found 20", lines["orders"])


def test_a_bound_is_found_anew_where_the_owner_says_so(
    shop: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert ask(shop, INCOME, INCOME) == [1000, 0]
    assert says(capsys, shop, "--forget", "Customers.INCOME") == (
        0,
        "customers.income is found anew by the next query that needs it, which pays for it\n",
    )
    assert "customers.income  not found yet" in says(capsys, shop)[1]
    cost, repeat = ask(shop, INCOME, INCOME)
    assert cost in (200, 1000)  # the search alone, where it finds the same range
    assert repeat == 0
    code, text = says(capsys, shop, "--forget", "customers.incom")
    assert code == 1
    assert "did you mean customers.income?" in text


def test_found_bounds_are_written_into_the_policy(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ask(shop, INCOME, AMOUNT)
    code, text = says(capsys, shop, "--write")
    assert code == 0
    assert text.endswith("written into shop.toml: what used them is planned, and paid, anew\n")
    lines = {line.split()[0]: line for line in text.splitlines()}
    written = shop.with_suffix(".toml").read_text()
    income, amount = map(json.loads, re.findall(r"range = (\[.*\])", written))
    for name, found in (("customers.income", income), ("orders.amount", amount)):
        assert range_of(lines[name]) == tuple(float(f"{end:g}") for end in found)  # six digits are shown
    assert [*map(type, income + amount)] == [float, float, int, int]
    wanted = POLICY.replace("Income = {} ", f"Income = {{ range = {income} }} ")
    wanted = wanted.replace("columns.amount]\n", f"columns.amount]\nrange = {amount}\n")
    rows = re.findall("at most ([0-9]+) rows", lines["orders"])[0]
    wanted = wanted.replace("[tables.orders]\n", f"[tables.orders]\nrows_per_unit = {rows}\n")
    assert written == wanted
    assert [line.split()[0] for line in says(capsys, shop)[1].splitlines()] == ["customers.debt"]


def test_the_file_stays_what_it_is(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A link, with lines that end as on Windows, for its owner alone."""
    ask(shop, INCOME)
    policy, real = shop.with_suffix(".toml"), shop.with_name("policies") / "ours.toml"
    real.parent.mkdir()
    real.write_text(POLICY, newline="\r\n")
    real.chmod(0o600)
    policy.unlink()
    policy.symlink_to(real)
    assert says(capsys, shop, "--write")[0] == 0
    assert policy.is_symlink()
    assert real.stat().st_mode & 0o777 == 0o600
    before, after = POLICY.split("\n"), real.read_bytes().decode().split("\r\n")
    (changed,) = (new for old, new in zip(before, after, strict=True) if old != new)
    assert changed.startswith("Income = { range = [")


def test_a_header_is_added_where_there_is_none(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And what cannot be edited is left as it is."""
    head, _, _ = POLICY.partition("[tables.orders.columns]")
    unit = head.replace('key = "id"\n', 'key = "id"\ncolumn = "customer"\n')
    shop.with_suffix(".toml").write_text(f"{unit}[tables.orders.columns]\namount = {{}}\n")
    ask(shop, AMOUNT)
    assert says(capsys, shop, "--write")[0] == 0
    text = shop.with_suffix(".toml").read_text()
    assert re.search(
        r"\[tables.orders\]\nrows_per_unit = [0-9]+\n\n\[tables.orders.columns\]\namount = { range", text
    )


def test_what_cannot_be_edited_is_left(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    dotted = POLICY.replace("Income = {}    # euros", "Income.null = true")
    shop.with_suffix(".toml").write_text(dotted)
    ask(shop, INCOME)
    code, text = says(capsys, shop, "--write")
    assert code == 1
    assert re.search(r"write range = \[.*\] yourself, for customers.income", text)
    assert shop.with_suffix(".toml").read_text() == dotted
