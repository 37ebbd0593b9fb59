"""The policy held against a catalogue: what an analyst may see of it, and every disagreement."""

from __future__ import annotations

import datetime
import json
import zoneinfo
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.errors import Error, ProgrammingError
from dpsql.ir.column import (
    ANYTHING,
    BIGINT,
    Categories,
    Column,
    Domain,
    Fact,
    Interval,
    Kind,
    Listed,
    enum_members,
    type_named,
)
from dpsql.ir.relation import Link
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable, Key, Known
from dpsql.policy.check import compare, declared_keys, known, snapshot
from dpsql.policy.domain import interval_of
from dpsql.session.checks import parse_policy

HEAD = """\
[budget]
epsilon = 1
delta = 1e-6
"""

TPCH = (
    HEAD
    + """\
[unit]
name = "customer"
table = "customer"
key = "c_custkey"
[tables.customer.columns]
c_acctbal = { range = [-1000, 10000] }
[tables.orders]
unit = { column = "o_custkey" }
rows_per_unit = 20
[tables.lineitem]
unit = { column = "L_ORDERKEY", references = "orders.o_orderkey" }
key = ["l_orderkey", "l_linenumber"]
rows_per_unit = 80
[tables.lineitem.columns]
L_Quantity = { range = [1, 50] }
[tables.notes]
unit = { column = "n_line", references = "lineitem.l_note" }
[tables.nation]
public = true
key = "n_nationkey"
"""
)


def table(name: str, *columns: str, unique: tuple[tuple[str, ...], ...] = ()) -> FoundTable:
    """``"id INTEGER"``, ``"id! INTEGER"`` when it is NOT NULL, ``"id VARCHAR/NOCASE"`` with a collation."""
    found = []
    for each in columns:
        column, _, sql = each.partition(" ")
        sql, _, collation = sql.partition("/")
        found.append(FoundColumn(column.rstrip("!"), sql, not column.endswith("!"), collation or None))
    return FoundTable(name, tuple(found), unique)


TABLES = Catalogue(
    (
        table(
            "customer",
            "c_custkey! BIGINT",
            "c_acctbal DECIMAL(15,2)",
            "c_name VARCHAR",
            unique=(("c_custkey",),),
        ),
        table("orders", "o_orderkey BIGINT", "o_custkey BIGINT", "o_comment VARCHAR"),
        table(
            "lineitem",
            "l_orderkey! BIGINT",
            "l_linenumber INTEGER",
            "l_quantity DECIMAL(15,2)",
            "l_note INTEGER",
        ),
        table("notes", "n_line BIGINT", "n_text VARCHAR"),
        table("nation", "n_nationkey INTEGER", "n_name VARCHAR", "n_eu BOOLEAN", "n_area DOUBLE"),
        table("secrets", "password VARCHAR"),
    )
)


def everything(text: str, catalogue: Catalogue) -> Known:
    policy = parse_policy(text, "p.toml")
    return known(policy, catalogue, {}, set(declared_keys(policy, catalogue)))


def refused(text: str, catalogue: Catalogue) -> Error:
    with pytest.raises(ProgrammingError) as caught:
        everything(text, catalogue)
    return caught.value


