"""Audit statements together by one release: units are in or out by coins, and each is guessed.

canary    score    guess    coin
17          .96    in       in
4           .11    out      out
230         .52    none     out

The score of a canary is its place between out (0) and in (1) by least squares: how well its own part of the
exact sums fits what was released, beside all other canaries' parts, for noise as wide as each number's. Those
furthest from 1/2 are guessed, as many as promise to prove most.

Claim   with probability 1 - 1e-4, ``proven_at_once`` is at most epsilon for every (epsilon, delta)-private
        mechanism.
Proof   Steinke, Nasr and Jagielski 2023, theorem 5.2: of r guesses about independent fair coins of m units,
        made from one answer, v or more are right with probability at most f(v) + 2 m delta a, where f(v) is
        the binomial tail of r at e^epsilon / (1 + e^epsilon), and a the largest (f(v - i) - f(v)) / i for i
        from 1 to m. Whom to guess is read from the answer alone. The tail grows with epsilon: the least one
        at which it exceeds 1e-4 is proven.
Test    tests/privacy/test_audit_once.py
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from dpsql.audit import plan_of
from dpsql.audit.noise_tests import least
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.table import ExactTable, ReleasedTable
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms import mechanism
from dpsql.release.completed import completed
from dpsql.release.groups import plain
from dpsql.releasing import Measuring, release_stages
from dpsql.session import Session

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from dpsql.audit.neighbour_views import Lacking

ERRS = 1e-4
"""No smaller, for the promise's own delta leaves about 2 m delta / 20 to chance, of 100 canaries 1e-5."""

_LARGEST = 50.0


@dataclass(frozen=True, slots=True)
class OneRun:
    """How many guesses of one release were right, the epsilon that they prove, and the price's."""

    canaries: int
    right: int
    guesses: int
    proven: float
    claimed: float

    @property
    def holds(self) -> bool:
        return self.proven <= self.claimed


def audited_at_once(
    session: Session,
    priced: Sequence[tuple[str, float]],
    neighbour: Lacking,
    canaries: Sequence[object],
    going: Callable[[str], None],
) -> OneRun | None:
    """Release statements (with their prices) once, together, and guess which canaries were in.

    None if they release nothing private. Later stages are released with the others, and not looked at.
    """
    plans = [plan_of(session, sql, epsilon) for sql, epsilon in priced]
    plans = [part for plan in plans for part in ([] if plan.first is None else [plan.first.plan]) + [plan]]
    events = tuple(event for plan in plans for event in plan.events)
    if not events:
        return None
    neighbour.leave_out()
    whole = _exact(plans, neighbour.measure)
    parts = np.zeros((len(canaries), len(whole.places)))
    for number, canary in enumerate(canaries):
        going(f"{number} of {len(canaries)} canaries")
        neighbour.leave_out(canary)
        parts[number] = whole.numbers - _exact(plans, neighbour.measure).at(whole.places)
    coins = np.frombuffer(os.urandom(len(canaries)), dtype=np.uint8) % 2 == 1
    neighbour.leave_out(*(canary for canary, coin in zip(canaries, coins, strict=True) if not coin))
    scores = _scores(whole, parts, _released(session, plans, neighbour.measure))
    right, guesses = _guessed(scores, coins)
    delta = session.budget.delta
    claimed = session.accountant.epsilon(session.accountant.charge(events), session.budget)
    return OneRun(
        len(canaries), right, guesses, proven_at_once(right, guesses, len(canaries), delta), claimed
    )


def proven_at_once(right: int, guesses: int, canaries: int, delta: float) -> float:
    """Return the epsilon that guesses of one release prove."""
    low, high = 0.0, _LARGEST
    if chance(right, guesses, canaries, delta, low) > ERRS:
        return 0.0
    for _ in range(50):
        middle = (low + high) / 2
        rare = chance(right, guesses, canaries, delta, middle) <= ERRS
        low, high = (middle, high) if rare else (low, middle)
    return low


