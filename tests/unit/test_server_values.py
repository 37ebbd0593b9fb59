"""Values as PostgreSQL's bytes and texts, both ways; ``$n``; copies."""

from __future__ import annotations

import datetime
import struct
import uuid
from contextlib import suppress
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsql.parse.marks import marked
from dpsql.server import encoding
from dpsql.server.copying import copied
from dpsql.server.encoding import kind_of
from dpsql.server.inference import inferred
from dpsql.server.parameters import BadValue, value_of
from dpsql.server.results import Column
from dpsql.server.statements import Ask, Copy

MOMENTS = st.datetimes()
THERE_AND_BACK = {
    "BOOLEAN": st.booleans(),
    "SMALLINT": st.integers(-(2**15), 2**15 - 1),
    "INTEGER": st.integers(-(2**31), 2**31 - 1),
    "BIGINT": st.integers(-(2**63), 2**63 - 1),
    "HUGEINT": st.integers(-(2**127), 2**127 - 1).map(Decimal),
    "DECIMAL(38,10)": st.decimals(
        allow_nan=False, allow_infinity=False, min_value=-(10**20), max_value=10**20, places=9
    ),
    "DOUBLE": st.floats(allow_nan=False),
    "VARCHAR": st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])),
    "DATE": st.dates(),
    "TIMESTAMP": MOMENTS,
    "TIMESTAMP WITH TIME ZONE": MOMENTS.map(lambda moment: moment.replace(tzinfo=datetime.UTC)),
    "UUID": st.uuids().map(str),
}


@pytest.mark.parametrize("sql", THERE_AND_BACK)
def test_values_come_back_as_they_went(sql: str) -> None:
    kind = kind_of(sql)

    @given(THERE_AND_BACK[sql])
    def check(value: Any) -> None:
        for how in (0, 1):
            back = value_of(kind.oid, how, kind.encode(value, how))
            assert (back, type(back)) == (value, type(value))

    check()


def test_numbers_as_postgresql_writes_them() -> None:
    """The bytes are those of numeric_send for these numbers."""
    for text, expected in {
        "12.34": "0002000000000002000c0d48",
        "-0.0001": "0001ffff400000040001",
        "10000": "00010001000000000001",
        "0": "0000000000000000",
        "0.00": "0000000000000002",
    }.items():
        assert kind_of("DECIMAL(9,4)").binary(Decimal(text)).hex() == expected
    assert kind_of("DECIMAL(9,2)").modifier == ((9 << 16) | 2) + 4
    assert kind_of("FLOAT").text(0.10000000149011612) == "0.1"
    assert [kind_of("DOUBLE").text(value) for value in (float("nan"), float("-inf"))] == ["NaN", "-Infinity"]


def test_intervals_have_one_sign() -> None:
    kind, day = kind_of("INTERVAL"), datetime.timedelta(days=1)
    assert kind.text(day * 2 + datetime.timedelta(seconds=3.5)) == "2 days 00:00:03.500000"
    assert kind.text(-day / 2) == "0 days -12:00:00"
    assert kind.binary(-day * 1.5).hex() == f"{2**64 - 43_200_000_000:016x}ffffffff00000000"


def test_unknown_types_are_text() -> None:
    for sql in ("INTEGER[]", "STRUCT(a INTEGER)", "BIT", "whatever"):
        assert kind_of(sql).oid == encoding.TEXT
    assert kind_of("DOUBLE[2]").text((1.5, None)) == "[1.5, null]"
    assert kind_of("UUID").text(uuid.UUID(int=1)).endswith("0001")


@pytest.mark.parametrize(
    ("oid", "how", "data", "state"),
    [
        (encoding.INT4, 0, b"x", "22P02"),
        (encoding.INT4, 1, b"\0", "22P02"),
        (encoding.BOOL, 0, b"maybe", "22P02"),
        (encoding.DATE, 0, b"2024-13-01", "22P02"),
        (encoding.DATE, 1, b"\x7f\xff\xff\xff", "22P02"),
        (encoding.NUMERIC, 1, b"\xff\xff", "22P02"),
        (encoding.NUMERIC, 0, b"1e", "22P02"),
        (encoding.TEXT, 0, b"\xff", "22021"),
        (encoding.TEXT, 0, b"a\0b", "22021"),
        (encoding.UUID, 1, b"short", "22P02"),
        (1007, 0, b"1,2", "22P02"),
        (encoding.BYTEA, 0, b"x", "0A000"),
    ],
)
def test_values_that_do_not_fit(oid: int, how: int, data: bytes, state: str) -> None:
    with pytest.raises(BadValue) as refused:
        value_of(oid, how, data)
    assert refused.value.state == state


