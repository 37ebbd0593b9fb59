"""How many more queries like the latest fit: copies of what they cost are added up until one does not.

latest   .1 .2 .1        left  1        .1 .2 .1 | .1 .2 .1 | .1        seven more
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from dpsql.accounting import Amount

LATEST = 10
"""Queries that the next ones are supposed to be like."""

MOST = 10**6
"""More than so many rounds are not counted."""


def more_like(latest: Sequence[Amount], accounts: Sequence[tuple[Amount, Amount]]) -> int:
    """Return how many copies of these prices, in turns, fit all of the accounts (spent, total)."""

    def fit(price: Amount) -> bool:
        return all((spent + price).within(total) for spent, total in accounts)

    doubled = [reduce(add, latest)]
    while fit(doubled[-1]) and 2 ** len(doubled) <= MOST:
        doubled.append(doubled[-1] + doubled[-1])
    gone, rounds = latest[0] - latest[0], 0
    for place in reversed(range(len(doubled))):
        if fit(gone + doubled[place]):
            gone, rounds = gone + doubled[place], rounds + 2**place
    count = rounds * len(latest)
    for price in latest:
        if not fit(gone + price):
            break
        gone, count = gone + price, count + 1
    return count
