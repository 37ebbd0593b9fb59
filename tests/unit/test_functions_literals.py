"""Constants against DuckDB: the type of a number, exact printing, text read as dates and numbers."""

from __future__ import annotations

import datetime
import math
from decimal import Decimal

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.functions import Argument, ArgumentError, shelf
from dpsql.functions.core.literals import coerce, constant, literal_fact, literal_sql, number_literal
from dpsql.functions.core.meaning import fact_of, unify
from dpsql.functions.time.calendar import civil, days, months_later
from dpsql.functions.time.date_arithmetic import interval_parts, interval_text
from dpsql.ir.column import (  # fmt: skip
    BIGINT,
    BOOLEAN,
    DATE,
    DOUBLE,
    INTEGER,
    INTERVAL,
    NULL,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    UUID,
    VARCHAR,
    Fact,
    Interval,
    Type,
    Value,
    type_named,
)
from dpsql.ir.scalar import Call, Literal


def value_and_type(sql: str) -> tuple[object, str]:
    row = duckdb.connect().execute(f"SELECT {sql}, typeof({sql})").fetchone()
    assert row is not None
    return row[0], row[1].replace(", ", ",")


@pytest.mark.parametrize(
    "text",
    ["1", "0", "128", "2147483647", "2147483648", "9223372036854775807", "9223372036854775808",
     "170141183460469231731687303715884105727", "170141183460469231731687303715884105728", "1.5", "1.0",
     "0.05", "5.",
     "1e3", "1.5e3", "1E-5", "12345678901234567890123456789012345678.5",
     "0.1234567890123456789012345678901234567",
     "0.12345678901234567890123456789012345678", "00012", "1_000", "1e308", "123456789.123456789"],
)  # fmt: skip
def test_numbers_have_duckdbs_type(text: str) -> None:
    literal = number_literal(text)
    value, found = value_and_type(text)
    assert found == literal.type.sql
    assert value == literal.value
    assert value_and_type(literal_sql(literal)) == (value, found)


@pytest.mark.parametrize("text", ["1e999", "340282366920938463463374607431768211456"])
def test_numbers_that_no_type_holds(text: str) -> None:
    with pytest.raises(ArgumentError):
        number_literal(text)


@pytest.mark.parametrize(
    ("value", "type"),
    [
        (5, "BIGINT"), (-5, "INTEGER"), (-128, "TINYINT"), (-(2**31), "INTEGER"), (-(2**63), "BIGINT"),
        (-(2**127), "HUGEINT"), (2**128 - 1, "UHUGEINT"), (0, "UTINYINT"), (Decimal("1.50"), "DECIMAL(15,2)"),
        (Decimal("-0.05"), "DECIMAL(3,2)"), (Decimal(7), "DECIMAL(5,0)"), (Decimal("1E+3"), "DECIMAL(10,1)"),
        (0.1, "DOUBLE"), (-0.0, "DOUBLE"), (5e-324, "DOUBLE"), (1.7976931348623157e308, "DOUBLE"),
        (1.0, "DOUBLE"),
        (0.5, "FLOAT"), ("", "VARCHAR"), ("it's", "VARCHAR"), ("a\0b", "VARCHAR"),
        ("\\ % é 🦆 \n", "VARCHAR"),
        (True, "BOOLEAN"), (False, "BOOLEAN"), (datetime.date(1, 1, 1), "DATE"),
        (datetime.date(9999, 12, 31), "DATE"),
        (datetime.datetime(2020, 2, 29, 13, 45, 6, 789), "TIMESTAMP"), (datetime.datetime(1, 1, 1),
        "TIMESTAMP"),
        ("hi", "ENUM('lo','hi')"), (None, "INTEGER"), (None, "VARCHAR"), (None, '"NULL"'),
    ],
)  # fmt: skip
def test_printing_is_exact(value: Value, type: str) -> None:
    found, found_type = value_and_type(literal_sql(Literal(value, type_named(type))))
    assert found_type == type
    assert found == value
    if isinstance(value, float) and isinstance(found, float):
        assert math.copysign(1, found) == math.copysign(1, value)


@given(
    st.one_of(st.text(), st.floats(allow_nan=False, allow_infinity=False), st.integers(-(2**127), 2**127 - 1))
)
def test_printing_is_exact_for_any_value(value: str | float | int) -> None:
    kinds = {str: VARCHAR, float: DOUBLE, int: type_named("HUGEINT")}
    if isinstance(value, str) and any(0xD800 <= ord(each) < 0xE000 for each in value):
        return
    literal = Literal(value, kinds[type(value)])
    assert value_and_type(literal_sql(literal)) == (value, literal.type.sql)


@pytest.mark.parametrize(
    "literal",
    [Literal(math.inf, DOUBLE), Literal(math.nan, DOUBLE), Literal(300, type_named("TINYINT")),
    Literal("x", INTEGER),
     Literal(1, VARCHAR), Literal(True, INTEGER), Literal(datetime.datetime(2020, 1, 1), DATE),
     Literal(datetime.datetime(2020, 1, 1), TIMESTAMPTZ),
     Literal(Decimal("NaN"), type_named("DECIMAL(3,1)"))],
)  # fmt: skip
def test_what_is_no_constant(literal: Literal) -> None:
    with pytest.raises(ArgumentError):
        literal_sql(literal)


