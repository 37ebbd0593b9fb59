"""Trial runs: refuse SQL above a release that fails for every released table, before it is paid for.

    SELECT CAST('abc' AS INTEGER), COUNT(*) FROM ...        no number
    SELECT (SELECT place FROM places), COUNT(*) FROM ...    more than one row
    SELECT ... GROUP BY place HAVING place = 5              no listed place is a number

The SQL is run over made-up tables with the public groups; of private keys there are two groups, all NULL.
Every number is NULL, then 1, then other values, until the SQL does not fail. No private row is read: refusals
depend on the query alone.

So is an answer that is larger than the owner allows for all numbers: its groups are public, and there
are more of them than rows allowed, or the rows of a hundred of them tell that all would be too many.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from dpsql.errors import refuse
from dpsql.facts.released_columns import released_columns
from dpsql.ir.column import Value
from dpsql.ir.finished import Finished
from dpsql.ir.plan import MeasurePlan, PublicKeys, StagePlan

if TYPE_CHECKING:
    from dpsql.post.sealed import Sealed

MOST_TRIED = 100
"""Largest number of made-up groups: an expression that always fails also fails on the first ones."""

NUMBERS = (None, 1, 1_000_000, -1_000_000)


def refuse_failing(
    stage: StagePlan, planned: Mapping[str, MeasurePlan], sealed: Sealed, types: Sequence[str]
) -> None:
    """Refuse (D205) a stage with SQL that fails over all made-up tables."""
    if not stage.post.released:  # of public tables alone it is free
        return
    read = [planned[name] for name in stage.post.released]
    measures = [measure.measure for measure in read]
    groups = max(map(_public_groups, read))
    if stage.post.plain:
        if sealed.exceeds(groups):
            sealed.tried(stage.post, measures, [_made_up(each, None, groups) for each in read], types)
        return
    for number in NUMBERS:
        size = sealed.tried(stage.post, measures, [_made_up(each, number) for each in read], types)
        if size is not None:
            break
    else:
        raise refuse(
            "D205",
            "the SQL over the released aggregates fails for all their values",
            label="a cast or a function fails on its value, or a scalar subquery has several rows",
            help="write TRY(...), which is NULL on failure; take one row of a subquery: MAX(x), or LIMIT 1",
        )
    if groups > MOST_TRIED and sealed.exceeds(*(part * groups // MOST_TRIED for part in size)):
        sealed.tried(stage.post, measures, [_made_up(each, number, groups) for each in read], types)


def _public_groups(planned: MeasurePlan) -> int:
    """Return the number of groups of a released table, if it is public; else 0."""
    return sum(planned.rule.sizes().values()) if isinstance(planned.rule, PublicKeys) else 0


def _made_up(planned: MeasurePlan, number: int | None, most: int = MOST_TRIED) -> list[Finished]:
    """Return a made-up released table: public groups, and one value for all numbers."""
    measure, rule = planned.measure, planned.rule
    groups: list[tuple[Value, ...]] = []
    if isinstance(rule, PublicKeys):
        groups = list(islice(rule.groups(), most))
    else:
        groups = [(None,) * len(measure.keys)] * (2 if measure.keys else 1)
    keys = len(measure.keys)
    if measure.model is not None:
        groups, keys = list(measure.model.groups()), len(measure.model.keys)
    step = 4 if measure.intervals else 2  # a number is followed by its half-width, and by its interval's ends
    named = released_columns(measure)
    columns = [
        Finished(name, kind, [group[i] for group in groups], None)
        for i, (name, kind) in enumerate(named[:keys])
    ]
    nothing = np.full(len(groups), np.nan)
    for name, kind in named[keys::step]:
        value = number if kind.numeric else None
        columns.append(Finished(name, kind, [value] * len(groups), nothing, nothing, nothing))
    return columns
