"""SQLAlchemy over dpsql: opening, paying, reflecting, reading with the ORM, and being refused."""

from __future__ import annotations

import datetime
import shutil
import threading
import traceback
import uuid
from collections.abc import Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import pytest
import sqlalchemy as sa
from sqlalchemy import MetaData, Table, func, inspect, select, text
from sqlalchemy.exc import DBAPIError, NoSuchTableError, NotSupportedError, OperationalError, ProgrammingError
from sqlalchemy.ext.automap import automap_base
from sqlalchemy.orm import Session

import dpsql

COUNT = text("SELECT COUNT(*) AS n FROM patients")


@pytest.fixture
def engine(url: str) -> Iterator[sa.Engine]:
    made = sa.create_engine(url)
    yield made
    made.dispose()


@pytest.fixture
def meta(engine: sa.Engine) -> MetaData:
    found = MetaData()
    found.reflect(engine, views=True)
    return found


# ---- what a URL says ---------------------------------------------------------------------------------


def test_a_url_names_files_and_an_analyst(built: Path, tmp_path: Path) -> None:
    policy, ledger = shutil.copy(built.with_suffix(".toml"), tmp_path / "other.toml"), tmp_path / "a b.ledger"
    url = sa.URL.create(
        "dpsql", database=str(built), query={"policy": str(policy), "ledger": str(ledger), "analyst": "ana"}
    )
    engine = sa.create_engine(url)
    with engine.connect() as connection:
        connection.execute(COUNT)
        inner = connection.connection.driver_connection
        assert isinstance(inner, dpsql.Connection)
        assert (inner.analyst, inner.ledger_path) == ("ana", ledger)
    engine.dispose()
    with dpsql.connect(built, ledger=ledger) as db:
        assert [each.analyst for each in db.purchases] == ["ana"]


def test_policy_and_ledger_lie_beside_the_database(built: Path, tmp_path: Path) -> None:
    for each in (built, built.with_suffix(".toml")):
        shutil.copy(each, tmp_path)
    engine = sa.create_engine(f"dpsql:///{tmp_path / built.name}")
    with engine.connect() as connection:
        connection.execute(COUNT)
    engine.dispose()
    assert (tmp_path / built.name).with_suffix(".ledger").exists()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("dpsql:///clinic.duckdb?epsilon=3", "has no option epsilon"),
        ("dpsql:///clinic.duckdb?database=other.duckdb", "has no option database"),
        ("dpsql:///clinic.duckdb?Analyst=ana", "has no option Analyst"),
        ("dpsql:///clinic.duckdb?analyst=ana&analyst=bob", "the option analyst of this URL is repeated"),
        ("dpsql://ana@host/clinic.duckdb", "without a host or a user"),
        ("dpsql://", "names no database"),
    ],
)
def test_what_a_url_does_not_say(url: str, said: str) -> None:
    with pytest.raises(dpsql.InterfaceError, match="D001") as refusal:
        sa.create_engine(url).connect()
    assert said in str(refusal.value) or said in refusal.value.help
    assert refusal.value.help


def test_an_unknown_analyst_is_refused(url: str) -> None:
    with pytest.raises(OperationalError, match="D504"):
        sa.create_engine(f"{url}&analyst=eve").connect()


# ---- paying ------------------------------------------------------------------------------------------


def test_a_price_for_a_statement_a_connection_an_engine(engine: sa.Engine, db: dpsql.Connection) -> None:
    with engine.connect() as connection:
        connection.execute(COUNT, execution_options={"epsilon": 0.25})
        connection.execute(COUNT.execution_options(epsilon=0.5))
        connection.execute(COUNT)
    with engine.connect().execution_options(epsilon=0.75) as connection:
        connection.execute(COUNT)
        connection.exec_driver_sql("SELECT COUNT(*) AS n FROM patients WHERE age > ?", (50,))
    with engine.execution_options(epsilon=1.25).connect() as connection:
        connection.execute(COUNT)
    assert [each.epsilon for each in db.purchases] == [0.25, 0.5, 1e6, 0.75, 0.75, 1.25]


def test_a_price_that_is_none_is_refused(engine: sa.Engine, db: dpsql.Connection) -> None:
    with engine.connect() as connection:
        for odd in (0, -1, float("nan"), "1"):
            with pytest.raises(OperationalError, match="D503"):
                connection.execute(COUNT, execution_options={"epsilon": odd})
    assert db.purchases == ()


def test_the_answer_stands_behind_the_result(engine: sa.Engine) -> None:
    with engine.connect() as connection:
        result: Any = connection.execute(COUNT, execution_options={"epsilon": 0.5})
        answer = result.context.answer
        assert result.all() == answer.rows
        assert answer.cost == 0.5
        assert answer.margins[0][0] > 0
        again: Any = connection.execute(COUNT, execution_options={"epsilon": 0.5})
        assert again.context.answer.repeated


