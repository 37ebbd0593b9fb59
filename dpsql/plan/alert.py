"""The noise and the price of a private alert, and which numbers it answers about.

    epsilon 0.5 under zcdp  ->  epsilon0 0.114 for each true, thresholds with noise of scale 17.5
    SELECT COUNT(*) ...     ->  the plan of the count, with the noise of a question

Claim   each question moves by at most the alert's D with one unit; with a monotone alert, only down when the
        unit leaves.
Proof   The number is one sum of rows, each clamped, a unit's sum clipped to the plan's bound in steps: that
        bound, times the step, is compared with D. Nothing else is computed from it, and no stage comes
        before it, so that the relation's rows are those of the units (facts/ownership.py). Without values
        below 0, what a unit adds is not negative, and its clip scales it toward 0.
        The price buys the noise of an ordinary measure, and epsilon0 is the largest that costs no more.
Test    tests/privacy/test_alerts.py
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from fractions import Fraction

from dpsql.accounting.charged import charged
from dpsql.errors import Error, refuse
from dpsql.ir.alert import Alert, AlertPlan
from dpsql.ir.event import AlertEvent, Event
from dpsql.ir.measure import Measure, Split
from dpsql.ir.options import Option
from dpsql.ir.plan import AlertQuestion, MeasurePlan, Noise, Norm, Plan
from dpsql.ir.source import Span
from dpsql.ir.statistic import Part
from dpsql.mechanisms import above_threshold, laplace
from dpsql.plan.holdout import holdout_epsilons, holdout_events
from dpsql.plan.noise_choice import LARGEST_SCALE
from dpsql.plan.terms import Terms
from dpsql.plan.written_form import written

_COUNTED = ("count", "count_units", "sum")


def planned_alert(name: str, alert: Alert, terms: Terms) -> AlertPlan:
    """Return an alert with the noise that the price of each true buys; of a holdout, that of all."""
    if alert.tolerance is not None:
        return with_noise(name, alert, *holdout_epsilons(alert, terms))
    return with_noise(name, alert, _epsilon0(terms))


def with_noise(name: str, alert: Alert, epsilon0: float, epsilon1: float = 0.0) -> AlertPlan:
    """Return an alert with the noise of an epsilon that was bought; a holdout also with that of means."""
    events: tuple[Event, ...] = (AlertEvent(epsilon0),) * alert.times
    if alert.tolerance is not None:
        events = holdout_events(alert, epsilon0, epsilon1)
    scale = above_threshold.scale_of_threshold(epsilon0)
    if not scale < LARGEST_SCALE:
        raise refuse(
            "D503", "the price is too small: the noise would not fit the grid", help="pay more for this alert"
        )
    return AlertPlan(name, alert, epsilon0, above_threshold.step_of(alert.most), scale, events, epsilon1)


def _epsilon0(terms: Terms) -> float:
    """Return the largest epsilon of an alert that costs no more than one measure at this price."""
    rules = terms.accountant
    bought = rules.allowance(terms.epsilon, terms.budget, Fraction(1), False).laplace
    most = charged(rules, (laplace.event(1, laplace.scale_for(1, 1 / bought)),))
    low, high = 0.0, terms.epsilon
    charged(rules, (AlertEvent(high),))  # refused where it knows none
    for _ in range(60):
        middle = (low + high) / 2
        within = rules.charge((AlertEvent(middle),)).within(most)
        low, high = (middle, high) if within else (low, middle)
    if not low:
        raise refuse("D503", f"the price {terms.epsilon:g} is too small for an alert", help="pay more")
    return low


def digest_of_alert(planned: AlertPlan, accountant: str, creator: str, generation: int) -> str:
    """Return the ledger's key of an alert: each has its own thresholds, whoever else says the same."""
    alert = planned.alert
    said: tuple[float, ...] = (alert.above, alert.times, alert.rows, alert.lower, alert.upper)
    if alert.tolerance is not None:
        said = (*said, alert.tolerance)
    parts = [creator, planned.name.casefold(), str(generation), accountant, written(said)]
    return hashlib.sha256("\n".join(("alert", *parts, written(planned.events))).encode()).hexdigest()


# ---- questions -----------------------------------------------------------------------------------------


def asked(split: Split, planned: AlertPlan) -> Split:
    """Return a bound question with the alert's rows of a unit, unless it says how many count itself."""
    rows = planned.alert.rows
    stages = tuple(
        replace(
            stage,
            measures=tuple(
                replace(m, clip=Option("max_rows_contributed", rows, m.span or Span(0, 1)))
                if m.clip is None
                else m
                for m in stage.measures
            ),
        )
        for stage in split.stages
    )
    return replace(split, stages=stages)


