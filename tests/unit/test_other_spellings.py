"""Two spellings of one thing are one statement for whatever reads it after the parser."""

from __future__ import annotations

import datetime

import pytest
from sqlglot import exp

from dpsql.ir.source import Source
from dpsql.parse.parse import parse


def tree(sql: str) -> exp.Expr:
    return parse(Source(sql), (), lambda: datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)).tree


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("SELECT mode() WITHIN GROUP (ORDER BY x) FROM t", "SELECT MODE(x) FROM t"),
        ("SELECT x FROM t WHERE x = ANY([1, 2])", "SELECT x FROM t WHERE x IN (1, 2)"),
        ("SELECT x FROM t WHERE x = some(ARRAY[1, y])", "SELECT x FROM t WHERE x IN (1, y)"),
        ("SELECT x FROM t WHERE y OR x <> All([1])", "SELECT x FROM t WHERE y OR NOT x IN (1)"),
    ],
)
def test_both_are_one_tree(one: str, other: str) -> None:
    assert tree(one) == tree(other)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT x FROM t WHERE x <> ANY([1, 2])",
        "SELECT x FROM t WHERE x > ANY([1, 2])",
        "SELECT x FROM t WHERE x = ANY(y)",
        "SELECT x FROM t WHERE x = ANY([])",
    ],
)
def test_what_means_something_else_is_left(sql: str) -> None:
    assert tree(sql).find(exp.In) is None
