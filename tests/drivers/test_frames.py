"""pandas and polars read through a connection, a cursor and an engine: once each, and pay once."""

from __future__ import annotations

import datetime
import warnings
from collections.abc import Iterator
from decimal import Decimal

import numpy
import pandas
import polars
import pytest
import sqlalchemy as sa

import dpsql

BY_WARD = "SELECT ward, COUNT(*) AS n, AVG(age) AS age FROM patients GROUP BY ward ORDER BY ward"
BIG = "SELECT ward FROM wards WHERE beds > ? ORDER BY ward"
WARDS = ["Cardiology", "Emergency", "Geriatrics", "Maternity", "Oncology", "Pediatrics"]


@pytest.fixture
def engine(url: str) -> Iterator[sa.Engine]:
    made = sa.create_engine(url)
    yield made
    made.dispose()


# ---- pandas ------------------------------------------------------------------------------------------


def test_pandas_through_an_engine(engine: sa.Engine, db: dpsql.Connection) -> None:
    frame = pandas.read_sql(BY_WARD, engine)
    assert frame["ward"].tolist() == WARDS
    assert (frame["n"].dtype.kind, frame["age"].dtype.kind) == ("i", "f")
    assert abs(frame["n"].sum() - 20_000) < 30
    assert len(db.purchases) == 1
    with engine.connect().execution_options(epsilon=0.5) as connection:
        query = sa.text("SELECT COUNT(*) AS n FROM patients WHERE age > :least")
        assert len(pandas.read_sql(query, connection, params={"least": 40})) == 1
    assert db.purchases[-1].epsilon == 0.5


def test_a_fit_is_a_frame(engine: sa.Engine) -> None:
    fit = "SELECT * FROM DP_LOGISTIC((SELECT OPTIONS(steps = 4) age > 60 AS old, sex FROM patients))"
    frame = pandas.read_sql(fit, engine)
    assert frame["term"].tolist()[0] == "(intercept)"
    assert frame.columns.tolist() == ["term", "coefficient", "std_error", "low", "high", "margin"]
    assert frame["coefficient"].between(frame["low"], frame["high"]).all()


def test_values_of_frames_are_parameters(db: dpsql.Connection) -> None:
    """What a frame holds is Python's own value: it costs nothing to ask the same with that."""
    beds = pandas.DataFrame({"beds": [40, 54]})["beds"]
    assert db.execute(BIG, [beds.max()]).fetchall() == [("Geriatrics",)]
    assert db.execute(BIG, beds.to_numpy()[:1]).fetchall() == db.execute(BIG, (40,)).rows
    asked = "SELECT COUNT(*) FROM visits WHERE day >= ?"
    for day in (
        pandas.Timestamp("2024-03-01"),
        pandas.Timestamp("2024-03-01").to_datetime64(),
        datetime.datetime(2024, 3, 1),
    ):
        answer = db.execute(asked, [day], epsilon=0.1)
    assert answer.cost == 0.0
    assert len(db.purchases) == 1
    for odd in (pandas.NaT, [1, 2], numpy.float64("nan"), numpy.timedelta64(1, "D")):
        with pytest.raises(dpsql.InterfaceError, match="a parameter cannot be"):
            db.execute(asked, [odd])


def test_pandas_reads_public_tables_whole(engine: sa.Engine) -> None:
    assert pandas.read_sql_table("wards", engine, index_col="ward").index.tolist() == WARDS
    assert pandas.read_sql("wards", engine)["beds"].sum() == 231
    assert pandas.read_sql_query(BIG, engine, params=(40,))["ward"].tolist() == ["Cardiology", "Geriatrics"]


def test_pandas_in_chunks_asks_once(engine: sa.Engine, db: dpsql.Connection) -> None:
    chunks = list(pandas.read_sql(BY_WARD, engine, chunksize=4))
    assert [len(each) for each in chunks] == [4, 2]
    assert pandas.concat(chunks)["ward"].tolist() == WARDS
    assert len(db.purchases) == 1


