"""What is said where a budget does not hold a price: what it would take, and the most that fits.

the query costs epsilon 0.9; at most 0.412 fits
the export costs epsilon 1.599, and takes as much as a query at 7.24 does (zcdp); at most 5 fits
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from dpsql.accounting import Accountant, Amount, Budget
from dpsql.accounting.entries import Overdrawn
from dpsql.errors import Error, refuse
from dpsql.ir.event import Event, ResponseEvent
from dpsql.render.digits import above, below


@dataclass(frozen=True, slots=True)
class Means:
    """What would be paid from: of each account, what was spent and what is granted."""

    accountant: Accountant
    budget: Budget
    accounts: Sequence[tuple[Amount, Amount]]
    holds: Callable[[Amount], bool]


def too_dear(price: float, events: tuple[Event, ...], means: Means, error: Overdrawn) -> Error:
    """D501 of a price, and of the events that it pays for."""
    whose = "the database's budget" if error.analyst is None else f"{error.analyst}'s budget"
    fits = means.accountant.largest(means.accounts, means.budget, (error.needed, error.left))
    most = f"at most {below(fits)} fits" if fits >= 1e-4 else "next to nothing is left"
    takes = means.accountant.price_of(error.needed, means.budget)
    coins = [each.epsilon for each in events if isinstance(each, ResponseEvent)]
    said = f"the {'export' if coins else 'query'} costs epsilon {_price_text(price, fits)}"
    if takes > 1.01 * price:
        said += f", and takes as much as a query at {above(takes)} does ({means.accountant.name})"
    smaller = _smaller(events, coins, means) if coins else ""
    return refuse(
        "D501",
        f"{whose} does not hold this price",
        label=f"{said}; {most}",
        help=smaller or "ask for a smaller epsilon, or ask something that was answered before: that is free",
    )


def _price_text(price: float, fits: float) -> str:
    """A price that is more than what fits, in as many digits as show it."""
    shown = f"{price:g}"
    return shown if float(shown) > float(below(fits)) or price < fits else repr(price)


def _smaller(events: tuple[Event, ...], coins: list[float], means: Means) -> str:
    """At which epsilons of its columns the same export fits; what hides how many rows there are stays."""

    def fits(part: float) -> bool:
        less = (
            replace(each, epsilon=each.epsilon * part) if isinstance(each, ResponseEvent) else each
            for each in events
        )
        return means.holds(means.accountant.charge(tuple(less)))

    low, high = 0.0, 1.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    if low < 1e-3:
        return "let each row answer more by chance, and hide the number of rows for less"
    if len(coins) == 1:
        return f"let each row answer more by chance: DP_RANDOMIZED_RESPONSE(x, {_down(low * coins[0])}) fits"
    return (
        f"let each row answer more by chance: with {_down(low)} times these epsilons of its columns it fits"
    )


def _down(number: float) -> str:
    """In three digits, never more than it is."""
    step = 10.0 ** (math.floor(math.log10(number)) - 2)
    return f"{math.floor(number / step) * step:.3g}"
