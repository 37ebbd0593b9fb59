"""Each rule of ownership has a world that breaks the engine which forgets it.

Two kinds of proof: the rule is forgotten on purpose and the oracle sees it; or the refused query is run
by plain DuckDB with and without one unit, and moves by more than any bound on that unit's own rows.
"""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import duckdb
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.audit.neighbours import without
from dpsql.audit.oracles import sensitivity
from dpsql.bind.private import joins
from dpsql.engines import relation_sql as printing
from dpsql.engines.duckdb import DuckDB
from dpsql.facts import ownership
from dpsql.ir.measure import Measure
from dpsql.ir.plan import Shape

HERE = Path(__file__).resolve().parents[2] / "grammar_tests"
sys.path.insert(0, str(HERE))

from cases import script  # noqa: E402  # the worlds of the fixtures


@dataclass(frozen=True)
class World:
    """The adversarial world, with and without some of its units."""

    db: dpsql.Connection
    whole: DuckDB
    lacking: list[tuple[str, DuckDB]]
    paths: dict[int, Path]

    def violations(self, sql: str) -> list[str]:
        session = self.db._open()
        return sensitivity(plan_of(session, sql, 1.0), self.whole, self.lacking, session.sealed)


UNITS = (1, 3, 5, 7, 900001)
"""Ordinary; with 3,000 visits; with everybody's refunds; with NULLs; everywhere, and no patient."""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("rules")
    path = folder / "world.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute(script("world"))
    db = dpsql.connect(path, HERE / "world.toml", folder / "world.ledger")
    known = db._open().known
    db.close()
    paths, lacking = {0: folder / "plain.duckdb"}, []
    shutil.copy(path, paths[0])
    for unit in UNITS:
        paths[unit] = folder / f"plain-without-{unit}.duckdb"
        without(path, paths[unit], known, unit)
        copy = folder / f"without-{unit}.duckdb"
        shutil.copy(paths[unit], copy)
        lacking.append((str(unit), DuckDB(copy)))
    db = dpsql.connect(path, HERE / "world.toml", folder / "world.ledger")
    yield World(db, DuckDB(path), lacking, paths)
    db.close()


def scalar(path: Path, sql: str) -> float:
    with duckdb.connect(str(path), read_only=True) as connection:
        row = connection.execute(sql).fetchone()
    assert row is not None
    return float(row[0] or 0)


