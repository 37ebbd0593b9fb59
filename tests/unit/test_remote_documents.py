"""Answers, prices and calls as JSON: what is written is read again, and nothing else is."""

from __future__ import annotations

import datetime
import json
import math
import uuid
from decimal import Decimal
from typing import Any

import pytest

from dpsql.answer import Answer
from dpsql.dbapi.accounts import Account, Balance
from dpsql.errors import Error, InterfaceError, refuse
from dpsql.ir.price import Expected, Price
from dpsql.ir.source import Span
from dpsql.policy.listing import Column, Table
from dpsql.remote import calls, documents

DAY = datetime.datetime(2024, 2, 29, 8, 30, 0, 5)
VALUES = (
    *(None, True, 0, -(2**127), 0.1, -0.0, 5e-324, math.inf, -math.inf, "æ ' \\ \0 {}", "", b"\x00\xff"),
    *(Decimal("0.50"), Decimal("-1E-9"), DAY, DAY.replace(tzinfo=datetime.UTC), DAY.date(), DAY.time()),
    *(datetime.timedelta(days=-2, microseconds=5), uuid.UUID(int=7)),
    *([1, [None, "x"]], {"a": [1], "b": {"c": DAY.date()}}, {1: "x"}, (1, ("y",))),
)


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_values_are_read_as_they_were(value: object) -> None:
    read = documents.read(documents.written(value))
    assert read == value
    assert type(read) is type(value)
    assert repr(read) == repr(value)


def test_a_number_that_is_none_is_read_as_it_was() -> None:
    assert math.isnan(documents.read(documents.written(math.nan)))


def test_answers_and_lists_are_read_as_they_were() -> None:
    answer = Answer(
        *(("n", "s"), ("BIGINT", "VARCHAR"), [(1, "a"), (2, None)], [(2.5, None), (None, None)], 0.5, 1.5),
        *(True, "a note", (0,), (1,), frozenset({(1, 1), (0, 1)})),
    )
    read = documents.read(documents.written(answer))
    for name in ("columns", "types", "rows", "margins", "cost", "remaining", "repeated", "note"):
        assert getattr(read, name) == getattr(answer, name)
    assert (read.open, read.without, read.totals) == (answer.open, answer.without, answer.totals)
    price = Price(0.5, 0.0, 1.0, 1.0, True, "ab", (Expected("n", "count", 3.5, None),), steps=(0.1, 0.4))
    table = Table("t", (Column("c", "DATE", False, ("2020-01-01", "2021-01-01"), (DAY.date(),)),), "person")
    balance = Balance(1.0, 0.5, 0.5, "rdp", 1e-6, (Account("ana", 1.0, 0.5),), 0.4)
    for value in (price, table, balance):
        assert documents.read(documents.written(value)) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[" * 5_000,
        '{"date": "yesterday"}',
        '{"date": 5}',
        '{"decimal": "x"}',
        '{"Path": {"x": 1}}',
        '{"Account": {"analyst": "ana"}}',
        '{"Account": {"analyst": "ana", "granted": 1, "spent": 1, "owner": true}}',
        '{"date": "2020-01-01", "x": 1}',
        '{"bytes": "?"}',
        "{}",
    ],
)
def test_what_is_no_document_is_refused(text: str) -> None:
    with pytest.raises(InterfaceError, match="another version"):
        documents.read(text)


# ---- calls ---------------------------------------------------------------------------------------------


def called(do: str, **more: Any) -> str:
    return json.dumps({"do": do, **more})


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "null",
        "x",
        called("export", sql="SELECT 1", epsilon=None),
        called("purchases"),
        called("spending"),
        called("synthetic_rows", view="v", rows=1),
        called("__class__"),
        called("price", sql="SELECT 1"),
        called("price", sql=1, epsilon=None),
        called("price", sql="SELECT 1", epsilon="0.1"),
        called("price", sql="SELECT 1", epsilon=True),
        called("price", sql="SELECT 1", epsilon=None, analyst="bob"),
        called("execute", sql="SELECT 1", epsilon=None, anyway=1),
        called("tables", session={"analyst": None}),
        called("tables", session=[]),
        called("tables", session={"timeout": "5"}),
        called("tables", session={"timeout": math.nan}),
        called("tables", session={"timeout": -1}),
        called("price", sql="SELECT 1", epsilon=math.nan),
        called("latest_purchases", most=True),
        called("latest_purchases", most=-2),
        called("latest_purchases", most=2**63),
        '{"do": []}',
        '{"do": {}}',
    ],
)
def test_a_call_that_is_none_is_refused(text: str) -> None:
    with pytest.raises(InterfaceError, match="this call cannot be read"):
        calls.read(text)


def test_a_call_is_read_with_its_settings() -> None:
    call = calls.read(
        called("price", sql="SELECT 1", epsilon=None, session={"epsilon": 0.2, "study": None, "timeout": 3})
    )
    assert (call.do, call.epsilon, call.study, call.timeout) == ("price", 0.2, None, 3)
    assert not call.pays


# ---- refusals ------------------------------------------------------------------------------------------


def sent(error: Error, sql: str) -> Error:
    return calls.error_of(documents.read(documents.written(calls.refusal_of(error, sql))), sql)


def test_a_refusal_is_shown_as_it_was() -> None:
    sql = "SELECT nobody\nFROM patients"
    error = refuse("D202", "no such column", Span(7, 13), label="here", notes=("a", "b"), help="write age")
    error.within(sql, "query")
    assert str(sent(error, sql)) == str(error)
    assert type(sent(error, sql)) is type(error)
    wrong = InterfaceError("wrong", help="right")
    assert str(sent(wrong, sql)) == str(wrong)


def test_of_a_text_that_is_not_the_clients_only_the_excerpt_is_sent() -> None:
    view = "SELECT secret,\n" + "x" * 100 + " nobody " + "y" * 200 + " hidden\nFROM elsewhere"
    start = view.index("nobody")
    error = refuse("D202", "no such column", Span(start, start + 6), help="ask the owner")
    error.within(view, "the view seniors")
    received = sent(error, "SELECT * FROM seniors")
    assert str(received) == str(error)
    assert "nobody" in received.text
    for word in ("secret", "hidden", "elsewhere"):
        assert word not in received.text
