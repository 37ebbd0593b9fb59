"""One total over the statements of a file that say no price: what each of them costs then.

--epsilon 2      SELECT OPTIONS(epsilon = 1.0) ...     keeps its price, which comes off the total
                 SELECT COUNT(*) FROM patients         1.48
                 select count(*) from patients         1.48: the same measurement, and the same share
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.accounting import Accountant
from dpsql.batch.item import Item
from dpsql.batch.shares import balance, combined, shared
from dpsql.dbapi import Connection
from dpsql.errors import refuse

MOST = 1e9
"""No budget is so large."""


def shares_of(db: Connection, items: Sequence[Item], total: float) -> dict[str, float | None]:
    """The price of each statement that says none; those that measure the same share one."""
    session = db._open()
    rule, accountant = session.budget, session.accountant
    if not 0 < total < MOST:
        raise refuse("D503", "a total is a finite positive number", help="give --epsilon 2.0, say")
    fixed = _alike([each for each in items if each.paid and each.own])
    sharing = _alike([each for each in items if each.paid and not each.own])
    if not sharing:
        if not fixed:
            return {}  # nothing costs anything
        first = fixed[0][0].task
        raise refuse(
            "D503",
            "no statement is left to share this total",
            label=f"each says its price itself, as {first.name} on line {first.statement.line} does",
            help="leave out --epsilon; or take SET epsilon and OPTIONS(epsilon = ...) out of the file",
        )
    prices = [same[0].epsilons for same in fixed]
    left = combined((total, *prices), accountant, rule)
    if not left:
        raise refuse(
            "D503",
            f"a total of {total:g} leaves nothing to share",
            label=f"{_many(len(fixed))} already: {sum(prices):g} in all",
            help="give a larger --epsilon, or take SET epsilon out of the file",
        )
    found = shared(left, _weights(sharing, accountant), accountant, rule, session.ceiling)
    return {each.task.name: price for same, price in zip(sharing, found, strict=True) for each in same}


def _alike(items: Sequence[Item]) -> list[list[Item]]:
    """Those that measure the same, together."""
    found: dict[tuple[str, str], list[Item]] = {}
    for each in items:
        found.setdefault(each.measured, []).append(each)
    return list(found.values())


def _weights(sharing: Sequence[Sequence[Item]], accountant: Accountant) -> list[float]:
    """Those that are declared, the greatest of statements that measure the same; or the best."""
    declared = [
        max((weight for each in same if (weight := each.task.statement.weight) is not None), default=None)
        for same in sharing
    ]
    if all(each is None for each in declared):
        return balance([same[0].plan for same in sharing], accountant)
    return [1.0 if each is None else each for each in declared]


def _many(number: int) -> str:
    return "one statement says its price" if number == 1 else f"{number} statements say their prices"
