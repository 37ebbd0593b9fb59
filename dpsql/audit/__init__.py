"""The audit, for the owner only: the exact sums that noise is added to, without noise and without a debit.

    for m in audit.measure(db, "SELECT ward, AVG(age) FROM patients GROUP BY ward"):
        m.rows, m.noises, m.threshold

It can be called from Python only, and refuses connections that were opened for an analyst: it returns exact
private data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from dpsql.audit.noiseless import silently
from dpsql.dbapi import Connection
from dpsql.dbapi.guard import own, text_of
from dpsql.details.bound_search.audit import covering_range
from dpsql.details.clip_search.audit import covering_clip
from dpsql.errors import InterfaceError, refuse
from dpsql.ir.bound import Bound, Missing
from dpsql.ir.clip_search import ClipSearch
from dpsql.ir.column import Value
from dpsql.ir.detail import BoundSearch, Detail
from dpsql.ir.event import Event
from dpsql.ir.plan import MeasurePlan, Plan, PublicKeys, Threshold
from dpsql.ir.source import Source
from dpsql.ir.table import ExactTable, Masses
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.parse import Query
from dpsql.plan.bound_lookup import Lookup
from dpsql.plan.bound_search import bound_of
from dpsql.plan.terms import Terms
from dpsql.planning import parsed, planned_query
from dpsql.post.stages import StageOutputs
from dpsql.release.completed import completed
from dpsql.session import Session


@dataclass(frozen=True, slots=True)
class NoiseReport:
    """The noise of some ``columns`` (indexes): one draw for each column in every group.

    ``sensitivity`` and ``scale`` are in grid steps. ``norm`` (1 or 2) is over all groups and all of these
    columns together. If ranges of groups are measured instead of groups, the report still describes the
    groups, and the scale is relative to their sensitivity.
    """

    columns: tuple[int, ...]
    norm: int
    sensitivity: int
    mechanism: str
    scale: float
    event: Event


@dataclass(frozen=True, slots=True, repr=False)
class Measured:
    """One measure: the exact integers before noise and before any threshold.

    With grouping sets, the first key is the index of the set. ``always`` lists the groups that are shown
    without a threshold.
    """

    keys: tuple[str, ...]
    public_keys: bool
    statistics: tuple[str, ...]
    rows: dict[tuple[Value, ...], tuple[int, ...]]
    noises: tuple[NoiseReport, ...]
    threshold: tuple[int, int, float] | None
    always: tuple[tuple[Value, ...], ...] = ()


def measure(
    db: Connection,
    sql: str,
    epsilon: float = 1.0,
    key: bytes = b"",
    replay: list[Measured] | None = None,
) -> list[Measured]:
    """Return every measure of a query as the engine computes it, in stage order. Debit nothing.

    ``key`` fixes every keyed hash (no measure uses one so far). Later stages read the tables of earlier
    stages without noise, with thresholds at one unit. These tables come from this call, or from an earlier
    call passed as ``replay``, so that each stage can be audited alone on a neighbour. A second round of
    keys is a separate measure after the first; it is measured as if the first round had found no group.
    """
    session = owners_session(db)
    if not isinstance(replay, list | None):
        raise InterfaceError(
            "replay is what an earlier call returned", help="give that list, or leave it out"
        )
    reports: list[Measured] = []

    def exact_table_of(measure_plan: MeasurePlan) -> ExactTable:
        exact = session.engine.measure(measure_plan.measured)
        fed = exact if replay is None else _replayed(replay[len(reports) :], measure_plan.measured)
        reports.extend(
            (
                _reported(measure_plan.measured, exact),
                *(_detail(measure_plan, i, exact) for i in range(len(measure_plan.details))),
            )
        )
        return fed

    plan = plan_of(session, sql, epsilon, exact_table_of)
    measures = [measure_plan for stage in plan.stages for measure_plan in stage.measures]
    number = sum(
        1 + len(measure_plan.details) + (measure_plan.again is not None) for measure_plan in measures
    )
    if replay is not None and len(replay) != len(reports) + number:
        raise InterfaceError("replay holds another number of measures than the query has")
    so_far = StageOutputs(session.sealed)
    for stage in plan.stages:
        for measure_plan in stage.measures:
            ready = so_far.ready(measure_plan)
            exact = session.engine.measure(ready.measured)
            fed = exact if replay is None else _replayed(replay[len(reports) :], measure_plan.measured)
            reports.append(_reported(measure_plan.measured, exact))
            reports += [_detail(measure_plan, i, exact) for i in range(len(measure_plan.details))]
            if ready.again is not None:
                reports.append(_reported(ready.again, session.engine.measure(ready.again)))
            so_far.add(measure_plan, silently(fed, measure_plan.measured))
        so_far.hand_down(stage)
    return reports


def _replayed(reports: list[Measured], planned: MeasurePlan) -> ExactTable:
    """Convert the report of a measure, followed by those of its details, back to an exact table."""
    rows = reports[0].rows
    sums = np.array(list(rows.values()), dtype=np.int64)
    details = []
    for report in reports[1 : 1 + len(planned.details)]:
        placed: dict[tuple[Value, ...], list[tuple[int, int]]] = {}
        for (*group, place), (weight,) in report.rows.items():
            assert isinstance(place, int)
            placed.setdefault(tuple(group), []).append((place, weight))
        details.append(
            {
                group: (np.array([p for p, _ in pairs]), np.array([w for _, w in pairs]))
                for group, pairs in placed.items()
            }
        )
    return ExactTable(list(rows), sums.reshape(len(rows), len(planned.measure.statistics)), tuple(details))


def owners_session(db: Connection) -> Session:
    """Return the session of a connection; refuse (D508) an analyst's connection."""
    if db.analyst is not None:
        raise refuse(
            "D508",
            "the audit is the owner's",
            label=f"this connection was opened for {db.analyst}",
            help="open one without analyst=",
        )
    return db._open()


