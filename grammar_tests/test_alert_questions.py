"""Numbers of all fixtures as questions of alerts: no unit moves one by more than its noise is for, or down.

SELECT COUNT(*) FROM visits WHERE ...        a fixture of one number
SELECT DP_ABOVE('many', COUNT(*)) ...        the question; what is measured for it is compared
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial

import pytest
from cases import Case, all_cases
from sqlglot import exp, parse_one
from worlds import Worlds

import dpsql
from dpsql.fuzz.copies import apart
from dpsql.ir.alert import AlertPlan
from dpsql.ir.plan import AlertQuestion
from dpsql.ir.source import Source
from dpsql.mechanisms import above_threshold
from dpsql.mechanisms.holdout import beyond
from dpsql.planning import prepared

ALERTS = {
    "many": "max_rows = 3, upper = 1e6",
    "any": "max_rows = 3, upper = 1e6, lower = -1e6",
}
"""The first is monotone, the second is not."""


def question_of(case: Case, alert: str) -> str | None:
    """The question whether the only number of a fixture is above a threshold; None if there are more."""
    try:
        tree = parse_one(case.sql, read="duckdb")
    except Exception:  # what only we read
        return None
    if not isinstance(tree, exp.Select) or len(tree.expressions) != 1 or "OPTIONS" in case.sql.upper():
        return None
    number = tree.expressions[0].unalias()
    tree.set("expressions", [exp.func("DP_ABOVE", exp.Literal.string(alert), number.copy())])
    return tree.sql(dialect="duckdb")


def mean_of(case: Case) -> str | None:
    """The question whether the only mean of a fixture is near 1; None if there is another number."""
    sql = question_of(case, "mean")
    if sql is None or not re.search(r"DP_ABOVE\('mean', AVG\(", sql):
        return None
    return sql.replace("DP_ABOVE('mean', ", "DP_HOLDOUT('mean', 1, ")


def planned(worlds: Worlds, case: Case, alert: str) -> tuple[AlertPlan, AlertQuestion] | None:
    """What a question would measure; None where it is refused."""
    db = worlds.connections["world", case.policy.name]
    db.execute(f"CREATE PRIVATE ALERT {alert} WITH (epsilon = 0.1, above = 1e12, {ALERTS[alert]})")
    sql = question_of(case, alert)
    assert sql is not None
    try:
        with db._using() as session:
            plan = prepared(session, Source(sql), (), None).plan
    except dpsql.Error as error:
        if error.code == "D901" or not error.help:
            raise
        return None
    assert plan.alert is not None
    return None if plan.question is None else (plan.alert, plan.question)


def asked_as(question: Callable[[Case], str | None]) -> list[Case]:
    """The accepted fixtures of which a question can be made."""
    cases = (case for case in all_cases() if case.outcome == "accepted" and case.policy.name == "world.toml")
    return [case for case in cases if question(case)]


@pytest.mark.parametrize("every", [2, pytest.param(1, marks=pytest.mark.sweep)])
def test_a_unit_moves_holdouts_as_declared(every: int, worlds: Worlds) -> None:
    """The two sums of a mean by no more than their noise is for, and the distance by no more than D.

    Of every second fixture; in sweeps of all.
    """
    db = worlds.connections["world", "world.toml"]
    db.execute("CREATE PRIVATE HOLDOUT mean WITH (epsilon = 0.1, max_rows = 3, upper = 1e4)")
    asked = 0
    for case in asked_as(mean_of)[::every]:
        try:
            with db._using() as session:
                question = prepared(session, Source(mean_of(case) or ""), (), None).plan.question
        except dpsql.Error as error:
            if error.code == "D901" or not error.help:
                raise
            continue
        assert question is not None
        assert question.distance is not None
        asked, measure = asked + 1, question.measure
        most = above_threshold.most_of(question.step)
        whole = _two(worlds.whole.measure(measure).sums.tolist())
        others, _ = apart(measure, worlds.whole, worlds.neighbours(case))
        for other in others:
            less = _two(other.engine.measure(measure).sums.tolist())
            assert sum(abs(a - b) for a, b in zip(whole, less, strict=True)) <= measure.noise.sensitivity, (
                case.id
            )
            moved = beyond(*whole, question.distance) - beyond(*less, question.distance)
            assert abs(moved) <= most, case.id
    assert asked >= 8 // every


def _two(sums: list[list[int]]) -> tuple[int, int]:
    return (sums[0][0], sums[0][1]) if sums else (0, 0)


@pytest.mark.parametrize(
    ("alert", "every"),
    [("many", 16), ("any", 16), *(pytest.param(alert, 1, marks=pytest.mark.sweep) for alert in ALERTS)],
)
def test_a_unit_moves_questions_as_declared(alert: str, every: int, worlds: Worlds) -> None:
    """Of every so many fixtures; in sweeps of all."""
    asked = 0
    for case in asked_as(partial(question_of, alert=alert))[::every]:
        found = planned(worlds, case, alert)
        if found is None:
            continue
        asked += 1
        plan, question = found
        most, measure = above_threshold.most_of(plan.step), question.measure
        assert measure.measure.statistics[0].step == question.step
        whole = int(worlds.whole.measure(measure).sums.sum())
        others, _ = apart(measure, worlds.whole, worlds.neighbours(case))
        for other in others:
            moved = (whole - int(other.engine.measure(measure).sums.sum())) * question.step
            assert abs(moved) <= most, case.id
            assert moved >= 0 or not plan.alert.monotone, case.id
    assert asked >= 32 // every
