"""Attack a whole statement: guess from its releases whether the unit that moves most was in the data.

statement   guesses right              epsilon proven, of the price
towns       1,204 of 1,560             0.71 of 1.00

Claim   with probability 1 - 1e-6, ``proven`` is at most epsilon for every (epsilon, delta)-private
        mechanism.
Proof   the guess is learned from the first half of the releases. In the second, which is independent of it,
        let R and W be the probabilities that a release is guessed rightly and wrongly, under a fair coin.
        With P(in | with the unit) <= e^epsilon P(in | without) + delta, and the same for "out" the other way
        round, R <= e^epsilon W + delta: half the sum of both. Given how many releases are guessed at all,
        the right ones are binomial at R / (R + W). Bounds of Clopper and Pearson for that, p, and for
        R + W, g, each fail with probability 5e-7 (without a delta only the first is needed, at 1e-6); and
        epsilon >= log((p - delta / g) / (1 - p)), which grows with both.
Test    tests/privacy/test_audit_attack.py
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from dpsql.audit import plan_of
from dpsql.audit.learned_guess import learned
from dpsql.audit.noise_tests import least
from dpsql.audit.oracles import ready_measures, shares
from dpsql.audit.whole_releases import Releases, by_coins
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.table import ExactTable
from dpsql.lazy_dataclass import dataclass
from dpsql.release.completed import completed
from dpsql.release.groups import plain
from dpsql.session import Session

if TYPE_CHECKING:
    from dpsql.audit.neighbour_views import Lacking

ERRS = 1e-6


@dataclass(frozen=True, slots=True)
class Guessed:
    """What guesses proved of a statement: how many were right, the epsilon they prove, and the price's."""

    right: int
    guesses: int
    proven: float
    claimed: float

    @property
    def holds(self) -> bool:
        return self.proven <= self.claimed


def guessed(
    session: Session,
    sql: str,
    epsilon: float,
    neighbour: Lacking,
    units: Sequence[object],
    trials: int,
    going: Callable[[str], None],
) -> Guessed | None:
    """Guess ``2 trials`` coins: learn from half of them, and count the others. Debit nothing.

    None if the statement releases nothing private. A bound search before it is released with it.
    """
    plan = plan_of(session, sql, epsilon)
    plans = [plan] if plan.first is None else [plan.first.plan, plan]
    events = tuple(event for part in plans for event in part.events)
    if not events:
        return None
    neighbour.leave_out(_furthest(session, plan, neighbour, units, going))
    drawn = by_coins(
        session, plans, session.engine.measure, neighbour.measure, 2 * trials, lambda: going("guesses")
    )
    right, wrong = _tested(drawn)
    delta = session.budget.delta
    claimed = session.accountant.epsilon(session.accountant.charge(events), session.budget)
    return Guessed(right, right + wrong, proven(right, wrong, len(drawn.coins) // 2, delta), claimed)


def proven(right: int, wrong: int, tried: int, delta: float) -> float:
    """Return the epsilon that guesses prove; of ``tried`` releases some are not guessed."""
    guesses = right + wrong
    if not guesses:
        return 0.0
    p, lost = least(right, guesses, ERRS / (2 if delta else 1)), 0.0
    if delta:
        often = least(guesses, tried, ERRS / 2)
        lost = delta / often if often else math.inf
    return max(0.0, math.log((p - lost) / (1 - p))) if p > lost else 0.0


def _tested(drawn: Releases) -> tuple[int, int]:
    half = len(drawn.coins) // 2
    first, second = (
        Releases(drawn.numbers[part], drawn.coins[part]) for part in (slice(half), slice(half, 2 * half))
    )
    return learned(first, half).right_and_wrong(second)


def _furthest(
    session: Session,
    plan: Plan,
    neighbour: Lacking,
    units: Sequence[object],
    going: Callable[[str], None],
) -> object:
    """Return the unit whose leaving moves most: all measures, in shares of what is declared, and groups."""
    measures: list[MeasurePlan] = ready_measures(plan, session.engine, session.sealed)
    ours = [session.engine.measure(planned) for planned in measures]
    moved = []
    for number, unit in enumerate(units, 1):
        going(f"{number} of {len(units)} left out")
        neighbour.leave_out(unit)
        moved.append(
            sum(
                _moved(planned, exact, neighbour.measure(planned))
                for planned, exact in zip(measures, ours, strict=True)
            )
        )
    return units[moved.index(max(moved))]


def _moved(planned: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> float:
    here, there = ({plain(group) for group in completed(table, planned)[0]} for table in (ours, theirs))
    return sum(shares(planned, ours, theirs)) + len(here ^ there)


__all__ = ["Guessed", "guessed", "proven"]
