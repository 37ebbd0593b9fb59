"""How many more queries like the latest fit: copies of what they cost are added up until one does not.

latest   .1 .2 .1        left  1        .1 .2 .1 | .1 .2 .1 | .1        seven more
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from dpsql.accounting import Amount
from dpsql.lazy_dataclass import dataclass

LATEST = 10
"""Queries that the next ones are supposed to be like."""

MOST = 10**6
"""More than so many rounds are not counted."""


@dataclass(frozen=True, slots=True)
class Course:
    """An account, and what each of the latest queries would cost it again: of other blocks, nothing."""

    spent: Amount
    total: Amount
    latest: Sequence[Amount]


def more_like(courses: Sequence[Course]) -> int | None:
    """Return how many copies of the latest queries, in turns, fit all accounts; None if none was paid."""
    counts = [_more(course) for course in courses if any(course.latest)]
    return min(counts, default=None)


def _more(course: Course) -> int:
    """Return how many queries, in turns, fit one account: the one that does not fit costs it something."""
    latest, spent, total = course.latest, course.spent, course.total

    def fit(price: Amount) -> bool:
        return (spent + price).within(total)

    doubled = [reduce(add, latest)]
    while fit(doubled[-1]) and 2 ** len(doubled) <= MOST:
        doubled.append(doubled[-1] + doubled[-1])
    gone, rounds = latest[0] - latest[0], 0
    for place in reversed(range(len(doubled))):
        if fit(gone + doubled[place]):
            gone, rounds = gone + doubled[place], rounds + 2**place
    count = rounds * len(latest)
    for price in latest:
        if price and not fit(gone + price):
            break
        gone, count = gone + price, count + 1
    return count
