"""The least price for an accuracy: closed forms, monotone search, and what the released numbers do."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import duckdb
import numpy as np
import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.post.finish import reach_anywhere
from dpsql.post.within import index_of, price_of
from dpsql.release.release import from_system

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
    delta = 0 if request.param == "pure" else 1e-6
    path.with_suffix(".toml").write_text(POLICY.format(name=request.param, delta=delta))
    with dpsql.connect(path) as connection:
        yield connection


def test_prices_have_four_digits_in_order() -> None:
    found = [price_of(i) for i in range(0, 90_000, 777)]
    assert found == sorted(set(found))
    assert price_of(0) == 1e-6
    for price in (1e-6, 0.05933, 0.9999, 1.0, 9.999, 10.0, 1e4):
        assert price_of(index_of(price)) == pytest.approx(price, rel=2e-3)


@pytest.mark.parametrize(
    ("within", "confidence", "price"),
    [
        (50, 0.95, math.log(20) / 50.5),  # a whole number within 50 is a noise within 50.5
        (5, 0.95, math.log(20) / 5.5),
        (20, 0.99, math.log(100) / 20.5),
    ],
)
def test_a_count_under_pure_costs_what_the_formula_says(
    within: int, confidence: float, price: float, db: dpsql.Connection
) -> None:
    if db.budget.accountant == "pure":
        sql = f"SELECT OPTIONS(within = {within}, confidence = {confidence}) COUNT(*) FROM people"
        assert price <= plan_of(db._open(), sql, 1.0).epsilon <= price * 1.001


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
    """4,000 draws: 95 % and 99 % less 5 deviations; the sum beside the count is one of two cells."""
    for confidence, least in ((0.95, 0.932), (0.99, 0.98)):
        sql = f"SELECT OPTIONS(within = 300, confidence = {confidence}) COUNT(*), SUM(age) FROM people"
        (each,) = plan_of(db._open(), sql, 1.0).stages[0].measures
        drawn = from_system(each.noise, 8_000).reshape(4_000, 2).astype(np.float64)
        total = float(each.measure.statistics[1].step) * drawn[:, 1]
        assert each.measure.statistics[1].offset == 0
        share = float(np.mean(np.abs(total) <= 300.5))
        assert least < share < confidence + 5 * math.sqrt(confidence * (1 - confidence) / 4_000)


def test_it_is_paid_once_and_explained(db: dpsql.Connection) -> None:
    sql = "SELECT OPTIONS(within = 40) COUNT(*) AS n FROM people"
    price = plan_of(db._open(), sql, 1.0).epsilon
    assert db.explain(sql).to_dict()["within"] == "± 40 (95 %)"
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
