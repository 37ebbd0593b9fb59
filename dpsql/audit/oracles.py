"""Two of the three test oracles: the effect of removing one unit, and the answer without noise.

    sensitivity   removing a unit changes the exact sums by at most the declared norm, and groups of that
                  unit alone are shown with at most the declared delta
    meaning       without noise, with thresholds at one unit and data in bounds: the same rows as plain SQL

Each returns descriptions of the violations.
"""

from __future__ import annotations

import itertools
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
from dpsql.ir.synthetic import SyntheticRows
from dpsql.ir.table import ExactTable, Masses
from dpsql.mechanisms import geometric, mechanism
from dpsql.mechanisms.exponential import Integers
from dpsql.post.sealed import Sealed
from dpsql.post.stages import StageOutputs, types_of_stages
from dpsql.release.completed import completed
from dpsql.release.matrices import has_matrix, measured
from dpsql.release.synthetic import counts_of
from dpsql.session import Session

# ---- sensitivity -------------------------------------------------------------------------------------


def sensitivity(
    plan: Plan, whole: Engine, neighbours: Sequence[tuple[str, Engine]], sealed: Sealed | None = None
) -> list[str]:
    """Compare a plan's exact sums on a database with those on databases that lack one unit."""
    problems = []
    for planned in ready_measures(plan, whole, sealed):
        exact = whole.measure(planned)
        for name, engine in neighbours:
            problems += [
                f"without {name}: {problem}"
                for problem in violations(planned, exact, engine.measure(planned))
            ]
    return problems


