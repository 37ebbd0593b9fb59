"""Two of the three test oracles: the effect of removing one unit, and the answer without noise.

    sensitivity   removing a unit changes the exact sums by at most the declared norm, and groups of that
                  unit alone are shown with at most the declared delta
    meaning       without noise, with thresholds at one unit and data in bounds: the same rows as plain SQL

Each returns descriptions of the violations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import Decimal

import numpy as np

from dpsql.aggregates import shelf
from dpsql.audit import owners_session, plan_of
from dpsql.audit.noiseless import silently
from dpsql.dbapi import Connection
from dpsql.detail_kinds import part
from dpsql.engines import Engine
from dpsql.ir.measure import Finish, Measure
from dpsql.ir.plan import MeasurePlan, Norm, Plan, PublicKeys, Threshold
from dpsql.ir.statistic import CELLS, width_of
from dpsql.ir.table import ExactTable, Masses
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.exponential import Integers
from dpsql.post.sealed import Sealed
from dpsql.post.stages import StageOutputs, types_of_stages
from dpsql.release.release import completed, in_runs
from dpsql.session import Session

# ---- sensitivity -------------------------------------------------------------------------------------


def sensitivity(
    plan: Plan, whole: Engine, neighbours: Sequence[tuple[str, Engine]], sealed: Sealed | None = None
) -> list[str]:
    """Compare a plan's exact sums on a database with those on databases that lack one unit."""
    found = []
    for each in ready_measures(plan, whole, sealed):
        exact = whole.measure(each)
        for name, engine in neighbours:
            found += [f"without {name}: {one}" for one in violations(each, exact, engine.measure(each))]
    return found