TEXTS = ("1990-01-01", "2020-2-5", " 2020-02-29 ", "2021-02-29", "99-1-1", "2020-01-01 10:00:00",
"2020-01-01T10:00:00.5",
         "2020-01-01 10:00:00Z", "2020-01-01 10:00:00+02", "2020-01-01 10:30",
         "2020-1-2T7:5", "2020-01-01 7:5:3.5",
         "2020-01-01 24:00:00", "2020-01-01 10", "2020-01-01 10:00:60", "2020-01-01 10:30+05:30",
         "2020-01-01 10:00:00.1234567", "10:00:00",
         "25:00:00", "infinity",
         "epoch", "5", " 5 ", "-5", "+5", "5.5", "5.4", "1e3", "abc", "", "true", "T", "f", "0", "1", "yes",
         "99999999999", "00000000-0000-0000-0000-00000000000A", "1/2/2020", "0.005", "-0.005", "1_000",
         ".5")  # fmt: skip


@pytest.mark.parametrize(
    "type",
    [DATE, TIMESTAMP, TIMESTAMPTZ, TIME, UUID, BOOLEAN, INTEGER, BIGINT, DOUBLE, type_named("DECIMAL(9,2)"),
     type_named("FLOAT"), type_named("UTINYINT"), type_named("TIMESTAMP_S"), type_named("TIMESTAMP_NS")],
)  # fmt: skip
def test_text_is_read_as_duckdb_reads_it_or_not_at_all(type: Type) -> None:
    connection = duckdb.connect()
    connection.execute("SET TimeZone = 'America/New_York'")
    read = 0
    for text in TEXTS:
        literal = coerce(Literal(text, VARCHAR), type)
        if literal is None:
            continue
        read += 1
        same = connection.execute(
            f"SELECT {literal_sql(literal)} IS NOT DISTINCT FROM TRY_CAST(? AS {type.sql})", [text]
        ).fetchone()
        assert same == (True,), (text, literal)
    assert read


def test_numbers_and_dates_change_their_type() -> None:
    assert coerce(Literal(5, INTEGER), BIGINT) == Literal(5, BIGINT)
    assert coerce(Literal(300, INTEGER), type_named("TINYINT")) is None
    assert coerce(Literal(Decimal("1.5"), type_named("DECIMAL(2,1)")), DOUBLE) == Literal(1.5, DOUBLE)
    assert coerce(Literal(datetime.date(2020, 1, 1), DATE), TIMESTAMP) == Literal(
        datetime.datetime(2020, 1, 1), TIMESTAMP
    )
    assert coerce(Literal(None, NULL), DATE) == Literal(None, DATE)


def test_a_constant_is_a_point() -> None:
    assert literal_fact(Literal(5, INTEGER)) == Fact(INTEGER, Interval(5, 5), nullable=False)
    assert literal_fact(Literal(datetime.date(1970, 1, 2), DATE)).domain == Interval(1, 1)
    assert literal_fact(Literal(datetime.datetime(1970, 1, 1, 0, 0, 1), TIMESTAMP)).domain == Interval(
        10**6, 10**6
    )
    assert literal_fact(Literal(None, INTEGER)).nullable


def _column(type: Type) -> Argument:
    return Argument(Fact(type))


def test_unify_reads_text_as_its_neighbours() -> None:
    text = constant(Literal("1990-01-01", VARCHAR))
    _, found = unify(shelf()["="], (_column(DATE), text))
    assert found.literal == Literal(datetime.date(1990, 1, 1), DATE)
    _, low, high = unify(shelf()["between"], (_column(DATE), text, constant(Literal(None, NULL))))
    assert low.literal == Literal(datetime.date(1990, 1, 1), DATE)
    assert high.literal == Literal(None, DATE)
    assert unify(shelf()["="], (_column(VARCHAR), text))[1] is not None
    _, five = unify(shelf()["<"], (_column(INTEGER), constant(Literal("5", VARCHAR))))
    assert five.literal == Literal(5, INTEGER)


def test_unify_refuses_with_a_way_out() -> None:
    with pytest.raises(ArgumentError) as caught:
        unify(shelf()["="], (_column(DATE), _column(VARCHAR)))
    assert caught.value.code == "D205"
    assert "CAST(... AS DATE)" in caught.value.help
    with pytest.raises(ArgumentError, match="'soon' cannot be read as DATE"):
        unify(shelf()["="], (_column(DATE), constant(Literal("soon", VARCHAR))))
    with pytest.raises(ArgumentError, match="takes 2 arguments"):
        fact_of(Call("=", (Literal(1, INTEGER),), None), lambda _: Fact(DATE))


@pytest.mark.parametrize(
    ("text", "canonical"),
    [("3 months", "3 MONTH"), ("1 year 2 days", "1 YEAR 2 DAY"), ("-1 day", "-1 DAY"), ("2 weeks", "2 WEEK"),
     ("1.5 day", None), ("1 blink", None), ("", None), ("3", None), ("999999 years", None), ("2 centuries",
     "2 CENTURY")],
)  # fmt: skip
def test_interval_texts(text: str, canonical: str | None) -> None:
    assert interval_text(text) == canonical
    if canonical is not None:
        literal = Literal(canonical, INTERVAL)
        same = duckdb.connect().execute(f"SELECT {literal_sql(literal)} = INTERVAL '{text}'").fetchone()
        assert same == (True,)
        assert len(interval_parts(canonical)) == 3


@given(st.dates(), st.integers(-500, 500))
def test_calendar(day: datetime.date, months: int) -> None:
    number = day.toordinal() - 719_163
    assert civil(number) == (day.year, day.month, day.day)
    assert days(day.year, day.month, day.day) == number
    later = months_later(number, months)
    row = (
        duckdb.connect()
        .execute("SELECT datediff('day', DATE '1970-01-01', (? + to_months(?))::DATE)", [day, months])
        .fetchone()
    )
    assert row == (later,)
