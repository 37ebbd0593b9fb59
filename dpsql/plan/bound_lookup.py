"""Plan a query with the bounds that it lacks: those that were found before, and the widest for the others.

    SELECT SUM(cost) FROM visits       D301: cost has no range
    again, cost in [0, 1024]           the ledger knows it: a plan
    again, cost in [-2^48, 2^48]       nobody has found it yet: a plan behind one that finds it

Only a query that would be refused ever meets a found bound. One that is refused all the same is refused
with its own words, as if there were none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from dpsql.errors import Error
from dpsql.ir.bound import Bound, MissingBound, NeededBounds
from dpsql.ir.plan import Plan
from dpsql.plan.bound_search import SHARE, widest
from dpsql.policy.catalogue import Known
from dpsql.policy.found_bounds import with_bounds

_BOUNDLESS = ("D301", "D302", "D305")


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where bounds come from: ``allowed`` by the owner at all; ``known`` to the ledger;

    ``paid`` tells whether this query has paid for some before: it then pays the rest of its price.
    """

    allowed: bool
    known: Callable[[MissingBound], Bound | None]
    paid: Callable[[], bool]


def bounded(
    make: Callable[[Known, Fraction], Plan | NeededBounds], known: Known, lookup: Lookup
) -> tuple[Plan, tuple[Bound, ...]]:
    """The plan for a share of the price, and the bounds it rests on (``found`` is '' of those to find).

    It is made once, or a second time with all that the first time missed.
    """
    bounds: dict[MissingBound, Bound] = {}
    made = make(known, Fraction(1))
    if isinstance(made, Plan):
        return made, ()
    first = made.refusal
    while isinstance(made, NeededBounds):
        fresh = [each for each in made.bounds if each not in bounds]
        if not (fresh and lookup.allowed):
            raise first
        bounds |= {missing: lookup.known(missing) or widest(missing, known) for missing in fresh}
        listed = tuple(bounds.values())
        unknown = any(not each.found for each in listed)
        share = 1 - SHARE if unknown or lookup.paid() else Fraction(1)
        try:
            made = make(with_bounds(known, listed), share)
        except Error as error:
            raise first if error.code in _BOUNDLESS else error from None
    return made, listed
