"""min_units in the policy: what is seldom is hidden, whatever the noise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.plan import MeasurePlan, Threshold
from dpsql.mechanisms import mechanism
from dpsql.rewrite.statistics import GRID

BY_CITY = "SELECT city, COUNT(*) FROM patients GROUP BY city"


def measure_of(db: dpsql.Connection, sql: str) -> MeasurePlan:
    (each,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    return each


@pytest.fixture
def careful(clinic: Path) -> Iterator[dpsql.Connection]:
    """The clinic under a policy that hides groups of fewer than ten."""
    policy = clinic.with_name("careful.toml")
    text = clinic.with_suffix(".toml").read_text()
    policy.write_text(text.replace("[query]\n", "[query]\nmin_units = 10\n"))
    with dpsql.connect(clinic, policy, clinic.with_name("careful.ledger")) as connection:
        yield connection


@pytest.mark.parametrize(
    "sql",
    [
        BY_CITY,
        "SELECT DISTINCT city FROM patients",
        "SELECT cost, COUNT(*) FROM visits GROUP BY cost",
        "SELECT cost, kind, SUM(minutes) FROM visits GROUP BY ROLLUP (cost, kind)",
    ],
)
def test_the_threshold_is_nine_units_higher(
    db: dpsql.Connection, careful: dpsql.Connection, sql: str
) -> None:
    usual, raised = measure_of(db, sql), measure_of(careful, sql)
    assert isinstance(usual.rule, Threshold)
    assert isinstance(raised.rule, Threshold)
    one = usual.measure.statistics[usual.rule.statistic].most
    assert raised.rule.steps == usual.rule.steps + 9 * one
    assert raised.noise == usual.noise
    assert raised.events == usual.events


def test_ten_units_are_shown_as_seldom_as_one_would_be(careful: dpsql.Connection) -> None:
    each = measure_of(careful, BY_CITY)
    assert isinstance(each.rule, Threshold)
    above = mechanism(each.noise.mechanism).above
    assert above(each.noise.scale, each.rule.steps - 10 * GRID) <= each.rule.event.delta
    assert above(each.noise.scale, each.rule.steps - 13 * GRID) > each.rule.event.delta


def test_groups_of_public_keys_are_all_shown(careful: dpsql.Connection) -> None:
    assert len(careful.execute("SELECT ward, COUNT(*) FROM patients WHERE age > 150 GROUP BY ward")) == 3
    total = careful.execute("SELECT city, COUNT(*) FROM patients WHERE age > 150 GROUP BY ROLLUP (city)")
    assert [row[0] for row in total] == [None]


def test_it_is_said(db: dpsql.Connection, careful: dpsql.Connection) -> None:
    assert "The policy hides groups of fewer than 10." in careful.execute(BY_CITY).note
    assert "the policy hides groups of fewer than 10" in str(careful.explain(BY_CITY))
    assert "hides" not in db.execute(BY_CITY).note
    assert "hides" not in str(db.explain(BY_CITY))
