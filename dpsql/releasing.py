"""Plan -> ReleasedTables -> Answer: measure, release, post-process.

Exact numbers live in ``_one_release`` alone, between ``measure`` and ``release``.
"""

from __future__ import annotations

import itertools
import math
from functools import partial

from dpsql.accounting.entries import Stored
from dpsql.answer import Answer
from dpsql.errors import Error
from dpsql.ir.plan import MeasurePlan, Plan
from dpsql.ir.table import ReleasedTable
from dpsql.post.margins import CONFIDENCE
from dpsql.post.notes import note_on
from dpsql.post.stages import StageOutputs
from dpsql.release.release import from_system, release
from dpsql.release.second_round import in_rounds
from dpsql.release.serialization import from_bytes, to_bytes
from dpsql.session import Session


def measure_text(session: Session, plan: Plan, each: MeasurePlan) -> str:
    """The SQL that measures; what cannot be printed is refused before it is paid for."""
    try:
        return session.engine.measure_sql(each)
    except Error as error:
        raise error.within(plan.source.text, plan.source.name) from None


def check_printable(session: Session, plan: Plan) -> None:
    """Print the SQL of every measure once, the search for its bounds too."""
    for each in [*plan.measures, *(plan.first.measures if plan.first is not None else ())]:
        measure_text(session, plan, each)


def released(session: Session, plan: Plan, receipt: Stored) -> list[ReleasedTable]:
    """What was stored for the receipt, or else what is measured and released now, and stored."""
    stored = receipt.answer
    if stored is None:
        stored = session.store(receipt, to_bytes(release_stages(session, plan, receipt)))
    return from_bytes(stored, [each.measure.width for each in plan.measures])


def release_stages(session: Session, plan: Plan, receipt: Stored | None = None) -> list[ReleasedTable]:
    """Every measure, stage after stage; later stages read what earlier ones released.

    What the rest rests on is kept before the rest is done: that may fail with it, and would tell of fresh
    noise each time that somebody asks again.
    """
    tables, so_far, places = [], StageOutputs(session.sealed), itertools.count()

    def one(each: MeasurePlan, early: bool) -> ReleasedTable:
        if receipt is None or not (early or each.again is not None):
            return _one_release(session, each)
        place = next(places)
        kept = session.part(receipt, place)
        if kept is None:
            kept = session.keep(receipt, place, to_bytes([_one_release(session, each)]))
        return from_bytes(kept, [each.measure.width])[0]

    for stage in plan.stages:
        for each in stage.measures:
            tables.append(in_rounds(so_far.ready(each), partial(one, early=stage.awaited is not None)))
            so_far.add(each, tables[-1])
        so_far.hand_down(stage)
    return tables


def _one_release(session: Session, each: MeasurePlan) -> ReleasedTable:
    return release(session.engine.measure(each), each, from_system)


def answer_of(
    session: Session,
    plan: Plan,
    tables: list[ReleasedTable],
    types: list[str],
    cost: float,
    repeated: bool,
    confidence: float = CONFIDENCE,
) -> Answer:
    """The rows of the last stage's SQL over the released tables, each number with its margin."""
    stage, so_far = plan.stages[-1], StageOutputs(session.sealed, confidence)
    for each, table in zip(plan.measures, tables, strict=True):
        so_far.add(each, table)
    rows = so_far.answer(stage, types)
    width = len(stage.post.columns)
    widths = [[None if place is None else row[place] for place in stage.post.margins] for row in rows]
    return Answer(
        stage.post.columns,
        tuple(types[:width]),
        [row[:width] for row in rows],
        [tuple(None if each is None or math.isinf(each) else float(each) for each in row) for row in widths],
        cost,
        session.remaining(),
        repeated,
        note_on(plan, session.known.unit),
        tuple(at for at in range(width) if any(row[at] == math.inf for row in widths)),
    )