def violations(planned: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> list[str]:
    """Return descriptions of where two neighbours' exact tables differ by more than declared."""
    problems = _moved(planned, _sums(planned, ours), _sums(planned, theirs))
    problems += _reweighed(planned, ours, theirs) + _matrix_moved(planned, ours, theirs)
    return problems + _marginals_moved(planned, ours, theirs)


def shares(measure: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> list[float]:
    """Return the distance of two neighbours relative to the sensitivity: for the sums and each detail."""
    norm, limit = measure.bound
    length = _length(_changes(measure, _sums(measure, ours), _sums(measure, theirs)), norm)
    parts = [length / limit if limit else 0.0]
    if has_matrix(measure):
        moved = [a - b for a, b in zip(measured(ours, measure), measured(theirs, measure), strict=True)]
        parts[0] = max(parts[0], _length(moved, measure.noise.norm) / measure.noise.sensitivity)
    for planned, masses, their_masses in zip(measure.details, ours.details, theirs.details, strict=True):
        parts.append(_weights_moved(masses, their_masses) / planned.sensitivity)
    return parts


def _length(changes: list[int], norm: Norm) -> float:
    if norm is Norm.L1:
        return float(sum(map(abs, changes)))
    return math.sqrt(sum(change * change for change in changes))


def _reweighed(measure: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> list[str]:
    """Describe details with weights that differ by more than the declared sensitivity."""
    problems = []
    for planned, masses, their_masses in zip(measure.details, ours.details, theirs.details, strict=True):
        moved = _weights_moved(masses, their_masses)
        if moved > planned.sensitivity:
            problems.append(f"the weights move by {moved}, declared {planned.sensitivity}")
    return problems


def _weights_moved(ours: Masses, theirs: Masses) -> int:
    before, after = (
        {_comparable(group): weights for group, weights in side.items()} for side in (ours, theirs)
    )
    nothing = np.zeros(0, np.int64), np.zeros(0, np.int64)
    return sum(
        _apart(before.get(group, nothing), after.get(group, nothing))
        for group in before.keys() | after.keys()
    )


def _apart(ours: tuple[Integers, Integers], theirs: tuple[Integers, Integers]) -> int:
    """Return the L1 distance of two groups' weights; a place occurs once on each side."""
    places, where = np.unique(np.concatenate((ours[0], theirs[0])), return_inverse=True)
    change = np.zeros(len(places), np.int64)
    np.add.at(change, where, np.concatenate((ours[1], -theirs[1])))
    return int(np.abs(change).sum())


def _matrix_moved(planned: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> list[str]:
    """Describe sums, measured in place of groups, that differ by more than the declared sensitivity."""
    if not has_matrix(planned):
        return []
    moved = [a - b for a, b in zip(measured(ours, planned), measured(theirs, planned), strict=True)]
    power = planned.noise.norm.value
    if sum(abs(change) ** power for change in moved) > planned.noise.sensitivity**power:
        return [f"sums of groups move by more than {planned.noise.sensitivity} in {planned.noise.norm.name}"]
    return []


def _marginals_moved(planned: MeasurePlan, ours: ExactTable, theirs: ExactTable) -> list[str]:
    """Describe marginals, measured in place of groups, that differ by more than the declared sensitivity."""
    if not isinstance(planned.rule, SyntheticRows):
        return []
    plan, problems = planned.rule.plan, []
    before, after = counts_of(ours, planned), counts_of(theirs, planned)
    columns = range(len(plan.sizes))
    for chosen in ((), *zip(columns, strict=True), *itertools.combinations(columns, 2)):
        moved = _length((before.marginal(chosen) - after.marginal(chosen)).tolist(), Norm.L1)
        if moved > min(plan.clip, planned.noise.sensitivity):
            problems.append(
                f"the marginal of {len(chosen)} columns moves by {moved:.0f}, declared {plan.clip}"
            )
    return problems


def ready_measures(plan: Plan, engine: Engine, sealed: Sealed | None) -> list[MeasurePlan]:
    """Return every measure of a plan; later stages read earlier releases without noise."""
    measures = [] if plan.first is None else list(plan.first.measures)
    if len(plan.stages) == 1:
        measures += (planned.measured for planned in plan.stages[0].measures)
        return measures + [planned.again for planned in measures if planned.again is not None]
    assert sealed is not None, "stages hand their rows down through the sealed engine"
    so_far = StageOutputs(sealed, every_group=True)
    for stage in plan.stages:
        for planned in stage.measures:
            measures.append(so_far.ready(planned).measured)
            so_far.add(planned, silently(engine.measure(measures[-1]), planned.measured))
        so_far.hand_down(stage)
    return measures


Groups = dict[tuple[object, ...], tuple[int, ...]]


def _sums(planned: MeasurePlan, exact: ExactTable) -> Groups:
    groups, sums = completed(exact, planned)
    by_group = {
        _comparable(group): tuple(int(n) for n in row) for group, row in zip(groups, sums, strict=True)
    }
    if len(by_group) < len(groups):
        raise AssertionError("a group is measured twice")
    return by_group


def _comparable(group: tuple[object, ...]) -> tuple[object, ...]:
    """Return a group as a dictionary key in which NaN equals itself."""
    return tuple("nan" if isinstance(v, float) and math.isnan(v) else (type(v).__name__, v) for v in group)


def _changes(planned: MeasurePlan, ours: Groups, theirs: Groups) -> list[int]:
    nothing = (0,) * len(planned.measure.statistics)
    return [
        a - b
        for group in ours.keys() | theirs.keys()
        for a, b in zip(ours.get(group, nothing), theirs.get(group, nothing), strict=True)
    ]


def _moved(planned: MeasurePlan, ours: Groups, theirs: Groups) -> list[str]:
    problems = []
    changes = _changes(planned, ours, theirs)
    norm, limit = planned.bound
    if norm is Norm.L1:
        moved, allowed = sum(abs(change) for change in changes), limit
    else:
        moved, allowed = sum(change * change for change in changes), limit * limit
    if moved > allowed:
        problems.append(f"{norm.name} moves by {moved}, declared {allowed}")
    counts = (count for groups in (ours, theirs) for sums in groups.values() for count in sums)
    if planned.noise.mechanism == "geometric" and any(count % geometric.UNIT for count in counts):
        problems.append("a count is no whole number, and its noise is one: it hides nothing of the rest")
    if isinstance(planned.rule, PublicKeys):
        if ours.keys() != theirs.keys():
            problems.append("the list of public groups changes")
    elif isinstance(planned.rule, Threshold):
        problems += _shown(planned, planned.rule, ours, theirs) + _shown(planned, planned.rule, theirs, ours)
    return problems


def _shown(planned: MeasurePlan, rule: Threshold, more: Groups, fewer: Groups) -> list[str]:
    """Bound by delta the total probability of showing groups that only one side has."""
    alone = [sums[rule.statistic] for group, sums in more.items() if group not in fewer]
    noise = mechanism(planned.noise.mechanism)
    chance = sum(
        noise.above(planned.noise.scale, rule.steps - count - 0.5) for count in alone
    )  # it is rounded
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
    session.sealed.begin()  # the plan may be another session's
    types = types_of_stages(plan.stages, session.sealed)
    so_far = StageOutputs(session.sealed, every_group=True)
    for stage in plan.stages:
        for planned in stage.measures:
            so_far.add(
                planned, silently(session.engine.measure(so_far.ready(planned).measured), planned.measured)
            )
        so_far.hand_down(stage)
    last = plan.stages[-1]
    return [row[: len(last.post.columns)] for row in so_far.answer(last, types)]


def coarseness(plan: Plan) -> float:
    """Return the most that values are rounded to in a plan, in SQL units."""
    measures = [planned.measure for stage in plan.stages for planned in stage.measures]
    return max((grain(finish, m) for m in measures for finish in m.finishes), default=0.0)


def grain(finish: Finish, measure: Measure) -> float:
    """Return what an aggregate's values are rounded to; a sum of 300 rows may be off by 300 of it.

    In ratios (most moments), the rounding errors of rows do not add up.
    """
    statistics = [measure.statistics[i] for number in finish.statistics for i in number]
    if not statistics or statistics[0].part not in CELLS:
        slope = 1.0 if finish.line is None else abs(float(finish.line.slope))
        return slope * max((float(statistic.unit) for statistic in statistics), default=0.0)
    cell = statistics[0]
    first = cell.most * float(cell.step) if cell.other is None else width_of(cell.low, cell.high)
    second = first if cell.other is None else width_of(cell.other.low, cell.other.high)
    return shelf()[finish.call.function].grain(first, second)


def widest_bin(plan: Plan) -> float:
    """Return the widest bin of a plan's details, in SQL units: the resolution of a median."""
    details = [detail for stage in plan.stages for m in stage.measures for detail in m.measure.details]
    return max((part("audit", detail.kind).coarseness(detail) for detail in details), default=0.0)


def meaning(
    ours: Sequence[tuple[object, ...]],
    plain: Sequence[tuple[object, ...]],
    slack: float,
    more_allowed: bool,
) -> list[str]:
    """Describe plain rows without a match in ours, and extra rows of ours unless they are allowed."""
    left = list(ours)
    problems = []
    for row in plain:
        place = next((i for i, candidate in enumerate(left) if _alike(candidate, row, slack)), None)
        if place is None:
            problems.append(f"no row of ours is like {row}")
        else:
            left.pop(place)
    if left and not more_allowed:
        problems.append(f"{len(left)} rows too many, one of them {left[0]}")
    return problems


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
        integers = isinstance(ours, int) and isinstance(plain, int)
        return abs(a - b) <= 1e-5 * max(1.0, abs(b)) + (0 if integers else slack)
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
