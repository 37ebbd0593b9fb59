"""Where nothing but keys is released, a unit has one vote in all, and a group needs fewer of them."""

from __future__ import annotations

import math

import pytest

import dpsql
from dpsql.audit import plan_of
from dpsql.ir.plan import Norm, Planned, Shape, Threshold
from dpsql.rewrite.statistics import GRID


def measure_of(db: dpsql.Connection, sql: str) -> Planned:
    (each,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    assert isinstance(each.rule, Threshold)
    return each


def units(each: Planned) -> float:
    assert isinstance(each.rule, Threshold)
    return each.rule.units


def test_one_vote_in_the_euclidean_norm(db: dpsql.Connection) -> None:
    """rows_per_unit is 5 here: beside a count, the noise is five times as wide."""
    keys = measure_of(db, "SELECT DISTINCT cost FROM visits")
    assert (keys.noise.mechanism, keys.noise.norm, keys.noise.sensitivity) == ("gaussian", Norm.L2, GRID)
    assert keys.shape is Shape.CELLS
    counted = measure_of(db, "SELECT cost, COUNT(*) FROM visits GROUP BY cost")
    assert units(counted) > 4 * units(keys)


def test_the_threshold_is_that_of_a_unit_in_its_least_favourable_number_of_groups(
    db: dpsql.Connection,
) -> None:
    """The Gaussian tail of about a thousandth of delta, and 1/sqrt(1000) of a vote."""
    keys = measure_of(db, "SELECT DISTINCT cost FROM visits")
    assert keys.groups == 1_000
    assert isinstance(keys.rule, Threshold)
    reach = (keys.rule.steps - GRID / math.sqrt(1_000)) / keys.noise.scale
    assert math.erfc(reach / math.sqrt(2)) / 2 == pytest.approx(keys.rule.event.delta / 1_000, rel=0.05)


def test_units_that_are_in_one_group_each_are_not_spread(db: dpsql.Connection) -> None:
    """As where each has one row, although here it has many."""
    one = measure_of(db, "SELECT DISTINCT city FROM patients")
    many = measure_of(db, "SELECT DISTINCT p.city FROM visits v JOIN patients p USING (patient_id)")
    assert one.shape is Shape.ROWS
    assert (one.noise, one.rule) == (many.noise, many.rule)


def test_what_the_query_says_of_clipping_holds(db: dpsql.Connection) -> None:
    said = measure_of(db, "SELECT OPTIONS(max_groups_contributed = 3) cost FROM visits GROUP BY cost")
    assert said.noise.sensitivity == 3 * GRID


def test_it_is_explained(db: dpsql.Connection) -> None:
    said = str(db.explain("SELECT DISTINCT cost FROM visits"))
    assert "a patient has one vote, spread over the groups that it is in" in said
    assert "clip bias" not in said
