"""The ledger: grants, debits and the answers that they paid for.

    promise -- grant -- debit -- answer -- debit -- share -- part -- answer -- ...      (entries.py)

A debit is checked and written in one transaction, so the sum of all debits never exceeds the grant, with any
number of processes and after any kill. A debit is never taken back. One plan on one version of the data is
debited once: a repeat joins the debit, and everybody gets its first answer. An analyst who joins another's
debit pays from their own account only, because the database loses nothing more.
"""

from __future__ import annotations

import hmac
import json
import math
import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import TracebackType

from dpsql.accounting import Accountant, Amount, bound
from dpsql.accounting.account import Account
from dpsql.accounting.blocks import EVERYWHERE, BlocksRead, BlocksWanted, Numbers, written_of
from dpsql.accounting.chain import START, Chain, Link, create
from dpsql.accounting.dues import Due, Parts, Prices, by_analyst, by_database, by_shared, of_account
from dpsql.accounting.entries import (
    Content,
    Debit,
    Entry,
    Found,
    Granted,
    Measured,
    Overdrawn,
    Promise,
    Search,
    Standing,
    Stored,
    TimeCap,
    entry_of,
    in_two,
    kept_text,
    measured,
    now,
)
from dpsql.accounting.entry_index import (
    ALERTS,
    BOUGHT,
    FORGOTTEN,
    NAMED,
    Paid,
    asker_name,
    bound_name,
    buyer_name,
    content_name,
    debit_name,
    fact_name,
    names_of,
    outcome_name,
    part_name,
    true_name,
)
from dpsql.accounting.ledger_file import damaged, exists, place
from dpsql.accounting.named_alerts import NamedAlert, Outcome, named_alerts
from dpsql.accounting.named_views import Bought, NamedView, named_views
from dpsql.accounting.recent import Recent
from dpsql.accounting.recomputed import Recomputed, recomputed
from dpsql.accounting.second_places import (
    SecondPlace,
    all_prepared,
    check_gone,
    check_place,
    reached,
)
from dpsql.accounting.stored_events import LONGEST as EVENTS
from dpsql.errors import DatabaseError, refuse
from dpsql.ir.unit_blocks import REST

Grants = Callable[[Accountant], Granted]
"""The policy's present grants, in the currency of the ledger's accountant."""

SILENT = 1_000  # debits without an answer for which the last entry searched is remembered


