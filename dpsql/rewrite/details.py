"""Aggregates that are no function of sums -> details of the measure, each measured once.

MEDIAN(x), QUANTILE_CONT(x, 0.9)    one histogram of x, with two targets
"""

from __future__ import annotations

from dataclasses import dataclass, field

from dpsql.aggregates import shelf
from dpsql.detail_kinds import Bounds, Made, part
from dpsql.errors import refuse
from dpsql.ir.detail import Detail
from dpsql.ir.measure import Measure
from dpsql.ir.relation import AggregateCall


@dataclass(slots=True)
class Details:
    """The details of one measure, in the order in which they are asked for."""

    measure: Measure
    bounds: Bounds
    _made: list[Made] = field(default_factory=list)

    def places(self, call: AggregateCall) -> tuple[int, ...]:
        """Where a call's numbers stand among those of all details.

        Equal calls ask the same of the same rows; what several share is one mechanism's, paid once.
        """
        self._refuse_other(call)
        first = 0
        for detail, places in self._made:
            if call in places:
                return tuple(first + place for place in places[call])
            first += detail.width
        others = [each for each in self.measure.aggregates if each != call]
        detail, places = part("measure", shelf()[call.function].detail).made(
            self.measure, [call, *others], self.bounds
        )
        self._made.append((detail, places))
        return tuple(first + place for place in places[call])

    def made(self) -> tuple[Detail, ...]:
        return tuple(detail for detail, _ in self._made)

    def _refuse_other(self, call: AggregateCall) -> None:
        if self.measure.other is not None:
            raise refuse(
                "D252",
                f"the {call.function.upper()} of an other group is not known",
                call.span,
                label="the total less the groups is not the rest",
                help="ask for sums and counts beside other_group, or leave it out",
            )
