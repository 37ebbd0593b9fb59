"""The least price for an accuracy: closed forms, monotone search, steps, and what the released numbers do."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest
from numpy.typing import NDArray

import dpsql
from dpsql.accounting import accountant
from dpsql.answer import Answer
from dpsql.audit import plan_of
from dpsql.ir.options import Goal
from dpsql.ir.plan import MeasurePlan, Noise
from dpsql.ir.source import Span
from dpsql.ir.table import ReleasedTable
from dpsql.mechanisms import mechanism
from dpsql.plan.terms import Terms
from dpsql.post.accuracy_confidence import confidences_of, reaches
from dpsql.post.accuracy_price import index_of, price_of
from dpsql.post.accuracy_steps import averaged, prices, reached, together
from dpsql.post.finish import finish, reach_anywhere
from dpsql.session import Session

POLICY = """\
[budget]
epsilon = 1000.0
delta = {delta}
accountant = "{name}"
[query]
max_epsilon = 20.0
[unit]
name = "person"
table = "people"
key = "id"
[tables.people.columns]
age = {{ range = [0, 100] }}
town = {{ values = ["A", "B"] }}
"""


@pytest.fixture(scope="module", params=["pure", "zcdp", "approx"])
def db(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dpsql.Connection]:
    path: Path = tmp_path_factory.mktemp("within") / "people.duckdb"
    with duckdb.connect(str(path)) as connection:
        connection.execute("CREATE TABLE people (id INTEGER PRIMARY KEY, age INTEGER NOT NULL, town VARCHAR)")
        connection.execute("INSERT INTO people SELECT i, i % 100, ['A', 'B'][1 + i % 2] FROM range(500) t(i)")
    delta = 1e-6 if accountant(request.param).has_delta else 0
    path.with_suffix(".toml").write_text(POLICY.format(name=request.param, delta=delta))
    with dpsql.connect(path) as connection:
        yield connection


def seeded(noise: Noise, size: int, words: random.Random) -> NDArray[np.int64]:
    return mechanism(noise.mechanism).draw(noise.scale, size, words.randbytes)


def test_prices_have_four_digits_in_order() -> None:
    found = [price_of(i) for i in range(0, 90_000, 777)]
    assert found == sorted(set(found))
    assert price_of(0) == 1e-6
    for price in (1e-6, 0.05933, 0.9999, 1.0, 9.999, 10.0, 1e4):
        assert price_of(index_of(price)) == pytest.approx(price, rel=2e-3)


@pytest.mark.parametrize(("within", "confidence"), [(50, 0.95), (5, 0.95), (20, 0.99)])
def test_a_count_with_geometric_noise_costs_what_the_formula_says(
    within: int, confidence: float, db: dpsql.Connection
) -> None:
    """Geometric noise is farther than A with probability 2 q^(A + 1) / (1 + q), q = exp(-epsilon)."""

    def farther(epsilon: float) -> float:
        return 2 * math.exp(-epsilon * (within + 1)) / (1 + math.exp(-epsilon))

    sql = f"SELECT OPTIONS(within = {within}, confidence = {confidence}) COUNT(*) FROM people"
    plan = plan_of(db._open(), sql, 1.0)
    (each,) = plan.stages[0].measures
    if each.noise.mechanism == "geometric":
        assert farther(plan.epsilon) <= 1 - confidence < farther(plan.epsilon * 0.998)


@pytest.mark.parametrize(
    "select",
    [
        "COUNT(*) FROM people",
        "SUM(age) FROM people",
        "town, COUNT(*), SUM(age) FROM people GROUP BY town",
        "town, n FROM (SELECT town, COUNT(*) AS n FROM people GROUP BY town) WHERE n > 0",
    ],
)
@pytest.mark.parametrize(("within", "confidence"), [(300, 0.9), (400, 0.99)])
def test_the_price_is_the_least(select: str, within: int, confidence: float, db: dpsql.Connection) -> None:
    """One step of the last digit cheaper, some number would reach farther."""
    goal = f"SELECT OPTIONS(within = {within}, confidence = {confidence}) "
    session = db._open()
    what = plan_of(session, goal + select, 1.0)

    def reach(price: float | None) -> float:
        plan = what if price is None else plan_of(session, "SELECT " + select, price)
        (each,) = plan.stages[0].measures
        found = [reach_anywhere(finish, each, confidence) for finish in each.measure.finishes]
        return max(one for one in found if one is not None)

    assert reach(None) <= within
    assert reach(what.epsilon) == reach(None)
    assert reach(price_of(index_of(what.epsilon) - 1)) > within


def test_the_noise_stays_within(db: dpsql.Connection) -> None:
    """4,000 draws: 95 % and 99 % less 5 deviations; the sum beside the count is one of two cells.

    The bytes are seeded: nothing fails by chance.
    """
    for confidence, least in ((0.95, 0.932), (0.99, 0.98)):
        sql = f"SELECT OPTIONS(within = 300, confidence = {confidence}) COUNT(*), SUM(age) FROM people"
        (each,) = plan_of(db._open(), sql, 1.0).stages[0].measures
        drawn = seeded(each.noise, 8_000, random.Random(sql)).reshape(4_000, 2).astype(np.float64)
        total = float(each.measure.statistics[1].step) * drawn[:, 1]
        assert each.measure.statistics[1].offset == 0
        share = float(np.mean(np.abs(total) <= 300.5))
        assert least < share < confidence + 5 * math.sqrt(confidence * (1 - confidence) / 4_000)


def test_it_is_paid_once_and_explained(db: dpsql.Connection) -> None:
    sql = "SELECT OPTIONS(within = 40) COUNT(*) AS n FROM people"
    price = plan_of(db._open(), sql, 1.0).epsilon
    assert db.explain(sql).to_dict()["within"].startswith("± 40 (95 %): the least price")
    assert f"epsilon {price:g}" in str(db.explain(sql))
    first, again = db.execute(sql), db.execute(sql)
    assert (first.cost, again.cost, again.repeated) == (price, 0.0, True)
    assert first.margins == [(40.0,)]


def test_above_the_ceiling_it_says_what_it_would_cost(db: dpsql.Connection) -> None:
    sql = "SELECT OPTIONS(within = {}, confidence = 0.99) SUM(age) FROM people"
    with pytest.raises(dpsql.OperationalError, match=r"would cost an epsilon of [2-9][0-9]") as caught:
        db.execute(sql.format(1))
    assert caught.value.code == "D502"
    reach = float(caught.value.help.split("within = ")[1].split(",")[0])
    assert plan_of(db._open(), sql.format(reach), 1.0).epsilon <= 20
    assert db.budget.spent < 1


# ---- step by step --------------------------------------------------------------------------------------


def test_a_part_of_a_number_is_approached_in_paid_steps(db: dpsql.Connection) -> None:
    """500 people within 5 %: a half-width of about 22, far below what the ceiling buys."""
    sql = "SELECT OPTIONS(within = '5%') COUNT(*) FROM people WHERE age >= 0"
    before, session = db.budget.spent, db._open()
    steps = plan_of(session, sql, 1.0).steps
    first, again = db.execute(sql), db.execute(sql)
    ((count,),), ((margin,),) = first.rows, first.margins
    assert margin is not None
    assert margin <= 0.05 * (count - margin)
    assert abs(count - 500) < 150  # but with e^-23 / 2: noise of scale 6.4, with a half-width of 22
    assert 0 < first.cost < steps[-1]
    assert db.budget.spent - before == pytest.approx(first.cost, rel=0.5)
    assert (again.rows, again.cost, again.repeated, again.note) == (first.rows, 0.0, True, first.note)
    taken = sum(each.sql == sql for each in db.purchases)
    assert f"after {taken} of {len(steps)} steps" in first.note


def test_a_mean_within_a_number_is_approached_too(db: dpsql.Connection) -> None:
    answer = db.execute("SELECT OPTIONS(within = 9) AVG(age) AS a FROM people")
    assert answer.margins[0][0] is not None
    assert answer.margins[0][0] <= 9
    assert "steps" in answer.note


def test_all_steps_together_stay_below_the_ceiling(db: dpsql.Connection) -> None:
    session = db._open()
    terms = Terms(session.accountant, session.budget, 1.0)
    found = prices(terms, 0.0, 20.0)
    assert found == tuple(sorted(found))
    assert found[-1] / found[0] > 50
    events = [
        event for price in found for event in plan_of(session, "SELECT COUNT(*) FROM people", price).events
    ]
    spent = session.accountant.epsilon(session.accountant.charge(tuple(events)), session.budget)
    assert 19.5 < spent <= 20.0


def test_nobody_is_found_within_a_part_of_nothing(db: dpsql.Connection) -> None:
    """It costs the ceiling, and says so."""
    answer = db.execute("SELECT OPTIONS(within = '5%') SUM(age) FROM people WHERE age > 99")
    assert answer.note.startswith("Not within 5 % (95 %) after ")
    assert 15 < answer.cost <= 20


def test_what_is_shown_is_near_enough(db: dpsql.Connection) -> None:
    """400 approaches of 500 people within 10 %, at 95 %: 20 misses are expected of a single look, and fewer

    of looks with a confidence for all of them. The bytes are seeded: nothing fails by chance.
    """
    session = db._open()
    goal = Goal(0.1, True, 0.95, Span(0, 0))
    found = prices(Terms(session.accountant, session.budget, 1.0), 0.0, 20.0)
    plans = [plan_of(session, "SELECT COUNT(*) FROM people", each).stages[0].measures[0] for each in found]
    confidences = confidences_of(goal, [averaged(plans[: at + 1]) for at in range(len(plans))])
    missed, words = 0, random.Random("near enough")
    for _ in range(400):
        done = []
        for planned, confidence in zip(plans, confidences, strict=True):
            one = planned.measure.statistics[0].most
            drawn = 500 * one + seeded(planned.noise, 1, words).reshape(1, 1)
            done.append((planned, ReleasedTable([()], drawn)))
            each, table = together(done)
            (column,) = finish(table, each, confidence)
            assert column.margins is not None
            number, margin = float(column.values[0]), float(column.margins[0])  # type: ignore[arg-type]  # numbers here
            if reached(goal, Answer(("n",), ("BIGINT",), [(number,)], [(margin,)], 0.0, 0.0), (1,)):
                missed += abs(number - 500) > 0.1 * 500
                break
        else:
            pytest.fail("the ceiling is far above what 500 people need")
    assert missed < 45


def releases(session: Session) -> list[MeasurePlan]:
    """Return what has been released of a count after each step."""
    found = prices(Terms(session.accountant, session.budget, 1.0), 0.0, 20.0)
    plans = [plan_of(session, "SELECT COUNT(*) FROM people", each).stages[0].measures[0] for each in found]
    return [averaged(plans[: at + 1]) for at in range(len(plans))]


def misses(done: list[MeasurePlan], reach: float, confidences: list[float]) -> NDArray[np.float64]:
    """Return how often a shown number is off by more than its margin, and than the goal, for many numbers.

    They lie between where the third and the fifth step stop. Each is approached 20,000 times, with noise of
    the releases' deviations.
    """
    words, many = np.random.default_rng(5), 20_000
    margins = np.array(reaches(done, confidences))
    scales = np.array([each.noise.scale / each.measure.statistics[0].most for each in done])
    found = []
    for number in np.geomspace(*(margins[at] * (1 + 1 / reach) for at in (4, 2)), 25):
        if done[0].noise.mechanism == "gaussian":  # of means, the last of which has the least deviation
            time = scales**-2
            steps = np.diff(time, prepend=0).clip(min=0) ** 0.5  # a Laplace release at last does not count
            errors = (words.standard_normal((many, len(done))) * steps).cumsum(axis=1) / time
        else:
            errors = words.laplace(size=(many, len(done))) * scales
        shown = np.rint(number + errors)
        stops = np.abs(shown) >= margins * (1 + 1 / reach)
        at = np.where(stops.any(axis=1), stops.argmax(axis=1), len(done) - 1)
        off = np.abs(shown[np.arange(many), at] - number)
        found.append([np.mean(off > margins[at] + 0.5), np.mean(off > reach * number + 0.5)])
    return np.array(found)


@pytest.mark.parametrize("reach", [0.02, 0.05, 0.2])
def test_no_number_is_off_more_often_than_was_asked(reach: float, db: dpsql.Connection) -> None:
    """At most 5 % and five deviations of 20,000; a union bound over all steps has less than 1 % anywhere."""
    done, goal = releases(db._open()), Goal(reach, True, 0.95, Span(0, 0))
    every = [1 - 0.05 / len(done)] * len(done)
    margin, off = misses(done, reach, confidences_of(goal, done)).max(axis=0)
    assert off <= margin < 0.05 + 5 * (0.05 * 0.95 / 20_000) ** 0.5
    assert margin > 1.5 * misses(done, reach, every)[:, 0].max()


def test_a_bound_for_too_few_steps_is_found(db: dpsql.Connection) -> None:
    """A planted error: one uncertain step, where a goal of a half has several."""
    done, goal = releases(db._open()), Goal(0.5, True, 0.95, Span(0, 0))
    right = misses(done, goal.reach, confidences_of(goal, done))[:, 0].max()
    assert right < 0.05
    assert misses(done, goal.reach, [1 - 0.98 * 0.05 / 0.5] * len(done))[:, 0].max() > 0.06


def test_steps_that_are_not_known_before_share_what_may_be_missed(db: dpsql.Connection) -> None:
    """A mean, an absolute goal, and two numbers: each step may miss, and all may pass by chance."""
    session, goal = db._open(), Goal(0.05, True, 0.95, Span(0, 0))
    for select, asked in (
        ("AVG(age)", goal),
        ("COUNT(*), SUM(age)", goal),
        ("COUNT(*)", Goal(5, False, 0.95, Span(0, 0))),
    ):
        (planned,) = plan_of(session, f"SELECT {select} FROM people", 0.5).stages[0].measures
        assert confidences_of(asked, [planned] * 4) == [1 - (1 - asked.confidence) / 4] * 4


def test_what_the_docs_say_of_steps(db: dpsql.Connection) -> None:
    """Of a goal of 5 % at 95 %: the figures of options.md."""
    session, goal = db._open(), Goal(0.05, True, 0.95, Span(0, 0))
    if session.accountant.name != "zcdp":
        pytest.skip("the page has the figures of zcdp")
    done = releases(session)
    confidences = confidences_of(goal, done)
    every = [1 - 0.05 / len(done)] * len(done)
    less = (reaches(done, every)[3] / reaches(done, confidences)[3]) ** 2
    off = misses(done, goal.reach, confidences)[:, 1]
    said = (
        f"For 5 % each step is tested at {100 * confidences[3]:.1f} %, which takes {less:.1f} times less of "
        f"the budget than a union bound over all steps; then {100 * off.mean():.0f} % of such counts are off "
        f"by more than asked, and {100 * off.max():.1f} % at the worst size"
    )
    assert said in (Path(dpsql.__file__).parent / "docs" / "options.md").read_text(), said


def test_averaged_steps_have_the_noise_of_all_their_price(db: dpsql.Connection) -> None:
    """Precisions add up; where one release is not Gaussian, the last one counts alone."""
    session = db._open()
    plans = [plan_of(session, "SELECT COUNT(*) FROM people", e).stages[0].measures[0] for e in (0.1, 0.2)]
    tables = [ReleasedTable([()], np.array([[n * 2**20]])) for n in (100, 400)]
    each, table = together(list(zip(plans, tables, strict=True)))
    first, last = (planned.noise.scale for planned in plans)
    if all(planned.noise.mechanism == "gaussian" for planned in plans):
        assert each.noise.scale == pytest.approx((first**-2 + last**-2) ** -0.5)
        weight = last**-2 / (first**-2 + last**-2)
        assert table.sums[0, 0] / 2**20 == pytest.approx(100 + 300 * weight, abs=1e-5)
    else:
        assert (each, table) == (plans[1], tables[1])