def test_statements_are_compiled_once_and_asked_with_their_own_values(
    engine: sa.Engine, meta: MetaData
) -> None:
    wards = meta.tables["wards"]
    with engine.connect() as connection:
        found = [
            connection.scalar(select(func.count()).where(wards.c.beds > least).limit(one))
            for least, one in ((0, 1), (35, 2), (100, 3))
        ]
    assert found == [6, 4, 0]


def test_nothing_is_begun_or_taken_back(engine: sa.Engine, db: dpsql.Connection) -> None:
    with engine.connect() as connection:
        connection.execute(COUNT)
        connection.rollback()
        connection.execute(text("SELECT COUNT(age) AS n FROM patients"))
        connection.commit()
    with engine.connect() as connection, connection.begin() as transaction:
        connection.execute(text("SELECT COUNT(town) AS n FROM patients"))
        transaction.rollback()
    assert len(db.purchases) == 3


def test_every_statement_commits_itself(url: str) -> None:
    for engine in (
        sa.create_engine(url),
        sa.create_engine(url, isolation_level="AUTOCOMMIT", pool_pre_ping=True),
    ):
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            assert connection.get_isolation_level() == "AUTOCOMMIT"
            assert connection.scalar(text("SELECT 1")) == 1
        with pytest.raises(sa.exc.ArgumentError, match="AUTOCOMMIT"):
            engine.connect().execution_options(isolation_level="SERIALIZABLE")
        engine.dispose()


# ---- reflection --------------------------------------------------------------------------------------


def test_tables_and_views(engine: sa.Engine) -> None:
    found = inspect(engine)
    assert found.get_schema_names() == ["main"]
    assert found.default_schema_name == "main"
    assert (
        found.get_table_names() == found.get_table_names("main") == ["patients", "visits", "wards", "kinds"]
    )
    assert found.get_view_names() == ["seniors"]
    assert found.get_table_names("elsewhere") == []
    assert [found.has_table(name) for name in ("visits", "seniors", "sqlite_master")] == [True, True, False]
    assert found.has_table("visits", "main")
    with pytest.raises(NoSuchTableError):
        found.get_columns("nothing")


def test_columns_say_what_is_publicly_known(engine: sa.Engine) -> None:
    columns = {each["name"]: each for each in inspect(engine).get_columns("patients")}
    assert list(columns) == ["patient_id", "age", "sex", "ward", "town", "smoker"]
    assert [each["comment"] for each in columns.values()] == [
        "the patient of the row: never shown",
        "in [0, 110]",
        "one of F, M",
        "one of Cardiology, Emergency, Geriatrics, Maternity, Oncology, Pediatrics",
        None,
        None,
    ]
    assert [each["nullable"] for each in columns.values()] == [False, True, True, False, True, True]


def test_comments_of_tables(engine: sa.Engine) -> None:
    found = inspect(engine)
    said = {
        each: found.get_table_comment(each)["text"] for each in ("patients", "visits", "wards", "seniors")
    }
    assert said["patients"] == "private: one row of each patient"
    assert said["visits"] == "private: rows of a patient, clipped from 1000 on"
    assert said["wards"] == "public: 6 rows"
    assert said["seniors"] is not None
    assert said["seniors"].startswith("view: ")


def test_keys(engine: sa.Engine) -> None:
    found = inspect(engine)
    keys = {each: found.get_pk_constraint(each)["constrained_columns"] for each in found.get_table_names()}
    assert keys == {"patients": ["patient_id"], "visits": [], "wards": ["ward"], "kinds": []}
    (owner,) = found.get_foreign_keys("visits")
    assert (owner["constrained_columns"], owner["referred_table"]) == (["patient_id"], "patients")
    assert found.get_foreign_keys("patients") == found.get_foreign_keys("wards") == []


