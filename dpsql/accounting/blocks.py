"""Blocks of a ledger: which there are, since when, and in which of them each debit is paid.

    entry 5     blocks   cohort: 2023, 2024        block 0 is the rest
    entry 9     debit    blocks [2]                paid in 2024 alone
    entry 12    debit                              paid in all blocks that there are
    entry 40    blocks   cohort: 2023, 2024, 2025  2025 starts with what the rest has paid, or with nothing

Claim   a unit whose block holds for good is told of by no more debits than those that are paid in its block.
Proof   A debit is paid in every block that its rows can be in, by the list of its time (plan/blocks.py). By
        induction over the list: when a value is appended, its units stood in the rest, or there were none.
        The new block therefore starts with all that was paid in the rest. Under a check it starts with what
        was paid in the rest before the check began: a unit that was seen since then, in whatever block, is
        known to the file of units, and no value is appended while it has that value (session/units_seen.py).
        Nobody pays who has not looked at the units since then. A connection that knows a shorter list pays
        in the rest for what it does not know, and what is paid in the rest is paid in every block that it
        does not know.
Test    tests/privacy/test_block_accounts.py
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import field
from typing import Any

from dpsql.accounting import Amount
from dpsql.errors import DatabaseError, refuse
from dpsql.ir.unit_blocks import REST, named
from dpsql.lazy_dataclass import dataclass

Numbers = tuple[int, ...]

BlocksRead = tuple[Numbers | None, int]
"""The blocks that a query can read, None for all, of a list with so many values."""

EVERYWHERE: BlocksRead = (None, 0)


@dataclass(frozen=True, slots=True)
class BlocksWanted:
    """The policy's blocks: their column, the values as text, and whether units are checked."""

    column: str
    values: tuple[str, ...]
    check: bool = False


