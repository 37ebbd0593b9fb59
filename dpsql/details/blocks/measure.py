"""DP_SAMPLE -> blocks of units, one detail for each call."""

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
    """Return the detail of the first call; the query itself gives the bounds of its value."""
    call = calls[0]
    name, low, high, *extra = (option.value for option in call.others if isinstance(option, Literal))
    assert call.argument is not None
    assert isinstance(name, str)
    assert isinstance(low, float)
    assert isinstance(high, float)
    numbers = tuple(option for option in extra if isinstance(option, float))
    return Blocks(call.argument, call.condition, name, numbers, low, high), {call: (0,)}
