"""Drivers at ``dpsql serve``: psycopg, asyncpg, pg8000, SQLAlchemy, pandas; values as text and as bytes."""

from __future__ import annotations

import asyncio
import datetime
import json
import math
import shutil
import uuid
from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import asyncpg
import pandas
import pg8000.dbapi
import psycopg
import pytest
import sqlalchemy

import dpsql

from .conftest import PASSWORD, Served

BY_WARD = "SELECT ward, COUNT(*) AS n FROM patients WHERE age > 60 GROUP BY ward"


@pytest.fixture
def db(served: Served) -> Iterator[psycopg.Connection[Any]]:
    with psycopg.connect(served.url(), autocommit=True) as connection:
        yield connection


# ---- values --------------------------------------------------------------------------------------------


def test_all_types_are_the_same_as_text_and_as_bytes(db: psycopg.Connection[Any]) -> None:
    [expected, nulls] = db.execute("SELECT * FROM kinds ORDER BY n").fetchall()
    cursor = db.cursor(binary=True)
    assert cursor.execute("SELECT * FROM kinds ORDER BY n").fetchall() == [expected, nulls]
    assert set(nulls[1:]) == {None}
    assert expected == (
        1,
        200,
        Decimal(2**127 - 1),
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
        "[1, 2]",
    )


def test_far_values(db: psycopg.Connection[Any]) -> None:
    """Dates beyond Python's are checked by asking PostgreSQL's own reading of the bytes: days since 2000."""
    plain = "SELECT nothing, high, low, minus, big, little, json, back, pair, named FROM far"
    for binary in (False, True):
        (row,) = db.cursor(binary=binary).execute(plain).fetchall()
        assert math.isnan(row[0])
        assert row[1:8] == (
            *(math.inf, -math.inf, -1, Decimal(2**64 - 1), Decimal("-0.00012"), {"a": 1}),
            datetime.timedelta(days=-1, seconds=-1.5),
        )
        assert [json.loads(text) for text in row[8:]] == [{"a": 1}, {"k": 1}]
    query = "SELECT later, earlier, moment, midnight FROM far"
    texts = [bytes(cell) for cell in _cells(db, query, 0)]
    assert texts == [b"290000-01-01", b"0044-03-15 BC", b"200000-01-01 00:00:00.5", b"24:00:00"]
    days = 400 * 365 + 97
    later, earlier, moment, midnight = (
        int.from_bytes(cell, "big", signed=True) for cell in _cells(db, query, 1)
    )
    assert later == (290_000 - 2_000) // 400 * days
    assert earlier == -746_117  # 0044-03-15 BC is day 1,705,428 of Julius, and 2000-01-01 is day 2,451,545
    assert moment == (200_000 - 2_000) // 400 * days * 86_400_000_000 + 500_000
    assert midnight == 86_400_000_000


def _cells(db: psycopg.Connection[Any], query: str, format: int) -> list[bytes]:
    """The cells of one row as they were sent."""
    result = db.pgconn.exec_params(query.encode(), [], result_format=format)
    return [result.get_value(0, at) or b"" for at in range(result.nfields)]


def test_parameters_of_all_types(db: psycopg.Connection[Any]) -> None:
    sql = (
        "SELECT n FROM kinds WHERE small = %s AND number < %s AND money = %s AND word = %s AND yes = %s "
        "AND day = %s AND moment = %s AND there = %s AND %s"
    )
    moment = datetime.datetime(2024, 2, 29, 8, 30)
    values = (
        200,
        0.2,
        Decimal("12.34"),
        "æ",
        True,
        moment.date(),
        moment,
        moment.replace(tzinfo=datetime.UTC),
    )
    assert db.execute(sql, (*values, True)).fetchall() == [(1,)]
    binary = sql.replace("%s", "%b")
    assert db.execute(binary, (*values, True)).fetchall() == [(1,)]
    (last,) = db.execute("SELECT n FROM kinds WHERE 'red' = %s AND color = %s", ("red", "red")).fetchall()
    assert last == (1,), "a value at the very end"
    assert db.execute("SELECT n FROM kinds WHERE word IS NOT DISTINCT FROM %s", (None,)).fetchall() == [(2,)]
    texts = (
        "200",
        "0.2",
        "12.34",
        "æ",
        "true",
        "2024-02-29",
        "2024-02-29 08:30:00",
        "2024-02-29 08:30:00+00",
    )
    assert db.execute(sql, (*texts, True)).fetchall() == [(1,)], (
        "types are told by what they are compared with"
    )
    for bad, state in ((10**50, "22023"), ([1, 2], "22023"), (b"x", "0A000"), (math.nan, "22023")):
        with pytest.raises(psycopg.Error) as refused:
            db.execute("SELECT n FROM kinds WHERE number < %s", (bad,))
        assert refused.value.sqlstate == state, bad


