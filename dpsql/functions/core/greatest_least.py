"""GREATEST and LEAST of several values; NULL is ignored.

least(greatest(x, 0), 500)    [0, 500]: a clip that the analyst chooses
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
        if any(argument.type.sql.startswith("ENUM(") for argument in arguments):
            raise ArgumentError("ENUM values cannot be ordered here", "write CAST(... AS VARCHAR)")
        facts = [converted_fact(argument, target) for argument in arguments]
        nullable = all(fact.nullable for fact in facts)
        if not (target.numeric or target.kind in (Kind.DATE, Kind.TIMESTAMP)):
            return Fact(target, domain_of(arguments, target), nullable)
        ranges = [(range_as(Argument(fact), target), fact.nullable) for fact in facts]
        lows, highs = [interval.low for interval, _ in ranges], [interval.high for interval, _ in ranges]
        sure = [interval for interval, null in ranges if not null]  # NULL is ignored
        if best is max:
            low = max([min(lows), *(interval.low for interval in sure)])
            return within(target, Interval(low, max(highs)), nullable)
        # NaN is greater than all numbers: a FLOAT column gives no upper bound
        sure = [
            interval
            for (interval, null), argument in zip(ranges, arguments, strict=True)
            if not null and (argument.kind is not Kind.FLOAT or argument.literal is not None)
        ]
        high = min([max(highs), *(interval.high for interval in sure)])
        return within(target, Interval(min(lows), high), nullable)

    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        target = common_type(arguments)
        parts = (converted(text, argument, target) for text, argument in zip(texts, arguments, strict=True))
        return f"{name}({', '.join(parts)})"

    return Function(name, result, render, f"{name}(i, 5)", (1, MANY), together, strict=False)


FUNCTIONS = (
    _extreme("greatest", max),
    _extreme("least", min),
)
