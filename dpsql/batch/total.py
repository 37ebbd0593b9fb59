"""Divide one total price among the statements of a file that set no price.

--epsilon 2      SELECT OPTIONS(epsilon = 1.0) ...     keeps its price, subtracted from the total
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
"""Larger than any budget."""


def shares_of(db: Connection, items: Sequence[Item], total: float) -> dict[str, float | None]:
    """Return the price of each statement that sets none; those that measure the same share one."""
    session = db._open()
    rule, accountant = session.budget, session.accountant
    if not 0 < total < MOST:
        raise refuse("D503", "a total is a finite positive number", help="for example --epsilon 2.0")
    sharing = _by_measurement([item for item in items if item.paid and not item.own])
    shared_already = {same[0].measured for same in sharing}  # private views that the file creates, and asks
    own = [item for item in items if item.paid and item.own]
    fixed = _by_measurement(
        [item for item in own if not (item.reads_view and item.measured in shared_already)]
    )
    if not sharing:
        if not fixed:
            return {}  # nothing costs anything
        first = fixed[0][0].task
        raise refuse(
            "D503",
            "every statement sets its own price: no statement can share this total",
            label=f"{first.name} on line {first.statement.line} does, for example",
            help="leave out --epsilon; or remove SET epsilon and OPTIONS(epsilon = ...) from the file",
        )
    prices = [same[0].epsilons for same in fixed]
    remaining = combined((total, *prices), accountant, rule)
    if not remaining:
        raise refuse(
            "D503",
            f"a total of {total:g} leaves nothing to share",
            label=f"{_count_text(len(fixed))} already: {sum(prices):g} in all",
            help="give a larger --epsilon, or remove SET epsilon from the file",
        )
    share_prices = shared(remaining, _weights(sharing, accountant), accountant, rule, session.ceiling)
    return {item.task.name: price for same, price in zip(sharing, share_prices, strict=True) for item in same}


def _by_measurement(items: Sequence[Item]) -> list[list[Item]]:
    """Group items by what they measure."""
    by_measured: dict[tuple[str, str], list[Item]] = {}
    for item in items:
        by_measured.setdefault(item.measured, []).append(item)
    return list(by_measured.values())


def _weights(sharing: Sequence[Sequence[Item]], accountant: Accountant) -> list[float]:
    """Return the declared weights, per measurement the largest; without any, balanced weights."""
    declared = [
        max((weight for item in same if (weight := item.task.statement.weight) is not None), default=None)
        for same in sharing
    ]
    if all(weight is None for weight in declared):
        return balance([same[0].plan for same in sharing], accountant)
    return [1.0 if weight is None else weight for weight in declared]


def _count_text(number: int) -> str:
    return "one statement sets its price" if number == 1 else f"{number} statements set their prices"
