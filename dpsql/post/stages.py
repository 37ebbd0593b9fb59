"""The tables released by earlier stages of a query, and the rows that are handed down to later stages.

stage 1   AVG(income) over all people, with noise            handed down as one row
stage 2   COUNT(*) of the people who earn more than that     the answer
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from dpsql.errors import refuse
from dpsql.ir.column import Value, answered_name
from dpsql.ir.finished import Finished
from dpsql.ir.model import Fit
from dpsql.ir.plan import MeasurePlan, StagePlan
from dpsql.ir.relation import with_rows
from dpsql.ir.synthetic import SyntheticRows
from dpsql.ir.table import ReleasedTable
from dpsql.lazy_dataclass import dataclass
from dpsql.post.finish import finish, finished_values
from dpsql.post.joint import numbers_of
from dpsql.post.margins import CONFIDENCE
from dpsql.post.non_negative import raised
from dpsql.post.projection import picked_rows, picks_values
from dpsql.post.sealed import Sealed
from dpsql.post.trial_run import refuse_failing

if TYPE_CHECKING:
    from dpsql.post.replicas import Replica


@dataclass(slots=True)
class StageOutputs:
    """Released tables in the order of their measures, and the rows for later stages by name.

    With ``every_group``, no group is left out for its numbers: the owner's audit compares exact tables.
    """

    sealed: Sealed
    confidence: float = CONFIDENCE
    every_group: bool = False
    tables: list[tuple[MeasurePlan, ReleasedTable]] = field(default_factory=list)
    rows: dict[str, tuple[tuple[Value, ...], ...]] = field(default_factory=dict)

    def ready(self, planned: MeasurePlan) -> MeasurePlan:
        """Return the measure with the rows of earlier stages filled in."""
        if not self.rows:
            return planned
        relation = with_rows(planned.measure.relation, self.rows)
        again = None if planned.again is None else self.ready(planned.again)
        return replace(planned, measure=replace(planned.measure, relation=relation), again=again)

    def add(self, planned: MeasurePlan, released: ReleasedTable) -> None:
        """Add what was released of a measure: its numbers, or what these are made of."""
        if planned.joint is not None:
            released = numbers_of(released, planned, self.every_group)
        elif isinstance(planned.rule, SyntheticRows):
            from dpsql.post.synthetic import rows_of

            released = rows_of(released, planned)
        elif planned.measure.non_negative is not None:
            released = raised(released, planned)
        self.tables.append((planned, released))

    def hand_down(self, stage: StagePlan) -> None:
        """Store the released rows of a stage for later stages, under the name that they refer to."""
        awaited = stage.awaited
        if awaited is None:
            return
        types = [column.source for column in awaited.columns]
        rows = self._run(stage, types, texted=True)
        names = [column.name for column in awaited.columns]
        joinable = len(rows) <= awaited.size and all(
            _distinct(rows, [names.index(name) for name in key]) for key in awaited.keys
        )
        if not joinable:
            raise refuse(
                "D601",
                "what is released first has more rows than can be joined back",
                label="what was debited stays debited",
                help=f"keep it to {awaited.size:,} rows: ORDER BY ... LIMIT",
            )
        self.rows[awaited.name] = tuple(rows)

    def answer(self, stage: StagePlan, types: Sequence[str]) -> list[tuple[Any, ...]]:
        """Return the rows of the last stage."""
        return self._run(stage, types)

    def _run(self, stage: StagePlan, types: Sequence[str], texted: bool = False) -> list[tuple[Any, ...]]:
        read = [
            (planned, table) for planned, table in self.tables if planned.measure.name in stage.post.released
        ]
        measures = [planned.measure for planned, _ in read]
        rows = self._picked(stage, types, read) if texted else None
        if rows is not None:
            return rows
        finished = [self._finished(planned, table) for planned, table in read]
        return self.sealed.run(stage.post, measures, finished, types, texted, self._replicas(stage, read))

    def _picked(
        self, stage: StagePlan, types: Sequence[str], read: list[tuple[MeasurePlan, ReleasedTable]]
    ) -> list[tuple[Any, ...]] | None:
        """Return the rows for later stages if these are keys and numbers; None if there is more to them."""
        if len(read) != 1 or read[0][0].measure.model is not None:
            return None
        [(planned, released)] = read
        if not picks_values(stage.post, planned.measure):
            return None
        values = finished_values(released, planned)
        rows = None if values is None else picked_rows(stage.post, [planned.measure], [values], native=True)
        return None if rows is None else [row[: len(types)] for row in rows]

    def _finished(self, planned: MeasurePlan, released: ReleasedTable) -> list[Finished]:
        model = planned.measure.model
        if model is None:
            return finish(released, planned, self.confidence)
        if model.fit in (Fit.BEGUN, Fit.LENGTH) or (model.fit is Fit.LINEAR and model.before):
            from dpsql.post import linear

            if model.fit is Fit.LINEAR:
                return linear.fitted(self.steps(planned), model, self.confidence)
            return linear.handed_down(self.steps(planned), model)
        if model.fit in (Fit.WEIGHTS, Fit.LOGISTIC):
            from dpsql.post import logistic

            steps = self.steps(planned)
            if model.fit is Fit.WEIGHTS:
                return logistic.handed_down(steps, model)
            return logistic.fitted(steps, model, self.confidence)
        from dpsql.post.models import fitted

        return fitted(released, planned, model, self.confidence)

    def steps(self, planned: MeasurePlan) -> list[tuple[MeasurePlan, ReleasedTable]]:
        """Return what a step of a fit is computed from: all before it, and its own table."""
        model = planned.measure.model
        read = {planned.measure.name, *(() if model is None else model.before)}
        return [(each, table) for each, table in self.tables if each.measure.name in read]

    def _replicas(
        self, stage: StagePlan, read: list[tuple[MeasurePlan, ReleasedTable]]
    ) -> list[list[Replica]] | None:
        """Return replicas of the tables, if outputs are computed from them and all tables have some."""
        if stage.post.replicated is None:
            return None
        from dpsql.post.replicas import replicas_of

        drawn = []
        for number, (planned, table) in enumerate(read):
            replicas = replicas_of(table, planned, number, self.steps(planned))
            if replicas is None:
                return None
            drawn.append(replicas)
        return drawn


def _distinct(rows: list[tuple[Any, ...]], places: list[int]) -> bool:
    """Whether the values at ``places`` are unique over the rows; NULL is distinct from everything."""
    values = [tuple(row[i] for i in places) for row in rows]
    present = [value for value in values if None not in value]
    return len(set(present)) == len(present)


def types_of_stages(stages: Sequence[StagePlan], sealed: Sealed) -> list[str]:
    """Return the types of the answer, or refuse: bind each stage's SQL over empty tables and try it.

    An ENUM is one above a release, and text in an answer.
    """
    planned = {measure.measure.name: measure for stage in stages for measure in stage.measures}
    types: list[str] = []
    for stage in stages:
        measures = [planned[name].measure for name in stage.post.released]
        types = sealed.check(stage.post.sql, stage.post.tables, measures)
        refuse_failing(stage, planned, sealed, types)
    return [*map(answered_name, types)]
