"""Released tables that a statement holds itself: their names hide no others, and few rows are sent so."""

from __future__ import annotations

import pytest

import dpsql
from dpsql.post.held_tables import MOST, Held, holding


def asked(db: dpsql.Connection, sql: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the engine is asked for a query."""
    said = list[str]()
    db.execute("SELECT COUNT(*) + 1 FROM patients")  # so that there is a process
    process = db._open().sealed._process
    assert process is not None
    monkeypatch.setattr(
        process, "_send", lambda request, send=process._send: (said.append(str(request)), send(request))
    )
    db.execute(sql)
    return said


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(*) * 2 FROM patients",
        "WITH release AS (SELECT 5 AS a) SELECT COUNT(*) + MAX(a) FROM patients, release",
        "SELECT (SELECT MAX(floor) FROM wards) + COUNT(*) FROM patients",
        "SELECT w, n FROM (SELECT ward AS w, COUNT(*) AS n FROM patients GROUP BY ward) ORDER BY n + 1",
    ],
)
def test_no_table_is_made(db: dpsql.Connection, sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    said = asked(db, sql, monkeypatch)
    assert any("MATERIALIZED" in each for each in said)
    assert "TEMP TABLE" not in said[-1]


def test_a_name_inside_the_statement_is_nearer(db: dpsql.Connection) -> None:
    sql = "WITH release AS (SELECT 5 AS a) SELECT a, (SELECT COUNT(*) FROM patients) > 3 FROM release"
    assert db.execute(sql, epsilon=20.0).rows == [(5, True)]


def test_long_texts_and_other_statements_are_not_held() -> None:
    table = Held("release", (("k", "VARCHAR"),), (["x" * 300] * MOST,))
    assert holding('SELECT "k" FROM "release"', [table]) is None
    few = Held("release", (("k", "VARCHAR"),), (["x"],))
    assert holding('SELECT "k" FROM "release"', [few]) is not None
    assert holding('WITH a AS (SELECT 1) SELECT "k" FROM "release"', [few]) is None
    assert holding("SELECT 1", []) is None
