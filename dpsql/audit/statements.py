"""Audit of one statement on the owner's data: the sensitivity and the privacy loss of its measures.

part            moved of declared            epsilon            verdict
count, avg      14.2 of 20 rows (71.00 %)    0.31 of 0.5        ok
sum             4900 of 5000 (98.00 %)       0.12 of 0.15       ok

For numbers with noise, repeated releases prove a lower bound on epsilon; it is compared with the accountant's
epsilon. For choices, the loss is computed and compared with the epsilons of the choices themselves, before an
accountant composes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field
from fractions import Fraction
from itertools import accumulate

from dpsql.audit import plan_of
from dpsql.audit.chances import SLACK, drawn_by_law, worst
from dpsql.audit.neighbour_views import Lacking
from dpsql.audit.noise_tests import at_least, follows
from dpsql.audit.oracles import ready_measures, shares, violations
from dpsql.audit.releases import Releases, releases, scores
from dpsql.ir.column import Value
from dpsql.ir.detail import Detail
from dpsql.ir.event import ChoiceEvent, Event
from dpsql.ir.plan import DetailPlan, MeasurePlan, Noise
from dpsql.ir.table import ExactTable
from dpsql.lazy_dataclass import dataclass
from dpsql.release.completed import completed
from dpsql.release.groups import plain
from dpsql.release.matrices import has_matrix
from dpsql.rewrite.statistics import GRID
from dpsql.session import Session

OK = "ok"
FAR, TELLS, NOISE = "moves too far", "tells too much", "not the planned noise"


@dataclass(frozen=True, slots=True)
class Part:
    """Audit result of one mechanism. ``moved`` is the largest change relative to the declared sensitivity.

    ``declared`` is that sensitivity: in the unit of the numbers, or in ``rows`` that count in full if they
    have several units. ``claimed`` is the planned epsilon. ``least`` is the epsilon that was proven, None
    without trials.
    """

    name: str
    moved: float
    declared: float
    rows: bool
    least: float | None
    claimed: float
    verdict: str


@dataclass(slots=True)
class _Found:
    """Results for a measure over the units left out so far: for the sums, then for each detail."""

    moved: list[float]
    losses: list[float]
    furthest: ExactTable
    broken: bool = field(default=False)


def audited(
    session: Session,
    sql: str,
    epsilon: float,
    neighbour: Lacking,
    units: Sequence[object],
    trials: int,
    going: Callable[[str], None],
) -> list[Part]:
    """Return the audit of every part of a statement; empty if nothing private is released. Debit nothing.

    ``going`` is called repeatedly with the progress, and may raise to stop the audit.
    """
    plan = plan_of(session, sql, epsilon)
    parts = []
    for planned in ready_measures(plan, session.engine, session.sealed):
        ours = session.engine.measure(planned)
        so_far = _Found([0.0] * (1 + len(planned.details)), [0.0] * len(planned.details), ours)
        for number, unit in enumerate(units, 1):
            going(f"{number} of {len(units)} left out")
            neighbour.leave_out(unit)
            _compare(planned, ours, neighbour.measure(planned), so_far, bool(trials))
        comparisons = _compare_releases(session, planned, ours, so_far, trials, going)
        declared = [_declared(planned), *((float(detail.sensitivity), False) for detail in planned.details)]
        for i, name in enumerate(_names(planned)):
            if name is not None:
                least, claimed, verdict = comparisons[i]
                verdict = FAR if so_far.broken else verdict
                parts.append(Part(name, so_far.moved[i], *declared[i], least, claimed, verdict))
    return parts


def _declared(planned: MeasurePlan) -> tuple[float, bool]:
    """Return the sensitivity of the sums, and whether it is in rows: numbers of several units have none."""
    steps = {statistic.step for statistic in planned.measure.statistics}
    step = steps.pop() if len(steps) == 1 else None
    return float(planned.bound[1] * (step or Fraction(1, GRID))), step is None


def _compare(
    planned: MeasurePlan, ours: ExactTable, theirs: ExactTable, so_far: _Found, chances: bool
) -> None:
    moved = shares(planned, ours, theirs)
    if max(moved) > max(so_far.moved):
        so_far.furthest = theirs
    so_far.moved = [max(pair) for pair in zip(so_far.moved, moved, strict=True)]
    so_far.broken = so_far.broken or bool(violations(planned, ours, theirs))
    for i, (detail, distance) in enumerate(zip(planned.details, moved[1:], strict=True)):
        if chances and distance and detail.noise is None:  # what did not move tells nothing
            loss = worst(detail, _both(planned, ours, theirs), ours.details[i], theirs.details[i])
            so_far.losses[i] = max(so_far.losses[i], loss)


def _both(planned: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> list[tuple[Value, ...]]:
    """Return the groups of both neighbours; for others the probability of being shown is tested."""
    there = {plain(group) for group in completed(theirs, planned)[0]}
    return [group for group in completed(ours, planned)[0] if plain(group) in there]


def _names(planned: MeasurePlan) -> list[str | None]:
    """Return the names of the aggregates of the sums (None without sums), then of each detail."""
    functions = [f.call.function for f in planned.measure.finishes if f.statistics]
    if not functions and planned.measure.statistics:
        functions = ["groups"]
    names = [", ".join(dict.fromkeys(functions)) if planned.measure.statistics else None]
    ends = list(accumulate(detail.detail.width for detail in planned.details))
    for end, detail in zip(ends, planned.details, strict=True):
        places = range(end - detail.detail.width, end)
        of = [f.call.function for f in planned.measure.finishes if any(place in places for place in f.places)]
        names.append(", ".join(dict.fromkeys(of)) or "bounds")
    return names


_Comparison = tuple[float | None, float, str]
"""The epsilon that was proven, the planned one, and the verdict."""


def _compare_releases(
    session: Session,
    planned: MeasurePlan,
    ours: ExactTable,
    so_far: _Found,
    trials: int,
    going: Callable[[str], None],
) -> list[_Comparison]:
    """Audit the releases of the sums and of each detail."""
    width, delta = len(planned.measure.statistics), session.budget.delta
    claims = [_claimed(session, (planned.noise.event,) if width else ())]
    claims += [
        _promised(detail) if detail.noise is None else _claimed(session, detail.events)
        for detail in planned.details
    ]
    if not trials:
        return [(None, claim, OK) for claim in claims]
    drawn = releases(planned, ours, so_far.furthest, trials, lambda: going("releases"))
    comparisons = [_noised(planned.noise, has_matrix(planned), drawn.of(0, width), claims[0], delta)]
    first = width
    for i, detail in enumerate(planned.details):
        if detail.noise is not None:
            comparisons.append(_noised(detail.noise, False, drawn.of(first, 1), claims[i + 1], delta))
            first += 1
            continue
        going("choices")
        verdict = OK if so_far.losses[i] <= claims[i + 1] + SLACK else TELLS
        groups = completed(ours, planned)[0]
        if verdict == OK and groups and not drawn_by_law(detail, groups, ours.details[i], trials):
            verdict = NOISE
        comparisons.append((so_far.losses[i], claims[i + 1], verdict))
    return comparisons


def _noised(noise: Noise, runs: bool, drawn: Releases, claim: float, delta: float) -> _Comparison:
    least = at_least(*scores(noise, runs, drawn), delta)
    verdict = OK if least <= claim else TELLS
    if verdict == OK and not runs and drawn.exact[0].size:
        verdict = OK if follows(drawn.noise(), noise.mechanism, noise.scale) else NOISE
    return least, claim, verdict


def _promised(detail: DetailPlan[Detail]) -> float:
    """Return the sum of the epsilons of a detail's choices."""
    return math.fsum(event.epsilon for event in detail.events if isinstance(event, ChoiceEvent))


def _claimed(session: Session, events: tuple[Event, ...]) -> float:
    """Return the accountant's epsilon of these events alone, at the ledger's delta."""
    if not events:
        return 0.0
    return session.accountant.epsilon(session.accountant.charge(events), session.budget)
