"""Weights of quantiles and votes: whatever is read, they are those of each unit's rows, bin by bin."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import pytest
from test_light_units import db, everything, planned_measures
from test_light_units import no_fan_out as without_fan_out

import dpsql
from dpsql.audit.oracles import plan_of
from dpsql.engines import histogram_sql, special_units
from dpsql.engines.corrected_sql import Special
from dpsql.engines.exact_tables import measured
from dpsql.engines.fast_sums import FastSums
from dpsql.engines.special_units import EVERYTHING
from dpsql.facts import light_units
from dpsql.fuzz.judges import weights_shown
from dpsql.ir.plan import MeasurePlan

__all__ = ["db"]

QUERIES = (
    "SELECT MEDIAN(cost) FROM visits",
    "SELECT MEDIAN(stars), QUANTILE(cost, 0.9) FROM visits WHERE day < 3",
    "SELECT ward, MEDIAN(cost), MIN(stars) FROM visits GROUP BY ward",
    "SELECT ward, day, MEDIAN(stars) FROM visits GROUP BY ward, day",
    "SELECT ward, MEDIAN(stars) FILTER (WHERE cost > 2) FROM visits WHERE day > 1 GROUP BY ward",
    "SELECT place, COUNT(*), MEDIAN(cost) FROM visits GROUP BY place",
    "SELECT ward, MODE(day) FROM visits GROUP BY ward",
    "SELECT MODE(ward) FROM visits WHERE day < 4",
    "SELECT tag, MEDIAN(stars) FROM visits JOIN tags USING (ward) GROUP BY tag",
    "SELECT MEDIAN(cost) FROM visits JOIN days USING (day) WHERE kind = 'work'",
    "SELECT day, MEDIAN(amount) FROM lines JOIN visits USING (visit) GROUP BY day",
    "SELECT MEDIAN(amount) FROM lines l WHERE NOT EXISTS (FROM lines WHERE visit = l.visit AND ward = 'a')",
    "SELECT ward, MEDIAN(x) FROM (SELECT ward, cost AS x FROM visits UNION ALL "
    "SELECT ward, amount FROM lines) GROUP BY ward",
    "SELECT ward, MEDIAN(stars) FROM visits WHERE person % 2 = 0 GROUP BY ward",
    "SELECT MEDIAN(CASE WHEN person < 30 THEN stars ELSE 1 END) FROM visits",
    "SELECT OPTIONS(rows_per_unit = 5) ward, MEDIAN(stars) FROM visits GROUP BY ward",
)


def measures(db: dpsql.Connection) -> Iterator[MeasurePlan]:
    return (each for each in planned_measures(db, QUERIES) if each.details)


def weights(
    db: dpsql.Connection, planned: MeasurePlan, special_of: Callable[[MeasurePlan], Special | None] | None
) -> list[dict[str, tuple[list[int], list[int]]]]:
    engine, _ = everything(db)
    table = measured(planned, engine._all, engine._arrays, special_of=special_of)
    return [weights_shown(masses) for masses in table.details]


def differ(db: dpsql.Connection, copied: float = 1, few: float = 1) -> list[MeasurePlan]:
    """Return the measures whose weights depend on what is read."""
    engine, _ = everything(db)
    fast = FastSums(engine._all, replace(EVERYTHING, copied=copied, long=copied, few=few))
    return [each for each in measures(db) if weights(db, each, fast.special) != weights(db, each, None)]


@pytest.mark.parametrize("copied", [0, 1], ids=["by their links", "copied"])
@pytest.mark.parametrize("few", [0, 1], ids=["by conditions", "of all rows"])
@pytest.mark.parametrize("cells", [0, 2**18], ids=["listed", "added up"])
def test_the_weights_are_those_of_every_unit_alone(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, copied: float, few: float, cells: int
) -> None:
    monkeypatch.setattr(histogram_sql, "CELLS", cells)
    asked: list[Special | None] = []
    special_of = FastSums.special

    def noted(self: FastSums, planned: MeasurePlan) -> Special | None:
        asked.append(special_of(self, planned))
        return asked[-1]

    monkeypatch.setattr(FastSums, "special", noted)
    assert differ(db, copied, few) == []
    assert sum(found is not None and found.units is not None for found in asked) > 8
    assert any(found is not None and found.nobody is not None for found in asked)
    assert any(found is not None and found.codes for found in asked) == bool(copied)


def test_bins_that_are_added_up_are_those_that_are_listed(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    added = [weights(db, each, None) for each in measures(db)]
    monkeypatch.setattr(histogram_sql, "CELLS", 0)
    assert added == [weights(db, each, None) for each in measures(db)]
    assert any(
        weight % 2**20 for each in added for shown in each for _, held in shown.values() for weight in held
    )


OF_FLOATS = """
[budget]
epsilon = 1000
delta = 1e-6
[unit]
table = "people"
key = "id"
[tables.people.columns]
id = {}
[tables.visits]
unit = { column = "id" }
rows_per_unit = 4
[tables.visits.columns]
score = {}
stars = { range = [0, 20] }
"""


@pytest.mark.parametrize("kind", ["DOUBLE", "FLOAT"])
def test_nan_is_one_group(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "scores.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people AS SELECT n AS id FROM range(60) AS t(n)")
        connection.execute(
            f"CREATE TABLE visits AS SELECT id, ['nan', '-0', '1.5'][1 + i % 3]::{kind} AS score, i AS stars "
            "FROM people, range(12) AS t(i) WHERE i <= id % 12"
        )
    path.with_suffix(".toml").write_text(OF_FLOATS)
    with dpsql.connect(path) as db:
        [planned] = plan_of(db._open(), "SELECT score, MEDIAN(stars) FROM visits GROUP BY 1", 1.0).measures
        found = weights(db, planned, everything(db)[1].special)
        assert found == weights(db, planned, None)
        assert found[0].keys() == {"(nan,)", "(0.0,)", "(1.5,)"}


def one_row_too_many(patch: pytest.MonkeyPatch) -> None:
    rows = light_units.most_rows
    patch.setattr(special_units, "most_rows", lambda planned: rows(planned) + 1)


def rows_of_nobody(patch: pytest.MonkeyPatch) -> None:
    special_of = FastSums.special

    def kept(self: FastSums, planned: MeasurePlan) -> Special | None:
        found = special_of(self, planned)
        return None if found is None else replace(found, nobody=None)

    patch.setattr(FastSums, "special", kept)


def rows_of_listed_groups_alone(patch: pytest.MonkeyPatch) -> None:
    """A unit's rows in groups that are on no list count, too."""
    printed = histogram_sql._Histogram._with_weights

    def listed(self: Any, rows: str, once: Sequence[str] = (), heavy: bool = False) -> tuple[str, str]:
        conditions = ["true", *(histogram_sql.inside(self.planned, self.keys) if heavy else [])]
        return printed(self, f"SELECT * FROM ({rows}) WHERE {' AND '.join(conditions)}", once, heavy)

    patch.setattr(histogram_sql._Histogram, "_with_weights", listed)


def twice_the_rows(patch: pytest.MonkeyPatch) -> None:
    counting = histogram_sql._counting
    patch.setattr(
        histogram_sql,
        "_counting",
        lambda planned, plan, binned: counting(planned, replace(plan, rows=plan.rows * 2), binned),
    )


PLANTED = (
    *(one_row_too_many, rows_of_nobody, rows_of_listed_groups_alone, without_fan_out),
    twice_the_rows,
)


@pytest.mark.parametrize("plant", PLANTED, ids=lambda plant: plant.__name__.replace("_", " "))
def test_planted_errors_are_found(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch, plant: Callable[[pytest.MonkeyPatch], None]
) -> None:
    plant(monkeypatch)
    assert differ(db, copied=0)
