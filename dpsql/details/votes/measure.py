"""MODE -> votes for the declared values, which bind has listed."""

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
    """Return one detail per call; the listed values bound it."""
    call = calls[0]
    assert call.argument is not None
    values = tuple(option for option in call.others if isinstance(option, Literal))
    return Votes(call.argument, call.condition, values), {call: (0,)}
