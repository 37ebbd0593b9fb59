"""Plan -> ReleasedTables -> Answer: measure, release, post-process.

Exact numbers live in what ``measured_stages`` returns alone, between ``measure`` and ``release``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

from dpsql.accounting.entries import Stored
from dpsql.answer import Answer
from dpsql.errors import Error
from dpsql.explain.doubts import doubts_of
from dpsql.explain.public_spellings import spellings
from dpsql.ir.column import type_named
from dpsql.ir.heading import Heading
from dpsql.ir.measure import Post
from dpsql.ir.model import HANDED_DOWN, Fit
from dpsql.ir.plan import MeasurePlan, Plan, Threshold
from dpsql.ir.synthetic import SyntheticRows
from dpsql.ir.table import ExactTable, ReleasedTable
from dpsql.late_numpy import np
from dpsql.mechanisms import mechanism
from dpsql.mechanisms.strategies.rows import Listed
from dpsql.plan.joint import file_strategies
from dpsql.plan.noise_choice import deviation
from dpsql.post.margins import CONFIDENCE
from dpsql.post.notes import note_of_blank, note_of_hidden, note_on, note_without
from dpsql.post.stages import StageOutputs
from dpsql.post.wide_ranges import note_of_wide_ranges
from dpsql.release.release import from_system, release
from dpsql.release.second_round import in_rounds
from dpsql.release.serialization import from_bytes, to_bytes
from dpsql.session import Session

Measuring: TypeAlias = Callable[[MeasurePlan], ExactTable]
"""Reads private rows: of a measure, its exact table."""


def measure_text(session: Session, plan: Plan, measure: MeasurePlan) -> str:
    """Return the SQL of a measure; SQL that cannot be printed is refused before it is paid for."""
    try:
        return session.engine.measure_sql(measure.measured)
    except Error as error:
        raise error.within(plan.source.text, plan.source.name) from None


def check_printable(session: Session, plan: Plan) -> None:
    """Print the SQL of every measure once, the bound search too, so that a refusal comes before the debit."""
    for measure in [*plan.measures, *(plan.first.measures if plan.first is not None else ())]:
        measure_text(session, plan, measure)


def released(session: Session, plan: Plan, receipt: Stored) -> list[ReleasedTable]:
    """Return the receipt's released tables; if there are none, measure, release and store them now."""
    stored, tables = stored_release(session, plan, receipt)
    return tables_of(plan, stored) if tables is None else tables


def stored_release(session: Session, plan: Plan, receipt: Stored) -> tuple[bytes, list[ReleasedTable] | None]:
    """Return the same as the ledger stores it, with the tables themselves if they were made now."""
    if receipt.answer is not None:
        return receipt.answer, None
    if not session.keeps_digests:  # a strategy tells what was asked, though not in words
        file_strategies(session.strategies, plan.measures)
    draw = measured_stages(session, plan, receipt)
    _wake(session, plan)
    with session.drawing():
        tables = draw()
        kept = _as_kept(session, tables, plan.measures)
        stored = session.store(receipt, kept)  # by whom it was first stored
    session.drawing.heed()
    return stored, tables if stored == kept else None


def _wake(session: Session, plan: Plan) -> None:
    """Let the process of the last stage's SQL prepare for it."""
    post = plan.stages[-1].post
    read = [planned.measure for planned in plan.measures if planned.measure.name in post.released]
    session.sealed.wake(post, read)


def _as_kept(session: Session, tables: list[ReleasedTable], measures: Sequence[MeasurePlan]) -> bytes:
    """Return tables as the ledger keeps them: of numbers that are measured together, their cells."""
    return to_bytes(tables, [each.measured for each in measures], as_places=session.keeps_digests)


def tables_of(plan: Plan, stored: bytes) -> list[ReleasedTable]:
    measured = [planned.measured for planned in plan.measures]
    return from_bytes(stored, [planned.measure.width for planned in measured], measured)


def release_stages(session: Session, plan: Plan, read: Measuring | None = None) -> list[ReleasedTable]:
    """Release every measure of a plan, and store nothing.

    The owner's audit passes what to ``read`` in place of the session's data.
    """
    return measured_stages(session, plan, None, read)()


def measured_stages(
    session: Session, plan: Plan, receipt: Stored | None = None, read: Measuring | None = None
) -> Callable[[], list[ReleasedTable]]:
    """Measure stage after stage; return what draws the noise of the measures and releases all tables.

    All is read before that noise is drawn: how long a release takes depends on its noise, so a time limit
    that fell into a later read would tell of it, and a repeat would draw it anew, free. For the same reason
    nothing interrupts between the noise and its storing (``session.drawing``).

    A table that later stages or a second round read is stored before these run. They may fail because of
    its numbers: if a repeat drew fresh noise, each failure would reveal one more noisy result, free.
    """
    so_far, places = StageOutputs(session.sealed), itertools.count()
    reading = session.engine.measure if read is None else read
    releases: list[Callable[[], ReleasedTable]] = []

    def early(measure: MeasurePlan) -> ReleasedTable:
        if receipt is None:
            return _measured(reading, measure)()
        place = next(places)
        stored = session.part(receipt, place)
        if stored is None:
            draw = _measured(reading, measure)
            with session.drawing():
                stored = session.keep(receipt, place, _as_kept(session, [draw()], [measure]))
            session.drawing.heed()
        return from_bytes(stored, [measure.measured.measure.width], [measure.measured])[0]

    for stage in plan.stages:
        for measure in stage.measures:
            ready = so_far.ready(measure)
            if stage.awaited is None and ready.again is None:
                releases.append(_measured(reading, ready))
                continue
            table = in_rounds(ready, early)
            so_far.add(measure, table)
            releases.append(partial(_same, table))
        so_far.hand_down(stage)
    return lambda: [releases.pop(0)() for _ in plan.measures]


