"""One statement, audited on the owner's data: what its measures move, and what their releases tell.

part            moved     epsilon            verdict
count, avg      0.71      0.31 of 0.5        ok
median          0.98      0.12 of 0.15       ok
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from dpsql.audit import plan_of
from dpsql.audit.lacking import Lacking
from dpsql.audit.law import at_least, follows
from dpsql.audit.oracles import ready_measures, shares, violations
from dpsql.audit.releases import detail_scores, noise_of, releases, sum_scores
from dpsql.ir.event import Event
from dpsql.ir.plan import Planned
from dpsql.ir.table import ExactTable
from dpsql.session import Session

OK = "ok"
FAR, TELLS, NOISE = "moves too far", "tells too much", "not the planned noise"


@dataclass(frozen=True, slots=True)
class Part:
    """What one mechanism of a statement releases. ``moved`` is the largest part of what was declared.

    ``least`` is the epsilon that releases prove, ``claimed`` the one that was paid for; None without trials.
    """

    name: str
    moved: float
    least: float | None
    claimed: float
    verdict: str


def audited(
    session: Session, sql: str, epsilon: float, neighbour: Lacking, units: Sequence[object], trials: int
) -> list[Part]:
    """Every part of a statement; none where nothing private is released. Debits nothing."""
    plan = plan_of(session, sql, epsilon)
    found = []
    for each in ready_measures(plan, session.engine, session.sealed):
        ours = session.engine.measure(each)
        names = list(_names(each))
        most, broken, furthest = [0.0] * (1 + len(each.details)), False, ours
        for unit in units:
            neighbour.leave_out(unit)
            theirs = neighbour.measure(each)
            moved = shares(each, ours, theirs)
            if max(moved) > max(most):
                furthest = theirs
            most = [max(pair) for pair in zip(most, moved, strict=True)]
            broken = broken or bool(violations(each, ours, theirs))
        told = _told(session, each, ours, furthest, trials)
        for i, name in enumerate(names):
            if name is not None:
                least, claimed, verdict = told[i]
                found.append(Part(name, most[i], least, claimed, FAR if broken else verdict))
    return found


def _names(each: Planned) -> list[str | None]:
    """The aggregates that the sums are for, and those of each detail; None where there are no sums."""
    said = [f.call.function for f in each.measure.finishes if f.statistics]
    if not said and each.measure.statistics:
        said = ["groups"]
    names = [", ".join(dict.fromkeys(said)) if each.measure.statistics else None]
    ends = list(accumulate(detail.detail.width for detail in each.details))
    for end, detail in zip(ends, each.details, strict=True):
        mine = range(end - detail.detail.width, end)
        of = [f.call.function for f in each.measure.finishes if any(place in mine for place in f.places)]
        names.append(", ".join(dict.fromkeys(of)) or "bounds")
    return names


def _told(
    session: Session, each: Planned, ours: ExactTable, theirs: ExactTable, trials: int
) -> list[tuple[float | None, float, str]]:
    """Of the sums and of each detail: the epsilon proven, the one claimed, and what to think of it."""
    claims = [_claimed(session, (each.noise.event,) if each.measure.statistics else ())]
    claims += [_claimed(session, detail.events) for detail in each.details]
    if not trials:
        return [(None, claim, OK) for claim in claims]
    drawn, delta = releases(each, ours, theirs, trials), session.budget.delta
    found: list[tuple[float | None, float, str]] = []
    first = len(each.measure.statistics)
    scores = [sum_scores(each, drawn)]
    for detail in each.details:
        scores.append(detail_scores(first, detail.detail.width, drawn))
        first += detail.detail.width
    for i, (claim, (mine, other)) in enumerate(zip(claims, scores, strict=True)):
        least = at_least(mine, other, delta)
        verdict = OK if least <= claim else TELLS
        if i == 0 and verdict == OK and each.runs is None and drawn.exact[0].size:
            added = noise_of(each, drawn)
            verdict = OK if follows(added, each.noise.mechanism, each.noise.scale) else NOISE
        found.append((least, claim, verdict))
    return found


def _claimed(session: Session, events: tuple[Event, ...]) -> float:
    """What the accountant takes these events for, by themselves, at the ledger's delta."""
    if not events:
        return 0.0
    return session.accountant.epsilon(session.accountant.charge(events), session.budget)
