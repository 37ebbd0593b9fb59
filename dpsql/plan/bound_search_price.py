"""Refuse a price too small for the bound searches of a query, before anything is paid.

    SUM(cost) at 0.01, about 500 customers     D503: that takes 9,532 customers or more

The size of the values is not known: a price is refused if not even values as small as 1 would be found. At a
higher price a search may still find nothing. The widest range is then used, and the answer says so.
"""

from __future__ import annotations

from dpsql.errors import Error, refuse
from dpsql.ir.bound import Missing, MissingClip
from dpsql.ir.plan import BoundSearchPlan
from dpsql.mechanisms.found_range import least_units
from dpsql.plan.bound_search import ladder_of, share_of
from dpsql.plan.clip_search import units_needed
from dpsql.plan.least_price import least_price
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known

MANY = 10_000_000
"""Number of units assumed if the policy does not say about how many there are."""


def worth_finding(first: BoundSearchPlan, known: Known, terms: Terms) -> None:
    """Raise D503 if the price is so small that a search would find nothing."""
    units = MANY if known.units is None else known.units
    for missing in first.missing_bounds:
        least = _least(missing, known, first.strength)
        if least > units:
            count = f"there are about {units:,}"
            if known.units is None:
                count = "the owner may say about how many there are"
            raise refuse(
                "D503",
                f"the price {terms.epsilon:g} is too small to find the {missing.said}",
                label=f"that takes {least:,} {known.unit}s or more; {count}",
                help=_instead(missing, _price(missing, known, units, len(first.missing_bounds), terms)),
            )


def _least(missing: Missing, known: Known, strength: float) -> int:
    """Return with how many units a search of this strength finds something."""
    if isinstance(missing, MissingClip):
        return units_needed(missing, strength)
    return least_units(ladder_of(missing, known), strength)


def _instead(missing: Missing, price: float | None) -> str:
    payment = "" if price is None else f"pay {price:g} or more; or "
    if isinstance(missing, MissingClip):
        return f"{payment}write max_rows_contributed = 5 in OPTIONS"
    bound = "a range of your own in the query" if missing.column else "max_rows_contributed = 5 in OPTIONS"
    return f"{payment}write {bound}; or let the owner declare it"


def _price(missing: Missing, known: Known, units: int, missing_bounds: int, terms: Terms) -> float | None:
    """Return the lowest sufficient price, in two digits; None if the whole budget is not enough."""

    def enough(price: float) -> bool:
        try:
            bought = terms.accountant.allowance(price, terms.budget, share / missing_bounds, thresholds=False)
        except Error:  # too small to be split
            return False
        return _least(missing, known, bought.choice) <= units

    share = share_of(type(missing))
    return least_price(enough, terms.epsilon, terms.budget.epsilon)
