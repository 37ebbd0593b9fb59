"""The price of a private holdout, and which means it answers about.

    epsilon 1, times 3  ->  3 thresholds with all questions, 3 noisy means, a sixth of the price each
    SELECT AVG(x) ...   ->  the plan of the mean, with the noise of its sixth; and how far it is from p

Claim   whatever is asked, and whatever comes out, the holdout is as private as its events.
Proof   A comparison is a question of an alert whose numbers move both ways, by at most D
        (mechanisms/above_threshold.py, mechanisms/holdout.py). After a true, the two sums of the mean are
        released with Laplace noise on their L1 norm, of a ratio that is at most that of the event which was
        paid; there are as many of these as trues. All are chosen after seeing what came before: what each of
        them costs is fixed when the holdout is created (a filter whose charges are all made at once).
Test    tests/privacy/test_holdouts.py
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from fractions import Fraction

from dpsql.accounting.charged import charged
from dpsql.errors import Error, refuse
from dpsql.ir.alert import Alert, AlertPlan, Distance
from dpsql.ir.event import AlertEvent, Event
from dpsql.ir.measure import Measure, Split
from dpsql.ir.plan import AlertQuestion, Noise, Norm, Plan
from dpsql.ir.source import Span
from dpsql.ir.statistic import Part
from dpsql.mechanisms import above_threshold, at_least, laplace
from dpsql.mechanisms.holdout import furthest_value, moves
from dpsql.plan.noise_choice import LARGEST_SCALE
from dpsql.plan.terms import Terms
from dpsql.plan.written_form import written

_EXAMPLE = "SELECT DP_HOLDOUT('h', 0.31, AVG(x)) FROM ... WHERE ..."


def holdout_epsilons(alert: Alert, terms: Terms) -> tuple[float, float]:
    """Return the epsilon of each comparison and of each noisy mean, of a price for all of them."""
    rules, share = terms.accountant, Fraction(1, 2 * alert.times)
    epsilon1 = rules.allowance(terms.epsilon, terms.budget, share, False).laplace
    most = charged(rules, (_mean_event(epsilon1),))
    low, high = 0.0, terms.epsilon
    for _ in range(60):
        middle = (low + high) / 2
        within = rules.charge((AlertEvent(middle),)).within(most)
        low, high = (middle, high) if within else (low, middle)
    if not low:
        raise refuse("D503", f"the price {terms.epsilon:g} is too small for a holdout", help="pay more")
    return low, float(epsilon1)


def holdout_events(alert: Alert, epsilon0: float, epsilon1: float) -> tuple[Event, ...]:
    """Return all events of a holdout."""
    return (AlertEvent(epsilon0),) * alert.times + (_mean_event(epsilon1),) * alert.times


def _mean_event(epsilon1: float | Fraction) -> Event:
    return laplace.event(1, laplace.scale_for(1, 1 / epsilon1))


def check_mean(split: Split, at: Span) -> None:
    """Refuse what is not one plain mean of private rows."""
    measures = [measure for stage in split.stages for measure in stage.measures]
    if len(measures) != 1 or len(split.stages) > 1:
        raise _other("a holdout buys nothing on its way", at, "this reads a release, or no private row")
    (measure,), post = measures, split.stages[-1].post
    finish = measure.finishes[0] if len(measure.finishes) == 1 else None
    parts = [each.part for each in measure.statistics]
    plain = not (measure.keys or measure.details or measure.posteriors or measure.view or measure.model)
    single = len(measure.aggregates) == 1 and len(post.columns) == 1 and post.plain
    mean = finish is not None and finish.call.function == "avg" and not finish.call.distinct
    if not (plain and single and mean) or parts != [Part.REST, Part.VALUE]:
        raise _other("a holdout answers about one AVG", at, "this is another number")
    if measure.non_negative is not None or measure.fitted is not None:
        raise _other("a mean has no options here", at, "its clip is max_rows, and it has no other")


def holdout_question(plan: Plan, planned: AlertPlan, public: Fraction, at: Span) -> AlertQuestion:
    """Return the question of a holdout that a planned mean is; refuse any other."""
    (measure,), alert = plan.measures, planned.alert
    simple = measure.applied is None and measure.runs is None and measure.joint is None
    if not simple or measure.again is not None or measure.details or len(measure.measure.statistics) != 2:
        raise _other("a holdout answers about one AVG", at, "this is another number")
    m, (_, value) = measure.measure, measure.measure.statistics
    assert alert.tolerance is not None
    low, high = Fraction(value.low), Fraction(value.high)
    if low == high:
        raise _other("a holdout answers about one AVG", at, f"this is {value.low:g} whatever the rows are")
    distance = Distance(public, low, high, value.most, Fraction(repr(alert.tolerance)))
    _, clip = measure.bound
    most = above_threshold.most_of(planned.step)
    if moves(distance, clip) > most:
        raise _too_far(m, planned, distance, clip)
    comparing = above_threshold.scale_of_question(most, planned.step, False, planned.epsilon0)
    steps = math.ceil(most / planned.step)
    compared = Noise(laplace.NAME, Norm.L1, steps, comparing, laplace.event(steps, comparing))
    canonical = Fraction(laplace.scale_for(1, 1 / planned.epsilon1))
    scale = at_least(clip * canonical)
    if not max(scale, comparing) < LARGEST_SCALE:
        raise refuse("D503", "the price is too small: the noise would not fit the grid", help="pay more")
    noise = Noise(laplace.NAME, Norm.L1, clip, scale, laplace.event(clip, scale))
    own = replace(measure, noise=noise)
    (stage,) = plan.stages
    said = tuple(map(str, (distance.public, distance.tolerance)))
    parts = (written(m.relation), written(m.statistics), written(noise), written(said))
    digest = hashlib.sha256("\n".join(("holdout", *parts)).encode()).hexdigest()
    number = replace(plan, stages=(replace(stage, measures=(own,)),))
    return AlertQuestion(own, planned.step, digest, distance, number, compared)


def _other(title: str, at: Span, label: str, help: str = _EXAMPLE) -> Error:
    return refuse("D412", title, at, label=label, help=help)


def _too_far(measure: Measure, planned: AlertPlan, distance: Distance, clip: int) -> Error:
    alert, rows = planned.alert, Fraction(clip, distance.most)
    furthest = furthest_value(distance)
    return refuse(
        "D412",
        f"this mean may move by more than {planned.name} allows",
        measure.span,
        label=f"a value may be {float(furthest):,g} from the public number, and {planned.name} allows "
        f"{alert.upper:,g}"
        if rows <= alert.rows
        else f"{math.ceil(rows)} rows of a unit count, and {planned.name} allows {alert.rows}",
        help=f"AVG(LEAST(x, {float(distance.public) + alert.upper:g})), or a holdout WITH (upper = "
        f"{float(furthest):g}, ...)"
        if rows <= alert.rows
        else f"max_rows_contributed = {alert.rows} counts fewer rows of a unit",
    )
