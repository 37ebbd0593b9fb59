"""The choice of a clip: exact scores, the law over neighbours, what is chosen among few and among many."""

from __future__ import annotations

import itertools
import math
import random

import numpy as np
import pytest

from dpsql.details.clip_search.release import released, units_at
from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.event import LaplaceEvent
from dpsql.ir.measure import Measure
from dpsql.ir.plan import DetailPlan, MeasurePlan, Noise, Norm, PublicKeys, Shape
from dpsql.ir.relation import Materialized
from dpsql.ir.table import Masses
from dpsql.mechanisms.clip_ladder import (
    covering,
    few,
    handicaps,
    ladder,
    least_units,
    rate,
    scores,
)
from dpsql.release.details import chosen_by_system
from dpsql.release.release import from_system

LIMITS = ladder(16, -2, 6, 2**40)


def search(beyond: int) -> ClipSearch:
    nothing = Noise("laplace", Norm.L1, 0, 1.0, LaplaceEvent(0, 1.0))
    vector = MeasurePlan(Measure("m", Materialized((), ()), (), ()), (), PublicKeys(()), Shape.UNIT, nothing)
    return ClipSearch(Materialized((), ()), (), (), None, Shape.UNIT, Norm.L1, LIMITS, beyond, vector)


def places_of(norms: list[int]) -> list[int]:
    counted = [0] * (len(LIMITS) + 1)
    for norm in norms:
        if norm > 0:
            counted[sum(limit < norm for limit in LIMITS)] += 1
    return counted


def law_of(norms: list[int], beyond: int, epsilon: float) -> list[float]:
    """Of every clip, and of nothing."""
    held = scores(places_of(norms), beyond)
    behind = handicaps(LIMITS, beyond, epsilon)
    logs = [float(rate(epsilon)) * s - h for s, h in zip(held, behind, strict=True)]
    masses = [math.exp(each - max(logs)) for each in logs]
    return [mass / sum(masses) for mass in masses]


def test_a_ladder_has_steps_of_a_fifth() -> None:
    assert LIMITS[:6] == (4, 5, 6, 7, 8, 10)
    assert LIMITS[-1] == 16 * 64
    assert ladder(2**20, 0, 30, 2**40)[-1] == 2**40
    large = ladder(2**20, 0, 13, 2**40)
    assert all(second / first < 1.2 for first, second in itertools.pairwise(large))


def test_scores_are_units_beyond_the_few() -> None:
    """Of 10 units, 4 exceed the clip of 100: a score of -1 where 3 may, and of 0 beyond them all."""
    norms = [50] * 6 + [200] * 4
    held = scores(places_of(norms), 3)
    at_100 = max(i for i, limit in enumerate(LIMITS) if limit <= 100)
    assert held[at_100] == -1
    assert held[0] == -7
    assert held[len(LIMITS) - 1] == 0
    assert held[-1] == 0  # not more than four times three
    assert scores(places_of([50] * 20), 3)[-1] == -8


@pytest.mark.parametrize("seed", range(30))
def test_a_unit_moves_every_score_by_one_at_most(seed: int) -> None:
    """However long its vector is. So the law of the choice moves by epsilon at most, in both directions."""
    source = random.Random(seed)
    norms = [source.choice([0, 5, 40, 10**6, 10**18, source.randint(1, 2000)]) for _ in range(40)]
    beyond, epsilon = source.choice([1, 5, 9, 20]), 0.7
    ours, theirs = (scores(places_of(those), beyond) for those in (norms, norms[1:]))
    moved = {a - b for a, b in zip(ours, theirs, strict=True)}
    assert moved <= {0, -1}
    laws = (law_of(those, beyond, epsilon) for those in (norms, norms[1:]))
    losses = [math.log(a / b) for a, b in zip(*laws, strict=True)]
    assert max(losses) - min(losses) <= epsilon + 1e-9


def test_a_distance_would_move_both_ways() -> None:
    """On this side of the few one clip gains, on the other one loses: the price would be twice as high."""
    norms, beyond, epsilon = [5] * 30 + [200] * 6, 3, 0.7

    def losses(norms: list[int]) -> list[float]:
        places = places_of(norms)
        past = [sum(places[at + 1 :]) for at in range(len(LIMITS))]
        logs = [-float(rate(epsilon)) * abs(units - beyond) for units in past]
        return [each - math.log(math.fsum(map(math.exp, logs))) for each in logs]

    moved = [a - b for a, b in zip(losses([*norms, 10**6]), losses(norms), strict=True)]
    assert max(moved) - min(moved) == pytest.approx(2 * epsilon)
    laws = (law_of(those, beyond, epsilon) for those in ([*norms, 10**6], norms))
    ours = [math.log(a / b) for a, b in zip(*laws, strict=True)]
    assert max(ours) - min(ours) <= epsilon + 1e-9


@pytest.mark.parametrize("units", [0, 1, 10, 60])
@pytest.mark.parametrize("epsilon", [0.05, 0.2, 1.0])
def test_among_few_units_nothing_is_chosen(units: int, epsilon: float) -> None:
    """Not more than four times the few: a clip that fits them would cut many of them."""
    beyond = few(units / 4, epsilon)
    assert law_of([100] * units, beyond, epsilon)[-1] > 0.99
    assert law_of([10**9] * units, beyond, epsilon)[-1] > 0.99


@pytest.mark.parametrize("epsilon", [0.05, 0.2])
def test_among_enough_units_something_is(epsilon: float) -> None:
    beyond = few(3, epsilon)
    enough = least_units(LIMITS, beyond, epsilon)
    assert law_of([4] * enough, beyond, epsilon)[-1] < 0.6
    assert law_of([4] * (2 * enough), beyond, epsilon)[-1] < 0.01


def test_most_units_fit_what_is_chosen() -> None:
    """20,000 units of 100 or less, one in a hundred of them of 900: more than 300 are hardly ever cut."""
    norms = [60 + i % 40 if i % 100 else 900 for i in range(20_000)]
    law = law_of(norms, few(20, 0.2), 0.2)
    cut = [sum(norm > limit for norm in norms) for limit in LIMITS]
    assert sum(chance for chance, units in zip(law, cut, strict=False) if units > 300) < 1e-6


def test_the_choice_follows_the_law() -> None:
    """4,000 choices: the mean place is that of the law within 7 deviations, a false alarm in 10^10."""
    norms = [16 * (1 + i % 20) for i in range(900)]
    detail = search(few(5, 0.3))
    law = law_of(norms, detail.few, 0.3)
    counted = places_of(norms)
    weights: Masses = {(): (np.arange(len(counted), dtype=np.int64), np.array(counted, dtype=np.int64))}
    assert units_at(detail, weights) == counted
    planned = DetailPlan(detail, 1, 1, (), epsilon=0.3, choices=1)
    drawn = [int(released(planned, weights, [()], from_system, chosen_by_system)[0, 0]) for _ in range(4000)]
    mean = math.fsum(chance * place for place, chance in enumerate(law))
    spread = math.fsum(chance * (place - mean) ** 2 for place, chance in enumerate(law))
    assert abs(sum(drawn) / 4000 - mean) <= 7 * math.sqrt(spread / 4000)


def test_covering_cuts_nobody() -> None:
    assert LIMITS[covering(places_of([3, 100]))] >= 100 > LIMITS[covering(places_of([3, 100])) - 1]
    assert covering(places_of([])) == 0
    assert covering(places_of([10**9])) == len(LIMITS) - 1
