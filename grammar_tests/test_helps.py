"""A refusal's help, done as it says with the query's own columns, is answered and means what was asked.

    SELECT AVG(score) FROM patients              D301, help: bound it: AVG(x CLAMPED BETWEEN 0 AND 500)
    SELECT AVG(score CLAMPED BETWEEN -10 AND 10) FROM patients

The limits are the narrowest of a few that leave plain DuckDB's answer as it is: without noise, ours to the
query that the help makes is then DuckDB's to the query that was refused.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal

import duckdb
import pytest
from cases import Case, all_cases
from worlds import Worlds

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.oracles import coarseness, meaning, without_noise
from dpsql.parse.other_aggregates import INSTEAD

REFUSED = [
    case for case in all_cases() if case.code in ("D301", "D302", "D305") and "OPTIONS" not in case.sql
]
LIMITS = (1, 10, 1_000, 100_000, 10_000_000)
_BOUNDS = "x CLAMPED BETWEEN 0 AND 500"
_DAYS = re.compile(r"CASE WHEN x IS NOT NULL THEN .*? END")


def ids(case: Case) -> str:
    return case.id


def replaced(sql: str, error: dpsql.Error, bounded: str) -> str:
    """The query with the argument that the caret shows written another way."""
    assert error.start is not None
    assert error.end is not None
    argument = sql[error.start : error.end]
    inside = re.sub(r"\bx\b", lambda _: argument, bounded)
    return f"{sql[: error.start]}{inside}{sql[error.end :]}"


def helped(db: dpsql.Connection, sql: str, limit: int) -> tuple[str, str] | None:
    """The query as its helps want it, until there is none any more; and as plain DuckDB reads that.

    None where a help is no form to write but a thing to know.
    """
    ours = plain = sql
    for _ in range(4):
        try:
            db.explain(ours)
        except dpsql.Error as refused:
            error = refused
        else:
            return ours, plain
        if said := re.search(r"OPTIONS\(.*?\)", error.help):
            ours = ours.replace("SELECT", f"SELECT {said[0]}", 1)
        elif days := _DAYS.search(error.help):
            ours = plain = replaced(ours, error, days[0])
        elif _BOUNDS in error.help:
            assert ours == plain, "each has one unbounded argument"
            guarded = f"CASE WHEN x IS NOT NULL THEN LEAST(GREATEST(x, {-limit}), {limit}) END"
            plain = replaced(plain, error, guarded)
            ours = replaced(ours, error, f"x CLAMPED BETWEEN {-limit} AND {limit}")
        else:
            return None
    pytest.fail(f"still refused: {ours}")


def answered(worlds: Worlds, sql: str) -> list[tuple[object, ...]] | None:
    """What plain DuckDB answers; nothing where it fails, or where a number is not finite."""
    try:
        rows = worlds.plain.execute(sql).fetchall()
    except duckdb.Error:
        return None
    numbers = [value for row in rows for value in row if isinstance(value, float | Decimal)]
    return rows if all(math.isfinite(number) for number in numbers) else None


def compared(case: Case, worlds: Worlds) -> str:
    """Do what the help says and hold it against plain DuckDB; tells with what it was compared."""
    db = worlds.connections["calm", case.policy.name]
    asked, found = answered(worlds, case.sql), None
    for limit in LIMITS:
        found = helped(db, case.sql, limit)
        if found is None:
            return "no form"
        if asked is not None and answered(worlds, found[1]) == asked:
            break
    assert found is not None
    ours, plain = found
    expected = answered(worlds, plain)
    answer, plan = without_noise(db, ours, 1.0), plan_of(db._open(), ours, 1.0)
    if expected is None:
        return f"DuckDB fails: {plain}"
    assert meaning(answer, expected, coarseness(plan) * 300, True) == []
    return "what was asked" if expected == asked else "clamped"


@pytest.mark.parametrize("case", REFUSED, ids=ids)
def test_what_a_help_says_means_what_was_asked(case: Case, worlds: Worlds) -> None:
    print(case.id, compared(case, worlds))