def test_a_chain_of_foreign_keys() -> None:
    policy = parse_policy(TPCH, "tpch.toml")
    keys = declared_keys(policy, TABLES)
    assert keys == (
        Key("lineitem", ("l_orderkey", "l_linenumber")),
        Key("nation", ("n_nationkey",)),
        Key("orders", ("o_orderkey",)),
        Key("lineitem", ("l_note",)),
    )
    assert [key.line for key in keys] == [15, 23, 14, 20]
    found = known(policy, TABLES, {"nation": 25}, frozenset(keys))
    assert (found.unit, found.policy_name, found.timezone) == ("customer", "tpch.toml", "UTC")
    customer, orders, lineitem, notes, nation = found.tables

    assert customer.columns == (
        Column("c_custkey", Fact(BIGINT, ANYTHING, nullable=False)),
        Column("c_acctbal", Fact(type_named("DECIMAL(15,2)"), Interval(-1000, 10000))),
    )
    assert (customer.key, customer.unit_column, customer.links) == (("c_custkey",), "c_custkey", ())
    assert (customer.rows, customer.at_most, customer.size) == (1, 1, None)
    assert customer.lines == (("c_custkey", 7), ("c_acctbal", 9))

    assert [column.name for column in orders.columns] == ["o_orderkey", "o_custkey"]
    assert [column.fact.nullable for column in orders.columns] == [True, False]
    assert (orders.unit_column, orders.rows, orders.at_most) == ("o_custkey", 20, None)
    assert orders.key == ("o_orderkey",)

    assert lineitem.unit_column == "o_custkey"
    assert lineitem.links == (Link("l_orderkey", "orders", "o_orderkey"),)
    assert (lineitem.rows, lineitem.at_most) == (80, None)
    assert lineitem.key == ("l_orderkey", "l_linenumber")
    assert lineitem.keys == (("l_orderkey", "l_linenumber"), ("l_note",))
    assert [column.name for column in lineitem.columns] == [
        "l_orderkey",
        "l_linenumber",
        "l_quantity",
        "l_note",
    ]
    assert dict(lineitem.lines)["l_quantity"] == 18

    assert notes.links == (Link("n_line", "lineitem", "l_note"), Link("l_orderkey", "orders", "o_orderkey"))
    assert (notes.unit_column, notes.rows, notes.at_most) == ("o_custkey", None, None)

    assert (nation.public, nation.size, nation.unit_column, nation.rows) == (True, 25, None, None)
    assert [(column.name, column.fact.domain) for column in nation.columns] == [
        ("n_nationkey", Listed("nation", "n_nationkey")),
        ("n_name", Listed("nation", "n_name")),
        ("n_eu", Categories((False, True))),
        ("n_area", ANYTHING),
    ]
    assert found.table("NATION") is nation
    assert found.table("secrets") is None


def test_a_declared_key_on_the_unit_column_means_one_row() -> None:
    text = TPCH.replace("rows_per_unit = 20\n", 'rows_per_unit = 20\nkey = "o_custkey"\n')
    text = text.replace('key = ["l_orderkey", "l_linenumber"]', 'key = "l_orderkey"')
    found = {each.name: each for each in everything(text, TABLES).tables}
    assert (found["orders"].rows, found["orders"].at_most) == (1, 1)
    assert found["orders"].keys == (("o_custkey",), ("o_orderkey",))
    assert (found["lineitem"].rows, found["lineitem"].at_most) == (1, 1)  # one line of one order of each
    assert (found["notes"].rows, found["notes"].at_most) == (None, None)


def test_a_key_must_be_enforced_or_verified() -> None:
    policy = parse_policy(TPCH, "p.toml")
    keys = declared_keys(policy, TABLES)
    for index, missing in enumerate(keys):
        with pytest.raises(ProgrammingError) as caught:
            known(policy, TABLES, {}, set(keys) - {missing})
        assert caught.value.code == "D805"
        assert caught.value.position == [(15, 7), (23, 7), (14, 46), (20, 42)][index]
        assert missing.columns[0] in str(caught.value)
    turned = {Key(key.table.upper(), key.columns[::-1], 99) for key in keys}
    known(policy, TABLES, {}, turned)


@pytest.mark.parametrize(
    ("unique", "needs"),
    [((), True), ((("a", "b"),), False), ((("B",),), False), ((("a", "b", "c"),), True), (((),), True)],
)
def test_a_constraint_on_some_of_the_columns_enforces_the_key(
    unique: tuple[tuple[str, ...], ...], needs: bool
) -> None:
    text = HEAD + "[unit]\ntable='t'\nkey='id'\n[tables.t]\n[tables.p]\npublic=true\nkey=['a','b']"
    catalogue = Catalogue(
        (
            table("t", "id INTEGER", unique=(("id",),)),
            table("p", "a INTEGER", "b INTEGER", "c INTEGER", unique=unique),
        )
    )
    assert bool(declared_keys(parse_policy(text, "p"), catalogue)) is needs


# --- disagreements -----------------------------------------------------------------------------------