# ---- the extended protocol -----------------------------------------------------------------------------


def test_a_statement_is_paid_once_however_it_is_asked(served: Served, db: psycopg.Connection[Any]) -> None:
    costs: list[str] = []
    db.add_notice_handler(lambda notice: costs.append(str(notice.message_primary).split(",")[0]))
    sql = "SELECT COUNT(*) AS n FROM patients WHERE age > %s AND ward = %s"
    answers = {db.execute(sql, (61, "Oncology"), prepare=True).fetchall()[0] for _ in range(7)}
    answers |= set(db.cursor(binary=True).execute(sql, (61, "Oncology")).fetchall())
    answers |= set(
        db.execute("SELECT COUNT(*) AS n FROM patients WHERE age > 61 AND ward = 'Oncology'").fetchall()
    )
    assert len(answers) == 1
    assert [cost for cost in costs if cost.startswith("cost")] == ["cost epsilon 0.5"]
    given = {"ledger": served.folder / "own.ledger", "analyst": "ana"}
    with dpsql.connect(served.database, **given) as own:
        answer = own.execute(
            "SELECT COUNT(*) AS n FROM patients WHERE age > ? AND ward = ?", (61, "Oncology")
        )
    assert (answer.repeated, set(answer.rows)) == (True, answers)


def test_describing_is_free_and_paying_is_not(db: psycopg.Connection[Any]) -> None:
    before = _spent(db)
    db.pgconn.prepare(
        b"s", b"SELECT sex, COUNT(*) AS n, AVG(age) AS a FROM patients WHERE age > $1 GROUP BY sex"
    )
    described = db.pgconn.describe_prepared(b"s")
    assert [(described.fname(at), described.ftype(at)) for at in range(3)] == [
        (b"sex", 25),
        (b"n", 20),
        (b"a", 701),
    ]
    assert described.param_type(0) == 23
    assert _spent(db) == before
    db.pgconn.exec_prepared(b"s", [b"62"])
    assert _spent(db) > before


def _spent(db: psycopg.Connection[Any]) -> float:
    (row,) = [row for row in db.execute("SHOW dpsql.budget").fetchall() if row[0] == "ana"]
    return float(row[2])


def test_an_explanation_is_a_table_and_free(db: psycopg.Connection[Any]) -> None:
    before = _spent(db)
    cursor = db.execute("SELECT * FROM dpsql.explain('SELECT COUNT(*) FROM patients WHERE sex = ''F''')")
    assert cursor.description is not None
    assert [column.name for column in cursor.description] == ["explain"]
    lines = [line for (line,) in cursor.fetchall()]
    assert lines[0].startswith("price     epsilon")
    assert lines == [line for (line,) in db.execute("EXPLAIN SELECT COUNT(*) FROM patients WHERE sex = 'F'")]
    short = db.execute("FROM dpsql.explain('SELECT COUNT(*) FROM patients')", binary=True).fetchall()
    assert short[0] == (lines[0],)
    asked = "  SELECT explain FROM dpsql.explain('SELECT nobody FROM patients') ; "
    with pytest.raises(psycopg.errors.UndefinedColumn) as refused:
        db.execute(asked)
    assert int(str(refused.value.diag.statement_position)) == asked.index("nobody") + 1
    with pytest.raises(psycopg.Error, match="D104"):
        db.execute("SELECT * FROM dpsql.explain('DROP TABLE patients')")
    assert _spent(db) == before


def test_places_of_refusals_with_values(db: psycopg.Connection[Any]) -> None:
    for sql, values in (
        ("SELECT nobody FROM patients WHERE age > %s", (1,)),
        ("SELECT COUNT(*) FROM patients WHERE age > %s AND ward = %s AND nobody = %s", (1, "a", 2)),
    ):
        with pytest.raises(psycopg.errors.UndefinedColumn) as refused:
            db.execute(sql, values)
        numbered = sql
        for number in range(1, 4):
            numbered = numbered.replace("%s", f"${number}", 1)
        assert int(str(refused.value.diag.statement_position)) == numbered.index("nobody") + 1


