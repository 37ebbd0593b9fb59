"""Private holdouts: a public number while the private mean is near, else that mean with noise; one price."""

from __future__ import annotations

import itertools
import math
import multiprocessing
import os
import random
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

import dpsql
from dpsql.accounting import accountant
from dpsql.ir.alert import Distance
from dpsql.ir.event import AlertEvent, LaplaceEvent
from dpsql.ir.source import Source
from dpsql.ir.table import ExactTable
from dpsql.mechanisms import above_threshold
from dpsql.mechanisms.holdout import beyond, moves
from dpsql.planning import prepared
from dpsql.release.holdout import noisy_distance

POLICY = """
[budget]
epsilon = 50.0
{delta}accountant = "{accountant}"
[query]
epsilon = 0.5
max_epsilon = 40.0
[analysts.ana]
epsilon = 45.0
[analysts.bo]
epsilon = 45.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
smoker = {{}}
age = {{ range = [0, 100] }}
[tables.visits]
unit = {{ column = "id" }}
rows_per_unit = 3
[tables.visits.columns]
id = {{}}
x = {{ range = [0, 1] }}
"""
DATA = """
CREATE TABLE people AS SELECT i AS id, i % 5 = 0 AS smoker, i % 100 AS age FROM range(4000) AS t(i);
ALTER TABLE people ADD PRIMARY KEY (id);
CREATE TABLE visits AS SELECT i % 400 AS id, (i % 7) / 7 AS x FROM range(2000) AS t(i);
"""
CREATE = "CREATE PRIVATE HOLDOUT h WITH (epsilon = 8, times = 2, tolerance = 0.04)"
ASK = "SELECT DP_HOLDOUT('h', {}, AVG(CAST(smoker AS INTEGER))) AS m FROM people"
"""The mean is .2 of 4,000 rows. With .2 the number compared is -160, with .9 it is 2,640, with noise of scale
1 and 2: past 0 once in e^70. Under rdp and zcdp scales are up to ten times that."""


def _connection(folder: Path, kind: str = "pure", analyst: str | None = None) -> dpsql.Connection:
    if not (folder / "d.duckdb").exists():
        with duckdb.connect(str(folder / "d.duckdb")) as connection:
            connection.execute(DATA)
        delta = "delta = 1e-6\n" if accountant(kind).has_delta else ""
        (folder / "d.toml").write_text(POLICY.format(accountant=kind, delta=delta))
    return dpsql.connect(folder / "d.duckdb", analyst=analyst)


@pytest.fixture
def db(tmp_path: Path) -> Iterator[dpsql.Connection]:
    with _connection(tmp_path) as connection:
        yield connection


# ---- how far a unit moves what is compared -------------------------------------------------------------


def _sums(rows: list[tuple[int, int]]) -> tuple[int, int]:
    return sum(rest for rest, _ in rows), sum(value for _, value in rows)


