"""Where nothing but keys is released, a unit has one vote in all, and a group needs fewer of them."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpsql
from dpsql import audit
from dpsql.accounting import DELTA_UNIT
from dpsql.accounting.units import UNIT
from dpsql.audit import plan_of
from dpsql.ir.event import Event, ThresholdEvent
from dpsql.ir.plan import MeasurePlan, Norm, Shape, Threshold
from dpsql.ir.relation import Join
from dpsql.ir.table import ReleasedTable
from dpsql.release.groups import plain
from dpsql.release.second_round import in_rounds, without
from dpsql.rewrite.statistics import GRID


def measure_of(db: dpsql.Connection, sql: str) -> MeasurePlan:
    (each,) = plan_of(db._open(), sql, 1.0).stages[0].measures
    assert isinstance(each.rule, Threshold)
    return each


def units(each: MeasurePlan) -> float:
    assert isinstance(each.rule, Threshold)
    return each.rule.units


def test_one_vote_in_the_euclidean_norm(db: dpsql.Connection) -> None:
    """rows_per_unit is 5 here: beside a count, a unit counts in full in five groups."""
    keys = measure_of(db, "SELECT DISTINCT cost FROM visits")
    assert (keys.noise.mechanism, keys.noise.norm, keys.noise.sensitivity) == ("gaussian", Norm.L2, GRID)
    assert keys.shape is Shape.CELLS
    counted = measure_of(db, "SELECT cost, COUNT(*) FROM visits GROUP BY cost")
    assert keys.again is not None
    assert units(counted) > 2 * units(keys.again)


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
    assert said.noise.sensitivity == math.isqrt(3 * GRID**2) + 1


def test_it_is_explained(db: dpsql.Connection) -> None:
    said = str(db.explain("SELECT DISTINCT cost FROM visits"))
    assert "a patient has one vote, spread over the groups that it is in" in said
    assert "clip bias" not in said


# ---- two rounds --------------------------------------------------------------------------------------


def test_keys_of_units_in_many_groups_are_sought_twice_for_one_price(db: dpsql.Connection) -> None:
    session = db._open()
    each = measure_of(db, "SELECT DISTINCT cost FROM visits")
    assert each.again is not None
    first, second = units(each), units(each.again)
    assert first > 2.5 * second  # the noise of a tenth of the price is three times that of nine tenths
    spent = session.accountant.charge(each.events)
    price = session.accountant.allowance(1.0, session.budget, Fraction(1), thresholds=True)
    once = Fraction(1) / 2 / Fraction(price.gaussian or 1) ** 2  # rho of one round
    assert spent.main / UNIT == pytest.approx(float(once), rel=1e-9)
    assert spent.delta / DELTA_UNIT == pytest.approx(price.gaussian_delta, rel=1e-9)


def test_one_round_where_a_second_finds_little(db: dpsql.Connection, clinic: Path) -> None:
    assert measure_of(db, "SELECT DISTINCT city FROM patients").again is None
    assert measure_of(db, "SELECT cost, COUNT(*) FROM visits GROUP BY cost").again is None
    policy = clinic.with_suffix(".toml")
    policy.write_text(policy.read_text().replace('"zcdp"', '"approx"'))
    with dpsql.connect(clinic) as other:
        assert measure_of(other, "SELECT DISTINCT cost FROM visits").again is None


KEYS = (
    "SELECT DISTINCT cost FROM visits",
    "SELECT DISTINCT v.cost, p.city, p.score FROM visits v JOIN patients p USING (patient_id)",
    "SELECT DISTINCT v.minutes, p.born, p.seen, p.smoker FROM visits v JOIN patients p USING (patient_id)",
    "SELECT DISTINCT v.cost, p.height FROM visits v JOIN patients p USING (patient_id)",
)


@pytest.mark.parametrize("sql", KEYS)
def test_what_is_found_first_is_not_sought_again(db: dpsql.Connection, sql: str) -> None:
    """Of all groups every other one is found: NULL, NaN, two zeros, dates and moments among them."""
    each, engine = measure_of(db, sql), db._open().engine
    assert each.again is not None
    groups = sorted(engine.measure(each).groups, key=repr)
    assert len(groups) > 10
    found = groups[::2]
    left = {plain(group) for group in engine.measure(without(each.again, found)).groups}
    assert left == {plain(group) for group in groups[1::2]}


def test_the_vote_of_a_unit_counts_for_what_is_left(db: dpsql.Connection) -> None:
    """Patient 1 alone has paid 500 for a visit, beside 3 other prices: half a vote, and then a whole one."""
    each, engine = measure_of(db, "SELECT DISTINCT cost FROM visits WHERE patient_id = 1"), db._open().engine
    assert each.again is not None
    votes = engine.measure(each)
    by_group = dict(zip(votes.groups, votes.sums[:, 0].tolist(), strict=True))
    assert by_group[(500.0,)] == pytest.approx(GRID / math.sqrt(len(by_group)), rel=1e-5)
    others = [group for group in by_group if group != (500.0,)]
    alone = engine.measure(without(each.again, others))
    assert (alone.groups, alone.sums.tolist()) == ([(500.0,)], [[GRID]])


def test_both_rounds_are_one_answer(db: dpsql.Connection) -> None:
    """What the second finds again is there once, and all is sorted."""
    each = measure_of(db, "SELECT DISTINCT cost FROM visits")
    tables = iter(
        (
            ReleasedTable([(3.0,), (5.0,)], np.array([[30], [50]])),
            ReleasedTable([(1.0,), (3.0,), (None,)], np.array([[10], [31], [0]])),
        )
    )
    asked: list[MeasurePlan] = []

    def one(planned: MeasurePlan) -> ReleasedTable:
        asked.append(planned)
        return next(tables)

    both = in_rounds(each, one)
    assert both.groups == [(1.0,), (3.0,), (5.0,), (None,)]
    assert both.sums[:, 0].tolist() == [10, 30, 50, 0]
    assert asked[0] is each
    assert isinstance(asked[1].measure.relation, Join)


def test_the_whole_way(db: dpsql.Connection) -> None:
    """At a high price all that many patients have is found: 240 patients, three visits each."""
    rows = db.execute("SELECT DISTINCT minutes // 30 AS half FROM visits", epsilon=15.0).rows
    assert {row[0] for row in rows} >= {0, 1}
    again = db.execute("SELECT DISTINCT minutes // 30 AS half FROM visits", epsilon=15.0)
    assert (again.rows, again.cost) == (rows, 0.0)


def test_public_keys_are_free(db: dpsql.Connection, clinics: Path) -> None:
    """They are the policy's own: no private row is read, and nothing is paid."""
    for sql in (
        "SELECT DISTINCT ward FROM patients WHERE age > 50",
        "SELECT ward FROM patients GROUP BY ward",
    ):
        answer = db.execute(sql)
        assert (answer.rows, answer.cost) == ([("A",), ("B",), ("C",)], 0.0)
        assert "reads no private row" in str(db.explain(sql))
    both = db.execute("SELECT COUNT(*) FROM (SELECT DISTINCT ward FROM patients) WHERE ward <> 'A'")
    assert (both.rows, both.cost) == ([(2,)], 0.0)
    assert db.budget.spent == 0
    db.execute("SELECT DISTINCT city FROM patients")
    assert db.budget.spent > 0


def test_the_audit_sees_both_rounds(db: dpsql.Connection) -> None:
    """Their noises and thresholds add up to what the plan is charged; without noise all is there in both."""
    sql = "SELECT DISTINCT cost FROM visits"
    first, again = audit.measure(db, sql)
    session = db._open()
    events: list[Event] = []
    for each in (first, again):
        assert each.threshold is not None
        events += [noise.event for noise in each.noises]
        events.append(ThresholdEvent(each.threshold[2]))
    assert session.accountant.charge(tuple(events)) == session.accountant.charge(
        plan_of(session, sql, 1.0).events
    )
    assert first.rows.keys() == again.rows.keys()
    assert len(audit.measure(db, sql, replay=[first, again])) == 2
