"""What an analyst has spent since a moment: read from the end of their entries, and remembered.

    ana's debits and shares    ... | 08:10   09:30   11:05        since midnight: three
                                midnight

Times of entries never go back (``chain.Pen``), so the first one before the moment ends the search. The index
says which entries are theirs. It proves nothing, so an index that lacks an entry would let a cap in time
pass; the caps of the whole are sums that do not rest on it, and ``verify`` compares it with the chain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field
from functools import reduce
from operator import add

from dpsql.accounting import Amount
from dpsql.accounting.chain import Link
from dpsql.lazy_dataclass import dataclass

_AT_FIRST = 64

Found = Callable[[str, int], Iterator[Link]]
"""Return the entries of a name in the index, the last one first, at most so many."""


@dataclass(slots=True)
class Recent:
    """Entries of one name, since ``since``: the last one's number, and their times and amounts."""

    since: str
    last: int = 0
    paid: list[tuple[str, Amount]] = field(default_factory=list)

    def read(self, name: str, found: Found, price: Callable[[Link], Amount]) -> None:
        """Add what was appended after the last one."""
        fresh = [*self._fresh(name, found)]
        self.paid += [(link.content["time"], price(link)) for link in reversed(fresh)]
        self.last = max([self.last, *(link.id for link in fresh)])

    def _fresh(self, name: str, found: Found) -> Iterator[Link]:
        most, seen = _AT_FIRST, 0
        while True:
            count = 0
            for link in found(name, most):
                count += 1
                if count <= seen:
                    continue
                if link.id <= self.last or link.content["time"] < self.since:
                    return
                yield link
            if count < most:
                return
            most, seen = 4 * most, count

    def spent(self, since: str, nothing: Amount) -> Amount:
        return reduce(add, (amount for time, amount in self.paid if time >= since), nothing)
