"""Aggregates that cannot be computed from sums -> details of the measure, each measured once.

MEDIAN(x), QUANTILE_CONT(x, 0.9)    one histogram of x, with two targets
"""

from __future__ import annotations

from dataclasses import field

from dpsql.aggregates import shelf
from dpsql.detail_kinds import Bounds, Made, part
from dpsql.errors import refuse
from dpsql.ir.detail import Detail
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall
from dpsql.lazy_dataclass import dataclass


@dataclass(slots=True)
class Details:
    """The details of one measure, in the order in which they are requested."""

    measure: Measure
    bounds: Bounds
    _made: list[Made] = field(default_factory=list)

    def places(self, call: AggregateCall) -> tuple[int, ...]:
        """Return the indices of a call's numbers among the numbers of all details.

        Equal calls ask the same of the same rows. Calls that share a detail share one mechanism, paid once.
        """
        self._refuse_other(call)
        first = 0
        for detail, places in self._made:
            if call in places:
                return tuple(first + place for place in places[call])
            first += detail.width
        other_calls = [other for other in self.measure.aggregates if other != call]
        detail, places = part("measure", shelf()[call.function].detail).made(
            self.measure, [call, *other_calls], self.bounds
        )
        self._made.append((detail, places))
        return tuple(first + place for place in places[call])

    def made(self) -> tuple[Detail, ...]:
        return tuple(detail for detail, _ in self._made)

    def _refuse_other(self, call: AggregateCall) -> None:
        if self.measure.other is not None:
            raise refuse(
                "D252",
                f"{call.function.upper()} cannot be computed for the other group",
                call.span,
                label="the other group is the total less the shown groups: that works for sums only",
                help="ask for sums and counts beside other_group, or leave it out",
            )