def question(plan: Plan, planned: AlertPlan) -> AlertQuestion:
    """Return the question of an alert that a planned number is, with its noise; refuse any other."""
    (measure,) = plan.measures
    alert, (statistic,) = planned.alert, measure.measure.statistics
    most = above_threshold.most_of(planned.step)
    _, steps = measure.bound
    if steps * statistic.step > most:
        raise _too_much(measure.measure, planned, steps * statistic.step)
    if alert.monotone and statistic.part is Part.VALUE and statistic.low < 0:
        raise refuse(
            "D412",
            f"{planned.name} answers about numbers that only grow with each row",
            measure.measure.span,
            label=f"values down to {statistic.low:g} make it smaller",
            help="SUM(GREATEST(x, 0)); or an alert with lower = "
            f"{statistic.low:g}, whose questions have twice the noise",
        )
    scale = above_threshold.scale_of_question(most, statistic.step, alert.monotone, planned.epsilon0)
    if not scale < LARGEST_SCALE:
        raise refuse(
            "D412",
            f"this number is too small for {planned.name}",
            measure.measure.span,
            label="its noise would not fit the grid",
            help="create an alert with an upper that fits it",
        )
    noise = Noise(laplace.NAME, Norm.L1, steps, scale, laplace.event(math.ceil(most / statistic.step), scale))
    m = measure.measure
    parts = written(m.relation), written(m.statistics), written(measure.keys), str(steps)
    digest = hashlib.sha256("\n".join(("question", *parts)).encode()).hexdigest()
    return AlertQuestion(replace(measure, noise=noise), statistic.step, digest)


def check_number(split: Split, planned: AlertPlan, at: Span) -> None:
    """Refuse what is not one plain count or sum of private rows."""
    measures = [measure for stage in split.stages for measure in stage.measures]
    if not measures:
        raise _other("a question is about private rows", at, "this reads none", "compare public numbers")
    post = split.stages[-1].post
    (measure, *others) = measures
    if measure.view is not None:
        raise _other(
            "a private view needs no alert", at, "its counts are bought", "compare them: SELECT SUM(n) >= 100"
        )
    if others or len(split.stages) > 1 or measure.model is not None:
        raise _other("a question buys nothing on its way", at, "this reads a release", _EXAMPLE)
    if measure.keys or not post.plain or len(measure.aggregates) != 1 or len(post.columns) != 1:
        raise _other("a question is about one COUNT or SUM", at, "this is another number", _EXAMPLE)
    (finish,) = measure.finishes or (None,)
    plain = len(measure.statistics) == 1 and not measure.details and not measure.posteriors
    if finish is None or finish.call.function not in _COUNTED or not plain or finish.line is not None:
        raise _other("a question is about one COUNT or SUM", at, "this is another number", _EXAMPLE)
    if measure.statistics[0].part not in (Part.ROWS, Part.UNITS, Part.VALUE) or measure.statistics[0].offset:
        raise _other("a question is about one COUNT or SUM", at, "this is another number", _EXAMPLE)
    if measure.non_negative is not None:
        raise _other(
            "non_negative means nothing here",
            measure.non_negative.span,
            "the number is compared, and not released",
            "leave it out",
        )
    if measure.fitted is not None:
        raise _other(
            "a question has a clip that is known",
            at,
            "this one would be found",
            f"leave it out: {planned.name} says max_rows = {planned.alert.rows}",
        )


def check_plan(measure: MeasurePlan, at: Span) -> None:
    """Refuse a number that is measured in another way than as one sum."""
    plain = measure.applied is None and measure.runs is None and measure.joint is None
    if not plain or measure.again is not None or measure.details or len(measure.measure.statistics) != 1:
        raise _other("a question is about one COUNT or SUM", at, "this is another number", _EXAMPLE)


_EXAMPLE = "SELECT DP_ABOVE('flu', COUNT(*)) FROM ... WHERE ..."


def _other(title: str, at: Span, label: str, help: str) -> Error:
    return refuse("D412", title, at, label=label, help=help)


def _too_much(measure: Measure, planned: AlertPlan, most: Fraction) -> Error:
    alert = planned.alert
    (statistic,) = measure.statistics
    value = 1 if statistic.part is not Part.VALUE else max(abs(statistic.low), abs(statistic.high))
    return refuse(
        "D412",
        f"this number may move by more than {planned.name} allows",
        measure.span,
        label=f"by {float(most):,g}, and {planned.name} allows {float(alert.most):,g}",
        help=f"max_rows_contributed = {alert.rows} counts fewer rows of a unit"
        if value <= max(abs(alert.lower), alert.upper)
        else f"SUM(LEAST(x, {alert.upper:g})), or an alert WITH (upper = {value:g}, ...)",
    )