def _measured(reading: Measuring, measure: MeasurePlan) -> Callable[[], ReleasedTable]:
    """Read the exact table of a measure; return what draws its noise."""
    if measure.has_no_group:
        width = measure.measured.measure.width
        return lambda: ReleasedTable([], np.zeros((0, width), dtype=np.int64))
    return partial(release, reading(measure.measured), measure.measured, from_system)


def _same(table: ReleasedTable) -> ReleasedTable:
    return table


def answer_of(
    session: Session,
    plan: Plan,
    tables: list[ReleasedTable],
    types: list[str],
    cost: float,
    repeated: bool,
    confidence: float = CONFIDENCE,
) -> Answer:
    """Run the last stage's SQL over the released tables; return its rows, each number with its margin."""
    stage, so_far = plan.stages[-1], StageOutputs(session.sealed, confidence)
    for measure, table in zip(plan.measures, tables, strict=True):
        so_far.add(measure, table)
    rows = so_far.answer(stage, types)
    width = len(stage.post.columns)
    margins, unknown = _margins(stage.post, rows, len(types))
    blank = _blank(plan, rows, margins, unknown)
    without = _without(stage.post, types, margins, unknown)
    models = _on_models(session, plan, tables)
    names = stage.post.columns
    bare = [names[place] for place in _in_note(stage.post, types, without)]
    note = _note(session, plan, bare, empty=not rows)
    lost = (note_of_hidden(stage.post, rows, margins), note_of_wide_ranges(plan, rows, margins))
    notes = (models, note, *lost, note_of_blank([names[at] for at in blank]))
    return Answer(
        stage.post.columns,
        tuple(types[:width]),
        rows if not rows or len(rows[0]) == width else [row[:width] for row in rows],
        margins,
        cost,
        session.remaining_for(plan),
        repeated,
        " ".join(filter(None, notes)),
        (*unknown, *blank),
        without,
        _totals(stage.post, rows),
    )


def _margins(
    post: Post, rows: list[tuple[Any, ...]], width: int
) -> tuple[list[tuple[float | None, ...]], tuple[int, ...]]:
    """Return the half-widths of each row, and the columns where some are endless, which are not known."""
    if post.replicated is None and all(place is None for place in post.margins):
        return [(None,) * len(post.margins)] * len(rows), ()
    columns = [None if place is None else [row[place] for row in rows] for place in post.margins]
    if post.replicated is not None:
        from dpsql.post.replicas import sound

        for place, at in enumerate(post.replicated.places, width):
            columns[at] = [sound(row[at], row[place]) for row in rows]
    endless = tuple(at for at, column in enumerate(columns) if column is not None and math.inf in column)
    known = [[None] * len(rows) if column is None else list(map(_known, column)) for column in columns]
    return list(zip(*known, strict=True)) if known else [()] * len(rows), endless