PEOPLE = HEAD + '[unit]\ntable = "people"\nkey = "id"\n[tables.people.columns]\n'  # what follows is line 8
TYPES = (
    *(
        "b BOOLEAN",
        "i INTEGER",
        "t TINYINT",
        "u UBIGINT",
        "d DECIMAL(4,2)",
        "f DOUBLE",
        "r FLOAT",
        "w DECIMAL(38,2)",
    ),
    *("s VARCHAR", "c VARCHAR/NOCASE", "e ENUM('a', 'it''s')", "day DATE", "ts TIMESTAMP", "json JSON"),
    *("tz TIMESTAMP WITH TIME ZONE", "time TIME", "uuid UUID", "blob BLOB", '"x y" INTEGER', "span INTERVAL"),
)
ONE = Catalogue((table("people", "id INTEGER", *TYPES),))


@pytest.mark.parametrize(
    ("line", "column", "words"),
    [
        ("x = {}", 1, "the table people has no column x"),
        ("days = {}", 1, "did you mean day?"),
        ("s = { range = [0, 1] }", 15, "a column of type VARCHAR has no range"),
        ("s = { range = [0, 1] }", 15, "list its possible values"),
        ("e = { range = [0, 1] }", 15, "a column of type ENUM has no range"),
        ("b = { range = [0, 1] }", 15, "a BOOLEAN needs no range"),
        ("json = { range = [0, 1] }", 18, "no range"),
        ("time = { range = [0, 1] }", 18, "no range"),
        ("c = { values = ['a'] }", 16, "a column of type VARCHAR COLLATE NOCASE has no list"),
        ("uuid = { values = ['a'] }", 19, "no list of values"),
        ("ts = { values = [2020-01-01] }", 17, "no list of values"),
        ("i = { range = [2020-01-01, 2020-01-02] }", 15, "two numbers"),
        ("i = { range = [0.2, 0.8] }", 15, "no value of type INTEGER"),
        ("t = { range = [200, 300] }", 15, "no value of type TINYINT"),
        ("u = { range = [-5, -1] }", 15, "no value of type UBIGINT"),
        ("d = { range = [101, 102] }", 15, "no value of type DECIMAL(4,2)"),
        ("day = { range = [0, 1] }", 18, "two dates"),
        ("day = { range = [2020-01-01T00:00:00, 2020-01-02T00:00:00] }", 18, "two dates"),
        ("ts = { range = [0, 1] }", 17, "two dates or date-times"),
        ("ts = { range = [2020-01-01T00:00:00Z, 2020-01-02T00:00:00Z] }", 17, "leave the offset out"),
        ("i = { values = ['1'] }", 17, "no value of type INTEGER"),
        ("i = { values = [1, 2.5] }", 20, "no value of type INTEGER"),
        ("i = { values = [true] }", 17, "no value of type INTEGER"),
        ("t = { values = [1, 128] }", 20, "no value of type TINYINT"),
        ("b = { values = [0] }", 17, "no value of type BOOLEAN"),
        ("s = { values = [1] }", 17, "no value of type VARCHAR"),
        ("e = { values = ['a', 'b'] }", 22, "no such member"),
        ("d = { values = [0.5, 0.125] }", 22, "no value of type DECIMAL(4,2)"),
        (f"w = {{ values = [1{'0' * 300}] }}", 17, "no value of type DECIMAL(38,2)"),
        ("d = { values = [100] }", 17, "no value of type DECIMAL(4,2)"),
        ("f = { values = [9007199254740992, 9007199254740993] }", 35, "listed twice"),
        ("r = { values = [0.1, 0.10000000149] }", 22, "listed twice"),
        ("r = { values = [1e300] }", 17, "no value of type FLOAT"),
        ("day = { values = ['2020-01-01'] }", 19, "no value of type DATE"),
    ],
)
def test_declarations_that_do_not_fit(line: str, column: int, words: str) -> None:
    error = refused(PEOPLE + line, ONE)
    assert (error.code, error.position) == ("D804", (8, column)), str(error)
    assert words in str(error)
    assert "it''s" not in str(error)  # an enum's members are in no message