def violations(each: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> list[str]:
    """Return descriptions of where two neighbours' exact tables differ by more than declared."""
    found = _moved(each, _sums(each, ours), _sums(each, theirs))
    return found + _reweighed(each, ours, theirs) + _runs_moved(each, ours, theirs)


def shares(each: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> list[float]:
    """Return the distance of two neighbours relative to the sensitivity: for the sums and each detail."""
    norm, limit = each.bound
    length = _length(_changes(each, _sums(each, ours), _sums(each, theirs)), norm)
    found = [length / limit if limit else 0.0]
    if each.runs is not None:
        moved = [a - b for a, b in zip(in_runs(ours, each), in_runs(theirs, each), strict=True)]
        found[0] = max(found[0], _length(moved, each.noise.norm) / each.noise.sensitivity)
    for planned, mine, other in zip(each.details, ours.details, theirs.details, strict=True):
        found.append(_weights_moved(mine, other) / planned.sensitivity)
    return found


def _length(changes: list[int], norm: Norm) -> float:
    if norm is Norm.L1:
        return float(sum(map(abs, changes)))
    return math.sqrt(sum(change * change for change in changes))


def _reweighed(each: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> list[str]:
    """Describe details with weights that differ by more than the declared sensitivity."""
    found = []
    for planned, mine, other in zip(each.details, ours.details, theirs.details, strict=True):
        moved = _weights_moved(mine, other)
        if moved > planned.sensitivity:
            found.append(f"the weights move by {moved}, declared {planned.sensitivity}")
    return found


def _weights_moved(mine: Masses, other: Masses) -> int:
    before, after = ({_comparable(group): each for group, each in held.items()} for held in (mine, other))
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int64)
    return sum(
        _apart(before.get(group, nothing), after.get(group, nothing))
        for group in before.keys() | after.keys()
    )


def _apart(mine: tuple[Integers, Integers], other: tuple[Integers, Integers]) -> int:
    """Return the L1 distance of two groups' weights; a place occurs once on each side."""
    places, where = np.unique(np.concatenate((mine[0], other[0])), return_inverse=True)
    change = np.zeros(len(places), np.int64)
    np.add.at(change, where, np.concatenate((mine[1], -other[1])))
    return int(np.abs(change).sum())


def _runs_moved(each: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> list[str]:
    """Describe ranges of groups that differ by more than the declared sensitivity."""
    if each.runs is None:
        return []
    moved = [a - b for a, b in zip(in_runs(ours, each), in_runs(theirs, each), strict=True)]
    power = each.noise.norm.value
    if sum(abs(change) ** power for change in moved) > each.noise.sensitivity**power:
        return [f"runs of groups move by more than {each.noise.sensitivity} in {each.noise.norm.name}"]
    return []


def ready_measures(plan: Plan, engine: Engine, sealed: Sealed | None) -> list[MeasurePlan]:
    """Return every measure of a plan; later stages read earlier releases without noise."""
    found = [] if plan.first is None else list(plan.first.measures)
    if len(plan.stages) == 1:
        found += plan.stages[0].measures
        return found + [each.again for each in found if each.again is not None]
    assert sealed is not None, "stages hand their rows down through the sealed engine"
    so_far = StageOutputs(sealed)
    for stage in plan.stages:
        for each in stage.measures:
            found.append(so_far.ready(each))
            so_far.add(each, silently(engine.measure(found[-1]), each))
        so_far.hand_down(stage)
    return found


Groups = dict[tuple[object, ...], tuple[int, ...]]


def _sums(each: MeasurePlan, exact: ExactTable) -> Groups:
    groups, sums = completed(exact, each)
    found = {_comparable(group): tuple(int(n) for n in row) for group, row in zip(groups, sums, strict=True)}
    if len(found) < len(groups):
        raise AssertionError("a group is measured twice")
    return found


def _comparable(group: tuple[object, ...]) -> tuple[object, ...]:
    """Return a group as a dictionary key in which NaN equals itself."""
    return tuple("nan" if isinstance(v, float) and math.isnan(v) else (type(v).__name__, v) for v in group)


def _changes(each: MeasurePlan, ours: Groups, theirs: Groups) -> list[int]:
    nothing = (0,) * len(each.measure.statistics)
    return [
        a - b
        for group in ours.keys() | theirs.keys()
        for a, b in zip(ours.get(group, nothing), theirs.get(group, nothing), strict=True)
    ]


def _moved(each: MeasurePlan, ours: Groups, theirs: Groups) -> list[str]:
    found = []
    changes = _changes(each, ours, theirs)
    norm, limit = each.bound
    if norm is Norm.L1:
        moved, allowed = sum(abs(change) for change in changes), limit
    else:
        moved, allowed = sum(change * change for change in changes), limit * limit
    if moved > allowed:
        found.append(f"{norm.name} moves by {moved}, declared {allowed}")
    if isinstance(each.rule, PublicKeys):
        if ours.keys() != theirs.keys():
            found.append("the list of public groups changes")
    else:
        found += _shown(each, each.rule, ours, theirs) + _shown(each, each.rule, theirs, ours)
    return found


def _shown(each: MeasurePlan, rule: Threshold, more: Groups, fewer: Groups) -> list[str]:
    """Bound by delta the total probability of showing groups that only one side has."""
    alone = [sums[rule.statistic] for group, sums in more.items() if group not in fewer]
    noise = mechanism(each.noise.mechanism)
    chance = sum(noise.above(each.noise.scale, rule.steps - count - 0.5) for count in alone)  # it is rounded
    if chance > rule.event.delta * (1 + 1e-9):
        return [f"{len(alone)} groups of one unit are shown with {chance}, declared {rule.event.delta}"]
    return []


# ---- meaning -----------------------------------------------------------------------------------------


def without_noise(db: Connection, sql: str, epsilon: float) -> list[tuple[object, ...]]:
    """Return the rows of a query without noise, thresholds at one unit: exact data, for the owner only."""
    session = owners_session(db)
    return silent_rows(session, plan_of(session, sql, epsilon))


def silent_rows(session: Session, plan: Plan) -> list[tuple[object, ...]]:
    """Return the rows of a plan without noise, with thresholds at one unit."""
    types = types_of_stages(plan.stages, session.sealed)
    so_far = StageOutputs(session.sealed)
    for stage in plan.stages:
        for each in stage.measures:
            so_far.add(each, silently(session.engine.measure(so_far.ready(each)), each))
        so_far.hand_down(stage)
    last = plan.stages[-1]
    return [row[: len(last.post.columns)] for row in so_far.answer(last, types)]


def coarseness(plan: Plan) -> float:
    """Return the largest grid step of a plan, in SQL units."""
    measures = [each.measure for stage in plan.stages for each in stage.measures]
    return max((grain(finish, m) for m in measures for finish in m.finishes), default=0.0)


def grain(finish: Finish, measure: Measure) -> float:
    """Return the largest grid step of an aggregate; a sum of 300 rows may be off by 300 steps.

    In ratios (most moments), the rounding errors of rows do not add up.
    """
    statistics = [measure.statistics[i] for number in finish.statistics for i in number]
    if not statistics or statistics[0].part not in CELLS:
        return max((float(each.step) for each in statistics), default=0.0)
    cell = statistics[0]
    first = cell.most * float(cell.step) if cell.other is None else width_of(cell.low, cell.high)
    second = first if cell.other is None else width_of(cell.other.low, cell.other.high)
    return shelf()[finish.call.function].grain(first, second)


def widest_bin(plan: Plan) -> float:
    """Return the widest bin of a plan's details, in SQL units: the resolution of a median."""
    details = [each for stage in plan.stages for m in stage.measures for each in m.measure.details]
    return max((part("audit", each.kind).coarseness(each) for each in details), default=0.0)


def meaning(
    ours: Sequence[tuple[object, ...]],
    plain: Sequence[tuple[object, ...]],
    slack: float,
    more_allowed: bool,
) -> list[str]:
    """Describe plain rows without a match in ours, and extra rows of ours unless they are allowed."""
    left = list(ours)
    found = []
    for row in plain:
        place = next((i for i, each in enumerate(left) if _alike(each, row, slack)), None)
        if place is None:
            found.append(f"no row of ours is like {row}")
        else:
            left.pop(place)
    if left and not more_allowed:
        found.append(f"{len(left)} rows too many, one of them {left[0]}")
    return found


def _alike(ours: tuple[object, ...], plain: tuple[object, ...], slack: float) -> bool:
    return len(ours) == len(plain) and all(_equal(a, b, slack) for a, b in zip(ours, plain, strict=True))


def _equal(ours: object, plain: object, slack: float) -> bool:
    if isinstance(ours, bool) or isinstance(plain, bool):
        return ours is plain
    if ours is None and isinstance(plain, float) and math.isnan(plain):
        return True  # the correlation with a constant
    if isinstance(ours, int | float | Decimal) and isinstance(plain, int | float | Decimal):
        a, b = float(ours), float(plain)
        if math.isnan(a) or math.isnan(b):
            return math.isnan(a) and math.isnan(b)
        if math.isinf(a) or math.isinf(b):
            return a == b
        whole = isinstance(ours, int) and isinstance(plain, int)
        return abs(a - b) <= 1e-5 * max(1.0, abs(b)) + (0 if whole else slack)
    return ours == plain


__all__ = [
    "coarseness",
    "grain",
    "meaning",
    "ready_measures",
    "sensitivity",
    "shares",
    "silent_rows",
    "violations",
    "widest_bin",
    "without_noise",
]
