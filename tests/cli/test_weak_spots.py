"""What ``policy check`` asks the owner to decide once more: public people, rows of nobody, large deltas."""

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
            "CREATE TABLE orders (customer_id INTEGER, price DOUBLE, pieces SMALLINT);"
            "CREATE TABLE places (place_id INTEGER PRIMARY KEY, city VARCHAR);"
            "INSERT INTO customers VALUES (1, 30); INSERT INTO events VALUES (1, 1, 'a');"
            "INSERT INTO orders VALUES (1, 2.5, 3); INSERT INTO places VALUES (1, 'Oslo')"
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
        ('values = ["paid", "shipped"]', "VARCHAR", "['paid', 'shipped'][1 + i % 2]", None),
        ('values = ["paid", "shipped"]', "VARCHAR", "if(i < 9, 'Paid ', 'paid')", None),
        ('values = ["paid", "shipped"]', "VARCHAR", "if(i < 11, 'Paid ', 'paid')", "a hundred"),
        ('values = ["paid", "shipped"]', "VARCHAR", "if(i < 101, 'Paid ', 'paid')", "ten"),
        ("range = [0, 10]", "DOUBLE", "if(i < 11, 10.5, 1)", "a hundred"),
        ("range = [0, 10]", "DOUBLE", "if(i < 501, 10.5, 1)", "two"),
        ("range = [0, 10]", "INTEGER", "if(i < 11, NULL, i % 11)", None),
        ("range = [2024-01-01, 2024-12-31]", "DATE", "DATE '2024-12-01' + (i // 10)::INTEGER", "two"),
        ("range = [2024-01-01, 2024-12-31]", "TIMESTAMP", "TIMESTAMP '2024-12-01'", None),
        ("", "INTEGER", "i", None),
    ],
)
def test_values_that_are_not_declared(
    shop: Path, capsys: pytest.CaptureFixture[str], declared: str, kind: str, values: str, said: str | None
) -> None:
    """Of a thousand rows, more than ten, a hundred or five hundred."""
    with duckdb.connect(str(shop)) as connection:
        connection.execute(f"CREATE TABLE bills (customer_id INTEGER, x {kind})")
        connection.execute(f"INSERT INTO bills SELECT 1, {values} FROM range(1000) AS t(i)")
    tables = OF_CUSTOMERS + '[tables.bills]\nunit = { column = "customer_id" }\nrows_per_unit = 1000\n'
    found = decided(shop, capsys, f"{tables}[tables.bills.columns]\nx = {{ {declared} }}\n")
    assert [line.partition(" has ")[0] for line in found] == [
        f"decide    bills.x: more than one row in {said}"
    ] * (said is not None)
    assert all(("misspelt" in line) == (kind == "VARCHAR") for line in found)


RIDES = """
CREATE TABLE riders (rider_id INTEGER PRIMARY KEY);
INSERT INTO riders SELECT i FROM range(1, 101) AS t(i);
CREATE TABLE trips (trip_id INTEGER PRIMARY KEY, rider_id INTEGER, station_id INTEGER);
INSERT INTO trips SELECT i, CASE WHEN i > {nobodys} THEN 1 + i % 100 END, i % 20 FROM range(1000) AS t(i);
CREATE TABLE payments (payment_id INTEGER PRIMARY KEY, trip_id INTEGER, rider_id INTEGER, of_rider INTEGER,
    author_id INTEGER);
INSERT INTO payments SELECT i, {trip}, 1 + i % {riders}, 1 + i % 100, 1 + i % 100 FROM range(1000) AS t(i);
CREATE TABLE incidents (TRIP_ID INTEGER, id INTEGER, bike INTEGER REFERENCES trips (trip_id));
CREATE TABLE blacklist (who INTEGER REFERENCES riders (rider_id));
CREATE TABLE stops (line INTEGER, number INTEGER, rider_id INTEGER, staff INTEGER,
    PRIMARY KEY (line, number));
CREATE TABLE repairs (a INTEGER, b INTEGER, FOREIGN KEY (a, b) REFERENCES stops (line, number));
"""