def _worst(distance: Distance, clip: int, found: Any = beyond) -> Fraction:
    """Return the most that one unit of any values moved the number, of all small worlds."""
    values, worst = range(distance.most + 1), Fraction(0)
    units = [(distance.most - v, v) for v in values]
    several = [_sums(list(pair)) for pair in itertools.product(units, repeat=clip // distance.most)]
    for others in [(0, 0), (0, 12), (12, 0), (3, 9), (7, 5), (50, 2)]:
        for rest, value in several:
            moved = found(others[0] + rest, others[1] + value, distance) - found(*others, distance)
            worst = max(worst, abs(moved))
    return worst


@pytest.mark.parametrize("public", ["0", "3/10", "1/2", "1", "-1/4", "3/2"])
@pytest.mark.parametrize("rows", [1, 2])
def test_a_unit_moves_the_distance_by_at_most_what_is_said(public: str, rows: int) -> None:
    """All units of 4 steps a row; the bound is reached where a unit takes back what others moved."""
    distance = Distance(Fraction(public), Fraction(0), Fraction(1), 4, Fraction(1, 25))
    worst = _worst(distance, rows * 4)
    assert worst <= moves(distance, rows * 4)
    assert (worst == moves(distance, rows * 4)) == (public in ("3/10", "1/2"))


def test_planted_distances_move_more() -> None:
    """Twice the distance, and a mean instead of a sum's distance from the rows of two, are found."""
    distance = Distance(Fraction(1, 2), Fraction(0), Fraction(1), 4, Fraction(1, 25))
    for planted in (
        lambda rest, value, d: 2 * beyond(rest, value, d),
        lambda rest, value, d: beyond(rest, value, d) - (rest + value) / Fraction(d.most),
    ):
        assert _worst(distance, 4, planted) > moves(distance, 4)


def test_it_is_the_distance_of_the_mean() -> None:
    generator = random.Random(3)
    for _ in range(100):
        xs = [Fraction(generator.randrange(-8, 9), 8) for _ in range(generator.randrange(30))]
        public = Fraction(generator.randrange(-8, 9), 8)
        distance = Distance(public, Fraction(-1), Fraction(1), 16, Fraction(1, 25))
        sums = _sums([(16 - int((x + 1) * 8), int((x + 1) * 8)) for x in xs])
        assert beyond(*sums, distance) == abs(sum(x - public for x in xs)) - Fraction(1, 25) * len(xs)


def _question(db: dpsql.Connection, sql: str) -> Any:
    return prepared(db._open(), Source(sql), (), None).plan


def test_scales_are_those_of_numbers_that_move_both_ways(db: dpsql.Connection) -> None:
    """D is 1.04: thresholds 2 D / epsilon, distances 4 D / epsilon, and the two sums 1 / epsilon rows."""
    db.execute(CREATE)
    plan = _question(db, ASK.format(0.31))
    alert, question = plan.alert, plan.question
    (measure,) = question.number.measures
    per_row = measure.measure.statistics[1].most
    assert alert.scale * alert.step == pytest.approx(2 * 1.04 / alert.epsilon0, rel=1e-4)
    assert question.compared.scale * question.step == pytest.approx(4 * 1.04 / alert.epsilon0, rel=1e-4)
    assert measure.noise.scale / per_row == pytest.approx(1 / alert.epsilon1, rel=1e-9)
    assert measure.bound == (measure.noise.norm, per_row)


def test_the_noise_is_added_to_the_distance(db: dpsql.Connection) -> None:
    db.execute(CREATE)
    question = _question(db, ASK.format(0.31)).question
    per_row = question.distance.most
    exact = ExactTable([()], np.array([[80 * per_row, 20 * per_row]], np.int64))
    steps = noisy_distance(exact, question, lambda noise, size: np.array([5]))
    assert steps == math.floor((Fraction(11) - 4) / question.step) + 5
    empty = ExactTable([], np.zeros((0, 2), np.int64))
    assert noisy_distance(empty, question, lambda noise, size: np.array([-2])) == -2


# ---- the price -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["pure", "zcdp", "rdp"])
def test_all_is_paid_when_it_is_created(tmp_path: Path, kind: str) -> None:
    with _connection(tmp_path, kind) as db:
        answer = db.execute(CREATE)
        assert answer.columns == ("private holdout", "tolerance", "status")
        assert answer.rows == [("h", 0.04, "bought")]
        assert answer.cost == 8
        spent = db.budget.spent
        assert 7.5 < spent <= 8 + 1e-9
        plan = _question(db, ASK.format(0.2))
        assert [type(event) for event in plan.events] == [AlertEvent] * 2 + [LaplaceEvent] * 2
        (paid,) = {event for event in plan.events if isinstance(event, LaplaceEvent)}
        (measure,) = plan.question.number.measures
        event = measure.noise.event
        assert Fraction(event.sensitivity) / Fraction(event.scale) <= 1 / Fraction(paid.scale)
        for public in (0.2, 0.9, 0.21, 0.8):
            db.execute(ASK.format(public))
        assert db.budget.spent == spent
    if kind == "pure":
        epsilons = (plan.alert.epsilon0, plan.alert.epsilon1)
        assert epsilons == pytest.approx((2, 2))


# ---- what it answers -----------------------------------------------------------------------------------


def test_public_while_near_and_a_noisy_mean_else(db: dpsql.Connection) -> None:
    db.execute(CREATE)
    near = db.execute(ASK.format(0.2))
    assert (near.columns, near.rows, near.margins, near.cost) == (("m",), [(0.2,)], [(None,)], 0.0)
    far = db.execute(ASK.format(0.9))
    ((mean,),), ((margin,),) = far.rows, far.margins
    assert mean == pytest.approx(0.2, abs=0.02)
    assert mean not in (0.2, 0.9)
    assert margin is not None
    assert 0 < margin < 0.01
    assert "may answer with a private mean once more" in far.note
    again = db.execute(ASK.format(0.9))
    assert (again.rows, again.repeated, again.cost) == (far.rows, True, 0.0)
    assert db.stored(ASK.format(0.9)).rows == far.rows
    assert db.execute(ASK.format(0.2)).rows == [(0.2,)]
    db.execute(ASK.format(0.8))
    with pytest.raises(
        dpsql.OperationalError, match="h has ended: its last mean was paid for 2 times"
    ) as refused:
        db.execute(ASK.format(0.19))
    assert refused.value.code == "D515"
    assert db.execute(ASK.format(0.9)).rows == far.rows
    assert db.execute(ASK.format(0.2)).rows == [(0.2,)]


def test_several_rows_and_conditions(db: dpsql.Connection) -> None:
    db.execute("CREATE PRIVATE HOLDOUT v WITH (epsilon = 20, max_rows = 3, tolerance = 0.1)")
    assert db.execute("SELECT DP_HOLDOUT('v', 0.43, AVG(x)) FROM visits").rows == [(0.43,)]
    ((mean,),) = db.execute("SELECT DP_HOLDOUT('v', 0, AVG(x)) FROM visits WHERE x > 0.5").rows
    assert mean == pytest.approx(5 / 7, abs=0.1)


def test_ages_need_an_upper(db: dpsql.Connection) -> None:
    db.execute("CREATE PRIVATE HOLDOUT a WITH (epsilon = 8, upper = 60, tolerance = 3)")
    assert db.execute("SELECT DP_HOLDOUT('a', 50, AVG(age)) FROM people").rows == [(50.0,)]
    with pytest.raises(dpsql.Error, match="may move by more than a allows"):
        db.execute("SELECT DP_HOLDOUT('a', 20, AVG(age)) FROM people")


def test_a_kill_after_the_outcome_costs_no_mean(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The outcome is stored, the mean is not: it is drawn when the question is asked again."""
    db.execute(CREATE)

    def killed(*arguments: Any, **named: Any) -> Any:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("dpsql.alerts.holdouts.release", killed)
        with pytest.raises(KeyboardInterrupt):
            db.execute(ASK.format(0.9))
    assert db.stored(ASK.format(0.9)) is None
    shown = db.execute(ASK.format(0.9))
    assert shown.rows[0][0] == pytest.approx(0.2, abs=0.02)
    assert shown.cost == 0.0
    assert "once more" in shown.note
    assert db.execute(ASK.format(0.9)).rows == shown.rows


def test_the_first_mean_that_is_stored_is_everybodys(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another process stores its mean while this one draws: this one's is not shown."""
    from dpsql.alerts import holdouts

    db.execute(CREATE)
    own = holdouts.release
    first: list[Any] = []

    def late(exact: Any, measure: Any, draw: Any) -> Any:
        table = own(exact, measure, draw)
        if not first:
            first.append(None)
            first[0] = db.execute(ASK.format(0.9)).rows
        return table

    monkeypatch.setattr(holdouts, "release", late)
    assert db.execute(ASK.format(0.9)).rows == first[0]


def _ask(path: str, place: int, public: float) -> list[Any]:
    with dpsql.connect(path) as db:
        try:
            return [place, db.execute(ASK.format(public)).rows]
        except dpsql.OperationalError as error:
            return [place, error.code]


@pytest.mark.sweep
def test_many_processes_share_one_holdout(tmp_path: Path) -> None:
    """64 processes ask 8 far means of a holdout that has two: two are answered, each to all alike."""
    with _connection(tmp_path) as db:
        db.execute(CREATE)
    publics = [round(0.6 + 0.05 * (place % 8), 2) for place in range(64)]
    with multiprocessing.get_context("fork").Pool(8) as pool:
        asked = [(str(tmp_path / "d.duckdb"), *pair) for pair in enumerate(publics)]
        found = pool.starmap(_ask, asked)
    answered = {(publics[place], str(said)) for place, said in found if said != "D515"}
    assert len(answered) == 2
    assert len({public for public, _ in answered}) == 2


def test_a_kill_nine_leaves_the_outcome(tmp_path: Path) -> None:
    _connection(tmp_path).close()
    child = os.fork()
    if not child:
        try:
            import dpsql.alerts.holdouts as module

            with dpsql.connect(tmp_path / "d.duckdb") as db:
                db.execute(CREATE)
                module.release = lambda *each: os.kill(os.getpid(), 9)  # type: ignore[assignment, return-value]  # ends the process
                db.execute(ASK.format(0.9))
        finally:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 9
    with _connection(tmp_path) as db:
        spent = db.budget.spent
        assert db.execute(ASK.format(0.9)).rows[0][0] == pytest.approx(0.2, abs=0.02)
        assert db.execute(ASK.format(0.8)).rows[0][0] == pytest.approx(0.2, abs=0.02)
        with pytest.raises(dpsql.OperationalError, match="has ended"):
            db.execute(ASK.format(0.7))
        assert db.budget.spent == spent


def test_names_and_access(tmp_path: Path) -> None:
    with _connection(tmp_path, analyst="ana") as ana, _connection(tmp_path, analyst="bo") as bo:
        ana.execute(CREATE)
        assert ana.execute(CREATE).rows == [("h", 0.04, "bought before")]
        with pytest.raises(dpsql.Error, match="there is no private holdout h"):
            bo.execute(ASK.format(0.2))
        ana.execute("GRANT SELECT ON PRIVATE HOLDOUT h TO bo")
        assert bo.execute(ASK.format(0.2)).rows == [(0.2,)]
        assert ana.execute("DROP PRIVATE HOLDOUT h").rows == [("h", "dropped")]
        with pytest.raises(dpsql.Error, match="there is no private holdout h"):
            ana.execute(ASK.format(0.2))


def test_it_is_explained(db: dpsql.Connection) -> None:
    lines = str(db.explain(CREATE))
    assert "holdout   h answers a public number while the private mean is within 0.04 of it" in lines
    assert "epsilon 2 for each mean" in lines
    db.execute(CREATE)
    assert "released where it is far" in str(db.explain(ASK.format(0.2)))


# ---- what is refused -----------------------------------------------------------------------------------

REFUSED = {
    "SELECT DP_HOLDOUT('h', 0.31, COUNT(*)) FROM people": "D412",
    "SELECT DP_HOLDOUT('h', 0.31, SUM(age)) FROM people": "D412",
    "SELECT DP_HOLDOUT('h', 0.31, AVG(DISTINCT age)) FROM people": "D253",
    "SELECT DP_HOLDOUT('h', 0.31, AVG(age) / 2) FROM people": "D412",
    "SELECT DP_HOLDOUT('h', 0.31, MEDIAN(age)) FROM people": "D412",
    "SELECT DP_HOLDOUT('h', 0.31, AVG(age)) FROM people": "D412",
    "SELECT DP_HOLDOUT('h', -0.31, AVG(CAST(smoker AS INTEGER))) FROM people": "D412",
    "SELECT DP_HOLDOUT('h', 1.5, AVG(CAST(smoker AS INTEGER))) FROM people": "D412",
    "SELECT DP_HOLDOUT('h', age, AVG(age)) FROM people": "D205",
    "SELECT DP_HOLDOUT('h', AVG(age)) FROM people": "D205",
    "SELECT DP_HOLDOUT('h', 0.31, AVG(age)), 1 FROM people": "D252",
    "SELECT DP_HOLDOUT('h', 0.31, AVG(age)) FROM people GROUP BY smoker": "D252",
    "SELECT OPTIONS(epsilon = 1) DP_HOLDOUT('h', 0.31, AVG(CAST(smoker AS INTEGER))) FROM people": "D503",
    "SELECT DP_HOLDOUT('nothing', 0.31, AVG(CAST(smoker AS INTEGER))) FROM people": "D201",
    "SELECT DP_ABOVE('h', COUNT(*)) FROM people": "D412",
    "CREATE PRIVATE HOLDOUT k WITH (epsilon = 1, above = 3)": "D105",
    "CREATE PRIVATE HOLDOUT k WITH (epsilon = 1, tolerance = -1)": "D105",
    "CREATE PRIVATE HOLDOUT k WITH (epsilon = 1, upper = 0)": "D105",
    "CREATE PRIVATE HOLDOUT h WITH (epsilon = 1)": "D411",
    "CREATE PRIVATE ALERT h WITH (epsilon = 1, above = 3)": "D411",
    "CREATE PRIVATE HOLDOUT k WITH (epsilon = 41)": "D502",
    "DROP PRIVATE ALERT h": "D201",
}


@pytest.mark.parametrize("sql", REFUSED)
def test_refused_before_anything_is_measured(db: dpsql.Connection, sql: str) -> None:
    db.execute(CREATE)
    spent = db.budget.spent
    with pytest.raises(dpsql.Error) as refused:
        db.execute(sql)
    assert (refused.value.code, refused.value.help != "") == (REFUSED[sql], True)
    assert db.budget.spent == spent


def test_a_comparison_that_moved_more_is_refused(
    db: dpsql.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Planted: with a D of half, no question fits."""
    db.execute(CREATE)
    own = above_threshold.most_of
    monkeypatch.setattr(above_threshold, "most_of", lambda step: own(step) / 2)
    with pytest.raises(dpsql.Error, match="may move by more than h allows"):
        db.execute(ASK.format(0.2))