def test_errors_in_a_pipeline_pass_over_all_until_its_end(db: psycopg.Connection[Any]) -> None:
    with db.pipeline():
        good = db.execute("SELECT 1")
        with pytest.raises(psycopg.errors.UndefinedTable):
            db.execute("SELECT * FROM nobody").fetchall()
        with pytest.raises(psycopg.errors.PipelineAborted):
            db.execute("SELECT 2").fetchall()
    assert good.fetchall() == [(1,)]
    assert db.execute("SELECT 3").fetchall() == [(3,)]


def test_transactions_change_nothing_and_have_the_right_state(served: Served) -> None:
    with psycopg.connect(served.url()) as db:
        status = psycopg.pq.TransactionStatus
        before = _spent(db)
        db.execute("SELECT OPTIONS(epsilon = 0.25) COUNT(*) FROM patients WHERE age > 63")
        assert db.info.transaction_status == status.INTRANS
        with pytest.raises(psycopg.errors.UndefinedTable):
            db.execute("SELECT * FROM nobody")
        assert db.info.transaction_status == status.INERROR
        with pytest.raises(psycopg.errors.InFailedSqlTransaction):
            db.execute("SELECT 1")
        db.rollback()
        assert db.info.transaction_status == status.IDLE
        assert _spent(db) > before, "a rollback gives nothing back"
        with db.transaction():
            with pytest.raises(psycopg.errors.UndefinedTable), db.transaction():
                db.execute("SELECT * FROM nobody")
            assert db.execute("SELECT 1").fetchall() == [(1,)]


def test_cursors_and_copies(served: Served) -> None:
    with psycopg.connect(served.url()) as db:
        with db.cursor("beds") as cursor:
            cursor.execute("SELECT ward, beds FROM wards WHERE beds > %s ORDER BY ward", (30,))
            assert cursor.fetchmany(2) == [("Cardiology", 42), ("Geriatrics", 55)]
            assert cursor.fetchall() == [("Oncology", 36), ("Pediatrics", 40)]
        for how in ("text", "binary"):
            with (
                db.cursor() as cursor,
                cursor.copy(f"COPY (FROM wards ORDER BY ward) TO STDOUT (FORMAT {how})") as rows,
            ):
                rows.set_types(["text", "text", "int4"])
                assert next(rows.rows()) == ("Cardiology", "North", 42)
                assert len(list(rows.rows())) == 5


def test_names_and_portals_that_are_not_there(db: psycopg.Connection[Any]) -> None:
    for sql, state in (
        ("DEALLOCATE nobody", "26000"),
        ("FETCH 3 FROM nobody", "34000"),
        ("CLOSE nobody", "34000"),
        ("SAVEPOINT a", "25P01"),
        ("COPY wards FROM STDIN", "0A000"),
        ("INSERT INTO wards VALUES ('x', 'y', 1)", "0A000"),
        ("LISTEN x", "0A000"),
        ("SELECT 1 WHERE 1 = $1", "42P02"),
        ("SELECT " + "(" * 300, "54001"),
        ("SELECT '" + "x" * 250_000 + "'", "54001"),
    ):
        with pytest.raises(psycopg.Error) as refused:
            db.execute(sql.encode())
        assert refused.value.sqlstate == state, sql
    assert db.execute(
        "BEGIN; SAVEPOINT a; RELEASE a; COMMIT; DISCARD ALL; UNLISTEN *; CLOSE ALL"
    ).statusmessage


# ---- others --------------------------------------------------------------------------------------------