class Ledger:
    """A privacy filter: ``debit_or_join`` before private rows are read, ``store`` before any display."""

    created: bool

    def __init__(
        self, path: Path, promise: Promise, patience: float, created: bool, places: Sequence[SecondPlace] = ()
    ) -> None:
        self._account = Account()
        self._promise = promise
        self._places = places
        prepared = partial(all_prepared, places) if places else None
        self._chain = Chain(path, patience, self._account, names_of, prepared)
        self._recent: dict[str, Recent] = {}  # what each analyst with caps in time spent lately
        self._silent: dict[int, Link] = {}  # debits without an answer -> last entry searched for one
        self.created = created

    @classmethod
    def open(
        cls,
        path: Path,
        promise: Promise,
        granted: Granted | Grants,
        *,
        create: bool = True,
        patience: float = 10.0,
        places: Sequence[SecondPlace] = (),
    ) -> Ledger:
        """Open the ledger bound to this promise, creating it; wait ``patience`` seconds for a lock.

        Entries are written to ``places`` too. Grants may depend on what the ledger was opened with.
        """
        real = place(path)
        if not exists(real):
            check_gone(places, real)
        created = not exists(real) and _create(
            real, promise, _checked(granted, bound(promise.written())), create
        )
        ledger = cls(real, promise, patience, created, places)
        try:
            with ledger._chain.reading():
                ledger._check_promise()
                ledger._check_places()
                granted = _checked(granted, ledger.accountant)
                changes = ledger._changes(granted)
            if changes:
                ledger._begin_places()
                with ledger._chain.writing() as pen:
                    for change in ledger._changes(granted):
                        pen.append(change)
            elif not ledger._chain.placed:  # an old ledger without an index; read as it is if not writable
                with suppress(DatabaseError), ledger._chain.writing():  # as said above
                    pass
        except BaseException:  # Ctrl-C too: closed, and raised again
            ledger.close()
            raise
        return ledger

    @classmethod
    def look(
        cls, path: Path, promise: Promise, patience: float = 10.0, places: Sequence[SecondPlace] = ()
    ) -> Ledger | None:
        """Open and verify an existing ledger without granting anything; None if there is none."""
        real = place(path)
        if not exists(real):
            check_gone(places, real)
            return None
        ledger = cls(real, promise, patience, False, places)
        try:
            with ledger._chain.reading():
                ledger._check_promise()
                ledger._check_places()
            ledger.verify()
        except BaseException:  # Ctrl-C too: closed, and raised again
            ledger.close()
            raise
        return ledger

    @classmethod
    def move(
        cls,
        path: Path,
        promise: Promise,
        check: Callable[[str], None],
        patience: float = 10.0,
        places: Sequence[SecondPlace] = (),
    ) -> bool:
        """Bind a ledger to the database of this promise; return False if it belongs to it already.

        ``check`` gets the name of the database that it belonged to, and may raise. All else of the promise
        stays, and so does what was spent. A connection to the other database can pay no more.
        """
        with cls(place(path), promise, patience, False, places) as ledger:
            ledger.verify()

            def moved() -> str:
                """Return the name that the database had before; '' if it has this one already."""
                before: str = ledger._account.promise["database"]
                ledger._check_promise(but="database")
                if before == promise.database:
                    return ""
                check(before)
                return before

            with ledger._chain.reading():
                moved()
                ledger._check_places()
            ledger._begin_places()  # of another name, if the ledger has another name now
            with ledger._chain.writing() as pen:
                before, content = moved(), {"kind": "moved", "time": now(), "database": promise.database}
                for change in ledger._new_places():
                    pen.append(change)
                if before:
                    pen.append(content | {"before": before})
            return bool(before)

    @property
    def path(self) -> Path:
        """Return the real path of the file."""
        return self._chain.path

    @property
    def accountant(self) -> Accountant:
        """Return the accountant, with what the ledger fixes of it."""
        return self._account.accountant

    def spent(self, analyst: str | None = None, block: int = REST) -> Amount:
        """Return what all analysts together have spent in a block, or one of them."""
        with self._chain.reading():
            return self._account.spent_by(analyst, block)

    def balances(self, analysts: Sequence[str | None], block: int = REST) -> list[tuple[Amount, float]]:
        """Return what each has spent in a block, and may, all at one moment; None is all together."""
        with self._chain.reading():
            account = self._account
            return [(account.spent_by(name, block), account.granted_to(name)[0]) for name in analysts]

    def spent_in_each(self, analyst: str | None = None) -> list[Amount]:
        """Return what was spent in each block."""
        with self._chain.reading():
            return [self._account.spent_by(analyst, block) for block in self._account.blocks.numbers]

    def granted(self, analyst: str | None = None) -> float:
        """Return what all analysts together may spend, or one of them, as granted last."""
        with self._chain.reading():
            epsilon, _ = self._account.granted_to(analyst)
            return epsilon

    def stored(self, digest: str, version: str, analyst: str, study: str = "") -> Stored | None:
        """Return the receipt of a plan that is free for this analyst; for the owner ('') if anybody paid.

        It is free if their groups and the study have paid too.
        """
        with self._chain.reading():
            paid = self._latest(digest, version)
            if paid is None or (analyst and analyst not in paid.payers):
                return None
            return None if self._lacking(paid, analyst, study) else self._stored(paid)

    def answered(self, digest: str, version: str, analyst: str, study: str = "") -> Stored | None:
        """Return the receipt of a plan that this very analyst has paid for, and that has its answer.

        It is what ``debit_or_join`` would return without writing, so nothing is locked for it.
        """
        with self._chain.reading():
            self._check_promise()  # it may have moved since it was opened
            link = next(self._chain.found(debit_name(digest, version), 1), None)
            paid = None if link is None else self._paid_for(link)
            if paid is None or paid.answer is None or analyst not in paid.payers:
                return None
            if self._lacking(paid, analyst, study):
                return None
            return self._stored(paid)

    def debit_or_join(self, debit: Debit) -> Stored:
        """Pay once, durably; return the receipt, with the answer if one was stored before."""
        _check_debit(debit)
        with self._chain.writing() as pen:
            self._check_promise()  # it may have moved since it was opened
            account = self._account
            paid = self._latest(debit.digest, debit.version)
            account.blocks.check_seen(debit.checked)
            read = debit.blocks, debit.listed
            due = self._due(paid, debit.analyst, debit.study, debit.price, read)
            if due is None:
                assert paid is not None, "what nobody paid for is due"
                return self._stored(paid)
            if due.database or paid is None:
                self._afford(debit.analyst, {due: debit.price}, debit.caps, debit.study)
                account.fits(debit.analyst, debit.room)
                content = {
                    "kind": "debit",
                    "time": now(),
                    "analyst": debit.analyst,
                    "digest": debit.digest,
                    "version": debit.version,
                    "events": kept_text(debit.events, EVENTS),
                    "epsilon": debit.epsilon,
                    **self._texts(debit),
                }
                if shared := account.shared.of(debit.analyst, debit.study):
                    content["accounts"] = shared
                if (blocks := account.blocks.touched(*read)) is not None:
                    content["blocks"] = written_of(blocks)
                if debit.tables:
                    content["tables"] = list(debit.tables)
                if debit.finds:
                    search = {"finds": list(debit.finds), "strength": debit.strength, "asker": debit.asker}
                    content |= search
                return Stored(pen.append(content | debit.price.written()), None, debit.price, charged=True)
            self._afford(debit.analyst, {due: paid.price}, debit.caps, debit.study)
            account.fits(debit.analyst, debit.room)
            share: Content = {"kind": "share", "time": now(), "analyst": debit.analyst, "debit": paid.id}
            share |= {"accounts": [*due.shared]} if due.shared else {}
            share |= {"own": False} if debit.analyst in paid.payers else {}
            blocks, before = self._paid_blocks(paid)
            share |= {} if blocks is None else {"blocks": written_of(blocks)}
            share |= {"before": True} if before else {}
            pen.append(share | self._texts(debit) | paid.price.written())
            charged = due.analyst or bool(due.shared)
            return replace(self._stored(paid), joined=charged, charged=charged)

    def due(
        self, digest: str, version: str, payer: tuple[str, str], price: Amount, read: BlocksRead
    ) -> tuple[Due, Amount] | None:
        """Return what a plan would cost a payer (an analyst, for a study) now; None if nothing."""
        with self._chain.reading():
            paid = self._latest(digest, version)
            due = self._due(paid, *payer, price, read)
            if due is None or (not due.database and not due.analyst and not due.shared):
                return None
            return due, price if due.database or paid is None else paid.price

    def _due(
        self, paid: Paid | None, analyst: str, study: str, price: Amount, read: BlocksRead
    ) -> Due | None:
        """Return where a plan is due; None where it is paid. The owner joins for nothing, and is noted."""
        # The price sets the noise: a debit without an answer is joined only at its own price.
        if paid is None or (paid.answer is None and paid.price != price):
            return Due(read)
        own, lacking = analyst not in paid.payers, self._lacking(paid, analyst, study)
        if not own and not lacking:
            return None
        blocks, _ = self._paid_blocks(paid)
        listed = len(self._account.blocks.values)
        return Due((blocks, listed), False, own and bool(analyst), tuple(lacking))

    def _paid_blocks(self, paid: Paid) -> tuple[Numbers | None, bool]:
        """Return the present blocks that a debit is paid in, and whether it was before the check of units."""
        there, its = self._account.blocks, paid.link.content.get("blocks")
        return there.paid(paid.id, its), there.is_before(paid.id, its)

    def store(self, debit_id: int, answer: bytes) -> bytes:
        """Store the answer of a debit, durably; return the first one stored, which everybody gets."""
        assert type(answer) is bytes
        with self._chain.writing() as pen:
            paid = self._debit(debit_id)
            if paid.answer is not None:
                return self._chain.payload(paid.answer.id)
            pen.append(paid.belonging("answer"), answer)
            return answer

    def part(self, debit_id: int, place: int) -> bytes | None:
        """Return a part of an answer that was stored before the answer was complete."""
        with self._chain.reading():
            entry = self._debit(debit_id).parts.get(place)
            return None if entry is None else self._chain.payload(entry)

    def keep(self, debit_id: int, place: int, part: bytes) -> bytes:
        """Store a part of an answer, durably, before the rest is released; return the first one stored."""
        assert type(part) is bytes
        with self._chain.writing() as pen:
            paid = self._debit(debit_id)
            kept = paid.parts.get(place)
            if kept is not None:
                return self._chain.payload(kept)
            pen.append(paid.belonging("part") | {"place": place}, part)
            return part

    def found(self, name: str) -> tuple[tuple[bytes, Found], ...]:
        """Return the answers with a found bound, of any version of the data, oldest first."""
        with self._chain.reading():
            debits = self._chain.found(bound_name(name))
            bounds = [bound for link in debits for bound in self._paid_for(link).places(name)]
            bounds.sort(key=lambda bound: (bound.answer, bound.place))
            return tuple((self._chain.payload(bound.answer), bound) for bound in bounds)

    def searches(self, name: str) -> tuple[Search, ...]:
        """Return debits of searches for this bound, and perhaps others, that have no answer yet."""
        with self._chain.reading():
            debits = [self._paid(link) for link in self._chain.found(bound_name(name))]
            debits.sort(key=lambda paid: paid.id)
            return tuple(
                Search(
                    self._stored(paid),
                    tuple(paid.link.content["finds"]),
                    paid.link.content["strength"],
                    measured(paid.link.content),
                )
                for paid in debits
                if paid.answer is None
            )

    def asked(self, asker: str) -> frozenset[Measured]:
        """Return the data on which a query has paid for bounds."""
        with self._chain.reading():
            return frozenset(measured(link.content) for link in self._chain.found(asker_name(asker)))

    def forget(self, bound: str) -> None:
        """Note that a bound is to be found anew."""
        with self._chain.writing() as pen:
            pen.append({"kind": "forgotten", "time": now(), "bound": bound})

    def forgotten(self) -> Counter[str]:
        """Return how often each bound was to be found anew."""
        with self._chain.reading():
            return Counter(link.content["bound"] for link in self._chain.found(FORGOTTEN))

    def views(self) -> tuple[NamedView, ...]:
        """Return the private views that have a name now, oldest first."""
        with self._chain.reading():
            return named_views(link.content for link in self._chain.found(NAMED))

    def bought_view(self, view: NamedView, digest: str, analyst: str, newest: bool) -> Bought | None:
        """Return a purchase of this plan under a name: the newest, or the newest that was paid by an analyst.

        If nobody bought this plan, return a purchase of another one.
        """
        with self._chain.reading():
            paid = [self._paid_for(self._chain.link(debit)) for debit in reversed(view.debits)]
            paid = [each for each in paid if each.answer is not None]
            same = [each for each in paid if each.link.content["digest"] == digest]
            own = [each for each in same if analyst in each.payers and not newest]
            chosen = next(iter([*own, *same, *paid]), None)
            return None if chosen is None else Bought.of(chosen.link.content)

    def note_view(self, content: Content, room: int | None = None) -> None:
        """Note the name of a purchase, that a name is gone, or who may read it; D510 if there is no room.

        A ``room`` of None is not looked at: a purchase that was paid for now is noted in any case, since what
        may be refused is refused before a debit.
        """
        with self._chain.writing() as pen:
            self._account.fits(content["analyst"], room)
            pen.append({"time": now()} | content)

    def alerts(self) -> tuple[NamedAlert, ...]:
        """Return the alerts that have, or had, a name, oldest first."""
        with self._chain.reading():
            return named_alerts(link.content for link in self._chain.found(ALERTS))

    def outcome(self, alert: int, question: str, version: str) -> Outcome | None:
        """Return what an alert has said to a question about this version of the data."""
        with self._chain.reading():
            return self._outcome(alert, question, version)

    def trues(self, alert: int) -> tuple[int, str]:
        """Return how often an alert has said true, and when it did last."""
        with self._chain.reading():
            last = next(self._chain.found(true_name(alert), 1), None)
            return self._account.trues.get(alert, 0), "" if last is None else last.content["time"]

    def decide(
        self,
        alert: int,
        question: str,
        version: str,
        analyst: str,
        room: int | None,
        read: tuple[BlocksRead, int | None],
        is_above: Callable[[int], bool | None],
    ) -> Outcome | None:
        """Store the outcome of a question durably, and return it; the first one stored if there is one.

        ``is_above`` is given how often the alert has said true, and answers None if it has ended. Nobody else
        writes in between, so that no two processes get the same true. What is ``read`` are the blocks of
        units, and since when this connection has checked them: the alert must be paid in all of them, and in
        a block that came later it may not be.
        """
        with self._chain.writing() as pen:
            stored = self._outcome(alert, question, version)
            if stored is not None:
                return stored
            self._check_blocks(alert, *read)
            self._account.fits(analyst, room)
            trues = self._account.trues.get(alert, 0)  # folded from all entries: an index may lack some
            above = is_above(trues)
            if above is None:
                return None
            which = trues + 1 if above else 0
            asked = {"alert": alert, "question": question, "version": version, "above": above}
            asked |= {"true": which} if above else {}
            pen.append({"kind": "outcome", "time": now(), "analyst": analyst} | asked)
            return Outcome(above, trues + above, which)

    def check_asked(self, alert: int, read: BlocksRead, checked: int | None) -> None:
        """Raise what ``decide`` would of the blocks of units that a question reads."""
        with self._chain.reading():
            self._check_blocks(alert, read, checked)

    def _check_blocks(self, alert: int, read: BlocksRead, checked: int | None) -> None:
        """Refuse a question that reads units of a block in which the alert is not paid."""
        there = self._account.blocks
        there.check_seen(checked)
        paid = there.paid(alert, self._chain.link(alert).content.get("blocks"))
        if paid is None:
            return
        touched = there.touched(*read)
        unpaid = sorted({*(there.numbers if touched is None else touched)} - {*paid})
        if unpaid:
            raise refuse(
                "D412",
                f"this alert is not paid for {there.named(unpaid[0])}",
                label="that block of units came after it",
                help="leave these units out of the question, or create another alert: all blocks pay for it",
            )

    def _outcome(self, alert: int, question: str, version: str) -> Outcome | None:
        found = self._chain.found(outcome_name(alert, question, version))
        first = next(iter([*found][::-1]), None)
        trues = self._account.trues.get(alert, 0)
        if first is None:
            return None
        return Outcome(first.content["above"], trues, first.content.get("true", 0))

    def check(
        self, analyst: str, price: Amount | Prices, caps: Sequence[TimeCap] = (), study: str = ""
    ) -> None:
        """Raise unless this price fits the analyst's accounts and the database's. Nothing is debited.

        Several prices are paid together, each in the blocks that it is for.
        """
        prices = price if isinstance(price, dict) else {Due(EVERYWHERE): price}
        with self._chain.reading():
            self._afford(analyst, prices, caps, study)

    def _afford(self, analyst: str, prices: Prices, caps: Sequence[TimeCap], study: str) -> None:
        """Raise unless each account that pays has room."""
        account, shared, there = self._account, self._account.shared, self._account.blocks
        rules, own = account.accountant, of_account(prices, by_analyst) if analyst else []
        for amount, blocks in self._parts(own):
            account.afford(analyst, amount, blocks)
        if own:
            self._afford_now(caps, sum((price for _, price in own), rules.zero))
        for name in shared.of(analyst, study):
            for amount, blocks in self._parts(of_account(prices, partial(by_shared, name))):
                shared.afford((name,), amount, rules, there, blocks)
        for amount, blocks in self._parts(of_account(prices, by_database)):
            account.afford(None, amount, blocks)

    def _parts(self, prices: Parts, whole: bool = False) -> list[tuple[Amount, Numbers | None]]:
        """Return what an account pays together, in which blocks; nothing where nothing is due."""
        zero = self._account.accountant.zero
        return self._account.blocks.parts(prices, zero, whole) if prices or whole else []

    def standings(
        self, analysts: Sequence[str | None], payer: tuple[str, str], prices: Prices, read: BlocksRead
    ) -> list[Standing]:
        """Return what accounts would have spent after these prices, in each block that is read.

        They are those of analysts, None for all together, and of the groups and the study of a payer that
        have a cap. Of blocks in which all that was ever paid was paid everywhere, the first stands for all.
        """
        with self._chain.reading():
            account, shared, there = self._account, self._account.shared, self._account.blocks
            zero = account.accountant.zero
            capped = [name for name in shared.of(*payer) if name in shared.caps]
            touched = there.touched(*read)
            numbers = frozenset(there.numbers if touched is None else touched)

            def after(pays: Callable[[Due], bool]) -> list[tuple[Amount, list[int]]]:
                """Return what an account would pay, in which of the blocks that are read."""
                parts = self._parts(of_account(prices, pays) or [(EVERYWHERE, zero)], whole=True)
                each = ((amount, there.numbers if blocks is None else blocks) for amount, blocks in parts)
                return [(amount, [b for b in blocks if b in numbers]) for amount, blocks in each]

            found = list[Standing]()
            for name in analysts:
                own = account.granted_to(name)
                for amount, here in after(by_database if name is None else by_analyst):
                    for block, spent in account.spent.each(name, here, zero):
                        found.append(Standing(name, "", block, spent + amount, *own))
            for name in capped:
                for amount, here in after(partial(by_shared, name)):
                    for block, spent in shared.spent.each(name, here, zero):
                        found.append(Standing(None, name, block, spent + amount, *shared.caps[name]))
            return found

    def parts(self, prices: Prices) -> list[Amount]:
        """Return what several prices add up to in blocks, each sum once."""
        with self._chain.reading():
            parts = [(due.blocks, price) for due, price in prices.items()]
            return [amount for amount, _ in self._parts(parts)]

    def blocks(self) -> tuple[str, ...]:
        """Return what the blocks are called; none where all units are one."""
        with self._chain.reading():
            there = self._account.blocks
            return tuple(map(there.named, there.numbers)) if there else ()

    def units_seen(self, wanted: BlocksWanted) -> tuple[str | None, int | None, bool]:
        """Return the digest of the file of units, since when they are checked, and whether for this list."""
        with self._chain.reading():
            there = self._account.blocks
            return there.units, there.checked, not there.changes(wanted, looked=True)

    def note_units(self, wanted: BlocksWanted, digest: str, version: str, fact: str) -> int:
        """Note that the units of this version are in the file, and are where they were under this list.

        Return the entry since which units are checked.
        """
        with self._chain.writing() as pen:
            self._check_promise()
            there = self._account.blocks
            before = there.checked if there.check else None
            for change in there.changes(wanted, looked=True):
                pen.append({"time": now()} | change)
            here = pen.append({"kind": "units", "time": now(), "digest": digest})
            since = here if before is None else before
            facts = [seen_since(fact, since)]
            pen.append({"kind": "verified", "time": now(), "version": version, "facts": facts})
            return since

    def paid_in(self, entry: Entry) -> tuple[int, ...] | None:
        """Return the present blocks in which an entry for display is paid; None is all."""
        with self._chain.reading():
            return self._account.blocks.paid(entry.id, entry.blocks)

    def shared(
        self, analyst: str | None = None, study: str = "", block: int = REST
    ) -> list[tuple[str, Amount, float, Amount]]:
        """Return (account, spent, epsilon, total) of groups and studies with a cap; all of them for None.

        What is spent is that in one block.
        """
        with self._chain.reading():
            shared, zero = self._account.shared, self._account.accountant.zero
            accounts = sorted(shared.caps) if analyst is None else shared.of(analyst, study)
            return [
                (account, shared.spent.of(account, block, zero), *shared.caps[account])
                for account in accounts
                if account in shared.caps
            ]

    def spent_within(self, caps: Sequence[TimeCap]) -> list[Amount]:
        """Return what was spent in the window of each cap."""
        with self._chain.reading():
            return [self._spent_since(cap.analyst, cap.since) for cap in caps]

    def verified(self, version: str) -> frozenset[str]:
        """Return the declared facts that were verified for this version of the data."""
        with self._chain.reading():
            return self._verified(version)

    def note_verified(self, version: str, facts: frozenset[str]) -> None:
        with self._chain.writing() as pen:
            fresh = facts - self._verified(version)
            if fresh:
                pen.append({"kind": "verified", "time": now(), "version": version, "facts": sorted(fresh)})

    def contents(self, states: Sequence[str]) -> dict[str, str]:
        """Return the digests that were noted of files in these states, and perhaps others."""
        with self._chain.reading():
            noted = dict[str, str]()
            for state in states:
                for link in self._chain.found(content_name(state), 1) if state not in noted else ():
                    noted |= link.content["files"]
            return noted

    def note_contents(self, digests: Mapping[str, str]) -> None:
        """Note the digests of files by their states."""
        with self._chain.writing() as pen:
            pen.append({"kind": "contents", "time": now(), "files": dict(sorted(digests.items()))})

    @property
    def salt(self) -> str:
        """The key of fingerprints: random, and nowhere but in this ledger."""
        with self._chain.reading():
            return self._account.salt

    def fingerprint(self, text: str) -> str:
        """Return a keyed hash of a text: without this ledger, nobody can test a guess of the text.

        The version of the data is derived from private rows, and analysts see the manifest.
        """
        with self._chain.reading():
            return self._keyed(text)

    def spellings(self, sql: str) -> tuple[str, str]:
        """Return how purchases spell a query: by its text, and by its digest where texts are not kept."""
        with self._chain.reading():
            return kept_text(sql), self._hidden("sql", sql)

    def entries(self) -> tuple[Entry, ...]:
        """Return all entries in order, verified from the first one on."""
        links, account = list[Link](), Account()
        self._chain.verify(account, links.append)
        by_id = {link.id: link.content for link in links}
        answered = {link.content["debit"] for link in links if link.content["kind"] == "answer"}
        return tuple(
            entry_of(
                link,
                by_id.get(link.content.get("debit", link.id), {}),
                link.content.get("debit", link.id) in answered,
                account.accountant,
            )
            for link in links
        )

    def replay(self, look: Callable[[Content, Account], None]) -> None:
        """Read all entries, checked, and show each with the account after it."""
        account = Account()
        self._chain.verify(account, lambda link: look(link.content, account))

    def verify(self) -> None:
        """Read all entries; D506 unless each follows from the one before it, and the sums from all."""
        self._chain.verify(Account(), lambda link: None)

    def recomputed(self) -> Recomputed:
        """Read all entries, checked, and compare each price with its events."""
        self.verify()
        with self._chain.reading():
            return recomputed(self._chain.after(START), self._account.accountant)

    def times(self, analyst: str | None = None) -> int:
        """Return how often anybody has paid, or one analyst."""
        with self._chain.reading():
            filled = self._account.filled
            names = filled if analyst is None else filled.keys() & {analyst}
            return sum(filled[name].times for name in names)

    def bought(self, analyst: str | None, most: int = -1) -> tuple[Entry, ...]:
        """Return the last purchases of everybody, or of one analyst: at most this many, oldest first."""
        with self._chain.reading():
            links = self._chain.found(BOUGHT if analyst is None else buyer_name(analyst), most)
            return tuple(map(self._purchase, links))[::-1]

    def close(self) -> None:
        self._chain.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _keyed(self, text: str) -> str:
        content = text.encode("utf-8", "surrogatepass")
        return hmac.digest(self._account.salt.encode(), content, "sha256").hex()[:32]

    def _texts(self, debit: Debit) -> dict[str, str]:
        """Return what is kept of an analyst's texts. Who joins a debit may not see what its text names."""
        texts = {"sql": self._digest_of(debit) if debit.digested else kept_text(debit.sql)}
        if debit.parameters and debit.digested:  # with the query: a value alone would be guessed at once
            texts["parameters"] = self._hidden("parameters", debit.sql, debit.parameters)
        elif debit.parameters:
            texts["parameters"] = kept_text(debit.parameters)
        return texts

    def _digest_of(self, debit: Debit) -> str:
        """Return the digest of a debit's query; what a bound search says of its bounds is no analyst's."""
        head, sql = in_two(debit.sql) if debit.finds else ("", debit.sql)
        return head + self._hidden("sql", sql)

    def _hidden(self, kind: str, *texts: str) -> str:
        """Return the keyed digest of texts, in words; another kind of text has another digest."""
        return f"text not kept, digest {self._keyed(json.dumps([kind, *texts]))}"

    def _stored(self, paid: Paid) -> Stored:
        answer = None if paid.answer is None else self._chain.payload(paid.answer.id)
        return Stored(paid.id, answer, paid.price)

    def _purchase(self, link: Link) -> Entry:
        debit = self._chain.link(link.content.get("debit", link.id))
        answered = self._paid_for(debit).answer is not None
        return entry_of(link, debit.content, answered, self._account.accountant)

    def _verified(self, version: str) -> frozenset[str]:
        return frozenset(
            fact for link in self._chain.found(fact_name(version)) for fact in link.content["facts"]
        )

    def _latest(self, digest: str, version: str) -> Paid | None:
        """Return the last debit of a plan. If the index lacks it, the plan is paid again, which is safe."""
        return next(map(self._paid, self._chain.found(debit_name(digest, version), 1)), None)

    def _debit(self, number: int) -> Paid:
        link = self._chain.link(number)
        if link.content.get("kind") != "debit":
            title = f"an answer without a debit: entry {number} of the ledger is no debit"
            raise refuse("D901", title, help="please report the query")
        return self._paid(link)

    def _lacking(self, paid: Paid, analyst: str, study: str) -> list[str]:
        """Return the analyst's groups, and the study, that have not paid for a debit."""
        shared = self._account.shared
        return shared.lacking(shared.of(analyst, study), paid.charged, paid.payers)

    def _paid_for(self, debit: Link) -> Paid:
        """Return a debit with the entries that the index names: enough to display it."""
        price = self._account.accountant.read(debit.content)
        return Paid.of(debit, price, [*self._chain.found(part_name(debit.id))][::-1])

    def _paid(self, debit: Link) -> Paid:
        """Return the same for a caller that draws noise if there is no answer: walk the chain to be sure."""
        paid = self._paid_for(debit)
        if paid.answer is not None:
            return paid
        for link in self._chain.after(self._silent.get(debit.id, debit)):
            if link.content.get("debit") == debit.id and link.id not in paid.entries:
                raise damaged(f"entry {link.id} is missing from the index")
        if len(self._silent) > SILENT:
            self._silent.clear()
        self._silent[debit.id] = self._chain.tail
        return paid

    def _changes(self, granted: Granted) -> list[Content]:
        """Return the entries of present grants and places that the ledger lacks."""
        return [*self._account.changes(granted, self._chain.after(START)), *self._new_places()]

    def _afford_now(self, caps: Sequence[TimeCap], price: Amount) -> None:
        """Raise unless what was spent in the window of each cap, and this price, fit it."""
        for cap in caps:
            spent = self._spent_since(cap.analyst, cap.since)
            if not (spent + price).within(cap.total):
                raise Overdrawn(price, cap.total - spent, cap.total, cap.analyst, cap)

    def _spent_since(self, analyst: str, since: str) -> Amount:
        recent = self._recent.get(analyst)
        if recent is None or since < recent.since:
            recent = self._recent[analyst] = Recent(since)
        recent.read(buyer_name(analyst), self._chain.found, self._price_of)
        return recent.spent(since, self._account.accountant.zero)

    def _price_of(self, bought: Link) -> Amount:
        """Return what a debit or a share cost its analyst; the first shares leave it to their debit."""
        if not bought.content.get("own", True):
            return self._account.accountant.zero
        content, keys = bought.content, self._account.accountant.zero.written().keys()
        origin = content if keys <= content.keys() else self._chain.link(content["debit"]).content
        return self._account.accountant.read(origin)

    def _check_places(self) -> None:
        """Raise unless the ledger has all entries that its other places know."""
        for other in self._places:
            if str(other.path) in self._account.places or exists(other.path):
                self._chain.check(partial(check_place, other))

    def _begin_places(self) -> None:
        """Create the places that the ledger does not know; one that it knows and that is gone stays gone."""
        for other in self._places:
            if str(other.path) not in self._account.places:
                with reached(other):
                    other.begin()

    def _new_places(self) -> list[Content]:
        """Return the entries that record places for the first time."""
        fresh = [other for other in self._places if str(other.path) not in self._account.places]
        return [
            {"kind": "place", "time": now(), "is": other.kind, "path": str(other.path)} for other in fresh
        ]

    def _check_promise(self, but: str = "") -> None:
        stored, wanted = self._account.promise, self._promise
        wrong = [name for name in wanted.differs(stored) if name != but]
        if wrong:
            moved = "if these people's data was moved here, the owner says so: dpsql ledger move OLD NEW; or "
            raise refuse(
                "D505",
                f"this ledger belongs to another {' and '.join(wrong)}",
                label=f"{self._chain.path} was created under a promise that cannot be changed",
                notes=tuple(
                    f"{name}: {stored.get(name)!r} there, {getattr(wanted, name)!r} here" for name in wrong
                ),
                help=f"{moved if wrong == ['database'] else ''}"
                "restore what the ledger was created with, or name another ledger file; "
                "a new ledger's grant comes on top of everything that this one has spent",
            )