OF_RIDERS = """
[tables.riders]
[tables.trips]
unit = { column = "rider_id" }
rows_per_unit = ROWS
key = "trip_id"
[tables.payments]
unit = { UNIT }
rows_per_unit = 1000
"""


def rides(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    *,
    unit: str = 'column = "rider_id"',
    rows: int = 10,
    more: str = "",
    of_unit: str = 'table = "riders"\nkey = "rider_id"',
    **made: object,
) -> list[str]:
    path = tmp_path / "rides.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(RIDES.format(**{"nobodys": -1, "trip": "i", "riders": 100} | made))
    tables = OF_RIDERS.replace("UNIT", unit).replace("ROWS", str(rows)) + more
    return decided(path, capsys, tables, unit=of_unit)


def test_rows_that_are_all_of_riders_have_nothing_to_decide(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert rides(tmp_path, capsys) == []


@pytest.mark.parametrize(
    ("nobodys", "said"),
    [(9, None), (10, "one row in a hundred"), (100, "one row in ten"), (500, "one row in two")],
)
def test_rows_of_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], nobodys: int, said: str | None
) -> None:
    """Of a thousand, those up to this number."""
    found = rides(tmp_path, capsys, nobodys=nobodys)
    assert [line.partition(",")[0] for line in found] == [
        f"decide    trips: more than {said} is of no customer"
    ] * (said is not None)


