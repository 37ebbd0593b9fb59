"""What plans cost now: prices, in which blocks of units, and of which accounts.

    ana asks what nobody has paid for      the database, ana, her groups, her study
    bo asks the same                       bo, and those of his groups and his study that have not paid for it

Joining another's debit is free for the database. The debit itself (ledger.py) and what is said before it are
computed from the same dues.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from dpsql.accounting import Amount
from dpsql.accounting.blocks import BlocksRead


class Due(NamedTuple):
    """Where a price is due. ``shared`` are groups and a study; None is all those of who pays."""

    blocks: BlocksRead
    database: bool = True
    analyst: bool = True
    shared: tuple[str, ...] | None = None


Prices = dict[Due, Amount]
"""Prices by where they are due."""

Parts = list[tuple[BlocksRead, Amount]]
"""Prices of one account."""


def priced(*prices: tuple[Due, Amount]) -> Prices:
    """Return prices by where they are due; those that are due alike add up."""
    found: Prices = {}
    for due, price in prices:
        found[due] = found[due] + price if due in found else price
    return found


def of_account(prices: Prices, pays: Callable[[Due], bool]) -> Parts:
    """Return the prices that an account pays."""
    return [(due.blocks, price) for due, price in prices.items() if pays(due)]


def by_database(due: Due) -> bool:
    return due.database


def by_analyst(due: Due) -> bool:
    return due.analyst


def by_shared(account: str, due: Due) -> bool:
    return due.shared is None or account in due.shared
