"""Plan a query with missing bounds: use those found before, and the widest possible for the others.

    SELECT SUM(cost) FROM visits       D301: cost has no range
    again, cost in [0, 1024]           a found bound of the ledger: a plan
    again, cost in [-2^48, 2^48]       nobody has found it yet: a plan that needs a bound search first

Only a query that would be refused uses found bounds. If it is still refused with them, it gets its first
refusal, as if there were none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from dpsql.errors import Error
from dpsql.ir.bound import Bound, Missing, MissingBound, MissingClip, NeededBounds
from dpsql.ir.plan import Plan
from dpsql.lazy_dataclass import dataclass
from dpsql.plan.bound_search import share_of, widest
from dpsql.policy.catalogue import Known
from dpsql.policy.found_bounds import with_bounds

_BOUNDLESS = ("D301", "D302", "D305")


@dataclass(frozen=True, slots=True)
class Lookup:
    """Where missing bounds come from.

    ``allowed``: the owner allows bound searches. ``known`` returns a usable bound of the ledger. ``paid``
    says whether this query has paid for a search of this kind before: it then pays only the rest of its
    price.
    """

    allowed: bool
    known: Callable[[Missing], Bound | None]
    paid: Callable[[type[Missing]], bool]


def bounded(
    make: Callable[[Known, Fraction, dict[MissingClip, Bound]], Plan | NeededBounds],
    known: Known,
    lookup: Lookup,
) -> tuple[Plan, tuple[Bound, ...]]:
    """Return a plan, and the bounds that it uses; ``found`` is '' for bounds that must be found first.

    Call ``make``, and call it again with the missing bounds until none is missing. Clips are searched when
    all others are found: what a clip scales depends on them. Until then nothing is paid for clips.
    """
    bounds: dict[Missing, Bound] = {}
    result = make(known, Fraction(1), {})
    if isinstance(result, Plan):
        return result, ()
    first = result.refusal
    while isinstance(result, NeededBounds):
        fresh = [missing for missing in result.bounds if missing not in bounds]
        if not (fresh and lookup.allowed):
            raise first
        bounds |= {missing: lookup.known(missing) or widest(missing, known) for missing in fresh}
        listed = tuple(bounds.values())
        clips = {missing: bound for missing, bound in bounds.items() if isinstance(missing, MissingClip)}
        try:
            result = make(with_bounds(known, listed), _left(listed, lookup), clips)
        except Error as error:
            raise first if error.code in _BOUNDLESS else error from None
    return result, listed


def to_find(bounds: Iterable[Bound]) -> list[Missing]:
    """Return the bounds that are to be found next, all of one kind."""
    missing = [bound.missing for bound in bounds if not bound.found]
    return [each for each in missing if isinstance(each, MissingBound)] or missing


def _left(bounds: Sequence[Bound], lookup: Lookup) -> Fraction:
    """Return the share of the price that is left beside searches."""
    next_kinds = {type(missing) for missing in to_find(bounds)}
    kinds = dict.fromkeys(type(bound.missing) for bound in bounds)
    paid = [share_of(kind) for kind in kinds if kind in next_kinds or lookup.paid(kind)]
    return 1 - sum(paid, Fraction(0))