def _blank(
    plan: Plan, rows: list[tuple[Any, ...]], margins: list[tuple[float | None, ...]], unknown: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the columns of numbers that could have margins, where no row has one this time."""
    if any(each.detail.kind == "votes" for measure in plan.measures for each in measure.details):
        return ()  # what is chosen by votes never has one, and its column is as those of other numbers
    could = [at for at, place in enumerate(plan.stages[-1].post.margins) if place is not None]
    bare = [at for at in could if at not in unknown and all(row[at] is None for row in margins)]
    return tuple(at for at in bare if any(row[at] is not None for row in rows))


def _known(margin: float | None) -> float | None:
    return None if margin is None or math.isinf(margin) else float(margin)


def _on_models(session: Session, plan: Plan, tables: list[ReleasedTable]) -> str:
    """Say of which models nobody knows how far their coefficients are off."""
    said = dict[str, None]()
    for planned, table in zip(plan.measures, tables, strict=True):
        model = planned.measure.model
        if model is None:
            continue
        from dpsql.post import linear, logistic, models

        if model.fit in HANDED_DOWN:
            continue
        if model.before and not planned.without_margins:
            steps = [
                each
                for each in zip(plan.measures, tables, strict=True)
                if each[0].measure.name in (*model.before, planned.measure.name)
            ]
            way = logistic if model.fit is Fit.LOGISTIC else linear
            said[way.note(steps, session.known.unit)] = None
        elif model.fit is Fit.LINEAR and not model.before:
            said[models.note(table, planned, model, session.known.unit)] = None
    return " ".join(filter(None, said))


BOUGHT = (
    Heading("private view", "VARCHAR"),
    Heading("combinations", "BIGINT"),
    Heading("rows", "BIGINT", noised=True),
)
"""The columns of what is said of a private view that was bought."""


def bought_answer(
    session: Session, plan: Plan, tables: list[ReleasedTable], cost: float, repeated: bool
) -> Answer:
    """Say what a private view has, in place of its rows: its combinations, and how many rows they count."""
    (planned, *_), (table, *_) = plan.measures, tables  # sums follow the counts
    assert planned.measure.view is not None
    one = planned.measure.statistics[0].most  # in steps
    if isinstance(planned.rule, SyntheticRows):
        from dpsql.post.synthetic import deviation_of_total, rows_of

        away, table = deviation_of_total(table, planned), rows_of(table, planned)
    else:
        assert planned.applied is not None
        strategy = planned.applied.strategy
        every = Listed(np.ones((1, strategy.cells)))
        away = deviation(planned.noise) * math.sqrt(strategy.variances_of(every)[0])
    margin = (mechanism("gaussian").half_width(1.0) - 0.5) * away / one
    total = round(int(table.sums[:, 0].sum(dtype=object)) / one)
    return Answer(
        tuple(heading.name for heading in BOUGHT),
        tuple(heading.type for heading in BOUGHT),
        [(planned.measure.view.name, len(table.groups), total)],
        [(None, None, float(math.ceil(margin)))],
        cost,
        session.remaining_for(plan),
        repeated,
        _note(session, plan, [], empty=False),
    )


def _totals(post: Post, rows: list[tuple[Any, ...]]) -> frozenset[tuple[int, int]]:
    """Return the keys, by row and column, that are NULL because the row is a total over them."""
    marks = [(at, mark) for at, mark in enumerate(post.totals) if mark is not None]
    if not marks:
        return frozenset()
    return frozenset((number, at) for number, row in enumerate(rows) for at, mark in marks if row[mark] == 1)


def _without(
    post: Post, types: list[str], margins: Sequence[tuple[Any, ...]], unknown: tuple[int, ...]
) -> tuple[int, ...]:
    """Return the columns of numbers with noise that have no margin in any row."""
    tried = () if post.replicated is None else post.replicated.places
    bare = [place for place in tried if margins and all(row[place] is None for row in margins)]
    return tuple(
        place
        for place in sorted((*post.without, *bare))
        if place not in unknown and type_named(types[place]).numeric
    )


def _in_note(post: Post, types: list[str], without: tuple[int, ...]) -> list[int]:
    """Return the columns that a note says to have no margin: lists of numbers too."""
    lists = (place for place in post.without if types[place].endswith("[]"))
    return sorted({*without, *(place for place in lists if type_named(types[place][:-2]).numeric)})


def _note(session: Session, plan: Plan, bare: list[str], empty: bool) -> str:
    """Return the note on an answer: numbers without margin, what hardly shows, what shows more if empty."""
    older = ""
    if plan.bought is not None and plan.bought.version != session.versions.of(plan.tables):
        name, day = plan.bought.name, plan.bought.time[:10]
        older = f"{name} is of {day}, older than the data: REFRESH PRIVATE VIEW {name} pays for it anew."
    said = dict.fromkeys(doubt.beside for doubt in doubts_of(plan, session.known))
    without = _why_of_view(plan) or note_without(bare) if bare else _of_synthetic(plan)
    sentences = [older, note_on(plan, session.known.unit), without]
    sentences += [f"{words[:1].upper()}{words[1:]}." for words in said]
    if empty:
        sentences += _without_threshold(plan)
    return " ".join(filter(None, sentences))


def _of_synthetic(plan: Plan) -> str:
    """Say why numbers over a view of synthetic rows have no margin."""
    rules = [measure.rule for measure in plan.measures if isinstance(measure.rule, SyntheticRows)]
    return "".join(
        f"The rows of the view are synthetic ({rule.plan.method}), fitted to noisy counts of pairs of "
        "columns: how far numbers over them are off is not known."
        for rule in rules
    )


def _why_of_view(plan: Plan) -> str:
    """Say why nothing that is computed from a private view has a margin; '' if the view is not why."""
    from dpsql.post.replicas import MOST_OF_VIEWS

    synthetic = _of_synthetic(plan)
    if synthetic:
        return synthetic
    views = [measure for measure in plan.measures if measure.measure.view is not None]
    if not any(view.applied is not None and len(view.applied.places) > MOST_OF_VIEWS for view in views):
        return ""
    return f"No margin: the view has more than {MOST_OF_VIEWS:,} combinations."


def _without_threshold(plan: Plan) -> list[str]:
    """Say which spelling makes the keys public that decide what an answer shows."""
    private = [measure.measure for measure in plan.measures if isinstance(measure.rule, Threshold)]
    words = dict.fromkeys(words for measure in private for words in spellings(measure))
    return [f"Public keys need no threshold: {'; '.join(words)}."] if words else []
