"""Groups of a correlated subquery are known where the conditions around leave few keys of a public table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import meaning, ready_measures, silent_rows, violations
from dpsql.bind.subqueries import correlated_release, key_lists
from dpsql.bind.subqueries.evaluation import are_short
from dpsql.engines.dialect import DUCKDB
from dpsql.ir.column import Fact, type_named
from dpsql.ir.plan import Plan, PublicKeys, Threshold
from dpsql.ir.relation import Materialized, ScanColumn
from dpsql.session import Session

POLICY = """\
[budget]
epsilon = 100.0
delta = 1e-6
accountant = "approx"
[query]
epsilon = 1.0
[unit]
name = "buyer"
column = "buyer"
[tables.lines]
rows_per_unit = 40
[tables.lines.columns]
buyer = {}
part = {}
quantity = { range = [0, 50] }
[tables.parts]
public = true
key = "part"
[tables.few]
public = true
"""

LINES = (
    "SELECT i % 500 AS buyer, i % 3000 AS part, CAST(i * 7 % 51 AS DOUBLE) AS quantity FROM range(15000) t(i)"
)
PARTS = "SELECT i AS part, 'brand ' || i % 1400 AS brand, i % 7 AS size FROM range(14000) t(i)"

FEW_ROWS = "SELECT i * 3 AS part, 2000 + i AS size FROM range(20) t(i)"

AVERAGE = "(SELECT AVG(l.quantity) FROM lines AS l WHERE l.part = p.part)"
FEW = {
    "private rows around": "SELECT COUNT(*) FROM lines AS o, parts AS p "
    f"WHERE p.part = o.part AND p.brand = 'brand 7' AND o.quantity < {AVERAGE}",
    "JOIN ... ON": "SELECT SUM(o.quantity) FROM lines AS o JOIN parts AS p ON p.part = o.part "
    f"WHERE brand IN ('brand 7', 'brand 8') AND size BETWEEN 1 AND 5 AND o.quantity > {AVERAGE}",
    "public rows around": f"SELECT p.part, {AVERAGE} AS average FROM parts AS p WHERE brand LIKE 'brand 17%'",
}
MANY = {
    "no condition": f"SELECT p.part, {AVERAGE} AS average FROM parts AS p",
    "another table's condition": "SELECT COUNT(*) FROM lines AS o, parts AS p "
    f"WHERE p.part = o.part AND o.quantity > 40 AND o.quantity < {AVERAGE}",
    "too few are left out": f"SELECT p.part, {AVERAGE} AS average FROM parts AS p WHERE p.size < 6",
    "a call": f"SELECT p.part, {AVERAGE} AS average FROM parts AS p WHERE length(p.brand) < 8",
    "groups of its own": "SELECT COUNT(*) FROM lines AS o JOIN parts AS p ON p.part = o.part "
    "WHERE brand = 'brand 7' AND o.quantity > "
    "(SELECT AVG(l.quantity) FROM lines AS l WHERE l.part = p.part GROUP BY l.part)",
    "rows that no part has": "SELECT COUNT(*) FROM lines AS o LEFT JOIN parts AS p ON p.part = o.part "
    f"WHERE p.brand = 'brand 7' AND o.quantity < {AVERAGE}",
}


@pytest.fixture
def session(tmp_path: Path) -> Iterator[Session]:
    path, policy = tmp_path / "shop.duckdb", tmp_path / "shop.toml"
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE TABLE lines AS {LINES}")
        made.execute(f"CREATE TABLE parts AS {PARTS}")
        made.execute(f"CREATE TABLE few AS {FEW_ROWS}")
    policy.write_text(POLICY)
    with dpsql.connect(path, policy, tmp_path / "shop.ledger") as db:
        yield db._open()


def inner_rule(session: Session, plan: Plan) -> PublicKeys | Threshold:
    """Return the rule of the subquery's release, which is the first."""
    rule = ready_measures(plan, session.engine, session.sealed)[0].rule
    assert isinstance(rule, PublicKeys | Threshold)
    return rule


def misread(session: Session, sql: str) -> list[str]:
    plan = plan_of(session, sql, 1.0)
    with duckdb.connect() as plain:
        plain.execute(f"CREATE TABLE lines AS {LINES}")
        plain.execute(f"CREATE TABLE parts AS {PARTS}")
        rows = plain.execute(sql).fetchall()
    return meaning(silent_rows(session, plan), rows, 1e-3, False)


@pytest.mark.parametrize("kind", FEW)
def test_few_keys_are_a_list_and_mean_the_same(session: Session, kind: str) -> None:
    assert isinstance(inner_rule(session, plan_of(session, FEW[kind], 1.0)), PublicKeys)
    assert misread(session, FEW[kind]) == []


