"""Statements that the parser would read again and again are refused before it reads them."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from contextlib import suppress

import pytest
from sqlglot.dialects.dialect import Dialect
from sqlglot.parser import Parser
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.parsers.postgres import PostgresParser

from dpsql import Error
from dpsql.ir.source import Source
from dpsql.parse.backtracking import MOST, too_nested
from dpsql.parse.marks import marked
from dpsql.parse.parse import parse
from dpsql.server.catalogue import Catalogue
from dpsql.server.inference import inferred

STEPS = [0]


class CountingDuckDB(DuckDBParser):
    def _advance(self, times: int = 1) -> None:
        STEPS[0] += 1
        super()._advance(times)


class CountingPostgres(PostgresParser):
    def _advance(self, times: int = 1) -> None:
        STEPS[0] += 1
        super()._advance(times)


PARSERS: dict[str, type[Parser]] = {"duckdb": CountingDuckDB, "postgres": CountingPostgres}
BRACKETS = (
    ("(", ")"),
    ("[", "]"),
    (" ", ""),
    ("(1, ", ")"),
    ("(SELECT ", ")"),
    ("(x -> ", ")"),
    (" {'a': ", "}"),
)
DOUBLING = ["decimal(%)", "ARRAY[%]", "timestamp(%)", "varchar(1, %)", "STRUCT(%)", "IF [%]", "MAP {'a': %}"]


def nested(pattern: str, times: int) -> str:
    text = "1"
    for _ in range(times):
        text = pattern.replace("%", text)
    return text


def steps(dialect: str, sql: str) -> int:
    """How many tokens the parser moves over."""
    of = Dialect.get_or_raise(dialect)
    STEPS[0] = 0
    with suppress(Exception):  # the parser may raise anything; how far it came is what is counted
        PARSERS[dialect](dialect=of).parse(list(of.tokenize(sql)), sql)
    return STEPS[0]


@pytest.mark.parametrize("pattern", DOUBLING)
def test_what_doubles_is_refused(pattern: str) -> None:
    deep = f"SELECT {nested(pattern, 11)} FROM pg_class"
    assert not Catalogue("clinic", "ana", []).asks(deep)
    assert inferred(marked(deep + " LIMIT $1"), {}) == (25,)
    with pytest.raises(Error) as refused:
        parse(Source(deep), (), lambda: datetime.datetime(2026, 1, 1))
    assert refused.value.code == "D103"


@pytest.mark.parametrize("pattern", ["decimal(%)", "IF [%]"])
def test_it_would_double(pattern: str) -> None:
    """The planted error: without the check, three more take more than five times as many steps."""
    assert steps("duckdb", f"SELECT {nested(pattern, 11)}") > 5 * steps(
        "duckdb", f"SELECT {nested(pattern, 8)}"
    )


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT " + nested("ARRAY[%]", MOST),
        "SELECT CAST(x AS DECIMAL(10, 2)), DATE(TIMESTAMP(y))",
        "SELECT " + ", ".join(["decimal(1)"] * 50),
        "SELECT " + nested("if(a, %, 2)", 30),
        "SELECT 1 " + "UNION (SELECT 1 " * MOST + ")" * MOST + " UNION SELECT 1" * 50,
        "SELECT 'IF' IF IF 'x'",
    ],
)
def test_what_people_write_is_read(sql: str) -> None:
    assert too_nested(list(Dialect.get_or_raise("duckdb").tokenize(sql))) is None


def words(dialect: str) -> Iterator[str]:
    of = Dialect.get_or_raise(dialect)
    known = {*of.tokenizer_class.KEYWORDS, *PARSERS[dialect].FUNCTION_PARSERS, *PARSERS[dialect].FUNCTIONS}
    yield from sorted(
        {"", "f", *(word for word in known if word.replace("_", "").replace(" ", "").isalnum())}
    )


@pytest.mark.sweep
@pytest.mark.parametrize("dialect", PARSERS)
def test_no_other_word_of_sqlglot_doubles(dialect: str) -> None:
    of = Dialect.get_or_raise(dialect)
    found = []
    for word in words(dialect):
        for opened, closed in BRACKETS:
            for start in ("SELECT ", "SELECT 1::", "SELECT * FROM "):
                few, many = (f"{start}{nested(word + opened + '%' + closed, number)}" for number in (6, 9))
                if too_nested(list(of.tokenize(many))) is None and steps(dialect, many) > 4 * steps(
                    dialect, few
                ):
                    found.append((word, opened, start))
    assert found == []
