"""What accounts have spent: everywhere, and apart in single blocks.

    ana     everywhere 7     apart: block 2  5           in block 2: 12, in every other: 7

A debit that is paid in all blocks adds to one amount, however many blocks there are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field
from typing import Any, Generic, TypeVar

from dpsql.accounting import Accountant, Amount
from dpsql.ir.unit_blocks import REST
from dpsql.lazy_dataclass import dataclass

K = TypeVar("K")


@dataclass(slots=True)
class Spending(Generic[K]):
    """Amounts by account. ``before`` is what was spent in the rest when the check of units began."""

    everywhere: dict[K, Amount] = field(default_factory=dict)
    apart: dict[K, dict[int, Amount]] = field(default_factory=dict)
    before: dict[K, Amount] = field(default_factory=dict)

    def clear(self) -> None:
        for mapping in (self.everywhere, self.apart, self.before):
            mapping.clear()

    def accounts(self) -> set[K]:
        return {*self.everywhere, *self.apart}

    def add(self, account: K, price: Amount, blocks: Iterable[int] | None, zero: Amount) -> None:
        """Add a price in these blocks; None is all."""
        if blocks is None:
            self.everywhere[account] = self.everywhere.get(account, zero) + price
            return
        apart = self.apart.setdefault(account, {})
        for block in blocks:
            apart[block] = apart.get(block, zero) + price

    def add_before(self, account: K, price: Amount, zero: Amount) -> None:
        """Add what was spent in the rest before the check, and is paid by this account now."""
        self.before[account] = self.before.get(account, zero) + price

    def of(self, account: K, block: int, zero: Amount) -> Amount:
        spent, apart = self.everywhere.get(account, zero), self.apart.get(account)
        return spent + apart[block] if apart and block in apart else spent

    def each(self, account: K, blocks: Iterable[int], zero: Amount) -> Iterator[tuple[int, Amount]]:
        """Yield what was spent in each of these blocks; of those with nothing apart only the first."""
        spent, apart = self.everywhere.get(account, zero), self.apart.get(account)
        plain = False
        for block in blocks:
            if apart and block in apart:
                yield block, spent + apart[block]
            elif not plain:
                plain = True
                yield block, spent

    def short(
        self, account: K, blocks: Iterable[int], price: Amount, total: Amount, zero: Amount
    ) -> tuple[int, Amount] | None:
        """Return a block in which a price does not fit the total, and what was spent there, if any."""
        spent, apart = self.everywhere.get(account, zero), self.apart.get(account, {})
        left, fits = total - (spent + price), (spent + price).within(total)
        for block in blocks:
            if not (apart[block].within(left) if block in apart else fits):
                return block, self.of(account, block, zero)
        return None

    def begin_check(self, zero: Amount) -> None:
        """Remember what was spent in the rest: by units that no later check can know."""
        self.before = {
            account: spent for account in self.accounts() if (spent := self.of(account, REST, zero))
        }

    def append(self, old: Sequence[int], new: Sequence[int], fresh: bool, zero: Amount) -> None:
        """Start new blocks: with what the rest has spent, or ``fresh``, with that before the check."""
        for account in self.accounts():
            apart = self.apart.setdefault(account, {})
            if fresh:
                spent = self.everywhere.pop(account, zero)
                apart |= {block: apart.get(block, zero) + spent for block in old if spent}
                start = self.before.get(account, zero)
            else:
                start = apart.get(REST, zero)
            apart |= dict.fromkeys(new, start) if start else {}
            if not apart:
                del self.apart[account]

    def row(self, account: K, zero: Amount) -> list[Any]:
        """Return the amounts apart, and that before the check, as the sums of the ledger have them."""
        apart = sorted(self.apart.get(account, {}).items())
        return [
            [[block, [*amount.written().values()]] for block, amount in apart if amount],
            [*self.before.get(account, zero).written().values()],
        ]

    def load(self, account: K, row: list[Any], rules: Accountant) -> None:
        apart, before = row
        if apart:
            self.apart[account] = {block: amount_of(values, rules) for block, values in apart}
        if amount := amount_of(before, rules):
            self.before[account] = amount


def amount_of(values: list[Any], rules: Accountant) -> Amount:
    """Read an amount from the values of its keys."""
    return rules.read(dict(zip(rules.zero.written(), values, strict=True)))