def test_asyncpg_which_prepares_all_and_reads_bytes(served: Served) -> None:
    given = {
        "host": "127.0.0.1",
        "port": served.port,
        "user": "ana",
        "password": PASSWORD,
        "database": "clinic",
    }

    async def talk() -> None:
        db = await asyncpg.connect(**given)
        sql = (
            "SELECT ward, COUNT(*) AS n FROM visits WHERE day > $1 AND ward = $2 AND cost < $3 GROUP BY ward"
        )
        (row,) = await db.fetch(sql, datetime.date(2024, 6, 1), "Oncology", 900.0)
        assert row["n"] > 0
        assert await db.fetch(sql, datetime.date(2024, 6, 1), "Oncology", 900.0) == [row]
        async with db.transaction():
            assert len([each async for each in db.cursor("SELECT * FROM wards", prefetch=2)]) == 6
        with pytest.raises(asyncpg.InsufficientPrivilegeError) as refused:
            await db.fetch("SELECT age FROM patients")
        assert refused.value.position == "8"
        await db.close()
        async with asyncpg.create_pool(**given, min_size=6, max_size=6) as pool:
            answers = await asyncio.gather(
                *(pool.fetchval(f"{BY_WARD} ORDER BY n DESC LIMIT 1") for _ in range(12))
            )
            assert len(set(answers)) == 1

    asyncio.run(talk())


def test_pg8000(served: Served) -> None:
    given = {
        "host": "127.0.0.1",
        "port": served.port,
        "user": "ana",
        "password": PASSWORD,
        "database": "clinic",
    }
    db = pg8000.dbapi.connect(**given)
    cursor = db.cursor()
    cursor.execute("SELECT ward, beds FROM wards WHERE beds > %s AND ward < %s ORDER BY ward", (40, "H"))
    assert list(map(tuple, cursor.fetchall())) == [("Cardiology", 42), ("Geriatrics", 55)]
    db.rollback()
    db.close()


def test_sqlalchemy_and_pandas(served: Served) -> None:
    engine = sqlalchemy.create_engine(served.url("postgresql+psycopg"), use_native_hstore=False)
    counted = sqlalchemy.text("SELECT ward, COUNT(*) AS n FROM patients WHERE age > :least GROUP BY ward")
    with engine.connect() as connection:
        rows = connection.execute(counted, {"least": 60}).all()
        frame = pandas.read_sql(counted, connection, params={"least": 60})
    assert [tuple(row) for row in frame.itertuples(index=False)] == [tuple(row) for row in rows]
    assert str(frame["n"].dtype) == "int64"
    engine.dispose()


def test_margins_as_columns_are_described_before_they_are_paid(served: Served) -> None:
    with psycopg.connect(served.url(), options="-c dpsql.margins=columns") as db:
        cursor = db.cursor(binary=True).execute(
            "SELECT ward, COUNT(*) AS n, AVG(age) AS a FROM patients GROUP BY ward"
        )
        assert [column.name for column in cursor.description or ()] == [
            "ward",
            "n",
            "n_margin",
            "a",
            "a_margin",
        ]
        assert all(row[2] > 0 and row[4] > 0 for row in cursor.fetchall())


def test_a_statement_that_was_described_has_these_columns_or_is_refused(
    clinic_for_all: Path, tmp_path: Path
) -> None:
    """Another policy or setting would give it others: it is prepared again, and nothing was paid."""
    for name in ("clinic.duckdb", "clinic.toml"):
        shutil.copy(clinic_for_all.with_name(name), tmp_path / name)
    policy = tmp_path / "clinic.toml"
    first = policy.read_text()
    view = '\n[views.shown]\nsql = "SELECT {} AS x FROM patients"\n'
    policy.write_text(first + view.format("age"))
    asked, catalogue = (
        b"SELECT MAX(x) AS x FROM shown",
        "SELECT relname FROM pg_class WHERE relname = 'other'",
    )
    with (
        closing(Served(tmp_path / "clinic.duckdb")) as server,
        psycopg.connect(server.url(), autocommit=True) as db,
    ):
        for change in (
            lambda: db.execute("SET dpsql.margins = columns"),
            lambda: policy.write_text(
                first + view.format("age + 0.5") + view.replace("shown", "other").format("age")
            ),
        ):
            assert db.pgconn.prepare(b"s", asked).status == psycopg.pq.ExecStatus.COMMAND_OK
            assert db.pgconn.describe_prepared(b"s").nfields > 0
            change()
            refused = db.pgconn.exec_prepared(b"s", None)
            assert b"cached plan must not change result type" in refused.error_message
            db.execute("DEALLOCATE s")
        assert db.execute(catalogue).fetchall() == [("other",)], "the catalogue is that of the new policy"
        assert [line for line in server.log() if line["event"] == "question" and line["cost"]] == []