@pytest.mark.parametrize(
    ("line", "domain"),
    [
        ("b = {}", Categories((False, True))),
        ("b = { values = [true] }", Categories((True,))),
        ("i = {}", ANYTHING),
        ("i = { range = [0, 120] }", Interval(0, 120)),
        ("i = { range = [5, 5] }", Interval(5, 5)),
        ("i = { range = [0.5, 10.5] }", Interval(1, 10)),
        ("t = { range = [-1000, 1000] }", Interval(-128, 127)),
        ("u = { range = [-1, 9007199254740993] }", Interval(0, 2**53 + 1)),
        ("d = { range = [0.5, 1000] }", Interval(0.5, 100)),
        ("f = { range = [0, 0.5] }", Interval(0, 0.5)),
        ("i = { values = [3, 1] }", Categories((3, 1))),
        ("d = { values = [1, 0.5] }", Categories((Decimal("1.00"), Decimal("0.50")))),
        (f"w = {{ values = [{10**35 + 1}] }}", Categories((Decimal(f"{10**35 + 1}.00"),))),
        ("f = { values = [1, 0.1] }", Categories((1.0, 0.1))),
        ("r = { values = [0.1] }", Categories((0.10000000149011612,))),
        ("s = { values = ['A', ''] }", Categories(("A", ""))),
        ('e = { values = ["it\'s"] }', Categories(("it's",))),
        ("e = {}", ANYTHING),
        ("c = {}", ANYTHING),
        ("day = { range = [1970-01-02, 1970-01-03] }", Interval(1, 2)),
        ("day = { values = [2020-02-29] }", Categories((datetime.date(2020, 2, 29),))),
        ("ts = { range = [1970-01-01, 1970-01-01] }", Interval(0, 86_400_000_000 - 1)),
        ("ts = { range = [1970-01-01T00:00:00.000001, 1970-01-01T00:00:01] }", Interval(1, 1_000_000)),
        ("tz = { range = [1970-01-01, 1970-01-01] }", Interval(0, 86_400_000_000 - 1)),
        ("tz = { range = [1970-01-01T01:00:00+01:00, 1970-01-01T00:00:01Z] }", Interval(0, 1_000_000)),
        ("'x y' = {}", None),
    ],
)
def test_domains(line: str, domain: Domain | None) -> None:
    if domain is None:  # the quotes are not part of this name
        assert refused(PEOPLE + line, ONE).code == "D804"
        return
    (people,) = everything(PEOPLE + line, ONE).tables
    (fact,) = (column.fact for column in people.columns if column.name != "id")
    assert fact.domain == domain
    if isinstance(domain, Categories) and isinstance(fact.domain, Categories):
        assert list(map(repr, fact.domain.values)) == list(map(repr, domain.values))


def test_dates_are_whole_days_of_the_policys_time_zone() -> None:
    (people,) = everything(
        "timezone = 'Europe/Berlin'\n" + PEOPLE + "tz = { range = [2024-03-31, 2024-03-31] }", ONE
    ).tables
    (domain,) = (column.fact.domain for column in people.columns if column.name == "tz")
    assert isinstance(domain, Interval)
    low = datetime.datetime(2024, 3, 30, 23, tzinfo=datetime.UTC)  # winter time
    high = datetime.datetime(2024, 3, 31, 22, tzinfo=datetime.UTC)  # summer time began that night
    assert (domain.low, domain.high) == (low.timestamp() * 10**6, high.timestamp() * 10**6 - 1)


@given(st.dates(), st.dates(), st.sampled_from(["UTC", "Europe/Berlin", "Pacific/Apia", "America/New_York"]))
def test_every_moment_of_the_days_lies_in_their_range(
    one: datetime.date, two: datetime.date, zone: str
) -> None:
    low, high = sorted([one, two])
    days = interval_of(type_named("DATE"), (low, high), zone)
    assert days.high - days.low == (high - low).days
    stamps = interval_of(type_named("TIMESTAMP"), (low, high), zone)
    assert (stamps.low, stamps.high) == (days.low * 86_400_000_000, (days.high + 1) * 86_400_000_000 - 1)
    if datetime.date(1900, 1, 1) < low and high < datetime.date(9000, 1, 1):
        moments = interval_of(type_named("TIMESTAMP WITH TIME ZONE"), (low, high), zone)
        noon = datetime.datetime.combine(high, datetime.time(12), zoneinfo.ZoneInfo(zone))
        assert moments.low <= noon.timestamp() * 10**6 <= moments.high or low == high