def seen_since(fact: str, checked: int) -> str:
    """Return the fact that units of a version are in the file that was begun then: a later one lacks them."""
    return f"{fact} since {checked}"


def _create(path: Path, promise: Promise, granted: Granted, allowed: bool) -> bool:
    if not allowed:
        raise refuse(
            "D507",
            "there is no ledger",
            label=f"{path} does not exist",
            help="a new ledger is a new budget: restore the old one, or let the owner create one",
        )
    salt = secrets.token_hex(16)
    first = {"kind": "open", "time": now(), "promise": promise.written(), "salt": salt}
    return create(path, [first, *Account(promise.written()).changes(granted)], names_of)


def _check_epsilon(epsilon: float) -> None:
    if type(epsilon) not in (int, float) or not 0 < epsilon < math.inf:
        raise refuse("D503", "epsilon must be a finite positive number", help="give an epsilon such as 0.1")


def _check_debit(debit: Debit) -> None:
    debit.price.check()
    _check_epsilon(debit.epsilon)
    if not debit.price:
        raise refuse("D503", "a price must be more than zero", help="pay at least one unit")


def _checked(granted: Granted | Grants, rules: Accountant) -> Granted:
    granted = granted(rules) if callable(granted) else granted
    for name, epsilon, total in (("all", granted.epsilon, granted.total), *granted.analysts):
        total.check()
        _check_epsilon(epsilon)
        if not name:
            raise refuse("D504", "an analyst needs a name", help="write [analysts.ana] in the policy")
    return granted
