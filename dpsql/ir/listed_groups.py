"""The groups that are shown whatever their numbers, and what follows from them alone: found once.

    GROUP BY ps_partkey, ps_suppkey, of 58,782 listed pairs    their order, whatever the price

They follow from the policy, public tables and the query. Nothing here is of private rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from itertools import chain

from dpsql.ir.column import Value
from dpsql.ir.group_order import order_of


class ListedGroups:
    """Groups as tuples of their keys' values, which ``list_`` returns when they are first needed."""

    def __init__(self, list_: Callable[[], Iterable[tuple[Value, ...]]]) -> None:
        self._list = list_
        self.written: str | None = None
        """What a digest reads of the rule that lists them."""
        self.printed: str | None = None
        """What the ledger stores of them, in the order of ``ordered``."""

    @cached_property
    def groups(self) -> tuple[tuple[Value, ...], ...]:
        return tuple(self._list())

    @cached_property
    def order(self) -> list[int]:
        """The places of the groups in the order in which they are released."""
        return order_of(self.groups)

    @cached_property
    def ordered(self) -> Sequence[tuple[Value, ...]]:
        """The groups in that order: always the same object."""
        return [self.groups[place] for place in self.order]

    @cached_property
    def places(self) -> str:
        """The order as JSON."""
        return f"[{','.join(map(str, self.order))}]"

    @cached_property
    def are_plain(self) -> bool:
        return are_plain(self.groups)


def are_plain(groups: Sequence[tuple[Value, ...]]) -> bool:
    """Whether each value is a whole number or a text, so that Python's equality is SQL's."""
    return {*map(type, chain.from_iterable(groups))} <= {int, str}