def test_text_under_a_collation_is_opaque() -> None:
    """GROUP BY would show whichever person's spelling comes first."""
    (people,) = everything(PEOPLE + "c = {}", ONE).tables
    (fact,) = (column.fact for column in people.columns if column.name == "c")
    assert fact.type.kind is Kind.OPAQUE


def test_names_are_the_databases_own() -> None:
    text = (
        PEOPLE.replace("people", "PEOPLE").replace('"id"', '"ID"')
        + "DAY = { range = [1970-01-01, 1970-01-02] }"
    )
    (people,) = everything(text, ONE).tables
    assert people.name == "people"
    assert [column.name for column in people.columns] == ["id", "day"]
    assert dict(people.lines) == {"id": 6, "day": 8}


def test_tables_and_variants() -> None:
    error = refused(PEOPLE, Catalogue((table("persons", "id INTEGER"), table("peoples", "id INTEGER"))))
    assert (error.code, error.position) == ("D804", (7, 9))
    assert "did you mean peoples?" in str(error)
    error = refused(PEOPLE, Catalogue((table("people", "id INTEGER"), table("People", "id INTEGER"))))
    assert (error.code, error.position) == ("D804", (7, 9))
    assert "more than once" in str(error)
    twice = Catalogue((table("people", "id INTEGER", "age INTEGER", "AGE INTEGER"),))
    assert refused(PEOPLE + "age = {}", twice).position == (8, 1)
    everything(PEOPLE, twice)  # not mentioned, so it does not matter
    public = HEAD + "[unit]\ntable='t'\nkey='id'\n[tables.t]\n[tables.people]\npublic = true\n"
    found = Catalogue((table("t", "id INTEGER"), *twice.tables))
    assert refused(public, found).position == (8, 9)
    accents = Catalogue((table("été", "id INTEGER"), table("ÉTÉ", "id INTEGER")))  # only A to Z fold
    everything(PEOPLE.replace(".people.", ".'été'.").replace("people", "été"), accents)


def test_what_paths_and_keys_name_must_be_there() -> None:
    for old, new, place, words in [
        ('key = "c_custkey"', 'key = "custkey"', (7, 7), "did you mean c_custkey?"),
        ('"o_custkey"', '"custkey"', (11, 19), "did you mean o_custkey?"),
        ("orders.o_orderkey", "orders.o_order", (14, 46), "did you mean o_orderkey?"),
        ('"l_linenumber"]', '"l_number"]', (15, 22), "did you mean l_linenumber?"),
        ('key = "n_nationkey"', 'key = "n_area"', (23, 7), "cannot be part of a key"),
    ]:
        assert old in TPCH
        error = refused(TPCH.replace(old, new), TABLES)
        assert (error.code, error.position) == ("D804", place), str(error)
        assert words in str(error)


