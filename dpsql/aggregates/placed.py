"""Values of one unit's rows as integers on a grid, so that sums of squares do not depend on the order.

minutes in [0, 480]     0 .. 480, steps of 1
cost in [0.0, 5000.0]   0 .. 2^32, steps of 5000 / 2^32
"""

from __future__ import annotations

from dpsql.aggregates import Unbounded, type_of_sum
from dpsql.ir.column import Fact, Kind, decimal_size, range_of
from dpsql.lazy_dataclass import dataclass

MOST = 2**32
"""Places of the grid: n * sum of squares stays below 2^127 up to two thousand million rows."""


@dataclass(frozen=True, slots=True)
class Placed:
    """``sql`` is a BIGINT from 0 to MOST, NULL where the value is NULL or NaN; x = low + step * place."""

    sql: str
    low: float
    step: float


def placed(argument: str, fact: Fact, name: str) -> Placed:
    """Return the place of a value on the grid of its range."""
    type_of_sum(fact.type)
    bounds = range_of(fact)
    width = float(bounds.high) - float(bounds.low)
    scale = 10 ** decimal_size(fact.type)[1] if fact.type.kind is Kind.DECIMAL else 1
    exact = fact.type.kind is not Kind.FLOAT and width * scale <= MOST
    if not (bounds.finite and width < 1e150) or (fact.type.kind is Kind.INTEGER and not exact):
        raise Unbounded(
            f"{name.upper()} of one unit's rows needs a finite range",
            "clamp the value inside the aggregate: x CLAMPED BETWEEN 0 AND 500",
        )
    step = 1 / scale if exact else max(width, 2.0**-400) / MOST
    low, high = float(bounds.low), float(bounds.high)
    value = f"CAST({argument} AS DOUBLE)"
    clamped = f"greatest({low!r}::DOUBLE, least({high!r}::DOUBLE, {value}))"
    factor = float(scale) if exact else 1 / step
    place = f"CAST(round(({clamped} - {low!r}::DOUBLE) * {factor!r}::DOUBLE) AS BIGINT)"
    return Placed(f"CASE WHEN {value} <= 'infinity'::DOUBLE THEN {place} END", low, step)


def squares(first: str, second: str, over: str) -> str:
    """Return SQL for n * sum(xy) - sum(x) * sum(y), an exact integer, as a DOUBLE.

    Both arguments are NULL in the same rows.
    """
    n = f"CAST(count({first}){over} AS HUGEINT)"
    both = f"sum(CAST({first} AS HUGEINT) * {second}){over}"
    return f"CAST({n} * {both} - sum({first}){over} * sum({second}){over} AS DOUBLE)"
