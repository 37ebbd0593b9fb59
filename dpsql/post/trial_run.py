"""Trial runs: refuse SQL above a release that fails for every released table, before it is paid for.

    SELECT CAST('abc' AS INTEGER), COUNT(*) FROM ...        no number
    SELECT (SELECT place FROM places), COUNT(*) FROM ...    more than one row
    SELECT ... GROUP BY place HAVING place = 5              no listed place is a number

The SQL is run over made-up tables with the public groups; of private keys there is one group, whose keys are
NULL, then other values. The numbers are 1, 2, 3 ... in the groups, then others, until the SQL does not fail:
what it gives for NULL alone nobody asks for. No private row is read: a refusal depends on the query alone.

So is an answer that is larger than the owner allows for all numbers: its groups are public, and there
are more of them than rows allowed, or the rows of a hundred of them tell that all would be too many.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from itertools import islice, product, repeat
from typing import TYPE_CHECKING

from dpsql.errors import refuse
from dpsql.facts.released_columns import released_columns
from dpsql.ir.column import Kind, Type, Value, enum_members
from dpsql.ir.finished import Finished
from dpsql.ir.plan import MeasurePlan, PublicKeys, StagePlan, Threshold
from dpsql.late_numpy import np

if TYPE_CHECKING:
    from dpsql.post.sealed import Sealed

MOST_TRIED = 100
"""Largest number of made-up groups: an expression that always fails also fails on the first ones."""

NUMBERS = (range(1, 2**31), range(100, 2**31), *map(repeat, (1_000_000, -1_000_000, 0, 12, 2_000)))
"""Numbers that differ, so that one group has most; large ones; those that are none, a month, or a year."""

PRIVATE_KEYS: tuple[Mapping[Kind, Value], ...] = (
    {},
    {
        Kind.BOOLEAN: True,
        Kind.INTEGER: 1,
        Kind.DECIMAL: Decimal(1),
        Kind.FLOAT: 1.0,
        Kind.TEXT: "1",
        Kind.DATE: datetime.date(2000, 1, 1),
        Kind.TIMESTAMP: datetime.datetime(2000, 1, 1),
        Kind.TIMESTAMPTZ: datetime.datetime(2000, 1, 1, tzinfo=datetime.UTC),
    },
)
"""The values of private keys by their kind; others are NULL."""


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
            sealed.tried(stage.post, measures, [_made_up(each, repeat(None), groups) for each in read], types)
        return
    for key, numbers in product(_keys(read), NUMBERS):
        size = sealed.tried(stage.post, measures, [_made_up(each, numbers, key=key) for each in read], types)
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
        sealed.tried(stage.post, measures, [_made_up(each, numbers, groups) for each in read], types)


def _public_groups(planned: MeasurePlan) -> int:
    """Return the number of groups of a released table, if it is public; else 0."""
    return sum(planned.rule.sizes().values()) if isinstance(planned.rule, PublicKeys) else 0


def _keys(read: Sequence[MeasurePlan]) -> tuple[Mapping[Kind, Value], ...]:
    """Return what private keys are, one after the other: nothing says which of them are shown."""
    return PRIVATE_KEYS if any(isinstance(each.rule, Threshold) for each in read) else PRIVATE_KEYS[:1]


def _of_kind(type: Type, key: Mapping[Kind, Value]) -> Value:
    """Return the value of a private key of this type: of an ENUM, a member in place of a text."""
    value = key.get(type.kind)
    members = enum_members(type.sql) if type.sql.startswith("ENUM(") else ()
    return value if value is None else next(iter(members), value)


def _made_up(
    planned: MeasurePlan,
    numbers: Iterable[int | None],
    most: int = MOST_TRIED,
    key: Mapping[Kind, Value] = PRIVATE_KEYS[0],
) -> list[Finished]:
    """Return a made-up released table: public groups, or one of private keys; each has one of the numbers."""
    measure, rule = planned.measure, planned.rule
    named, keys = released_columns(measure), len(measure.keys)
    groups: list[tuple[Value, ...]]
    if isinstance(rule, PublicKeys):
        groups = list(islice(rule.groups(), most))
    else:
        groups = [tuple(_of_kind(of_key, key) for _, of_key in named[:keys])]
    if measure.model is not None:
        groups, keys = list(measure.model.groups()), len(measure.model.keys)
    step = 4 if measure.intervals else 2  # a number is followed by its half-width, and by its interval's ends
    columns = [
        Finished(name, kind, [group[i] for group in groups], None)
        for i, (name, kind) in enumerate(named[:keys])
    ]
    nothing = np.full(len(groups), np.nan)
    for name, kind in named[keys::step]:
        values = [*islice(numbers, len(groups))] if kind.numeric else [None] * len(groups)
        columns.append(Finished(name, kind, values, nothing, nothing, nothing))
    return columns
