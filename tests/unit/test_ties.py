"""Joins that the engine keeps within a unit, and that it says so."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.facts.ties import ties_of

POLICY = """
[budget]
epsilon = 100
delta = 1e-6
[unit]
name = "buyer"
table = "buyers"
key = "buyer_id"
[tables.buyers.columns]
phone = { tells_unit = true }
[tables.orders]
key = "order_id"
unit = { column = "buyer_id" }
rows_per_unit = 5
[tables.orders.columns]
parcel = { tells_unit = true }
amount = { range = [0, 100] }
town = {}
[tables.lines]
unit = { column = "order_id", references = "orders.order_id" }
rows_per_unit = 9
[tables.refunds]
unit = { column = "buyer_id" }
rows_per_unit = 3
[tables.refunds.columns]
order_id = {}
parcel = {}
town = {}
"""


SEVERAL = """
[budget]
epsilon = 100
delta = 1e-6
[unit]
name = "patient"
column = ["hospital", "number"]
[tables.visits]
key = ["hospital", "visit"]
rows_per_unit = 5
[tables.doses]
unit = { column = ["place", "visit"], references = ["visits.hospital", "visits.visit"] }
rows_per_unit = 5
[tables.doses.columns]
visit_visit = {}
"""


@pytest.mark.parametrize(
    ("joined", "said"),
    [
        ("doses d JOIN visits v ON d.place = v.hospital AND d.visit = v.visit", ()),
        ("doses d JOIN doses e ON e.visit = d.visit AND d.place = e.place", ()),
        ("visits v JOIN visits w USING (number, hospital)", ()),
        (
            "doses d LEFT JOIN visits v ON v.hospital = 'north' AND d.visit = v.visit",
            ("doses.visit = visits.visit",),
        ),
        ("doses d JOIN visits v ON d.place = v.hospital AND v.number = d.visit AND v.visit = d.visit", ()),
        (
            "visits v JOIN doses d ON v.hospital = d.place AND v.visit = d.visit_visit",
            ("visits.hospital = doses.place",),
        ),
    ],
)
def test_keys_of_several_columns_are_equal_in_all(tmp_path: Path, joined: str, said: tuple[str, ...]) -> None:
    path = tmp_path / "hospitals.duckdb"
    with duckdb.connect(str(path)) as writer:
        writer.execute(
            "CREATE TABLE visits (hospital VARCHAR, number INTEGER, visit INTEGER);"
            "CREATE TABLE doses (place VARCHAR, visit INTEGER, visit_visit INTEGER)"
        )
    (tmp_path / "hospitals.toml").write_text(SEVERAL, encoding="utf-8")
    with dpsql.connect(path, tmp_path / "hospitals.toml") as connection:
        [measure] = plan_of(connection._open(), f"SELECT COUNT(*) FROM {joined}", 1.0).measures
        assert ties_of(measure.measure.relation) == said


@pytest.fixture
def db(tmp_path: Path) -> Iterator[dpsql.Connection]:
    path = tmp_path / "shop.duckdb"
    with duckdb.connect(str(path)) as writer:
        writer.execute(
            "CREATE TABLE buyers (buyer_id INTEGER PRIMARY KEY, phone VARCHAR);"
            "CREATE TABLE orders (order_id INTEGER PRIMARY KEY, buyer_id INTEGER, parcel VARCHAR, "
            "amount DOUBLE, town VARCHAR);"
            "CREATE TABLE lines (order_id INTEGER, price DOUBLE);"
            "CREATE TABLE refunds (order_id INTEGER, buyer_id INTEGER, parcel VARCHAR, town VARCHAR);"
        )
    (tmp_path / "shop.toml").write_text(POLICY, encoding="utf-8")
    with dpsql.connect(path, tmp_path / "shop.toml") as connection:
        yield connection


def ties(db: dpsql.Connection, sql: str) -> list[str]:
    return [
        tie for planned in plan_of(db._open(), sql, 1.0).measures for tie in ties_of(planned.measure.relation)
    ]


@pytest.mark.parametrize(
    ("sql", "said"),
    [
        ("FROM orders o JOIN refunds r USING (order_id)", "orders.order_id = refunds.order_id"),
        (
            "FROM lines l JOIN refunds r ON r.order_id = l.order_id",
            "lines.order_id = refunds.order_id",
        ),
        ("FROM orders a JOIN orders b USING (parcel)", "orders.parcel = orders.parcel"),
        ("FROM buyers a JOIN buyers b USING (phone)", "buyers.phone = buyers.phone"),
        ("FROM refunds r JOIN orders o ON r.parcel = o.parcel", "refunds.parcel = orders.parcel"),
        (
            "FROM orders o WHERE EXISTS (SELECT 1 FROM refunds r WHERE r.order_id = o.order_id)",
            "orders.order_id = refunds.order_id",
        ),
        (
            "FROM orders o WHERE amount > (SELECT COUNT(*) FROM refunds r WHERE r.order_id = o.order_id)",
            "orders.order_id = refunds.order_id",
        ),
        (
            "FROM lines l JOIN (SELECT order_id + 1 AS order_id, buyer_id FROM orders) o USING (order_id)",
            "lines with orders",
        ),
    ],
)
def test_an_added_equality_is_said(sql: str, said: str, db: dpsql.Connection) -> None:
    assert ties(db, f"SELECT COUNT(*) AS n {sql}") == [said]
    assert said in str(db.explain(f"SELECT COUNT(*) AS n {sql}"))
    assert f"Joined by {said}, " in db.execute(f"SELECT COUNT(*) AS n {sql}").note


@pytest.mark.parametrize(
    "sql",
    [
        "FROM orders o JOIN refunds r ON r.order_id = o.order_id AND r.buyer_id = o.buyer_id",
        "FROM orders o JOIN buyers b USING (buyer_id)",
        "FROM lines l JOIN orders o USING (order_id)",
        "FROM lines a JOIN lines b ON a.order_id = b.order_id",
        "FROM orders a JOIN orders b ON a.order_id = b.order_id",
        "FROM orders o WHERE amount < (SELECT SUM(1) FROM lines l WHERE l.order_id = o.order_id)",
        "FROM orders",
    ],
)
def test_nothing_is_said_where_nothing_can_be_left_out(sql: str, db: dpsql.Connection) -> None:
    assert ties(db, f"SELECT COUNT(*) AS n {sql}") == []


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("SELECT COUNT(*) FROM refunds a JOIN refunds b USING (parcel)", "D401"),
        ("SELECT COUNT(*) FROM orders a JOIN orders b USING (town)", "D401"),
        ("SELECT parcel, COUNT(*) FROM orders GROUP BY parcel", "D403"),
    ],
)
def test_what_tells_no_unit_ties_nothing_and_what_does_is_no_key(
    sql: str, code: str, db: dpsql.Connection
) -> None:
    with pytest.raises(dpsql.Error) as refused:
        db.explain(sql)
    assert refused.value.code == code


def test_a_tie_proves_nothing(db: dpsql.Connection) -> None:
    """One parcel of all orders: with the declaration as a proof, a buyer would have one row in each pair."""
    explained = str(db.explain("SELECT COUNT(*) AS n FROM orders a JOIN orders b USING (parcel)"))
    assert "parcel" not in "".join(line for line in explained.split("\n") if "relies on" in line)
    (measure,) = plan_of(
        db._open(), "SELECT COUNT(*) AS n FROM orders a JOIN orders b USING (parcel)", 1.0
    ).measures
    assert measure.rows == 5 * 5


def test_a_public_value_tells_no_unit(db: dpsql.Connection, tmp_path: Path) -> None:
    policy = POLICY + "[tables.towns]\npublic = true\n[tables.towns.columns]\ntown = { tells_unit = true }\n"
    (tmp_path / "other.toml").write_text(policy, encoding="utf-8")
    db.close()
    with duckdb.connect(str(tmp_path / "shop.duckdb")) as writer:
        writer.execute("CREATE TABLE towns (town VARCHAR)")
    with pytest.raises(dpsql.Error) as refused:
        dpsql.connect(tmp_path / "shop.duckdb", tmp_path / "other.toml", tmp_path / "other.ledger")
    assert refused.value.code == "D804"


@pytest.mark.parametrize(
    "joined",
    [
        "orders o JOIN refunds r ON o.order_id = r.order_id",
        "orders o JOIN refunds r ON o.order_id = CAST(r.order_id AS BIGINT)",
        "orders JOIN (SELECT buyer_id, MAX(order_id) AS m FROM refunds GROUP BY buyer_id) r ON order_id = m",
        "orders JOIN (SELECT order_id FROM refunds UNION ALL SELECT order_id FROM lines) r USING (order_id)",
        "orders o JOIN refunds r ON o.parcel = r.parcel",
    ],
)
def test_a_key_is_joined_with_what_has_its_name(db: dpsql.Connection, joined: str) -> None:
    assert len(ties(db, f"SELECT COUNT(*) FROM {joined}")) == 1


@pytest.mark.parametrize(
    "joined",
    [
        "orders o JOIN refunds r ON o.order_id = length(r.town)",
        "orders o JOIN refunds r ON o.order_id = COALESCE(r.order_id, length(r.town))",
        "orders o JOIN refunds r ON o.parcel = r.town",
    ],
)
def test_a_key_is_not_joined_with_anything_else(db: dpsql.Connection, joined: str) -> None:
    """Hardly any pair would be of one buyer, and nothing would be left."""
    with pytest.raises(dpsql.Error) as caught:
        ties(db, f"SELECT COUNT(*) FROM {joined}")
    assert caught.value.code == "D401"