def test_1_a_null_unit_owns_nothing(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows of nobody are in no sum; kept, they are three more visits that no clip knows whose they are."""
    sql = "SELECT COUNT(*) FROM visits WHERE patient_id IS NULL"
    (each,) = plan_of(world.db._open(), sql, 1.0).stages[-1].measures
    assert world.whole.measure(each).sums.tolist() == [[0]]
    plain = printing._scan
    monkeypatch.setattr(printing, "_scan", lambda scan, read: plain(scan, read).partition(" WHERE ")[0])
    world.whole.forget()  # what was printed, too
    assert world.whole.measure(each).sums.tolist() != [[0]]


def test_2_units_are_equal_or_it_is_not_a_join(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Patient 5 has a refund for every order: joined on the order alone, it stands beside everybody."""
    both = "FROM sales.orders o JOIN sales.refunds r USING (order_id)"
    sql = f"SELECT OPTIONS(max_rows_contributed = 1) COUNT(*) {both}"
    assert world.violations(sql) == []
    monkeypatch.setattr(joins, "_with_equal_units", lambda *given: given[4])
    assert world.violations(sql)


def test_3_the_kept_side_of_an_outer_join_is_private(world: World) -> None:
    """Who goes everywhere takes the row of NULLs from every place where nobody else goes."""
    sql = (
        "SELECT COUNT(*) FROM places l LEFT JOIN visits v ON v.place_id = l.place_id "
        "AND v.patient_id > 900000 WHERE v.visit_id IS NULL"
    )
    with pytest.raises(dpsql.Error) as caught:
        world.db.execute(sql)
    assert caught.value.code == "D404"
    assert scalar(world.paths[900001], sql) - scalar(world.paths[0], sql) == 4


def test_4_public_rows_are_never_chosen_by_private_ones(world: World) -> None:
    """As many places are shown or not as one unit cares to visit."""
    sql = (
        "SELECT COUNT(*) FROM places l WHERE EXISTS "
        "(SELECT 1 FROM visits v WHERE v.place_id = l.place_id AND v.steps = 1)"
    )
    with pytest.raises(dpsql.Error) as caught:
        world.db.execute(sql)
    assert caught.value.code == "D405"
    assert scalar(world.paths[0], sql) - scalar(world.paths[900001], sql) == 4


def test_5_in_has_three_values(world: World) -> None:
    """One visit of patient 7 has no place: in the list, it empties NOT IN for everybody."""
    sql = (
        "SELECT COUNT(*) FROM visits WHERE place_id NOT IN (SELECT place_id FROM visits WHERE patient_id = 7)"
    )
    with pytest.raises(dpsql.Error) as caught:
        world.db.execute(sql)
    assert caught.value.code == "D255"
    assert scalar(world.paths[0], sql) == 0
    assert scalar(world.paths[7], sql) > 3_000  # patient 7 has two visits


def test_6_set_operations_compare_the_unit_too(world: World) -> None:
    """Without the unit in it, patient 3's few kinds of visits take away all others' visits of those kinds."""
    mine = "SELECT patient_id, kind FROM visits WHERE minutes > 5 EXCEPT SELECT patient_id, kind FROM visits"
    assert world.violations(f"SELECT COUNT(*) FROM ({mine} WHERE cost < 100)") == []
    apart = (
        "SELECT kind || minutes FROM visits WHERE patient_id <> 3 "
        "EXCEPT SELECT kind || minutes FROM visits WHERE patient_id = 3"
    )
    sql = f"SELECT COUNT(*) FROM ({apart})"
    with pytest.raises(dpsql.Error) as caught:
        world.db.execute(sql)
    assert caught.value.code == "D406"
    assert scalar(world.paths[3], sql) - scalar(world.paths[0], sql) >= 5  # they are not patient 3's rows


def test_7_a_subquery_is_per_unit_or_a_release(world: World) -> None:
    """The exact mean of everybody beside each row: without one unit, another third of them is above it."""
    sql = "SELECT COUNT(*) FROM visits WHERE minutes > (SELECT AVG(minutes) FROM visits)"
    plan = plan_of(world.db._open(), sql, 1.0)
    assert len(plan.stages) == 2
    assert world.violations(sql) == []


def test_8_every_grouping_set_counts(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row under ROLLUP over two keys is in three groups: bounded as if in one, it moves three."""
    sql = "SELECT sex, smoker, COUNT(*) FROM patients GROUP BY ROLLUP (sex, smoker)"
    assert world.violations(sql) == []
    monkeypatch.setattr(ownership, "_multiply_rows", lambda owned, times: owned)
    monkeypatch.setattr(Measure, "copies", property(lambda measure: 1))
    assert world.violations(sql)


def test_2_two_keys_that_agree_are_not_two_units(world: World) -> None:
    """A key joins along the unit that it determines; a key of the wrong side does not."""
    with pytest.raises(dpsql.Error) as caught:
        world.db.execute("SELECT COUNT(*) FROM visits a JOIN visits b ON a.place_id = b.place_id")
    assert caught.value.code == "D401"


@pytest.mark.parametrize(
    ("condition", "one"),
    [
        *((each, True) for each in ("n = 1", "n <= 1", "n < 2", "n IN (1)", "1 = n", "1 >= n", "2 > n")),
        *(
            (each, False)
            for each in ("n < 3", "n IN (1, 2)", "1 <= n", "2 < n", "n > 1", "n NOT IN (1)", "n = 2")
        ),
    ],
)
def test_9_the_first_row_is_one_however_it_is_said(world: World, condition: str, one: bool) -> None:
    """A row number is a whole number from 1 on; in which order the two are written changes nothing."""
    numbered = "ROW_NUMBER() OVER (PARTITION BY patient_id ORDER BY visit_id) AS n"
    sql = f"SELECT COUNT(*) FROM (SELECT patient_id, {numbered} FROM visits) WHERE {condition}"
    (each,) = plan_of(world.db._open(), sql, 1.0).measures
    assert (each.shape is Shape.ROWS) == one
    assert world.violations(sql) == []
