"""The module as PEP 249 knows it, and pandas, threads and a stranger's parameters on top of it."""

from __future__ import annotations

import datetime
import importlib.metadata
import importlib.resources
import math
import sys
import threading
from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas
import pytest

import dpsql
from dpsql.dbapi.guard import own
from dpsql.engines import Engine
from dpsql.ir.source import Source
from dpsql.planning import planned

COUNT = "SELECT COUNT(*) FROM patients"
BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY ward ORDER BY ward"
FLOORS = "SELECT ward, floor FROM wards ORDER BY ward"  # public: what comes back is known


# ---- the module --------------------------------------------------------------------------------------


def test_module_attributes() -> None:
    assert (dpsql.apilevel, dpsql.threadsafety, dpsql.paramstyle) == ("2.0", 2, "qmark")


def test_a_module_that_is_still_being_imported_owns_no_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another thread may be in the middle of `import numpy`."""
    for name in ("numpy", "pandas"):
        monkeypatch.setitem(sys.modules, name, ModuleType(name))
    assert own(1.5) == 1.5


def test_the_public_list_is_what_there_is() -> None:
    """Everything listed is there, and everything there that is not a module or private is listed."""
    public = {
        name
        for name, value in vars(dpsql).items()
        if not name.startswith("_") and not isinstance(value, ModuleType)
    }
    assert len(set(dpsql.__all__)) == len(dpsql.__all__)
    assert set(dpsql.__all__) == public | {"__version__"}
    assert all(hasattr(dpsql, name) for name in dpsql.__all__)


def test_the_version_is_the_packages() -> None:
    assert dpsql.__version__ == importlib.metadata.version("dpsql")


def test_the_package_is_typed() -> None:
    assert importlib.resources.files("dpsql").joinpath("py.typed").is_file()


def test_the_tree_of_exceptions() -> None:
    parents = {
        dpsql.Warning: Exception,
        dpsql.Error: Exception,
        dpsql.InterfaceError: dpsql.Error,
        dpsql.DatabaseError: dpsql.Error,
        dpsql.DataError: dpsql.DatabaseError,
        dpsql.OperationalError: dpsql.DatabaseError,
        dpsql.IntegrityError: dpsql.DatabaseError,
        dpsql.InternalError: dpsql.DatabaseError,
        dpsql.ProgrammingError: dpsql.DatabaseError,
        dpsql.NotSupportedError: dpsql.DatabaseError,
    }
    assert {each: each.__base__ for each in parents} == parents


def test_constructors() -> None:
    assert dpsql.Date(2024, 2, 29) == datetime.date(2024, 2, 29)
    assert dpsql.Time(8, 30, 1) == datetime.time(8, 30, 1)
    assert dpsql.Timestamp(2024, 2, 29, 8) == datetime.datetime(2024, 2, 29, 8)
    assert dpsql.Binary(b"x") == b"x"
    ticks = datetime.datetime(2024, 2, 29, 8, 30, 1).timestamp()
    assert dpsql.DateFromTicks(ticks) == datetime.date(2024, 2, 29)
    assert dpsql.TimeFromTicks(ticks) == datetime.time(8, 30, 1)
    assert dpsql.TimestampFromTicks(ticks) == datetime.datetime(2024, 2, 29, 8, 30, 1)


CODES = {name: getattr(dpsql, name) for name in ("STRING", "BINARY", "NUMBER", "DATETIME", "ROWID")}


@pytest.mark.parametrize(
    ("sql", "code"),
    [
        ("CAST('a' AS VARCHAR)", "STRING"),
        ("CAST(1 AS TINYINT)", "NUMBER"),
        ("CAST(1 AS UBIGINT)", "NUMBER"),
        ("CAST(1 AS HUGEINT)", "NUMBER"),
        ("CAST(1.5 AS DECIMAL(9, 3))", "NUMBER"),
        ("CAST(1.5 AS FLOAT)", "NUMBER"),
        ("CAST(1.5 AS DOUBLE)", "NUMBER"),
        ("CAST(true AS BOOLEAN)", "NUMBER"),
        ("DATE '2024-01-01'", "DATETIME"),
        ("TIMESTAMP '2024-01-01 00:00:00'", "DATETIME"),
        ("CAST('2024-01-01' AS TIMESTAMP_S)", "DATETIME"),
        ("CAST('2024-01-01' AS TIMESTAMP_MS)", "DATETIME"),
        ("CAST('2024-01-01' AS TIMESTAMP_NS)", "DATETIME"),
        ("CAST('08:00:00' AS TIME)", "DATETIME"),
        ("CAST('2024-01-01 00:00:00+00' AS TIMESTAMPTZ)", "DATETIME"),
        ("INTERVAL 1 DAY", "DATETIME"),
    ],
)
def test_every_type_has_exactly_one_code(sql: str, code: str, db: dpsql.Connection) -> None:
    cursor = db.cursor().execute(f"SELECT {sql} AS x")
    assert cursor.description is not None
    ((name, found, *rest),) = cursor.description
    assert name == "x"
    assert rest == [None] * 5
    assert [each for each, value in CODES.items() if found == value] == [code]
    assert [each for each, value in CODES.items() if found != value] == [
        each for each in CODES if each != code
    ]


def test_codes_are_not_each_other() -> None:
    assert len({hash(code) for code in CODES.values()}) == len(CODES)
    for one in CODES.values():
        assert [other for other in CODES.values() if one == other] == [one]
        assert one != 5


# ---- cursors -----------------------------------------------------------------------------------------


def test_a_cursor_from_beginning_to_end(db: dpsql.Connection) -> None:
    cursor = db.cursor()
    assert cursor.connection is db
    assert (cursor.description, cursor.rowcount, cursor.rownumber, cursor.arraysize) == (None, -1, None, 1)
    with pytest.raises(dpsql.InterfaceError, match="D001"):
        cursor.fetchone()
    assert cursor.execute(BY_WARD) is cursor
    assert cursor.description is not None
    assert [column[0] for column in cursor.description] == ["ward", "n", "age"]
    assert [column[1] for column in cursor.description] == ["VARCHAR", "BIGINT", "DOUBLE"]
    assert all(column[2:] == (None,) * 5 for column in cursor.description)
    assert (cursor.rowcount, cursor.rownumber) == (3, 0)
    rows = cursor.fetchall()
    assert [row[0] for row in rows] == ["A", "B", "C"]
    assert (cursor.rownumber, cursor.fetchone(), cursor.fetchmany(5), cursor.fetchall()) == (3, None, [], [])
    assert cursor.answer is not None
    assert cursor.answer.cost == 1.0
    assert len(cursor.answer.margins) == 3
    cursor.execute(FLOORS)
    assert (cursor.rownumber, cursor.rowcount) == (0, 3)
    cursor.setinputsizes([None])
    cursor.setoutputsize(10)
    cursor.setoutputsize(10, 1)


def test_fetching_in_pieces(db: dpsql.Connection) -> None:
    cursor = db.cursor().execute(FLOORS)
    assert cursor.fetchone() == ("A", 1)
    assert cursor.fetchmany() == [("B", 1)]
    assert cursor.fetchmany(7) == [("C", 2)]
    cursor.execute(FLOORS)
    cursor.arraysize = 2
    assert cursor.fetchmany() == [("A", 1), ("B", 1)]
    assert cursor.fetchmany(0) == []
    with pytest.raises(dpsql.InterfaceError, match="not negative: -1"):
        cursor.fetchmany(-1)
    assert list(cursor) == [("C", 2)]
    assert list(cursor) == []
    cursor.execute(FLOORS)
    assert [row[1] for row in cursor] == [1, 1, 2]


def test_a_failed_query_leaves_no_rows_behind(db: dpsql.Connection) -> None:
    cursor = db.cursor().execute(FLOORS)
    with pytest.raises(dpsql.ProgrammingError, match="D201"):
        cursor.execute("SELECT COUNT(*) FROM nothing")
    assert (cursor.description, cursor.rowcount) == (None, -1)
    with pytest.raises(dpsql.InterfaceError):
        cursor.fetchall()
    assert cursor.execute(FLOORS).fetchone() == ("A", 1)


def test_cursors_of_a_connection_are_apart(db: dpsql.Connection) -> None:
    one, other = db.cursor().execute(FLOORS), db.cursor().execute(FLOORS)
    assert len(one.fetchall()) == 3
    assert other.fetchone() == ("A", 1)
    one.close()
    assert other.fetchone() == ("B", 1)


def test_executemany_is_refused(db: dpsql.Connection) -> None:
    with pytest.raises(dpsql.NotSupportedError) as caught:
        db.cursor().executemany("SELECT COUNT(*) FROM patients WHERE age > ?", [(1,), (2,)])
    assert caught.value.help
    assert db.purchases == ()


def test_the_optional_parts_of_the_standard(db: dpsql.Connection) -> None:
    cursor = db.cursor()
    assert cursor.lastrowid is None
    for name in ("Warning", "Error", "InterfaceError", "DatabaseError", "DataError", "OperationalError",
                 "IntegrityError", "InternalError", "ProgrammingError", "NotSupportedError"):  # fmt: skip
        assert getattr(db, name) is getattr(dpsql, name)
    with pytest.raises(cursor.connection.ProgrammingError):
        cursor.execute("DELETE FROM patients")


def test_transactions(db: dpsql.Connection) -> None:
    db.execute(COUNT)
    spent = db.budget.spent
    db.commit()
    with pytest.raises(dpsql.NotSupportedError):
        db.rollback()
    assert db.budget.spent == spent


def test_context_managers_close(clinic: Path) -> None:
    with dpsql.connect(clinic) as db:
        with db.cursor() as cursor:
            assert cursor.execute(FLOORS).fetchone() == ("A", 1)
        with pytest.raises(dpsql.InterfaceError, match="the cursor is closed"):
            cursor.execute(FLOORS)
        open_cursor = db.cursor().execute(FLOORS)
    with pytest.raises(dpsql.InterfaceError, match="the connection is closed"):
        open_cursor.fetchone()
    with pytest.raises(ZeroDivisionError), dpsql.connect(clinic) as db:
        raise ZeroDivisionError
    with pytest.raises(dpsql.InterfaceError):
        db.cursor()


def test_what_is_closed_says_so(clinic: Path) -> None:
    db = dpsql.connect(clinic)
    cursor = db.cursor()
    cursor.close()
    cursor.close()
    of_cursor: list[Callable[[], Any]] = [
        lambda: cursor.execute(COUNT),
        lambda: cursor.executemany(COUNT, []),
        cursor.fetchone,
        cursor.fetchmany,
        cursor.fetchall,
        lambda: next(iter(cursor)),
        lambda: cursor.setinputsizes([]),
        lambda: cursor.setoutputsize(1),
    ]
    of_connection: list[Callable[[], Any]] = [
        db.cursor,
        db.commit,
        db.rollback,
        db.interrupt,
        lambda: db.execute(COUNT),
        lambda: db.explain(COUNT),
        lambda: db.budget,
        lambda: db.purchases,
    ]
    for call in of_cursor:
        with pytest.raises(dpsql.InterfaceError, match="the cursor is closed"):
            call()
    db.close()
    db.close()
    for call in of_connection:
        with pytest.raises(dpsql.InterfaceError, match="the connection is closed"):
            call()


@pytest.mark.parametrize("sql", [None, 7, b"SELECT 1", ["SELECT 1"], Path("x.sql")])
def test_a_query_is_a_text(sql: Any, db: dpsql.Connection) -> None:
    for ask in (db.execute, db.explain, db.cursor().execute):
        with pytest.raises(dpsql.InterfaceError, match="a query is a text"):
            ask(sql)


# ---- parameters --------------------------------------------------------------------------------------

PARAMETERS: list[Any] = [
    None,
    True,
    False,
    0,
    -7,
    2**63 - 1,
    -(2**63),
    2**100,
    0.1,
    -0.5,
    5e-324,
    1e300,
    Decimal("1.50"),
    Decimal("-0.001"),
    Decimal("1E+3"),
    "",
    "O'Brien",
    "? $1 ?",
    "'); DROP TABLE patients; --",
    '/* \\ " \n\t\u2028 æ 漢 🙂',
    "2024-01-01",
    datetime.date(2024, 2, 29),
    datetime.date(1, 1, 1),
    datetime.datetime(2024, 2, 29, 23, 59, 59, 999_999),
    datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.UTC),
    datetime.datetime(2024, 7, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=5, minutes=30))),
]


@pytest.mark.parametrize("value", PARAMETERS, ids=repr)
def test_a_parameter_is_the_value_itself(value: Any, db: dpsql.Connection) -> None:
    ((found,),) = db.execute("SELECT ? AS x", (value,)).rows
    assert found == value
    assert type(found) is type(value) or value == Decimal(1000)  # no places: an integer
    if value is not None:
        assert db.execute("SELECT x = ? FROM (SELECT ? AS x) AS t", (value, value)).rows == [(True,)]


def measured(db: dpsql.Connection, sql: str, *parameters: Any) -> int:
    """The exact number of rows that a COUNT(*) with parameters counts."""
    session = db._open()
    plan = planned(session, Source(sql), parameters, session.terms(None))
    engine: Engine = session.engine
    (each,) = plan.stages[0].measures
    ((sums,),) = engine.measure(each).sums.tolist()
    assert sums % each.measure.statistics[0].most == 0
    return int(sums // each.measure.statistics[0].most)


@pytest.mark.parametrize(
    "value",
    [
        "x' OR '1' = '1",
        "Oslo' OR true --",
        "Oslo'; SELECT * FROM patients; --",
        "\\' OR 1=1",
        "Oslo\\",
        "city",
        '"city"',
        "$1",
        "%",
        "Oslo\x00",
        "\u02bc OR \u02bc1\u02bc=\u02bc1",
    ],
)
def test_an_injected_text_is_a_value(value: str, db: dpsql.Connection) -> None:
    """Nobody lives there: over private rows, and over public ones."""
    assert measured(db, "SELECT COUNT(*) FROM patients WHERE city = ?", "Oslo") == 80
    assert measured(db, "SELECT COUNT(*) FROM patients WHERE city = ?", value) == 0
    assert measured(db, "SELECT COUNT(*) FROM patients WHERE ward IN ('Q', ?)", value) == 0
    assert db.execute("SELECT ward FROM wards WHERE ward = ?", (value,)).rows == []


def test_parameters_are_counted_in_the_order_of_the_text(db: dpsql.Connection) -> None:
    assert measured(db, "SELECT COUNT(*) FROM patients WHERE age BETWEEN ? AND ?", 20, 29) == 40
    rows = db.execute("SELECT ?, '?', /* ? */ ? -- ?\n, ?", (1, 2, 3)).rows
    assert rows == [(1, "?", 2, 3)]
    assert db.execute("SELECT a FROM (SELECT ? AS a) AS t WHERE a < ? LIMIT ?", (1, 2, 3)).rows == [(1,)]


@pytest.mark.parametrize("given", [(), (1,), (1, 2, 3)])
def test_the_wrong_number_of_parameters(given: tuple[int, ...], db: dpsql.Connection) -> None:
    with pytest.raises(dpsql.ProgrammingError) as caught:
        db.execute("SELECT COUNT(*) FROM patients WHERE age BETWEEN ? AND ?", given)
    assert caught.value.code == "D106"
    with pytest.raises(dpsql.ProgrammingError, match="D106"):
        db.execute(COUNT, (1,))


@pytest.mark.parametrize("given", ["12", b"12", 5, None, {1, 2}.pop])
def test_what_is_no_list_of_parameters(given: Any, db: dpsql.Connection) -> None:
    for ask in (db.execute, db.explain, db.cursor().execute):
        with pytest.raises(dpsql.InterfaceError, match="a sequence"):
            ask("SELECT COUNT(*) FROM patients WHERE age BETWEEN ? AND ?", given)


class Sneaky(str):
    """A text that prints as something else."""

    def __str__(self) -> str:
        return "' OR true --"


@pytest.mark.parametrize(
    "value",
    [math.nan, math.inf, Decimal("NaN"), Decimal("Infinity"), b"x", 1j, [1], {}, object(), Sneaky("x")],
    ids=lambda value: type(value).__name__ + str(value)[:8],
)
def test_what_is_no_parameter(value: Any, db: dpsql.Connection) -> None:
    with pytest.raises(dpsql.InterfaceError) as caught:
        db.execute("SELECT ?", (value,))
    assert caught.value.help


def test_another_value_is_another_question(db: dpsql.Connection) -> None:
    sql = "SELECT COUNT(*) FROM patients WHERE age > ?"
    assert [db.execute(sql, [age]).repeated for age in (20, 30, 20, 30)] == [False, False, True, True]
    assert db.execute("SELECT COUNT(*) FROM patients WHERE age > 20").repeated


# ---- other people's tools ----------------------------------------------------------------------------


def test_pandas_reads_it(db: dpsql.Connection) -> None:
    """pandas says that it has only tested SQLAlchemy and SQLite, and reads any PEP 249 connection."""
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        frame = pandas.read_sql(
            "SELECT ward, floor FROM wards WHERE floor < ? ORDER BY ward", db, params=(2,)
        )
    assert list(frame.columns) == ["ward", "floor"]
    assert frame.to_numpy().tolist() == [["A", 1], ["B", 1]]
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        frame = pandas.read_sql(BY_WARD, db)
    assert frame["ward"].tolist() == ["A", "B", "C"]
    assert frame["n"].dtype.kind == "i"
    assert len(db.purchases) == 1


def test_an_answer_is_a_data_frame_too(db: dpsql.Connection) -> None:
    answer = db.execute(BY_WARD)
    frame = answer.df()
    assert list(frame.columns) == list(answer.columns) == ["ward", "n", "age"]
    assert frame["n"].tolist() == [row[1] for row in answer]
    assert len(answer) == len(frame) == 3


def test_eight_threads_on_one_connection(db: dpsql.Connection) -> None:
    """Each asks two questions of its own and one that all ask."""
    found: dict[int, list[Any]] = {}
    start = threading.Barrier(8)

    def ask(number: int) -> None:
        start.wait()
        cursor = db.cursor()
        own = [f"SELECT COUNT(*) FROM patients WHERE age > {100 * k + number}" for k in range(2)]
        found[number] = [cursor.execute(sql).fetchall() for sql in (*own, COUNT, *own)]

    threads = [threading.Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == list(range(8))
    assert all(rows[:2] == rows[3:] for rows in found.values())
    assert len({rows[2][0] for rows in found.values()}) == 1
    assert len(db.purchases) == 17


def test_interrupting_an_idle_connection_does_nothing(db: dpsql.Connection) -> None:
    db.interrupt()
    assert db.execute(FLOORS).rows == [("A", 1), ("B", 1), ("C", 2)]


def test_defaults_lie_beside_the_database(clinic: Path) -> None:
    """``connect`` takes strings and paths; policy and ledger have the database's stem."""
    with dpsql.connect(str(clinic)) as db:
        assert db.ledger_path == clinic.with_suffix(".ledger")
        assert db.analyst is None
    with dpsql.connect(clinic, str(clinic.with_suffix(".toml")), clinic.with_name("own"), "ana") as db:
        assert (db.analyst, db.ledger_created) == ("ana", True)
        assert clinic.with_name("own").exists()


def test_a_forgotten_connection_closes_itself(clinic: Path) -> None:
    db = dpsql.connect(clinic)
    engine = db._open().engine
    del db
    with pytest.raises(dpsql.DatabaseError, match="D601"):
        engine.size("wards")