@pytest.mark.parametrize(
    ("unit", "orders", "key", "lines", "code", "place"),
    [
        ("BIGINT", "INTEGER", "HUGEINT", "UTINYINT", None, None),
        ("UUID", "UUID", "VARCHAR", "VARCHAR", None, None),
        ("VARCHAR", "VARCHAR", "BIGINT", "BIGINT", None, None),
        ("VARCHAR", "BIGINT", "BIGINT", "BIGINT", "D806", (11, 19)),
        ("UUID", "VARCHAR", "BIGINT", "BIGINT", "D806", (11, 19)),
        ("BIGINT", "BIGINT", "BIGINT", "VARCHAR", "D806", (14, 46)),
        ("HUGEINT", "UHUGEINT", "BIGINT", "BIGINT", "D806", (11, 19)),
        ("BIGINT", "UHUGEINT", "BIGINT", "BIGINT", "D806", (11, 19)),
        ("BIGINT", "BIGINT", "UHUGEINT", "TINYINT", "D806", (14, 46)),
        ("UBIGINT", "BIGINT", "UHUGEINT", "UBIGINT", None, None),
        ("BIGINT", "BIGINT", "UHUGEINT", "HUGEINT", "D806", (14, 46)),
        ("DOUBLE", "DOUBLE", "BIGINT", "BIGINT", "D806", (7, 7)),
        ("DECIMAL(9,0)", "BIGINT", "BIGINT", "BIGINT", "D806", (7, 7)),
        ("DATE", "DATE", "BIGINT", "BIGINT", "D806", (7, 7)),
        ("VARCHAR/NOCASE", "VARCHAR", "BIGINT", "BIGINT", "D806", (7, 7)),
        ("ENUM('a')", "ENUM('a')", "BIGINT", "BIGINT", "D806", (7, 7)),
        ("BIGINT", "BLOB", "BIGINT", "BIGINT", "D806", (11, 19)),
        ("BIGINT", "BIGINT", "DOUBLE", "DOUBLE", "D806", (14, 19)),
        ("BIGINT", "BIGINT", "DOUBLE", "BIGINT", "D806", (14, 46)),
    ],
)
def test_the_unit_is_of_one_kind(
    unit: str, orders: str, key: str, lines: str, code: str | None, place: tuple[int, int] | None
) -> None:
    catalogue = Catalogue(
        (
            table("customer", f"c_custkey {unit}", "c_acctbal DOUBLE"),
            table("orders", f"o_orderkey {key}", f"o_custkey {orders}"),
            table("lineitem", f"l_orderkey {lines}", "l_quantity DOUBLE"),
        )
    )
    text = TPCH[: TPCH.index("[tables.notes]")].replace('key = ["l_orderkey", "l_linenumber"]\n', "\n")
    if code is None:
        everything(text, catalogue)
        return
    error = refused(text, catalogue)
    assert (error.code, error.position) == (code, place), str(error)


def test_two_wide_integers_are_found_in_any_two_tables() -> None:
    text = HEAD + (
        "[unit]\ntable='t'\nkey='id'\n[tables.t]\n[tables.a]\nunit.column='id'\n[tables.b]\nunit.column='id'\n"
    )
    catalogue = Catalogue((table("t", "id UBIGINT"), table("a", "id HUGEINT"), table("b", "id UHUGEINT")))
    error = refused(text, catalogue)
    assert error.code == "D806"
    assert "b.id is UHUGEINT" in str(error)
    assert "a.id is HUGEINT" in str(error)


# --- types that change -------------------------------------------------------------------------------


def test_a_type_that_changed_is_named() -> None:
    text = PEOPLE + "s = {}\ne = {}\n"
    policy = parse_policy(text, "p.toml")
    before = snapshot(policy, ONE)
    assert json.loads(before) == {"people": {"id": "INTEGER", "s": "VARCHAR", "e": "ENUM('a', 'it''s')"}}
    compare(before, policy, ONE)
    compare(before, parse_policy(text + "f = {}\n", "p.toml"), ONE)  # newly mentioned: nothing to compare
    for new, place, words in [
        ("s INTEGER", (8, 1), "it was VARCHAR and is INTEGER now"),
        ("s VARCHAR/NOCASE", (8, 1), "it was VARCHAR and is VARCHAR COLLATE NOCASE now"),
        ("e ENUM('a', 'b')", (9, 1), "the members of its ENUM"),
        ("id BIGINT", (7, 16), "people.id has changed its type"),
    ]:
        columns = {each.split(" ")[0]: each for each in ("id INTEGER", *TYPES)} | {new.split(" ")[0]: new}
        with pytest.raises(ProgrammingError) as caught:
            compare(before, policy, Catalogue((table("people", *columns.values()),)))
        assert (caught.value.code, caught.value.position) == ("D804", place), str(caught.value)
        assert words in str(caught.value)


def test_members_of_an_enum() -> None:
    assert enum_members("ENUM('a', 'it''s', ')', '', ''',''')") == ("a", "it's", ")", "", "','")
    assert enum_members("ENUM()") == ()