def test_pandas_through_a_plain_connection(db: dpsql.Connection) -> None:
    """pandas says that it has only tested SQLAlchemy and SQLite, and reads any PEP 249 connection."""
    with pytest.warns(UserWarning, match="SQLAlchemy"):
        frame = pandas.read_sql(BIG, db, params=(40,))
    assert frame["ward"].tolist() == ["Cardiology", "Geriatrics"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(Exception, match="D402") as refusal:
            pandas.read_sql("SELECT age FROM patients", db)
    assert "help: aggregate them" in str(refusal.value)


def test_pandas_types(engine: sa.Engine) -> None:
    frame = pandas.read_sql("SELECT * FROM kinds", engine, index_col="n", coerce_float=False)
    assert frame.loc[1, "money"] == Decimal("12.34")
    assert frame.loc[1, "wide"] == 2**127 - 1
    assert frame.loc[1, "moment"] == pandas.Timestamp("2024-02-29 08:30:00")
    assert frame.loc[2].isna().all()


def test_pandas_does_not_write(engine: sa.Engine) -> None:
    with pytest.raises(sa.exc.ProgrammingError, match="D104"):
        pandas.DataFrame({"a": [1]}).to_sql("new", engine)
    with pytest.raises(Exception, match="D402"):  # pandas wraps it from 3.0 on
        pandas.read_sql("patients", engine)


def test_frames_of_no_rows_are_free(engine: sa.Engine, db: dpsql.Connection) -> None:
    """Columns, as tools ask for them before they ask for rows."""
    rows = "SELECT * FROM patients WHERE 1=0"
    groups = f"SELECT * FROM ({BY_WARD}) AS q LIMIT 0"
    for made in (pandas.read_sql(rows, engine), pandas.read_sql("SELECT * FROM patients LIMIT 0", engine)):
        assert (list(made.columns)[:3], len(made)) == (["patient_id", "age", "sex"], 0)
    assert list(pandas.read_sql(groups, engine).columns) == ["ward", "n", "age"]
    assert polars.read_database(groups, db).schema == {
        "ward": polars.String,
        "n": polars.Int64,
        "age": polars.Float64,
    }
    assert polars.read_database(rows, db).height == 0
    assert db.purchases == ()


# ---- polars ------------------------------------------------------------------------------------------


def test_polars_through_a_connection(db: dpsql.Connection) -> None:
    frame = polars.read_database(BY_WARD, db)
    assert frame.schema == {"ward": polars.String, "n": polars.Int64, "age": polars.Float64}
    assert frame["ward"].to_list() == WARDS
    assert polars.read_database(BIG, db, execute_options={"parameters": (40,)})["ward"].to_list() == [
        "Cardiology",
        "Geriatrics",
    ]
    assert len(db.purchases) == 1


def test_polars_through_a_cursor_and_an_engine(db: dpsql.Connection, engine: sa.Engine) -> None:
    of_cursor = polars.read_database(BY_WARD, db.cursor())
    of_engine = polars.read_database(BY_WARD, engine)
    assert of_cursor.equals(of_engine)
    batches = polars.read_database(BY_WARD, engine, iter_batches=True, batch_size=4)
    assert [len(each) for each in batches] == [4, 2]
    assert len(db.purchases) == 1


def test_polars_types(db: dpsql.Connection) -> None:
    """By the type codes, so that a column of NULLs has its type as well."""
    sql = "SELECT word, number, day, moment, yes, span FROM kinds WHERE n = ?"
    full, empty = (polars.read_database(sql, db, execute_options={"parameters": (n,)}) for n in (1, 2))
    assert full.schema == empty.schema
    assert full.row(0) == (
        "æ",
        0.1,
        datetime.date(2024, 2, 29),
        datetime.datetime(2024, 2, 29, 8, 30),
        True,
        datetime.timedelta(days=3),
    )
    assert empty.row(0) == (None,) * 6


# ---- a cursor's own ----------------------------------------------------------------------------------


def test_a_cursors_answer_as_frames(db: dpsql.Connection) -> None:
    """Whole, whatever was fetched before."""
    cursor = db.cursor()
    with pytest.raises(dpsql.InterfaceError, match="no answer"):
        cursor.df()
    cursor.execute(BY_WARD)
    assert cursor.answer is not None
    cursor.fetchmany(4)
    assert cursor.df().equals(cursor.answer.df())
    assert cursor.df()["ward"].tolist() == WARDS
    assert cursor.pl().equals(cursor.answer.pl())
    assert cursor.pl(margins=True).width > cursor.pl().width
    assert cursor.fetchnumpy()["ward"].tolist() == WARDS
    assert len(cursor.fetchall()) == 2


def test_a_cursors_answer_as_an_arrow_table(db: dpsql.Connection) -> None:
    pytest.importorskip("pyarrow")
    table = db.cursor().execute(BY_WARD).arrow()
    assert (table.num_rows, table.column_names) == (6, ["ward", "n", "age"])
