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
        ("SELECT SAFE_DIVIDE(SUM(x), COUNT(*)) FROM t", "SELECT (SUM(x) / NULLIF(COUNT(*), 0)) FROM t"),
        ("SELECT SAFE_DIVIDE(x + 1, y - 1) * 2 FROM t", "SELECT ((x + 1) / NULLIF(y - 1, 0)) * 2 FROM t"),
        (
            "SELECT SAFE_DIVIDE(1, SAFE_DIVIDE(x, y)) FROM t",
            "SELECT (1 / NULLIF((x / NULLIF(y, 0)), 0)) FROM t",
        ),
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
