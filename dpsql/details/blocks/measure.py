"""DP_SAMPLE -> blocks of units, a detail for each call."""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.detail_kinds import Bounds
from dpsql.details.blocks.detail import Blocks
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Literal


def made(
    measure: Measure, calls: Sequence[AggregateCall], bounds: Bounds
) -> tuple[Blocks, dict[AggregateCall, tuple[int, ...]]]:
    """The detail of the first of the calls: the query itself bounds its value."""
    call = calls[0]
    name, low, high, *extra = (each.value for each in call.others if isinstance(each, Literal))
    assert call.argument is not None
    assert isinstance(name, str)
    assert isinstance(low, float)
    assert isinstance(high, float)
    numbers = tuple(each for each in extra if isinstance(each, float))
    return Blocks(call.argument, call.condition, name, numbers, low, high), {call: (0,)}
