"""MODE -> votes for the values that bind has listed."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.detail_kinds import Bounds
from dpsql.details.votes.detail import Votes
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Literal


def made(
    measure: Measure, calls: Sequence[AggregateCall], bounds: Bounds
) -> tuple[Votes, dict[AggregateCall, tuple[int, ...]]]:
    """A detail for each call: what is listed bounds it."""
    call = calls[0]
    assert call.argument is not None
    values = tuple(each for each in call.others if isinstance(each, Literal))
    return Votes(call.argument, call.condition, values), {call: (0,)}