def test_a_longer_way_to_the_owner(tmp_path: Path) -> None:
    """Items belong to orders, in a schema of their own; orders to people, who have two keys."""
    database = tmp_path / "shop.duckdb"
    with duckdb.connect(str(database)) as owner:
        owner.execute(
            "CREATE TABLE people (id INTEGER PRIMARY KEY, email VARCHAR UNIQUE);"
            "CREATE SCHEMA sales;"
            "CREATE TABLE sales.orders (order_id INTEGER PRIMARY KEY, person INTEGER);"
            "CREATE TABLE sales.items (order_id INTEGER, price DOUBLE);"
        )
    database.with_suffix(".toml").write_text(
        """
        [budget]
        epsilon = 1.0
        delta = 1e-6
        [unit]
        name = "person"
        table = "people"
        key = "id"
        [tables.people]
        key = "email"
        [tables."sales.orders"]
        key = "order_id"
        unit = { column = "person" }
        rows_per_unit = 3
        [tables."sales.items"]
        unit = { column = "order_id", references = "sales.orders.order_id" }
        rows_per_unit = 9
        [tables."sales.items".columns]
        price = { range = [0, 10] }
        """
    )
    engine = sa.create_engine(f"dpsql:///{database}")
    found = inspect(engine)
    assert found.get_schema_names() == ["main", "sales"]
    assert (found.get_table_names(), found.get_table_names("sales")) == (["people"], ["orders", "items"])
    assert found.get_pk_constraint("people")["constrained_columns"] == ["email"]
    assert [each["column_names"] for each in found.get_unique_constraints("people")] == [["id"]]
    (items,) = found.get_foreign_keys("items", "sales")
    assert (items["referred_schema"], items["referred_table"], items["referred_columns"]) == (
        "sales", "orders", ["order_id"],
    )  # fmt: skip
    (orders,) = found.get_foreign_keys("orders", "sales")
    assert (orders["referred_schema"], orders["referred_table"], orders["referred_columns"]) == (
        None, "people", ["id"],
    )  # fmt: skip
    meta = MetaData()
    meta.reflect(engine, schema="sales")
    with engine.connect() as connection:
        joined = select(func.count()).select_from(
            meta.tables["sales.orders"].join(meta.tables["sales.items"])
        )
        assert isinstance(connection.scalar(joined), int)
    engine.dispose()


def test_types(engine: sa.Engine, meta: MetaData) -> None:
    kinds = meta.tables["kinds"]
    types = {each.name: each.type.compile(engine.dialect) for each in kinds.columns if each.name != "items"}
    assert types == {
        "n": "INTEGER",
        "small": "SMALLINT",
        "wide": "BIGINT",
        "real": "REAL",
        "number": "DOUBLE",
        "money": "DECIMAL(9, 2)",
        "word": "VARCHAR",
        "color": "VARCHAR",
        "yes": "BOOLEAN",
        "id": "UUID",
        "day": "DATE",
        "clock": "TIME",
        "moment": "TIMESTAMP",
        "there": "TIMESTAMP WITH TIME ZONE",
        "span": "INTERVAL",
        "bytes": "BLOB",
    }
    assert isinstance(kinds.c["items"].type, sa.types.NullType)
    with engine.connect() as connection:
        one, none = connection.execute(select(kinds).order_by(kinds.c.n)).all()
    assert one == (
        1,
        200,
        2**127 - 1,
        0.5,
        0.1,
        Decimal("12.34"),
        "æ",
        "red",
        True,
        uuid.UUID("6f2c1a40-0000-4000-8000-000000000001"),
        datetime.date(2024, 2, 29),
        datetime.time(23, 59, 1),
        datetime.datetime(2024, 2, 29, 8, 30),
        datetime.datetime(2024, 2, 29, 8, 30, tzinfo=datetime.UTC),
        datetime.timedelta(days=3),
        b"\x00\xff",
        [1, 2],
    )
    assert none == (2, *[None] * 16)


@pytest.mark.parametrize(
    "name", ["small", "number", "money", "word", "color", "yes", "id", "day", "moment", "there"]
)
def test_what_came_back_finds_its_row(name: str, engine: sa.Engine, meta: MetaData) -> None:
    kinds = meta.tables["kinds"]
    with engine.connect() as connection:
        value = connection.scalar(select(kinds.c[name]).where(kinds.c.n == 1))
        assert connection.scalars(select(kinds.c.n).where(kinds.c[name] == value)).all() == [1]


# ---- the ORM -----------------------------------------------------------------------------------------


def test_the_orm_reads_public_rows_and_aggregates(engine: sa.Engine, meta: MetaData) -> None:
    base: Any = automap_base(metadata=meta)
    base.prepare()
    wards, patients, visits = base.classes.wards, base.classes.patients, meta.tables["visits"]
    with Session(engine) as session:
        assert session.get(wards, "Oncology").beds == 36
        assert [each.ward for each in session.scalars(select(wards).filter_by(building="North"))] == [
            "Cardiology",
            "Emergency",
        ]
        assert session.query(wards).count() == 6
        rows = session.execute(
            select(patients.sex, func.count(visits.c.day)).join_from(patients, visits).group_by(patients.sex)
        ).all()
        assert {row[0] for row in rows} == {"F", "M", None}
        with pytest.raises(NotSupportedError, match="D402"):
            session.scalars(select(patients)).all()


