"""Window functions over the rows of one unit.

    lag(cost) OVER (PARTITION BY patient_id ORDER BY visited_on)      of the argument's type, NULL at first

A function that ``picks`` one of several tied rows (or numbers them) is printed with an ORDER BY over all
columns. Its result then depends on the rows, and not on their physical order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from dpsql.ir.column import ANYTHING, BIGINT, DOUBLE, Fact, Interval
from dpsql.ir.relation import WindowCall
from dpsql.lazy_dataclass import dataclass

Facts = tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """One window function.

    ``constants`` is the number of further arguments, whole numbers from ``least`` to 1,000.
    ``keeps``: it returns values of its first argument. ``framed``: it depends on the frame.
    """

    name: str
    result: Callable[[Facts, int | None], Fact]
    arguments: int = 0
    constants: int = 0
    optional: bool = False
    least: int = 1
    picks: bool = True
    keeps: bool = False
    framed: bool = False


MOST = 1_000
"""The largest constant argument."""


def _row_number(facts: Facts, rows: int | None) -> Fact:
    return Fact(BIGINT, ANYTHING if rows is None else Interval(1, max(1, rows)), nullable=False)


def _share(facts: Facts, rows: int | None) -> Fact:
    return Fact(DOUBLE, Interval(0.0, 1.0), nullable=False)


def _value(facts: Facts, rows: int | None) -> Fact:
    return Fact(facts[0].type, facts[0].domain, nullable=True)


_ALL = (
    WindowFunction("row_number", _row_number),
    WindowFunction("rank", _row_number, picks=False),
    WindowFunction("dense_rank", _row_number, picks=False),
    WindowFunction("percent_rank", _share, picks=False),
    WindowFunction("cume_dist", _share, picks=False),
    WindowFunction("ntile", _row_number, constants=1),
    WindowFunction("lag", _value, arguments=1, constants=1, optional=True, least=0, keeps=True),
    WindowFunction("lead", _value, arguments=1, constants=1, optional=True, least=0, keeps=True),
    WindowFunction("first_value", _value, arguments=1, keeps=True, framed=True),
    WindowFunction("last_value", _value, arguments=1, keeps=True, framed=True),
    WindowFunction("nth_value", _value, arguments=1, constants=1, keeps=True, framed=True),
)


@cache
def windows() -> dict[str, WindowFunction]:
    """Return all window functions by name."""
    return {function.name: function for function in _ALL}


def orders_all_columns(call: WindowCall) -> bool:
    """Whether all columns complete a window's order: it picks among tied rows, or has a frame of rows."""
    function = windows().get(call.function)
    return call.rows is not None or (function is not None and function.picks)
