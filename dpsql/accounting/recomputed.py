"""Compare every price of a ledger with the events that it paid for.

debit     at least what the accountant charges for its events
share     the price of its debit
members   what those who joined had paid, of debits that the group lacked

The chain of hashes notes an edited entry, unless who edited it wrote all later hashes anew; then prices and
events still have to agree. An earlier version may have charged more than this one: that is no finding.

Claim   if there is no finding, every amount of the ledger follows from events, under this version's formulas,
        but for debits whose events were cut.
Test    tests/privacy/test_recomputed.py
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field

from dpsql.accounting import Accountant, Amount
from dpsql.accounting.blocks import BlockList, Numbers, written_of
from dpsql.accounting.chain import Link
from dpsql.accounting.shared_accounts import SharedAccounts
from dpsql.accounting.stored_events import read
from dpsql.lazy_dataclass import dataclass


@dataclass(slots=True)
class Recomputed:
    """What was compared: findings, each with its entry, and the debits whose events were cut."""

    debits: int = 0
    shares: int = 0
    findings: list[tuple[int, str]] = field(default_factory=list)
    unread: list[int] = field(default_factory=list)


def recomputed(entries: Iterable[Link], rules: Accountant) -> Recomputed:
    """Read all entries of a ledger, in their order, and compare each price."""
    result, prices, shared, blocks = Recomputed(), dict[int, Amount](), SharedAccounts(), BlockList()
    paid_in = dict[int, Numbers | None]()
    before: list[Link] = []
    for link in entries:
        entry = link.content
        match entry["kind"]:
            case "debit":
                prices[link.id], paid_in[link.id] = rules.read(entry), entry.get("blocks")
                result.debits += 1
                _debit(link, prices[link.id], rules, result)
            case "share" if rules.zero.written().keys() <= entry.keys():
                result.shares += 1
                if rules.read(entry) != prices.get(entry["debit"]):
                    result.findings.append((link.id, "a share has not the price of its debit"))
                of, its = entry["debit"], paid_in.get(entry["debit"])
                there = written_of(blocks.paid(of, its)), blocks.is_before(of, its)
                if there != (entry.get("blocks"), entry.get("before", False)):
                    result.findings.append((link.id, "a share is not paid in the blocks of its debit"))
            case "members":
                joining = {entry["account"]: frozenset(entry["analysts"])}
                owed = shared.paid_before(joining, before, rules, blocks)[entry["account"]]
                names = ("apart", "before", *rules.zero.written())
                if any(owed.get(name) != entry.get(name) for name in names):
                    result.findings.append((link.id, "a group does not have what its new members had paid"))
            case "blocks":
                blocks.fold(link.id, entry)
            case "units":
                blocks.fold_units(link.id, str(entry["digest"]))
        if entry["kind"] in ("debit", "share", "cap", "members"):
            shared.fold(entry, rules)
            before.append(link)
    return result


def _debit(link: Link, price: Amount, rules: Accountant, result: Recomputed) -> None:
    events = read(str(link.content["events"]))
    if events is None:
        result.unread.append(link.id)
        return
    try:
        charge = rules.charge(events)
    except (TypeError, ValueError) as error:  # events that no plan under this accountant has
        result.findings.append((link.id, f"its events cannot be charged: {error}"))
        return
    if not charge.within(price):
        result.findings.append((link.id, f"its price is below that of its events: {_parts(price, charge)}"))


def _parts(price: Amount, charge: Amount) -> str:
    paid, needed = price.written(), charge.written()
    return ", ".join(
        f"{name} {paid[name]} of {needed[name]}" for name in needed if paid[name] != needed[name]
    )
