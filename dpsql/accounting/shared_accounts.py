"""Accounts of groups of analysts and of studies, beside those of the database and of each analyst.

    members   group students: ana, bo      with what they paid before    when somebody joins, who then stays
    cap       group students: 2.0          or none                       when the policy's number changes
    debit     by ana, for study flu        accounts: group students, study flu
    share     by bo, of the same           accounts: none, for both have it

Claim   the account of a group is the sum of the debits that anybody who ever was its member has paid or
        joined, each once; the account of a study that of the debits that were paid or joined for it.
Proof   By induction over entries. A debit charges all groups that its analyst ever was a member of, and its
        study. A share charges those of them that have not paid for its debit: a group has if the debit or an
        earlier share says so, or if one of its members is among the payers; then the debit is in the sum
        already, since they joined the group after paying (``members`` adds what they paid that the group
        lacks) or before it (the entry charged the group). Nobody is ever taken out of ``members``.
Test    tests/privacy/test_shared_accounts.py
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Any

from dpsql.accounting import Accountant, Amount
from dpsql.accounting.blocks import BlockList, Numbers
from dpsql.accounting.chain import Link
from dpsql.accounting.entries import Content, Overdrawn, SharedGrant, now
from dpsql.accounting.spending import Spending, amount_of
from dpsql.lazy_dataclass import dataclass


def group_account(name: str) -> str:
    return f"group {name}"


def study_account(name: str) -> str:
    return f"study {name}"


@dataclass(slots=True)
class SharedAccounts:
    """Caps, amounts spent and members, folded from entries. An account without a cap only adds up."""

    caps: dict[str, tuple[float, Amount]] = field(default_factory=dict)
    spent: Spending[str] = field(default_factory=Spending)
    members: dict[str, frozenset[str]] = field(default_factory=dict)

    def clear(self) -> None:
        for mapping in (self.caps, self.spent, self.members):
            mapping.clear()

    def of(self, analyst: str, study: str) -> list[str]:
        """Return the accounts that a debit of an analyst for a study charges."""
        groups = sorted(account for account, names in self.members.items() if analyst in names)
        return [*groups, *([study_account(study)] if study else [])]

    def lacking(self, accounts: Sequence[str], charged: frozenset[str], payers: frozenset[str]) -> list[str]:
        """Return those accounts that have not paid for a debit with these payers and charged accounts."""
        return [
            account
            for account in accounts
            if account not in charged and not payers & self.members.get(account, frozenset())
        ]

    def afford(
        self,
        accounts: Iterable[str],
        price: Amount,
        rules: Accountant,
        there: BlockList,
        blocks: Numbers | None,
    ) -> None:
        """Raise unless the price fits every one of these accounts that has a cap, in each of the blocks."""
        numbers = there.numbers if blocks is None else blocks
        for account in accounts:
            if account in self.caps:
                _, total = self.caps[account]
                short = self.spent.short(account, numbers, price, total, rules.zero)
                if short is not None:
                    block, spent = short
                    left, name = total - spent, there.named(block)
                    raise Overdrawn(price, left, total, None, account=account, block=name)

    def fold(self, entry: Content, rules: Accountant) -> None:
        """Add one entry of any kind but blocks."""
        accounts = entry.get("accounts", ()) if entry["kind"] in ("debit", "share") else ()
        match entry["kind"]:
            case "cap" if entry["epsilon"] is None:
                self.caps.pop(entry["account"], None)
            case "cap":
                self.caps[entry["account"]] = entry["epsilon"], rules.read(entry)
            case "members":
                account = entry["account"]
                self.members[account] = self.members.get(account, frozenset()) | {*entry["analysts"]}
                accounts = (account,)
        before = entry.get("before")  # of a share all of its price
        for account in accounts:
            self.spent.add(account, rules.read(entry), entry.get("blocks"), rules.zero)
            if before:
                amount = rules.read(entry) if before is True else amount_of(before, rules)
                self.spent.add_before(account, amount, rules.zero)
            for block, values in entry.get("apart", ()):
                self.spent.add(account, amount_of(values, rules), (block,), rules.zero)

    def rows(self, rules: Accountant, blocks: bool) -> list[list[Any]]:
        """Return a row for each account: its name, cap (epsilon or None, amount), amount spent, members."""
        rows, zero = [], rules.zero
        for account in sorted({*self.caps, *self.spent.accounts(), *self.members}):
            epsilon, total = self.caps.get(account, (None, zero))
            amounts = (total, self.spent.everywhere.get(account, zero))
            written = [[*amount.written().values()] for amount in amounts]
            apart = self.spent.row(account, zero) if blocks else []
            rows.append([account, epsilon, *written, sorted(self.members.get(account, ())), *apart])
        return rows

    def load(self, rows: Iterable[Sequence[Any]], rules: Accountant) -> None:
        for account, epsilon, total, spent, members, *apart in rows:
            if epsilon is not None:
                self.caps[account] = epsilon, amount_of(total, rules)
            self.spent.everywhere[account] = amount_of(spent, rules)
            if apart:
                self.spent.load(account, apart, rules)
            if members:
                self.members[account] = frozenset(members)

    def changes(
        self, wanted: Sequence[SharedGrant], entries: Iterable[Link], rules: Accountant, blocks: BlockList
    ) -> list[Content]:
        """Return what turns the present caps and members into these; read ``entries`` if somebody joins."""
        changes: list[Content] = []
        joining = {
            grant.account: frozenset(grant.members) - self.members.get(grant.account, frozenset())
            for grant in wanted
        }
        if any(joining.values()):
            paid = self.paid_before(joining, entries, rules, blocks)
            changes += [
                {"kind": "members", "time": now(), "account": account, "analysts": sorted(names)}
                | paid[account]
                for account, names in joining.items()
                if names
            ]
        caps = {grant.account: (grant.epsilon, grant.total) for grant in wanted if grant.epsilon is not None}
        changes += [
            {"kind": "cap", "time": now(), "account": account, "epsilon": epsilon} | total.written()
            for account, (epsilon, total) in caps.items()
            if self.caps.get(account) != (epsilon, total)
        ]
        changes += [
            {"kind": "cap", "time": now(), "account": account, "epsilon": None} | rules.zero.written()
            for account in self.caps
            if account not in caps
        ]
        return changes

    def paid_before(
        self,
        joining: Mapping[str, frozenset[str]],
        entries: Iterable[Link],
        rules: Accountant,
        blocks: BlockList,
    ) -> dict[str, Content]:
        """Return, for each account, what its new members have paid of debits that it has not, as written."""
        debits: dict[int, tuple[Amount, set[str], set[str], Numbers | None]] = {}
        before_check = set[int]()
        for link in entries:
            entry = link.content
            if entry["kind"] == "debit":
                paid_in = blocks.paid(link.id, entry.get("blocks"))
                debits[link.id] = rules.read(entry), set(), set(), paid_in
                before_check |= {link.id} if blocks.is_before(link.id, entry.get("blocks")) else set()
            if entry["kind"] in ("debit", "share"):
                _, payers, charged, _ = debits[entry.get("debit", link.id)]
                charged.update(entry.get("accounts", ()))
                if entry.get("own", True):
                    payers.add(entry["analyst"])
        sums = Spending[str]()
        for account, names in joining.items():
            before = self.members.get(account, frozenset())
            for debit, (price, payers, charged, paid_in) in debits.items():
                if payers & names and account not in charged and not payers & before:
                    sums.add(account, price, paid_in, rules.zero)
                    if debit in before_check:
                        sums.add_before(account, price, rules.zero)
        return {account: _written(sums, account, rules) for account in joining}


def _written(sums: Spending[str], account: str, rules: Accountant) -> Content:
    apart, before = sums.row(account, rules.zero)
    written: Content = {**sums.everywhere.get(account, rules.zero).written()}
    written |= {"apart": apart} if apart else {}
    return written | ({"before": before} if account in sums.before else {})
