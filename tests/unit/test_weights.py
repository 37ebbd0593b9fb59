"""Weights of a query's aggregates: finer grids in one clip, at the same price."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.plan import MeasurePlan, Norm, Threshold
from dpsql.ir.statistic import Part
from dpsql.mechanisms import mechanism

SHAPES = (
    "COUNT(*), SUM(age)",
    "SUM(age), AVG(height)",
    "VAR_POP(height), COUNT(*)",
    "CORR(age, height), SUM(income)",
    "COUNT(score), SUM(LEAST(GREATEST(score, -3), 2.5))",
)


def planned(db: dpsql.Connection, sql: str) -> MeasurePlan:
    (each,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    return each


def noise_of(each: MeasurePlan, finish: int) -> float:
    """The deviation of the noise in an aggregate's first number, relative to what one row adds at most."""
    position = each.measure.finishes[finish].statistics[0][0]
    deviation = mechanism(each.noise.mechanism).deviation(each.noise.scale)
    return deviation / each.measure.statistics[position].most


@pytest.fixture
def db(clinic: Path) -> Any:
    with dpsql.connect(clinic) as connection:
        yield connection


@pytest.mark.parametrize("aggregates", SHAPES)
@pytest.mark.parametrize("weights", [(1, 4), (0.5, 0.125), (3, 7), (100, 1), (1.7, 2.9)])
def test_noise_is_as_the_weights_say(
    aggregates: str, weights: tuple[float, float], db: dpsql.Connection
) -> None:
    """What weighs k times as much gets k times less noise, relative to what it would get without."""
    plain = planned(db, f"SELECT {aggregates} FROM patients")
    each = planned(db, f"SELECT OPTIONS(weights = {list(weights)}) {aggregates} FROM patients")
    less = [noise_of(each, i) / noise_of(plain, i) for i in range(2)]
    assert less[0] / less[1] == pytest.approx(weights[1] / weights[0], rel=1e-3)


@pytest.mark.parametrize("aggregates", SHAPES)
def test_the_price_is_the_same(aggregates: str, db: dpsql.Connection) -> None:
    """What weighs more costs the others."""
    plain = planned(db, f"SELECT {aggregates} FROM patients")
    heavy = planned(db, f"SELECT OPTIONS(weights = [4, 1]) {aggregates} FROM patients")
    assert plain.noise.norm is heavy.noise.norm is Norm.L2
    accountant = db._open().accountant
    assert accountant.charge(plain.events) == accountant.charge(heavy.events)
    assert noise_of(heavy, 0) < noise_of(plain, 0) < noise_of(heavy, 1)


def test_equal_weights_change_nothing(db: dpsql.Connection) -> None:
    sql = "COUNT(*), SUM(age), VAR_POP(height) FROM patients"
    plain = planned(db, f"SELECT {sql}")
    equal = planned(db, f"SELECT OPTIONS(weights = [7, 7, 7]) {sql}")
    assert (plain.measure.statistics, plain.noise) == (equal.measure.statistics, equal.noise)


def test_values_stay_on_the_grid(db: dpsql.Connection) -> None:
    """Of a whole weight, whole numbers are still whole numbers of steps, and never more than ``most``."""
    each = planned(db, "SELECT OPTIONS(weights = [1, 3, 2.5]) COUNT(*), SUM(age), AVG(income) FROM patients")
    for statistic in each.measure.statistics:
        if statistic.part in (Part.VALUE, Part.REST):
            width = Fraction(statistic.high) - Fraction(statistic.offset)
            assert width / statistic.step <= statistic.most < width / statistic.step + 2
    years = next(s for s in each.measure.statistics if s.part is Part.VALUE and s.high == 120)
    assert (1 / years.step).denominator == 1


def test_a_threshold_is_in_the_hidden_count_s_own_steps(db: dpsql.Connection) -> None:
    """Weighed down against a sum, the count of units needs more units; weighed up, fewer."""
    found = []
    for weights in ("", "OPTIONS(weights = [1, 10])", "OPTIONS(weights = [10, 1])"):
        each = planned(db, f"SELECT {weights} city, COUNT(*), SUM(age) FROM patients GROUP BY city")
        assert isinstance(each.rule, Threshold)
        one = each.measure.statistics[each.rule.statistic].most
        assert each.rule.units == pytest.approx(each.rule.steps / one)
        found.append(each.rule.units)
    assert found[2] < found[0] < found[1]


def test_what_is_shared_has_the_largest_weight(db: dpsql.Connection) -> None:
    aggregates = "AVG(age), VAR_POP(age), SUM(income) FROM patients"
    plain = planned(db, f"SELECT {aggregates}")
    each = planned(db, f"SELECT OPTIONS(weights = [1, 5, 2]) {aggregates}")
    less = [noise_of(each, i) / noise_of(plain, i) for i in range(3)]
    assert less[0] == less[1]
    assert less[2] / less[0] == pytest.approx(5 / 2, rel=1e-3)


def test_weights_as_parameters_and_in_explain(db: dpsql.Connection) -> None:
    sql = "SELECT OPTIONS(weights = [?, ?]) COUNT(*), SUM(age) FROM patients"
    assert "weights     1, 4, from the query" in str(db.explain(sql, parameters=(1, 4)))
    with pytest.raises(dpsql.Error, match="D205"):
        db.explain(sql, parameters=(1, "x"))
