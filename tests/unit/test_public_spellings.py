"""A spelling that is said to make a private key public does: the query in it shows all groups."""

from __future__ import annotations

import re

import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.explain.public_spellings import spellings
from dpsql.ir.plan import PublicKeys, Threshold

KEYS = (
    "city",
    "upper(city)",
    "lower(city) || '-'",
    "income",
    "income * 2",
    "round(income, 2)",
    "score",
    "score + 1",
    "height",
    "born",
    "date_trunc('month', born)",
    "seen",
    "born + INTERVAL 1 DAY",
    "seen::TIME",
    "length(city)",
    "trunc(cost * 100)",
)
"""Private keys: without any range, in a range with many values, or computed."""


def spelled(key: str, spelling: str) -> str:
    """The query with a key in another spelling."""
    new, _, condition = spelling.rpartition("WHERE ")
    key, where = new.removesuffix(" with ") or key, f"WHERE {condition}" if condition != spelling else ""
    if not where:
        key = spelling
    return f"SELECT {key} AS k, COUNT(*) AS n FROM visits JOIN patients USING (patient_id) {where} GROUP BY k"


@pytest.mark.parametrize("key", KEYS)
def test_the_key_is_public_in_its_spelling(key: str, db: dpsql.Connection) -> None:
    (measure,) = plan_of(db._open(), spelled(key, key), 1.0).measures
    assert isinstance(measure.rule, Threshold)
    (spelling,) = spellings(measure.measure)
    (public,) = plan_of(db._open(), spelled(key, spelling), 1.0).measures
    assert isinstance(public.rule, PublicKeys), spelling
    assert 1 <= len(public.rule.groups()) <= 1_001


def test_each_private_key_has_a_spelling(db: dpsql.Connection) -> None:
    sql = "SELECT city, ward, upper(city) AS u, COUNT(*) FROM patients GROUP BY ROLLUP (city, ward, u)"
    (measure,) = plan_of(db._open(), sql, 1.0).measures
    assert spellings(measure.measure) == (
        "WHERE city IN ('...', '...')",
        "WHERE upper(city) IN ('...', '...')",
    )
    (measure,) = plan_of(db._open(), sql.replace(" GROUP", " WHERE city IN ('a', 'b') GROUP"), 1.0).measures
    assert [words for words in spellings(measure.measure) if re.match("WHERE", words)] == []


def test_lists_that_are_too_long_together_ask_for_coarser_keys(db: dpsql.Connection) -> None:
    many = "SELECT age, minutes, COUNT(*) FROM patients JOIN visits USING (patient_id) GROUP BY ALL"
    (measure,) = plan_of(db._open(), many, 1.0).measures
    assert spellings(measure.measure) == ("coarser keys: with at most 1,000 combinations of their values",)
    (measure,) = plan_of(db._open(), "SELECT DISTINCT age FROM patients", 1.0).measures
    (spelling,) = spellings(measure.measure)
    assert spelling.startswith("a COUNT(*) beside the keys")
    (measure,) = plan_of(db._open(), "SELECT age, COUNT(*) FROM patients GROUP BY age", 1.0).measures
    assert isinstance(measure.rule, PublicKeys)
