"""What fails above a release, whatever is released, is refused before it is paid for.

    SELECT CAST('abc' AS INTEGER), COUNT(*) FROM ...        no number
    SELECT (SELECT place FROM places), COUNT(*) FROM ...    more than one row
    SELECT ... GROUP BY place HAVING place = 5              no listed place is a number

The SQL is run over made-up tables: their groups are those that are public, every number in them is NULL,
then one, then others, until it does not fail. No private row is read: a refusal tells of the query alone.
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
"""So many groups are made up at most: an expression that fails on all of them fails on the first."""

NUMBERS = (None, 1, 1_000_000, -1_000_000)


def refuse_failing(
    stage: StagePlan, planned: Mapping[str, MeasurePlan], sealed: Sealed, types: Sequence[str]
) -> None:
    """D205 where a stage's SQL fails over all of the made-up tables."""
    if stage.post.plain or not stage.post.released:  # of public tables alone it is free
        return
    read = [planned[name] for name in stage.post.released]
    measures = [each.measure for each in read]
    made_up = ([_made_up(each, number) for each in read] for number in NUMBERS)
    if all(sealed.fails(stage.post, measures, tables, types) for tables in made_up):
        raise refuse(
            "D205",
            "what stands above the aggregates fails, whatever they are",
            label="a cast or a function of what is no value of its type, or a subquery of several rows",
            help="TRY(...) makes a failure NULL; of a subquery's rows take one: MAX(x), or LIMIT 1",
        )


def _made_up(planned: MeasurePlan, number: int | None) -> list[Finished]:
    """A released table as it could be, as far as that is known before."""
    measure, rule = planned.measure, planned.rule
    groups: list[tuple[Value, ...]] = []
    if isinstance(rule, PublicKeys):
        groups = list(islice(rule.groups(), MOST_TRIED))
    elif not measure.keys:
        groups = [()]
    keys = len(measure.keys)
    step = 4 if measure.intervals else 2  # a number is followed by its half-width, and by its interval's ends
    named = released_columns(measure)
    found = [
        Finished(name, kind, [group[i] for group in groups], None)
        for i, (name, kind) in enumerate(named[:keys])
    ]
    nothing = np.full(len(groups), np.nan)
    for name, kind in named[keys::step]:
        value = number if kind.numeric else None
        found.append(Finished(name, kind, [value] * len(groups), nothing, nothing, nothing))
    return found
