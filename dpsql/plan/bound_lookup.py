"""Plan a query with missing bounds: use those found before, and the widest possible for the others.

    SELECT SUM(cost) FROM visits       D301: cost has no range
    again, cost in [0, 1024]           a found bound of the ledger: a plan
    again, cost in [-2^48, 2^48]       nobody has found it yet: a plan that needs a bound search first

Only a query that would be refused uses found bounds. If it is still refused with them, it gets its first
refusal, as if there were none.
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
    """Where missing bounds come from.

    ``allowed``: the owner allows bound searches. ``known`` returns a usable bound of the ledger. ``paid``
    says whether this query has paid for a bound search before: it then pays only the rest of its price.
    """

    allowed: bool
    known: Callable[[MissingBound], Bound | None]
    paid: Callable[[], bool]


def bounded(
    make: Callable[[Known, Fraction], Plan | NeededBounds], known: Known, lookup: Lookup
) -> tuple[Plan, tuple[Bound, ...]]:
    """Return a plan, and the bounds that it uses; ``found`` is '' for bounds that must be found first.

    Call ``make``, and call it again with the missing bounds until none is missing.
    """
    bounds: dict[MissingBound, Bound] = {}
    result = make(known, Fraction(1))
    if isinstance(result, Plan):
        return result, ()
    first = result.refusal
    while isinstance(result, NeededBounds):
        fresh = [missing for missing in result.bounds if missing not in bounds]
        if not (fresh and lookup.allowed):
            raise first
        bounds |= {missing: lookup.known(missing) or widest(missing, known) for missing in fresh}
        listed = tuple(bounds.values())
        unknown = any(not bound.found for bound in listed)
        share = 1 - SHARE if unknown or lookup.paid() else Fraction(1)
        try:
            result = make(with_bounds(known, listed), share)
        except Error as error:
            raise first if error.code in _BOUNDLESS else error from None
    return result, listed
