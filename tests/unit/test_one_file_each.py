"""What is added in one file works in every place that asks for it: an aggregate."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql import aggregates
from dpsql.audit import measure, plan_of
from dpsql.audit.oracles import coarseness, meaning, without_noise

SEM = '''
"""SEM: the standard error of the mean."""

import numpy as np

from dpsql.aggregates import OFF, Need, Rule, shelf


class StandardError(Rule):
    name = "sem"
    needs = (Need.ROWS, Need.TOTAL, Need.SQUARE)
    leaves_out_null = True

    def result(self, argument, rows, *others):
        return shelf()["stddev_pop"].result(argument, rows)

    def per_unit(self, argument, fact, over="", *others):
        deviation = shelf()["stddev_pop"].per_unit(argument, fact, over)
        return f"({deviation} / sqrt(nullif(count({argument}){over}, 0)))"

    def estimate(self, sums):
        deviation = shelf()["stddev_pop"].estimate(sums)
        return deviation / np.sqrt(np.maximum(sums.rows, 1))

    def grain(self, first, second):
        return first * OFF


RULES = (StandardError(),)
'''


@pytest.fixture
def sem(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A file beside those of the shelf."""
    (tmp_path / "shelf").mkdir()
    (tmp_path / "shelf" / "standard_error.py").write_text(SEM)
    caches = (aggregates.shelf, aggregates.by_name, aggregates.by_node)
    monkeypatch.setattr(aggregates, "__path__", [*aggregates.__path__, str(tmp_path / "shelf")])
    for cache in caches:
        cache.cache_clear()
    yield
    sys.modules.pop("dpsql.aggregates.standard_error", None)
    monkeypatch.undo()
    for cache in caches:
        cache.cache_clear()


QUERIES = (
    "SELECT SEM(age), COUNT(*) FROM patients",
    "SELECT ward, SEM(age) FROM patients GROUP BY ward ORDER BY ward",
    "SELECT SEM(CASE WHEN smoker THEN age END) FROM patients",
    "SELECT AVG(e) FROM (SELECT patient_id, SEM(minutes) AS e FROM visits GROUP BY patient_id)",
)


def test_an_aggregate_is_one_file(db: dpsql.Connection, clinic: Path, sem: None) -> None:
    """Parsed, bound, filtered, planned, noised, explained; as DuckDB has it without noise."""
    session = db._open()
    for sql in QUERIES:
        plan = plan_of(session, sql, 1.0)
        with duckdb.connect(str(clinic), read_only=True) as plain:
            theirs = plain.execute(sql).fetchall()
        assert meaning(without_noise(db, sql, 1.0), theirs, coarseness(plan) * 300 + 1e-3, True) == []
        answer = db.execute(sql, epsilon=20.0)
        assert all(row[-1] is None or math.isfinite(row[-1]) for row in answer)  # NULL where nobody is left
    answer = db.execute(QUERIES[0], epsilon=1.0)
    assert answer.margins[0][0] is not None
    assert answer.columns[0] == "sem(age)"
    assert "sem" in str(db.explain(QUERIES[0]))
    assert {each.aggregate for each in db.price(QUERIES[0]).expected} == {"sem", "count"}
    assert measure(db, QUERIES[0], 1.0)
    assert db.execute("SELECT SEM(score CLAMPED BETWEEN 0 AND 10) FROM patients").margins[0][0] is not None
    with pytest.raises(dpsql.Error, match="inside an aggregate"):
        db.execute("SELECT SEM(SUM(age)) FROM patients")


def test_without_its_file_it_is_refused(db: dpsql.Connection) -> None:
    with pytest.raises(dpsql.Error, match="SEM is not answered"):
        db.execute(QUERIES[0])
