"""Outputs without an alias have the names that DuckDB gives them; calls of ours have theirs."""

from __future__ import annotations

import duckdb
import pytest
import sqlglot

from dpsql.bind.syntax.output_names import output_name
from dpsql.parse.samples import take_samples


def name_of(sql: str) -> str:
    tree = take_samples(sqlglot.parse_one(f"SELECT {sql} FROM t", dialect="duckdb"))
    return output_name(tree.expressions[0])


@pytest.mark.parametrize(
    "sql",
    [
        "COUNT(*) / 2",
        "sum(a * b)",
        "a <> b",
        "coalesce(a, 1)",
        "SUM(a) FILTER (WHERE b > 1)",
        "'a'",
    ],
)
def test_names_are_duckdbs(sql: str) -> None:
    rows = duckdb.sql(f"SELECT {sql} FROM (SELECT 1 AS a, 2 AS b) AS t")
    assert [name_of(sql)] == rows.columns


def test_a_call_of_ours_has_its_own_name() -> None:
    assert name_of("DP_SAMPLE(kurtosis(a), -3, 30)") == "dp_sample(kurtosis(a), -3, 30)"
