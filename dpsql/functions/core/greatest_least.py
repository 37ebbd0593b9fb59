"""The greatest and the least of several values; NULL takes no part.

least(greatest(x, 0), 500)    [0, 500]: the analyst's own bound
"""

from __future__ import annotations

from collections.abc import Callable

from dpsql.functions import MANY, Argument, ArgumentError, Arguments, Function, together
from dpsql.functions.core.conditional import domain_of
from dpsql.functions.core.conversion import converted, converted_fact, range_as
from dpsql.functions.core.ranges import within
from dpsql.functions.core.types import common_type
from dpsql.ir.column import Fact, Interval, Kind, Type


def _extreme(name: str, best: Callable[[float, float], float]) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        target = common_type(arguments)
        if any(each.type.sql.startswith("ENUM(") for each in arguments):
            raise ArgumentError("an ENUM has no order here", "write CAST(... AS VARCHAR)")
        facts = [converted_fact(each, target) for each in arguments]
        nullable = all(fact.nullable for fact in facts)
        if not (target.numeric or target.kind in (Kind.DATE, Kind.TIMESTAMP)):
            return Fact(target, domain_of(arguments, target), nullable)
        ranges = [(range_as(Argument(fact), target), fact.nullable) for fact in facts]
        lows, highs = [each.low for each, _ in ranges], [each.high for each, _ in ranges]
        sure = [each for each, null in ranges if not null]  # NULL takes no part
        if best is max:
            low = max([min(lows), *(each.low for each in sure)])
            return within(target, Interval(low, max(highs)), nullable)
        # nor does NaN, which is greater than all numbers
        sure = [
            each
            for (each, null), given in zip(ranges, arguments, strict=True)
            if not null and (given.kind is not Kind.FLOAT or given.literal is not None)
        ]
        high = min([max(highs), *(each.high for each in sure)])
        return within(target, Interval(min(lows), high), nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        target = common_type(arguments)
        parts = (converted(text, each, target) for text, each in zip(texts, arguments, strict=True))
        return f"{name}({', '.join(parts)})"

    return Function(name, result, render, f"{name}(i, 5)", (1, MANY), together, strict=False)


FUNCTIONS = (
    _extreme("greatest", max),
    _extreme("least", min),
)
