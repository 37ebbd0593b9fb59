"""What an alert is, and what a question of it would measure, as facts and words.

The distance from the threshold at which all of 100 outcomes are right is of the noise alone: public.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dpsql.explain.measures import measure_facts
from dpsql.ir.alert import AlertPlan
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.strategy import Floats
from dpsql.late_numpy import np
from dpsql.mechanisms import above_threshold
from dpsql.policy.catalogue import Known
from dpsql.render.english import one

QUESTIONS = 100
"""Of so many questions the distance is told."""

WRONG = 0.05
"""How often one of them may be wrong."""

_QUANTILES = 10_000


def alert_facts(plan: Plan, known: Known, unit: str, sql_of: Callable[[MeasurePlan], str]) -> dict[str, Any]:
    """Return the facts of an alert, and of the question of it if the plan has one."""
    planned = plan.alert
    assert planned is not None
    alert, asked = planned.alert, plan.question
    facts: dict[str, Any] = {
        "name": planned.name,
        "above": alert.above,
        "tolerance": alert.tolerance,
        "times": alert.times,
        "moves_by": float(alert.most),
        "monotone": alert.monotone,
        "epsilon_of_each": planned.epsilon0,
        "epsilon_of_means": planned.epsilon1 or None,
        "threshold_scale": planned.scale * float(planned.step),
        "question_scale": _question_scale(planned),
        "apart": apart(planned),
        "measure": None if asked is None else measure_facts(asked.measure, known, unit, sql_of),
    }
    facts["words"] = _words(facts, unit)
    return facts


def apart(planned: AlertPlan, questions: int = QUESTIONS) -> float:
    """Return how far from the threshold numbers must be so that all outcomes are right in 95 %.

    All but the last are below it. Given the noise of the threshold, questions are right or wrong on their
    own: the mean over that noise is a sum over its quantiles.
    """
    scale, own = planned.scale * float(planned.step), _question_scale(planned)
    middle = (np.arange(_QUANTILES) + 0.5) / _QUANTILES
    noise = scale * np.where(middle < 0.5, np.log(2 * middle), -np.log(2 * (1 - middle)))

    def right(distance: float) -> float:
        below = _at_most((distance + noise) / own) ** (questions - 1)
        return float(np.mean(below * (1 - _at_most((noise - distance) / own))))

    low, high = 0.0, 100 * (scale + own)
    for _ in range(40):
        middle_distance = (low + high) / 2
        low, high = (low, middle_distance) if right(middle_distance) >= 1 - WRONG else (middle_distance, high)
    return high


def _at_most(x: Floats) -> Floats:
    """Return the chance that Laplace noise of scale 1 is at most this."""
    tail = 0.5 * np.exp(-np.abs(x))
    return np.where(x < 0, tail, 1 - tail)


def _question_scale(planned: AlertPlan) -> float:
    most, step = above_threshold.most_of(planned.step), planned.step
    scale = above_threshold.scale_of_question(most, step, planned.alert.monotone, planned.epsilon0)
    return scale * float(step)


def _words(facts: dict[str, Any], unit: str) -> list[str]:
    times = "once" if facts["times"] == 1 else f"{facts['times']} times, each with a threshold of its own"
    ways = "all one way" if facts["monotone"] else "both ways, which doubles the noise of questions"
    lines = [
        f"alert     {facts['name']} says true {times}, when a number with its noise is above "
        f"{facts['above']:g} with its noise",
        f"  moves       {one(unit)} moves a number by at most {facts['moves_by']:,g}, {ways}",
        f"  noise       laplace: scale {facts['threshold_scale']:.4g} on the threshold, "
        f"{facts['question_scale']:.4g} on each number; epsilon {facts['epsilon_of_each']:.4g} for each true",
        f"  accuracy    {QUESTIONS} numbers that are {facts['apart']:,.4g} from the threshold are all told "
        "rightly in 95 %",
    ]
    if facts["tolerance"] is not None:
        lines = [
            f"holdout   {facts['name']} answers a public number while the private mean is within "
            f"{facts['tolerance']:g} of it, else that mean with noise: {times}",
            f"  moves       {one(unit)} moves the sum of distances by at most {facts['moves_by']:,g}",
            f"  noise       laplace: scale {facts['threshold_scale']:.4g} on the tolerated sum, "
            f"{facts['question_scale']:.4g} on each sum, epsilon {facts['epsilon_of_each']:.4g} for each; "
            f"epsilon {facts['epsilon_of_means']:.4g} for each mean",
            f"  accuracy    {QUESTIONS} sums that are {facts['apart']:,.4g} from what is tolerated are all "
            "told rightly in 95 %",
        ]
    measure = facts["measure"]
    if measure is not None:
        lines += [
            f"  asks        {measure['bounded_by']}; the number is compared"
            + (", and not released" if facts["tolerance"] is None else ", and released where it is far"),
            *("  " + line for line in measure["sql"].split("\n")),
        ]
    return lines