def chance(right: int, guesses: int, canaries: int, delta: float, epsilon: float) -> float:
    """Return a bound on the probability of so many right guesses or more."""
    p = 1 / (1 + np.exp(-epsilon))
    counts = np.arange(guesses + 1)
    logs = np.cumsum(np.log(np.maximum(counts, 1)))
    law = np.exp(
        logs[-1] - logs - logs[::-1] + counts * np.log(p) + (guesses - counts) * np.log1p(-p)
    )  # of each number of right guesses
    tail = float(law[right:].sum())
    below = np.cumsum(law[:right][::-1])[:canaries]  # of one to i fewer
    steepest = float((below / np.arange(1, len(below) + 1)).max()) if right else 0.0
    return min(1.0, tail + 2 * canaries * delta * steepest)


# ---- scores --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, repr=False)
class _Numbers:
    """Numbers by measure, group and column, and how wide the noise of each is."""

    places: dict[object, int]
    numbers: NDArray[np.float64]
    widths: NDArray[np.float64]

    def at(self, places: dict[object, int]) -> NDArray[np.float64]:
        """Return the numbers in the order of other places: 0 for those that are not here."""
        found = [self.places.get(place) for place in places]
        return np.array([0.0 if at is None else self.numbers[at] for at in found])


def _exact(plans: Sequence[Plan], measure: Measuring) -> _Numbers:
    return _numbered((planned, measure(planned)) for planned in _first_measures(plans))


def _first_measures(plans: Sequence[Plan]) -> list[MeasurePlan]:
    return [planned.measured for plan in plans for planned in plan.stages[0].measures]


def _released(session: Session, plans: Sequence[Plan], measure: Measuring) -> _Numbers:
    tables = []
    for plan in plans:
        session.sealed.begin()
        tables += release_stages(session, plan, read=measure)[: len(plan.stages[0].measures)]
    return _numbered(zip(_first_measures(plans), tables, strict=True))


def _numbered(tables: Iterable[tuple[MeasurePlan, ExactTable | ReleasedTable]]) -> _Numbers:
    places: dict[object, int] = {}
    numbers, widths = list[float](), list[float]()
    for which, (planned, table) in enumerate(tables):
        if isinstance(table, ExactTable):
            groups, sums = completed(table, planned)
        else:
            groups, sums = table.groups, table.sums
        width = mechanism(planned.noise.mechanism).deviation(planned.noise.scale)
        spread = planned.deviations()
        for row, (group, values) in enumerate(zip(groups, sums.tolist(), strict=True)):
            for column, value in enumerate(values[: len(planned.measure.statistics)]):
                places[which, plain(group), column] = len(places)
                numbers.append(float(value))
                widths.append(width * (1.0 if spread is None else float(spread[row, column])))
    return _Numbers(places, np.array(numbers), np.array(widths))


def _scores(whole: _Numbers, parts: NDArray[np.float64], released: _Numbers) -> NDArray[np.float64]:
    """Return for each canary how much of its part was released: 0 to 1, and 1/2 where nothing tells.

    This is the best linear estimate: coins have the mean 1/2 and the variance 1/4.
    """
    seen = np.array([place in released.places for place in whole.places])
    weights = np.where(seen & (whole.widths > 0), 1 / np.maximum(whole.widths, 1e-300), 0.0)
    scaled = parts * weights
    missing = (whole.numbers - released.at(whole.places)) * weights
    left_out = np.linalg.solve(
        scaled @ scaled.T + 4 * np.eye(len(parts)), scaled @ (missing - scaled.sum(axis=0) / 2)
    )
    return np.asarray(0.5 - left_out)


def _guessed(scores: NDArray[np.float64], coins: NDArray[np.bool_]) -> tuple[int, int]:
    """Guess the surest canaries, as many as promise to prove most if a score is a probability."""
    sure = np.clip(np.abs(scores - 0.5) + 0.5, 0.5, 1.0)
    order = np.argsort(-sure)
    expected = np.floor(np.cumsum(sure[order])).astype(int)
    promised = [least(int(right), number, ERRS) for number, right in enumerate(expected, 1)]
    guessed = order[: int(np.argmax(promised)) + 1]
    right = (scores[guessed] > 0.5) == coins[guessed]
    return int(right.sum()), len(guessed)


__all__ = ["OneRun", "audited_at_once", "chance", "proven_at_once"]