@given(
    st.sampled_from([16, 17, 1007, 1009, 20, 21, 23, 25, 26, 114, 700, 701, 1082, 1114, 1184, 1700, 2950]),
    st.binary(max_size=24),
)
def test_any_bytes_are_a_value_or_none(oid: int, data: bytes) -> None:
    for how in (0, 1):
        with suppress(BadValue):  # any other error fails the test
            value_of(oid, how, data)


def test_lists_are_read_for_the_catalogue() -> None:
    assert value_of(1007, 0, b"{1,2,NULL}") == [1, 2, None]
    assert value_of(1009, 0, b'{a,"b \\"c\\", d",NULL,"NULL"}') == ["a", 'b "c", d', None, "NULL"]
    assert value_of(1009, 0, b"{}") == []
    head = struct.pack("!iiIii", 1, 1, 25, 2, 1)
    assert value_of(1009, 1, head + struct.pack("!i2si", 2, b"ab", -1)) == ["ab", None]
    assert value_of(1009, 1, struct.pack("!iiI", 0, 0, 25)) == []


# ---- $n ------------------------------------------------------------------------------------------------


def test_types_are_told_by_what_values_are_compared_with() -> None:
    tables = {"t": {"a": "INTEGER", "b": "VARCHAR", "c": "DATE", "d": "DECIMAL(9,2)"}, "u": {"a": "VARCHAR"}}
    mark = marked(
        "SELECT $9 FROM t WHERE a > $1 AND b IN ($2, 'x') AND c BETWEEN $3 AND $4 AND d < -$5 AND b LIKE $6 "
        "AND a + $7 < 3 GROUP BY b HAVING COUNT(*) > $8 LIMIT $10"
    )
    names = ("int4 text date date numeric text int4 int8 text int8".split(),)
    oids = {"int4": 23, "text": 25, "date": 1082, "numeric": 1700, "int8": 20}
    assert inferred(mark, tables) == tuple(oids[name] for name in names[0])
    assert inferred(marked("SELECT a FROM t, u WHERE a = $1"), tables) == (25,), "it may be either's"
    assert inferred(marked("SELECT $1::DOUBLE, CAST($2 AS INT), $3::TIMESTAMPTZ"), {}) == (701, 23, 1184)
    assert inferred(marked("SELECT ((( $1"), {}) == (25,), "it is refused elsewhere"


# ---- copies --------------------------------------------------------------------------------------------


def test_copies_escape_what_would_end_a_cell() -> None:
    columns = (Column("a", kind_of("VARCHAR")), Column("b", kind_of("INTEGER")))
    rows = [("x\ty\\\n", 1), (None, None), ('say "hi", you', 2), ("", 3)]
    ask = Ask("")
    assert b"".join(copied(Copy(ask), columns, rows)) == b'x\\ty\\\\\\n\t1\n\\N\t\\N\nsay "hi", you\t2\n\t3\n'
    csv = b'a,b\n"x\ty\\\n",1\n,\n"say ""hi"", you",2\n"",3\n'
    assert b"".join(copied(Copy(ask, "csv", True), columns, rows)) == csv
    data = b"".join(copied(Copy(ask, "binary"), columns, rows[1:2]))
    assert data == b"PGCOPY\n\xff\r\n\0" + bytes(8) + b"\0\2" + b"\xff" * 8 + b"\xff\xff"


def test_numbers_and_lists_of_any_length_take_no_longer_than_they_are() -> None:
    assert marked("SELECT $0010000000000, $1000000, $2").order == (2,)
    assert value_of(1009, 0, b'{a,"b c",NULL,"x\\"y"}') == ["a", "b c", None, 'x"y']
    for data in (b"{" + b"a" * 90_000 + b'"}', b"{" + b"a," * 90_000 + b"}"):
        with pytest.raises(BadValue):
            value_of(1009, 0, data)
