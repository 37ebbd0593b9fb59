"""Refusal of a price that does not fit the budget: what the query costs, and the most that fits.

the query costs epsilon 0.9; at most 0.412 fits
the export costs epsilon 1.599, as much of the budget as a query at 7.24 (zcdp); at most 5 fits
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from dpsql.accounting import Accountant, Amount, Budget
from dpsql.accounting.entries import Overdrawn
from dpsql.accounting.units import UNIT
from dpsql.errors import Error, refuse
from dpsql.ir.event import Event, ResponseEvent
from dpsql.lazy_dataclass import dataclass
from dpsql.render.digits import above, below


@dataclass(frozen=True, slots=True)
class Means:
    """The accounts to pay from, each as (spent, granted)."""

    accountant: Accountant
    budget: Budget
    accounts: Sequence[tuple[Amount, Amount]]
    holds: Callable[[Amount], bool]
    ceiling: float = math.inf  # the highest price of one query


def too_dear(price: float, events: tuple[Event, ...], means: Means, error: Overdrawn) -> Error:
    """Return D501 for a price and the events that it pays for."""
    payer = "the database's budget" if error.analyst is None else f"{error.analyst}'s budget"
    wait = ""
    if error.account:
        payer = f"the budget of {error.account}"
    if error.block:
        payer += f" in {error.block}"
    if error.cap is not None:
        payer = f"{error.analyst}'s {error.cap.name}, {error.cap.epsilon:g},"
        if error.needed.within(error.cap.total):
            wait = f"; from {error.cap.until} there is room again"
    largest = means.accountant.largest(means.accounts, means.budget, (error.needed, error.left))
    fits = min(means.ceiling, largest)
    most = f"at most {below(fits)} fits" if fits >= 1e-4 else "next to nothing is left"
    short = error.needed.shortage(error.left, error.left)
    if short.kind == "responses":
        payer, kept = "what is kept for responses", means.budget.responses
        most = f"{below(short.left / UNIT)} of {kept:g} is left for responses"
    takes = means.accountant.price_of(error.needed, means.budget)
    responses = [event.epsilon for event in events if isinstance(event, ResponseEvent)]
    cost = f"the {'export' if responses else 'query'} costs epsilon {_price_text(price, fits)}"
    if takes > 1.01 * price:
        cost += f", as much of the budget as a query at {above(takes)} ({means.accountant.name})"
    smaller = _smaller_export(events, responses, means) if responses else ""
    return refuse(
        "D501",
        f"{payer} does not hold this price",
        label=f"{cost}; {most}",
        help=smaller or f"ask for a smaller epsilon, or repeat an earlier query: that is free{wait}",
    )


def _price_text(price: float, fits: float) -> str:
    """Format a price with enough digits to show that it is more than what fits."""
    shown = f"{price:g}"
    return shown if float(shown) > float(below(fits)) or price < fits else repr(price)


def _smaller_export(events: tuple[Event, ...], responses: list[float], means: Means) -> str:
    """Say at which epsilons of its columns the export fits, at the same price for the number of rows."""

    def fits(part: float) -> bool:
        less = (
            replace(event, epsilon=event.epsilon * part) if isinstance(event, ResponseEvent) else event
            for event in events
        )
        return means.holds(means.accountant.charge(tuple(less)))

    low, high = 0.0, 1.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    if low < 1e-3:
        return "ask for smaller epsilons of the columns, and a smaller epsilon for the number of rows"
    if len(responses) == 1:
        fitting = _down(low * responses[0])
        return f"ask for a smaller epsilon of the column: DP_RANDOMIZED_RESPONSE(x, {fitting}) fits"
    return f"ask for smaller epsilons of the columns: with {_down(low)} times these the export fits"


def _down(number: float) -> str:
    """Round down to three digits."""
    step = 10.0 ** (math.floor(math.log10(number)) - 2)
    return f"{math.floor(number / step) * step:.3g}"
