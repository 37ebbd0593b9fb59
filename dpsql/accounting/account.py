"""State of the ledger after its entries: grants, amounts spent, and how many bytes each analyst fills."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Set
from dataclasses import astuple, field
from typing import Any

from dpsql.accounting import Accountant, Amount, bound
from dpsql.accounting.blocks import BlockList, Numbers
from dpsql.accounting.chain import SUMS, Link
from dpsql.accounting.entries import Content, Granted, Overdrawn, now
from dpsql.accounting.ledger_file import damaged
from dpsql.accounting.shared_accounts import SharedAccounts
from dpsql.accounting.spending import Spending, amount_of
from dpsql.errors import refuse
from dpsql.ir.unit_blocks import REST
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Filled:
    """How often an analyst has paid, and how many bytes of the ledger their debits and answers fill."""

    times: int = 0
    size: int = 0

    def __add__(self, other: Filled) -> Filled:
        return Filled(self.times + other.times, self.size + other.size)


@dataclass(slots=True)
class Account:
    """Grants and spent amounts, folded from entries; only verified entries of the file change it."""

    promise: Content = field(default_factory=dict)
    salt: str = ""  # drawn when the ledger is created
    grants: dict[str | None, tuple[float, Amount]] = field(default_factory=dict)
    spent: Spending[str | None] = field(default_factory=Spending)
    blocks: BlockList = field(default_factory=BlockList)
    filled: defaultdict[str, Filled] = field(default_factory=lambda: defaultdict(Filled))
    places: frozenset[str] = frozenset()  # other files that the entries are written to
    shared: SharedAccounts = field(default_factory=SharedAccounts)
    trues: defaultdict[int, int] = field(default_factory=lambda: defaultdict(int))  # of alerts, by debit

    def clear(self) -> None:
        self.promise, self.salt, self.places = {}, "", frozenset()
        for mapping in (self.grants, self.spent, self.filled, self.shared, self.blocks, self.trues):
            mapping.clear()

    @property
    def accountant(self) -> Accountant:
        """Return the accountant of the file's promise: amounts are read in its currency, whoever reads."""
        return bound(self.promise)

    def granted_to(self, analyst: str | None) -> tuple[float, Amount]:
        return self.grants.get(analyst, (0.0, self.accountant.zero))

    def spent_by(self, analyst: str | None, block: int = REST) -> Amount:
        return self.spent.of(analyst, block, self.accountant.zero)

    def fold(self, link: Link, read: Callable[[int], Link]) -> None:
        """Add one entry.

        Old entries leave out what their debit says: the debit is then looked up with ``read``.
        """
        entry = link.content
        origin = entry if "analyst" in entry else read(entry["debit"]).content if "debit" in entry else {}
        match entry["kind"]:
            case "open":
                self.promise, self.salt = entry["promise"], entry["salt"]
            case "grant":
                self.grants[entry["analyst"]] = entry["epsilon"], self.accountant.read(entry)
            case "debit":
                self._add(None, entry)
                self._add(entry["analyst"], entry)
                self.filled[entry["analyst"]] += Filled(1, link.size)
            case "share":
                priced = self._keys() <= entry.keys()
                if entry.get("own", True):  # else only groups and studies had not paid for the debit
                    self._add(entry["analyst"], entry if priced else read(entry["debit"]).content)
                self.filled[entry["analyst"]] += Filled(1, link.size)
            case "part" | "answer" | "view" | "access":
                self.filled[origin["analyst"]] += Filled(0, link.size)
            case "alert":
                self.filled[entry["analyst"]] += Filled(0, link.size)
            case "outcome":
                self.filled[entry["analyst"]] += Filled(0, link.size)
                if entry["above"]:
                    self.trues[entry["alert"]] += 1
            case "blocks":
                self._append(link)
            case "units":
                if self.blocks.fold_units(link.id, str(entry["digest"])):
                    for spending in (self.spent, self.shared.spent):
                        spending.begin_check(self.accountant.zero)
            case "verified" | "contents" | "forgotten" | "cap" | "members":
                pass
            case "moved":
                self.promise = self.promise | {"database": str(entry["database"])}
            case "place":
                self.places |= {str(entry["path"])}
            case "sums":
                folded = self.promise, self.salt, self._rows(), sorted(self.places), self._shared_rows()
                if (*folded, self._written_blocks(), self._true_rows()) != (
                    entry["promise"],
                    entry["salt"],
                    entry["accounts"],
                    entry.get("places", []),
                    entry.get("shared", []),
                    entry.get("blocks"),
                    entry.get("trues", []),
                ):
                    raise damaged(f"the sums in entry {link.id} are not those of the entries before it")
            case kind:
                raise ValueError(kind)
        if entry["kind"] in ("debit", "share", "cap", "members"):
            self.shared.fold(entry, self.accountant)

    def _add(self, analyst: str | None, priced: Content) -> None:
        price, rules = self.accountant.read(priced), self.accountant
        self.spent.add(analyst, price, priced.get("blocks"), rules.zero)
        if priced.get("before"):
            self.spent.add_before(analyst, price, rules.zero)

    def _append(self, link: Link) -> None:
        """Add blocks: those that were there keep what they have spent."""
        old, zero = [*self.blocks.numbers], self.accountant.zero
        fresh = self.blocks.fold(link.id, link.content)
        new = [*self.blocks.numbers][len(old) :]
        for spending in (self.spent, self.shared.spent):
            spending.append(old, new, fresh, zero)

    def _written_blocks(self) -> Content | None:
        return self.blocks.written() if self.blocks else None

    def _keys(self) -> Set[str]:
        """Return the keys that an amount has in an entry."""
        return self.accountant.zero.written().keys()

    def sums(self) -> Content:
        sums = {
            "kind": SUMS,
            "time": now(),
            "promise": self.promise,
            "salt": self.salt,
            "accounts": self._rows(),
        }
        sums |= {"places": sorted(self.places)} if self.places else {}
        sums |= {"blocks": self.blocks.written()} if self.blocks else {}
        sums |= {"trues": self._true_rows()} if self.trues else {}
        return sums | ({"shared": rows} if (rows := self._shared_rows()) else {})

    def _true_rows(self) -> list[list[int]]:
        return [[debit, many] for debit, many in sorted(self.trues.items())]

    def _shared_rows(self) -> list[list[Any]]:
        return self.shared.rows(self.accountant, bool(self.blocks))

    def load(self, sums: Content) -> None:
        self.promise, self.salt = sums["promise"], sums["salt"]
        self.places = frozenset(map(str, sums.get("places", ())))
        if "blocks" in sums:
            self.blocks.load(sums["blocks"])
        for name, epsilon, granted, spent, filled, *apart in sums["accounts"]:
            if epsilon is not None:
                self.grants[name] = epsilon, self._amount(granted)
            self.spent.everywhere[name] = self._amount(spent)
            if apart:
                self.spent.load(name, apart, self.accountant)
            self.filled[name or ""] += Filled(*filled)
        self.shared.load(sums.get("shared", ()), self.accountant)
        self.trues.update((int(debit), int(many)) for debit, many in sums.get("trues", ()))

    def _amount(self, values: list[Any]) -> Amount:
        return amount_of(values, self.accountant)

    @property
    def width(self) -> int:
        accounts = len(self.grants) + len(self.filled) + len(self.shared.spent.accounts())
        apart = (*self.spent.apart.values(), *self.shared.spent.apart.values())
        return accounts + len(self.trues) + sum(map(len, apart))

    def _rows(self) -> list[list[Any]]:
        """Return a row for each account: name (None is all), epsilon, granted, spent, what it fills.

        In a ledger with blocks a row is longer, so that a version that knows none does not read it.
        """
        rows, zero = [], self.accountant.zero
        names = {key or "" for key in (*self.grants, *self.spent.accounts())}
        for name in (None, *sorted(names | {*self.filled})):
            epsilon, granted = self.grants.get(name, (None, zero))
            spent = self.spent.everywhere.get(name, zero)
            apart = self.spent.row(name, zero) if self.blocks else []
            filled = Filled() if name is None else self.filled.get(name, Filled())
            if epsilon is not None or spent or filled != Filled() or name in self.spent.apart:
                amounts = [list(amount.written().values()) for amount in (granted, spent)]
                rows.append([name, epsilon, *amounts, list(astuple(filled)), *apart])
        return rows

    def changes(self, granted: Granted, entries: Iterable[Link] = ()) -> list[Content]:
        """Return the entries that turn present grants into these. Analysts no longer named are granted 0.

        ``entries`` are all entries: they are read if somebody joins a group.
        """
        wanted: dict[str | None, tuple[float, Amount]] = {None: (granted.epsilon, granted.total)}
        wanted |= {name: (epsilon, total) for name, epsilon, total in granted.analysts}
        wanted |= {name: (0.0, self.accountant.zero) for name in self.grants if name not in wanted}
        blocks: list[Content] = [{"time": now()} | change for change in self.blocks.changes(granted.blocks)]
        grants: list[Content] = [
            {"kind": "grant", "time": now(), "analyst": name, "epsilon": epsilon} | total.written()
            for name, (epsilon, total) in wanted.items()
            if self.grants.get(name) != (epsilon, total)
        ]
        if not granted.shared and not self.shared.caps:
            return [*grants, *blocks]
        joined = self.shared.changes(granted.shared, entries, self.accountant, self.blocks)
        return [*grants, *joined, *blocks]

    def afford(self, analyst: str | None, price: Amount, blocks: Numbers | None = None) -> None:
        """Raise unless what was spent in each of these blocks and this price fit the grant; None is all."""
        (_, total), rules = self.granted_to(analyst), self.accountant
        if analyst is not None and not total:
            title = f"the policy grants nothing to analyst {analyst}"
            raise refuse("D504", title, help=f"the owner adds [analysts.{analyst}] to the policy")
        numbers = self.blocks.numbers if blocks is None else blocks
        short = self.spent.short(analyst, numbers, price, total, rules.zero)
        if short is not None:
            block, spent = short
            raise Overdrawn(price, total - spent, total, analyst, block=self.blocks.named(block))

    def fits(self, analyst: str, room: int | None) -> None:
        """Raise D510 if the ledger already stores as many bytes for this analyst as the policy allows."""
        size = self.filled.get(analyst, Filled()).size
        if room is not None and size >= room:
            raise refuse(
                "D510",
                f"the ledger has no more room for {analyst}'s queries and answers",
                label=f"they fill {size:,} bytes, of {room:,}",
                help="queries that were answered before can be repeated free; for more room, "
                f"the owner raises megabytes of [analysts.{analyst}]",
            )