def test_columns_are_free(engine: sa.Engine, meta: MetaData, db: dpsql.Connection) -> None:
    """As SQLAlchemy writes what tools ask before they ask for rows."""
    patients = meta.tables["patients"]
    groups = select(patients.c.ward, func.avg(patients.c.age).label("a")).group_by(patients.c.ward)
    virtual = sa.text(f"({groups.compile(engine)}) AS virtual_table")
    names = patients.columns.keys()
    with engine.connect() as connection:
        for query, expected in (
            (select(patients).where(sa.false()), names),
            (select(patients).where(sa.literal(1) == 0), names),
            (select(patients).limit(0), names),
            (select(select(patients).subquery()).limit(0).offset(2), names),
            (groups.limit(0), ["ward", "a"]),
            (select(sa.text("*")).select_from(virtual).where(sa.false()), ["ward", "a"]),
            (select(sa.text("upper(ward) AS w")).select_from(virtual).where(sa.false()), ["w"]),
        ):
            result = connection.execute(query)
            assert list(result.keys()) == expected
            assert result.all() == []
    with Session(engine) as session:
        base: Any = automap_base(metadata=meta)
        base.prepare()
        assert session.scalars(select(base.classes.patients).where(sa.false())).all() == []
    assert db.purchases == ()


def test_writing_is_refused(engine: sa.Engine, meta: MetaData) -> None:
    base: Any = automap_base(metadata=meta)
    base.prepare()
    wards = base.classes.wards
    with Session(engine) as session:
        session.add(wards(ward="New", building="North", beds=1))
        with pytest.raises(ProgrammingError, match="D104"):
            session.commit()
    with Session(engine) as session:
        session.add_all(wards(ward=f"New {i}", building="North", beds=1) for i in range(3))
        with pytest.raises(NotSupportedError, match="D104"):
            session.commit()
    table = Table("extra", MetaData(), sa.Column("x", sa.Integer))
    refused = [
        wards.__table__.insert().values(ward="New", building="North", beds=1),
        wards.__table__.update().values(beds=0),
        wards.__table__.delete(),
        sa.schema.CreateTable(table),
        text("DROP TABLE wards"),
    ]
    for each in refused:
        with engine.connect() as connection, pytest.raises(ProgrammingError, match="D104"):
            connection.execute(each)
    with pytest.raises(ProgrammingError, match="D104"):
        table.create(engine)
    meta.create_all(engine)  # everything is there already
    with engine.connect() as connection, pytest.raises(ProgrammingError, match="D104"):
        connection.begin_nested()


# ---- errors and threads ------------------------------------------------------------------------------


def test_an_error_is_ours_inside(engine: sa.Engine) -> None:
    with engine.connect() as connection, pytest.raises(DBAPIError) as caught:
        connection.execute(text("SELECT SUM(cost / age) FROM visits JOIN patients USING (patient_id)"))
    inner = caught.value.orig
    assert isinstance(inner, dpsql.NotSupportedError)
    assert (inner.code, inner.position) == ("D301", (1, 12))
    assert inner.help in str(caught.value)


def test_nothing_private_hangs_on_an_error(engine: sa.Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault between measuring and releasing, with a secret in its words, its frames and its cause."""

    def failing(*given: object) -> None:
        secret = "secret 42"
        try:
            raise KeyError(secret)
        except KeyError as error:
            raise ValueError(secret) from error

    monkeypatch.setattr("dpsql.releasing.release", failing)
    with engine.connect() as connection, pytest.raises(DBAPIError) as caught:
        connection.execute(COUNT)
    seen: list[BaseException] = []
    behind: list[BaseException | None] = [caught.value, caught.value.orig]
    while behind:
        error = behind.pop()
        if error is not None and error not in seen:
            seen.append(error)
            behind += [error.__cause__, error.__context__]
    assert {type(each).__module__.partition(".")[0] for each in seen} == {"dpsql", "sqlalchemy"}
    for each in seen:
        said = traceback.TracebackException.from_exception(each, capture_locals=True)
        assert "secret 42" not in "".join(said.format())
        frames = [frame.name for frame in traceback.extract_tb(each.__traceback__)]
        assert "failing" not in frames


def test_many_threads_on_one_engine(engine: sa.Engine, db: dpsql.Connection) -> None:
    """More threads than the pool holds connections; who asks the same gets the same."""
    found: dict[int, list[Any]] = {}

    def ask(number: int) -> None:
        with engine.connect().execution_options(epsilon=0.01) as connection:
            found[number] = [
                connection.scalar(COUNT),
                connection.scalar(text("SELECT COUNT(*) AS n FROM patients WHERE age > :a"), {"a": number}),
            ]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 20
    assert len({common for common, _ in found.values()}) == 1
    assert len(db.purchases) == 21