def plan_of(
    session: Session,
    sql: str,
    epsilon: float,
    exact_table_of: Callable[[MeasurePlan], ExactTable] | None = None,
    query: Query | None = None,
) -> Plan:
    """Return the plan at any price. Ceiling and budget do not apply, because nothing is released.

    Bounds that must be found cover all units in the exact tables from ``exact_table_of``, by default those
    of the session's data. ``query`` is the text as it was parsed for such data and policy, if it was.
    """
    source, epsilon = Source(text_of(sql)), own(epsilon)
    if type(epsilon) not in (int, float) or not 0 < epsilon < math.inf:
        raise refuse("D503", "a price must be a finite positive number", help="give an epsilon such as 1.0")
    terms = Terms(session.accountant, session.budget, float(epsilon), strategies=session.strategies)
    bounds = dict[Missing, Bound]()

    def paid(kind: type[Missing]) -> bool:
        return any(isinstance(missing, kind) for missing in bounds)

    lookup = Lookup(session.find_bounds, bounds.get, paid)  # none of the ledger's
    query = query or parsed(session, source, ())
    plan = planned_query(session, query, terms, lookup)
    if plan.alert is not None:
        raise refuse(
            "D252",
            "what is about an alert is only asked",
            help="audit the number that DP_ABOVE compares: SELECT COUNT(*) FROM ...",
        )
    first = plan.first
    while plan.first is not None:
        first = plan.first
        for missing, search in zip(first.missing_bounds, first.measures, strict=True):
            exact = (exact_table_of or session.engine.measure)(search)
            place = _covering(search.details[0].detail, exact.details[0])
            bounds[missing] = bound_of(missing, session.known, place, "without noise")
        plan = planned_query(session, query, terms, lookup)
    return replace(plan, first=first)


def _covering(detail: Detail, weights: Masses) -> int:
    """Return the place of the candidate that covers most units."""
    if isinstance(detail, ClipSearch):
        return covering_clip(detail, weights)
    assert isinstance(detail, BoundSearch)
    return covering_range(detail, weights)


def _reported(planned: MeasurePlan, exact: ExactTable) -> Measured:
    groups, sums = completed(exact, planned)
    noise, rule, (bound, clip) = planned.noise, planned.rule, planned.bound
    names = []
    for statistic in planned.measure.statistics:
        names.append(statistic.part.value)
    return Measured(
        (*(("grouping set",) if planned.measure.sets else ()), *planned.measure.titles),
        isinstance(rule, PublicKeys),
        tuple(names),
        {group: tuple(int(n) for n in row) for group, row in zip(groups, sums, strict=True)},
        (
            NoiseReport(
                tuple(range(len(names))),
                bound.value,
                clip,
                noise.mechanism,
                noise.scale / _columns(planned),
                noise.event,
            ),
        ),
        (rule.statistic, rule.steps, rule.event.delta) if isinstance(rule, Threshold) else None,
        tuple(rule.listed.groups()) if isinstance(rule, Threshold) and rule.listed is not None else (),
    )


def _columns(planned: MeasurePlan) -> int:
    """Return how much further the sums move that are measured in place of groups."""
    matrix = planned.runs or planned.applied
    return 1 if matrix is None else matrix.column


def _detail(measure: MeasurePlan, which: int, exact: ExactTable) -> Measured:
    """Return the report of a detail: one row with the weight of each place of each group."""
    planned = measure.details[which]
    rows: dict[tuple[Value, ...], tuple[int, ...]] = {}
    for group, (places, weights) in exact.details[which].items():
        rows |= {(*group, int(p)): (int(w),) for p, w in zip(places, weights, strict=True)}
    noise = planned.noise
    return Measured(
        (*(("grouping set",) if measure.measure.sets else ()), *measure.measure.titles, "place"),
        isinstance(measure.rule, PublicKeys),
        ("weight",),
        rows,
        tuple(
            NoiseReport(
                (0,),
                1,
                planned.sensitivity,
                "choice" if noise is None else noise.mechanism,
                0.0 if noise is None else noise.scale,
                event,
            )
            for event in planned.events
        ),
        None,
    )


__all__ = ["Measured", "NoiseReport", "measure"]