@dataclass(slots=True)
class BlockList:
    """The blocks of a ledger, folded from entries. Without a column there are none: all units are one.

    Of each value, ``appended`` is the entry that added it, and ``inherits`` the entry up to which debits that
    are paid in the rest are paid in it too. With ``check``, units are ``checked`` from the next entry of
    units on, and ``units`` is the digest of their file.
    """

    column: str = ""
    values: list[str] = field(default_factory=list)
    appended: list[int] = field(default_factory=list)
    inherits: list[int] = field(default_factory=list)
    check: bool = False
    checked: int | None = None
    units: str | None = None

    def __bool__(self) -> bool:
        return bool(self.column)

    def clear(self) -> None:
        self.column, self.check, self.checked, self.units = "", False, None, None
        for numbers in (self.values, self.appended, self.inherits):
            numbers.clear()

    @property
    def numbers(self) -> Iterable[int]:
        return range(len(self.values) + 1) if self else (REST,)

    def named(self, block: int) -> str:
        """Return what a block is called; '' where there are none."""
        return named(self.column, self.values, block) if self else ""

    def fold(self, id: int, entry: dict[str, Any]) -> bool:
        """Add an entry of kind blocks; return whether what it appends is new to the rest, being checked."""
        values, before = [*map(str, entry["values"])], len(self.values)
        if values[:before] != self.values or (self and entry["column"] != self.column):
            raise ValueError("blocks are only appended")
        lasting = self.checked if entry["check"] else None
        for value in values[before:]:
            self.values.append(value)
            self.appended.append(id)
            self.inherits.append(id if lasting is None else lasting)
        self.column, self.check, self.checked = str(entry["column"]), bool(entry["check"]), lasting
        self.units = None if lasting is None else self.units
        return lasting is not None

    def fold_units(self, id: int, digest: str) -> bool:
        """Add an entry of kind units; return whether the check begins with it."""
        if not self.check:
            return False
        begins, self.units = self.checked is None, digest
        self.checked = id if begins else self.checked
        return begins

    def check_seen(self, checked: int | None) -> None:
        """Raise D505 for a connection that has not looked at the units since they are ``checked``."""
        if self.check and checked != self.checked:
            raise refuse(
                "D505",
                "the units of this connection are not checked",
                label="check = true came into the policy after it was opened",
                help="open the database again",
            )

    def paid(self, id: int, blocks: Collection[int] | None) -> Numbers | None:
        """Return the present blocks in which a debit is paid, by its entry; None for all."""
        if not self:
            return None
        rest = blocks is None or REST in blocks
        found = [REST] if rest else []
        for block, (since, inherits) in enumerate(zip(self.appended, self.inherits, strict=True), 1):
            if (blocks is None or block in blocks) if id > since else (rest and id < inherits):
                found.append(block)
        return None if len(found) == len(self.values) + 1 else tuple(found)

    def is_before(self, id: int, blocks: Collection[int] | None) -> bool:
        """Whether a debit, by its entry, was paid in the rest before the check of units began."""
        return self.checked is not None and id < self.checked and (blocks is None or REST in blocks)

    def touched(self, blocks: Collection[int] | None, listed: int) -> Numbers | None:
        """Return the present blocks of a debit of somebody who knows ``listed`` values; None for all."""
        if not self or blocks is None:
            return None
        later = range(listed + 1, len(self.values) + 1) if REST in blocks else ()
        found = sorted({*blocks, *later})
        if found and found[-1] > len(self.values):
            raise refuse("D505", "this ledger has no such block", help="open the database again")
        return None if len(found) == len(self.values) + 1 else tuple(found)

    def parts(
        self, prices: Iterable[tuple[BlocksRead, Amount]], zero: Amount, whole: bool = False
    ) -> list[tuple[Amount, Numbers | None]]:
        """Return what several prices add up to, in which blocks; ``whole``: even where nothing."""
        each = [(self.touched(*read), price) for read, price in prices]
        if all(blocks is None for blocks, _ in each):
            return [(sum((price for _, price in each), zero), None)]
        if len(each) == 1 and not whole:
            [(blocks, price)] = each
            return [(price, blocks)] if price and blocks else []
        amounts = {
            block: sum((price for blocks, price in each if blocks is None or block in blocks), zero)
            for block in self.numbers
        }
        parts: list[tuple[Amount, Numbers | None]] = []
        for amount in amounts.values():
            if all(amount != other for other, _ in parts) and (amount or whole):
                parts.append((amount, tuple(block for block in amounts if amounts[block] == amount)))
        return parts

    def changes(self, wanted: BlocksWanted | None, looked: bool = False) -> list[dict[str, Any]]:
        """Return the entry that turns the present blocks into these; refuse what is no longer list.

        A list that grows under a check is left to who has ``looked`` at the units.
        """
        if wanted is None:
            if self:
                raise _other_blocks(f"this ledger has blocks by {self.column}, and the policy has none")
            return []
        if self and wanted.column != self.column:
            raise _other_blocks(f"this ledger has blocks by {self.column}, and the policy by {wanted.column}")
        kept = [*wanted.values[: len(self.values)]]
        if kept != self.values:
            at = next(
                (at for at, (a, b) in enumerate(zip(kept, self.values, strict=False)) if a != b), len(kept)
            )
            raise ChangedList(at, self.values[at])
        if self and len(wanted.values) == len(self.values) and wanted.check == self.check:
            return []
        if self.checked is not None and wanted.check and not looked:
            return []
        return [
            {"kind": "blocks", "column": wanted.column, "values": [*wanted.values], "check": wanted.check}
        ]

    def written(self) -> dict[str, Any]:
        """Return what the sums say of it."""
        return {
            "column": self.column,
            "values": [*self.values],
            "appended": [*self.appended],
            "inherits": [*self.inherits],
            "check": self.check,
            "checked": self.checked,
            **({} if self.units is None else {"units": self.units}),
        }

    def load(self, written: dict[str, Any]) -> None:
        self.column, self.check, self.checked = written["column"], written["check"], written["checked"]
        self.units = written.get("units")
        self.values, self.appended = [*written["values"]], [*written["appended"]]
        self.inherits = [*written["inherits"]]


def written_of(blocks: Collection[int] | None) -> list[int] | None:
    """Return blocks as an entry has them."""
    return None if blocks is None else [*blocks]


class ChangedList(DatabaseError):
    """D803: the policy's list of blocks does not begin with the ledger's. ``at`` is the first difference."""

    def __init__(self, at: int, there: str) -> None:
        super().__init__(
            "D803",
            "the list of blocks has changed",
            label=f"value {at + 1} of this ledger's blocks is {there}",
            help="values may be appended, and none is changed or removed: what a block has spent stays",
        )
        self.at = at


def _other_blocks(label: str) -> DatabaseError:
    return refuse(
        "D505",
        "this ledger belongs to other blocks",
        label=label,
        help="restore the blocks of [unit]: what was paid in a block was not paid by all",
    )