def test_rows_that_lead_to_nobody(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A payment of a trip that does not exist, or whose rider is NULL."""
    through = 'column = "trip_id", references = "trips.trip_id"'
    assert rides(tmp_path, capsys, unit=through) == []
    (tmp_path / "rides.duckdb").unlink()
    nobodys, lost = rides(tmp_path, capsys, unit=through, trip="CASE WHEN i % 5 = 0 THEN i END", nobodys=15)
    assert nobodys.startswith("decide    trips: more than one row in a hundred is of no customer")
    assert "payments: more than one row in two is of no customer, since payments.trip_id is NULL, or" in lost


@pytest.mark.parametrize(("rows", "said"), [(10, None), (9, "one row in a hundred"), (4, "one row in two")])
def test_rows_beyond_rows_per_unit(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], rows: int, said: str | None
) -> None:
    """Each rider has ten trips."""
    found = rides(tmp_path, capsys, rows=rows)
    assert [line.partition(":")[2].partition(" is")[0] for line in found] == [f" more than {said}"] * bool(
        said
    )
    assert all(f"is beyond rows_per_unit = {rows}" in line for line in found)


@pytest.mark.parametrize(
    ("unit", "riders", "told"),
    [
        ('column = "payment_id"', 100, ("none of riders.rider_id", 'though payments has "rider_id"')),
        ('column = "rider_id"', 100, ()),
        ('column = "rider_id"', 1000, ("none of riders.rider_id",)),
        ('column = "of_rider"', 100, ()),
        ('column = "author_id"', 100, ('though payments has "rider_id"',)),
        ('column = "trip_id"', 100, ("none of riders.rider_id", 'though payments has "rider_id"')),
    ],
)
def test_units_that_are_no_riders(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], unit: str, riders: int, told: tuple[str, ...]
) -> None:
    found = rides(tmp_path, capsys, unit=unit, riders=riders)
    assert len(found) == len(told)
    assert all(words in line for line, words in zip(found, told, strict=True))


def test_public_rows_that_lead_to_private_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By a foreign key, or by a column that is named like a key of theirs; ``id`` may be anything."""
    found = rides(tmp_path, capsys, more="[tables.incidents]\npublic = true\n")
    assert ["incidents.bike leads to rows of trips" in line for line in found] == [True, False]
    assert "incidents.TRIP_ID leads to rows of trips" in found[1]
    assert 'unit = { column = "TRIP_ID", references = "trips.trip_id" }' in found[1]


def test_public_rows_that_lead_to_riders_whatever_the_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (line,) = rides(tmp_path, capsys, more="[tables.blacklist]\npublic = true\n")
    assert "blacklist.who may name people" in line


def test_public_rows_that_lead_by_two_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = '[tables.stops]\nunit = { column = "rider_id" }\nkey = ["line", "number"]\n'
    (line,) = rides(tmp_path, capsys, more=f"{more}[tables.repairs]\npublic = true\n")
    assert "repairs.a and repairs.b lead to rows of stops" in line
    assert 'column = ["a", "b"], references = ["stops.line", "stops.number"]' in line


def test_rows_that_are_left_out_are_beyond_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each rider has ten trips, half of them without a place; or nobody has most of them."""
    filled = "[tables.trips.columns]\nstation_id = { null = false }\n"
    path = tmp_path / "rides.duckdb"
    assert rides(tmp_path, capsys, rows=10, more=filled) == []
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE trips SET station_id = NULL WHERE trip_id % 2 = (trip_id // 100) % 2")
    tables = OF_RIDERS.replace("UNIT", 'column = "rider_id"').replace("ROWS", "5") + filled
    unit = 'table = "riders"\nkey = "rider_id"'
    assert decided(path, capsys, tables, unit=unit) == []
    with duckdb.connect(str(path)) as connection:
        connection.execute("UPDATE trips SET station_id = 1, rider_id = CASE WHEN trip_id < 50 THEN 1 END")
    nobodys, beyond = decided(path, capsys, tables, unit=unit)
    assert "trips: more than one row in two is of no customer" in nobodys
    assert "trips: more than one row in two is beyond rows_per_unit = 5" in beyond


def test_units_without_a_key(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(
            "CREATE TABLE buyers AS SELECT CASE WHEN i > 5 THEN i END AS id FROM range(9) AS t(i)"
        )
    (line,) = decided(path, capsys, "[tables.buyers]\n", unit='table = "buyers"\nkey = "id"')
    assert "buyers: more than one row in two is of no customer, since buyers.id is NULL" in line


def test_a_unit_behind_which_there_are_people(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Each trip is protected, and no rider is."""
    path = tmp_path / "rides.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(RIDES.format(nobodys=-1, trip="i", riders=100))
    found = decided(path, capsys, "[tables.stops]\n", unit='table = "stops"\nkey = ["line", "number"]')
    assert ["stops.rider_id" in line for line in found] == [True]  # and nothing of stops.staff, a number
    (line,) = decided(path, capsys, "[tables.trips]\n", unit='table = "trips"\nkey = "trip_id"')
    assert "a person in trips.rider_id with several of them is protected in each alone" in line


@pytest.mark.parametrize(("unit", "told"), [("customer_id", False), ("pieces", True)])
@pytest.mark.parametrize("of_table", [True, False])
def test_a_column_named_like_the_units_key_that_is_not_used(
    shop: Path, capsys: pytest.CaptureFixture[str], unit: str, told: bool, of_table: bool
) -> None:
    orders = f'[tables.orders]\nrows_per_unit = 3\nunit = {{ column = "{unit}" }}\n'
    named = 'table = "customers"\nkey = "customer_id"' if of_table else 'column = "customer_id"'
    lines = decided(shop, capsys, OF_CUSTOMERS + orders, named)
    said = f'orders.{unit} says whose a row is, though orders has "customer_id"'
    assert any(said in line for line in lines) == told


@pytest.mark.parametrize(("rule", "told"), [("{}", True), ("{ range = [0, 20] }", False)])
def test_a_small_integer_has_the_range_of_its_type(
    shop: Path, capsys: pytest.CaptureFixture[str], rule: str, told: bool
) -> None:
    orders = '[tables.orders]\nrows_per_unit = 3\nunit = { column = "customer_id" }\n'
    columns = f"[tables.orders.columns]\npieces = {rule}\nprice = {{}}\n"
    lines = decided(shop, capsys, OF_CUSTOMERS + orders + columns)
    said = "orders.pieces has the range of its type, [-32768, 32767]"
    assert [said in line for line in lines] == [True] * told
