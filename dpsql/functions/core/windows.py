"""Window functions that a unit's own rows may be looked at with.

    lag(cost) OVER (PARTITION BY patient_id ORDER BY visited_on)      of the argument's type, NULL at first

A function that ``picks`` one row among tied ones (or numbers them) has its order completed by all columns
where it is printed, so that the outcome is a function of the rows and not of where they lie.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from dpsql.ir.column import ANYTHING, BIGINT, DOUBLE, Fact, Interval

Facts = tuple[Fact, ...]


@dataclass(frozen=True, slots=True)
class WindowFunction:
    """``constants`` is how many further arguments it takes, whole numbers from ``least`` to 1,000.

    ``keeps`` tells that it returns values of its first argument, ``framed`` that it looks at the frame.
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


def _numbered(facts: Facts, rows: int | None) -> Fact:
    return Fact(BIGINT, ANYTHING if rows is None else Interval(1, max(1, rows)), nullable=False)


def _share(facts: Facts, rows: int | None) -> Fact:
    return Fact(DOUBLE, Interval(0.0, 1.0), nullable=False)


def _value(facts: Facts, rows: int | None) -> Fact:
    return Fact(facts[0].type, facts[0].domain, nullable=True)


_ALL = (
    WindowFunction("row_number", _numbered),
    WindowFunction("rank", _numbered, picks=False),
    WindowFunction("dense_rank", _numbered, picks=False),
    WindowFunction("percent_rank", _share, picks=False),
    WindowFunction("cume_dist", _share, picks=False),
    WindowFunction("ntile", _numbered, constants=1),
    WindowFunction("lag", _value, arguments=1, constants=1, optional=True, least=0, keeps=True),
    WindowFunction("lead", _value, arguments=1, constants=1, optional=True, least=0, keeps=True),
    WindowFunction("first_value", _value, arguments=1, keeps=True, framed=True),
    WindowFunction("last_value", _value, arguments=1, keeps=True, framed=True),
    WindowFunction("nth_value", _value, arguments=1, constants=1, keeps=True, framed=True),
)


@cache
def windows() -> dict[str, WindowFunction]:
    """All of them, by name."""
    return {each.name: each for each in _ALL}