def test_more_than_10_000_keys_are_listed_where_they_are_few_whole_numbers(
    session: Session, monkeypatch: pytest.MonkeyPatch
) -> None:
    sql = MANY["too few are left out"]
    rule = inner_rule(session, plan_of(session, sql, 1.0))
    assert isinstance(rule, PublicKeys)
    assert len(rule.groups()) == 12_000
    monkeypatch.setattr(key_lists, "are_short", lambda _: False)
    assert isinstance(inner_rule(session, plan_of(session, sql, 1.0)), Threshold)
    monkeypatch.undo()
    monkeypatch.setattr(key_lists, "_MOST_LONG", 0)
    assert isinstance(inner_rule(session, plan_of(session, sql, 1.0)), Threshold)
    kinds = [type_named(name) for name in ("BIGINT", "BIGINT", "INTEGER", "BIGINT", "VARCHAR")]
    assert are_short(kinds[:3])
    assert not are_short(kinds[:4])
    assert not are_short(kinds[4:])


@pytest.mark.parametrize("kind", MANY)
def test_keys_that_are_not_known_to_be_few_stay_private(
    session: Session, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(correlated_release, "MOST_LISTED", 10_000)
    assert isinstance(inner_rule(session, plan_of(session, MANY[kind], 1.0)), Threshold)


@pytest.mark.parametrize("kind", FEW)
def test_nobody_moves_more_than_is_declared(session: Session, tmp_path: Path, kind: str) -> None:
    measures = ready_measures(plan_of(session, FEW[kind], 1.0), session.engine, session.sealed)
    exact = [session.engine.measure(each) for each in measures]
    path = tmp_path / "without.duckdb"
    with duckdb.connect(str(path)) as made:
        made.execute(f"CREATE TABLE lines AS SELECT * FROM ({LINES}) WHERE buyer <> 7")
        made.execute(f"CREATE TABLE parts AS {PARTS}")
        made.execute(f"CREATE TABLE few AS {FEW_ROWS}")
    with dpsql.connect(path, tmp_path / "shop.toml", tmp_path / "without.ledger") as db:
        engine = db._open().engine
        for each, whole in zip(measures, exact, strict=True):
            assert violations(each, whole, engine.measure(each)) == []


def test_a_list_of_another_condition_is_found(session: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the parts of WHERE leave keys out that the rows around still have."""
    listed = key_lists._list_of
    monkeypatch.setattr(key_lists, "_list_of", lambda *given: listed(*given).where("size = 0"))
    assert misread(session, FEW["public rows around"]) != []


def test_columns_that_are_renamed_are_those_of_the_table(session: Session) -> None:
    average = "(SELECT AVG(l.quantity) FROM lines AS l WHERE l.part = p.size)"
    sql = f"SELECT p.size, {average} FROM few AS p(size, part)"
    with duckdb.connect() as plain:
        plain.execute(f"CREATE TABLE lines AS {LINES}")
        plain.execute(f"CREATE TABLE few AS {FEW_ROWS}")
        rows = plain.execute(sql).fetchall()
    assert meaning(silent_rows(session, plan_of(session, sql, 1.0)), rows, 1e-3, False) == []


OFFERS = {
    "two keys of one row": "SELECT o.part, o.shop, (SELECT COUNT(*) FROM sales AS s "
    "WHERE s.part = o.part AND s.shop = o.shop) AS total FROM offers AS o WHERE o.part < 60",
    "by a subquery": "SELECT o.part, o.shop FROM offers AS o "
    "WHERE o.part IN (SELECT p.part FROM parts AS p WHERE p.brand LIKE 'brand 1%') AND o.part < 2000 "
    "AND o.stock > (SELECT COUNT(*) FROM sales AS s WHERE s.part = o.part AND s.shop = o.shop)",
    "private rows around": "SELECT COUNT(*) FROM sales AS r JOIN offers AS o ON r.part = o.part "
    "AND r.shop = o.shop WHERE o.stock > 5 AND o.part < 60 AND r.quantity < "
    "(SELECT AVG(s.quantity) FROM sales AS s WHERE s.part = o.part AND s.shop = o.shop)",
}
SALES = (
    "SELECT i % 500 AS buyer, i % 700 AS part, i % 7 AS shop, CAST(i % 51 AS DOUBLE) AS quantity "
    "FROM range(9000) t(i)"
)
OFFER = "SELECT i % 4000 AS part, i % 9 AS shop, i % 11 AS stock FROM range(8000) t(i)"
SHOP_POLICY = POLICY.replace("[tables.lines]", "[tables.sales]").replace("[tables.lines.", "[tables.sales.")
SHOP_POLICY = SHOP_POLICY.replace("part = {}", "part = {}\nshop = {}").replace(
    "[tables.few]", "[tables.offers]"
)


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Session]:
    path, policy = tmp_path / "shop.duckdb", tmp_path / "shop.toml"
    with duckdb.connect(str(path)) as made:
        fill_shop(made)
    policy.write_text(SHOP_POLICY)
    with dpsql.connect(path, policy, tmp_path / "shop.ledger") as db:
        yield db._open()


def fill_shop(made: duckdb.DuckDBPyConnection) -> None:
    made.execute(f"CREATE TABLE sales AS {SALES}")
    made.execute(f"CREATE TABLE offers AS {OFFER}")
    made.execute(f"CREATE TABLE parts AS {PARTS}")


def misread_offers(session: Session, sql: str) -> list[str]:
    with duckdb.connect() as plain:
        fill_shop(plain)
        rows = plain.execute(sql).fetchall()
    return meaning(silent_rows(session, plan_of(session, sql, 1.0)), rows, 1e-3, False)


@pytest.mark.parametrize("kind", OFFERS)
def test_keys_of_one_row_have_its_tables_combinations(shop: Session, kind: str) -> None:
    rule = inner_rule(shop, plan_of(shop, OFFERS[kind], 1.0))
    assert isinstance(rule, PublicKeys)
    assert len(rule.groups()) <= 4000, "pairs that there are, not all pairs"
    assert misread_offers(shop, OFFERS[kind]) == []


def test_keys_of_two_rows_are_not_taken_for_those_of_one(shop: Session) -> None:
    sql = (
        "SELECT o.part, q.shop, (SELECT COUNT(*) FROM sales AS s WHERE s.part = o.part "
        "AND s.shop = q.shop) AS total FROM offers AS o, offers AS q "
        "WHERE o.part < 5 AND o.stock = 3 AND q.part = 8 AND q.stock < 9"
    )
    assert misread_offers(shop, sql) == []


def test_a_combination_that_is_left_out_is_found(shop: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Planted: the list has not all combinations."""
    listed = key_lists._list_of
    monkeypatch.setattr(key_lists, "_list_of", lambda *given: listed(*given).where("shop <> 3"))
    assert misread_offers(shop, OFFERS["two keys of one row"]) != []


def test_many_whole_numbers_are_read_as_they_are() -> None:
    least, most = -(2**63), 2**63 - 1
    rows = tuple((number, number % 3 or None) for number in (least, most, *range(200)))
    columns = tuple(
        ScanColumn(name, kind, Fact(type_named(kind), nullable=True))
        for name, kind in (("a", "BIGINT"), ("b", "TINYINT"))
    )
    with duckdb.connect() as plain:
        printed = DUCKDB.fixed_rows(Materialized(columns, rows, (), None))
        assert "unnest" in printed
        assert plain.execute(printed).fetchall() == [*rows]
        beyond = Materialized(columns, ((2**63, 1), *rows), (), None)
        assert plain.execute(DUCKDB.fixed_rows(beyond)).fetchall() == [(None, 1), *rows]


def test_many_doubles_are_read_as_they_are() -> None:
    """And infinities and NaN, which are no part of a text."""
    numbers = (
        5e-324,
        -0.0,
        1.7976931348623157e308,
        0.1,
        None,
        2.5000000000000004,
        1e22,
        *map(float, range(200)),
    )
    columns = (ScanColumn("a", "DOUBLE", Fact(type_named("DOUBLE"), nullable=True)),)
    with duckdb.connect() as plain:
        for rows in (numbers, (*numbers, math.inf, math.nan)):
            printed = DUCKDB.fixed_rows(Materialized(columns, tuple((each,) for each in rows), (), None))
            assert ("unnest" in printed) == (rows == numbers)
            found = [number for (number,) in plain.execute(printed).fetchall()]
            assert [*map(repr, found)] == [*map(repr, rows)]


def test_decimals_are_read_as_they_are() -> None:
    """1E-7 as text would be NULL."""
    column = ScanColumn("a", "DECIMAL(7,7)", Fact(type_named("DECIMAL(7,7)")))
    rows = ((Decimal("0.0000001"),), (Decimal("-0.9999999"),), (Decimal(0),))
    with duckdb.connect() as plain:
        printed = DUCKDB.fixed_rows(Materialized((column,), rows, (), None))
        assert plain.execute(printed).fetchall() == [*rows]


@pytest.mark.parametrize(
    ("condition", "left"),
    [
        ("o.shop >= o.part", 1),
        ("o.part = 7", 1),
        ("o.part < 9 AND o.shop <> s.kind", 2),
        ("s.quantity > 3", 2),
    ],
)
def test_conditions_on_listed_rows_leave_fewer(shop: Session, condition: str, left: int) -> None:
    """Of the rows of a list, alone or beside another key with a list."""
    kinds = "SELECT part, shop, quantity, CASE WHEN quantity > 9 THEN 3 ELSE 5 END AS kind, buyer FROM sales"
    keys = ("o.part", "o.shop", "s.kind")[: left + 1]
    listed = "SELECT DISTINCT part, shop FROM offers WHERE part < 60"
    sql = (
        f"SELECT {', '.join(keys)}, COUNT(*) FROM ({kinds}) AS s JOIN ({listed}) AS o "
        f"ON s.part = o.part AND s.shop = o.shop WHERE {condition} GROUP BY {', '.join(keys)}"
    )
    [measure] = plan_of(shop, sql, 1.0).measures
    assert isinstance(measure.rule, PublicKeys)
    with duckdb.connect() as plain:
        fill_shop(plain)
        on_keys = "true" if "quantity" in condition else condition
        expected = plain.execute(
            f"SELECT DISTINCT {', '.join(keys)} FROM ({listed}) AS o, (VALUES (3), (5)) AS s(kind) "
            f"WHERE {on_keys}"
        ).fetchall()
    assert set(measure.rule.groups()) == set(expected)
