"""The budget: what was granted, what was spent, and what was answered for it.

    promise -- grant -- debit -- answer -- debit -- share -- part -- answer -- ...      (entries.py)

A debit is checked and written in one transaction, so the sum of all debits never passes the grant: not
with many processes, not after a kill. It is never taken back. One statement on one version of the data
is debited once: who asks again joins the debit, and its first answer is everybody's answer. An analyst
who joins another's debit pays from their own share only, for the database lost nothing more.
"""

from __future__ import annotations

import hmac
import math
import secrets
from contextlib import suppress
from dataclasses import asdict, replace
from pathlib import Path
from types import TracebackType

from dpsql.accounting import Amount
from dpsql.accounting.account import Account
from dpsql.accounting.chain import Chain, Link, create
from dpsql.accounting.entries import (
    Debit,
    Entry,
    Found,
    Granted,
    Promise,
    Search,
    Stored,
    entry_of,
    kept_text,
    now,
)
from dpsql.accounting.entry_index import (
    BOUGHT,
    Paid,
    asker_name,
    bound_name,
    buyer_name,
    debit_name,
    fact_name,
    names_of,
    part_name,
)
from dpsql.accounting.ledger_file import damaged, exists, place
from dpsql.errors import DatabaseError, refuse

SILENT = 1_000  # debits of which we remember how far an answer was looked for


class Ledger:
    """The file as a filter: ``debit_or_join`` before a private row is read, ``store`` before anybody sees."""

    created: bool

    def __init__(self, path: Path, patience: float, created: bool) -> None:
        self._account = Account()
        self._chain = Chain(path, patience, self._account, names_of)
        self._silent: dict[int, Link] = {}  # debits without an answer: as far as that was looked for
        self.created = created

    @classmethod
    def open(
        cls, path: Path, promise: Promise, granted: Granted, *, create: bool = True, patience: float = 10.0
    ) -> Ledger:
        """The ledger at this place, bound to this promise; ``patience`` is how long to wait for a lock."""
        _check_grants(granted)
        where = place(path)
        ledger = cls(where, patience, created=not exists(where) and _found(where, promise, granted, create))
        try:
            with ledger._chain.reading():
                ledger._check_promise(promise)
                changes = ledger._account.changes(granted)
            if changes:
                with ledger._chain.writing() as pen:
                    for change in ledger._account.changes(granted):
                        pen.append(change)
            elif not ledger._chain.placed:  # an old one; if nobody may write to it, it is read as it is
                with suppress(DatabaseError), ledger._chain.writing():
                    pass
        except BaseException:
            ledger.close()
            raise
        return ledger

    @classmethod
    def look(cls, path: Path, promise: Promise, patience: float = 10.0) -> Ledger | None:
        """The ledger as it is, every entry verified, if there is one; nothing is granted by looking."""
        where = place(path)
        if not exists(where):
            return None
        ledger = cls(where, patience, created=False)
        try:
            with ledger._chain.reading():
                ledger._check_promise(promise)
            ledger.verify()
        except BaseException:
            ledger.close()
            raise
        return ledger

    def spent(self, analyst: str | None = None) -> Amount:
        """What all analysts together have spent, or one of them."""
        with self._chain.reading():
            return self._account.spent_by(analyst)

    def granted(self, analyst: str | None = None) -> float:
        """What all analysts together may spend, or one of them, as the last policy said it."""
        with self._chain.reading():
            epsilon, _ = self._account.granted_to(analyst)
            return epsilon

    def stored(self, digest: str, version: str, analyst: str) -> Stored | None:
        """What costs this analyst nothing any more; the owner ('') joins whatever anybody has paid for."""
        with self._chain.reading():
            paid = self._latest(digest, version)
            return None if paid is None or (analyst and analyst not in paid.payers) else self._stored(paid)

    def debit_or_join(self, debit: Debit) -> Stored:
        """Pay, once, durably: what comes back holds an answer only if somebody has stored one before."""
        _check_debit(debit)
        with self._chain.writing() as pen:
            account = self._account
            named = debit.analyst or None
            paid = self._latest(debit.digest, debit.version)
            # Noise at another price needs that price: an open debit is joined only at its own.
            if paid is None or (paid.answer is None and paid.price != debit.price):
                account.afford(named, debit.price)
                account.afford(None, debit.price)
                account.fits(debit)
                content = {
                    "kind": "debit",
                    "time": now(),
                    "analyst": debit.analyst,
                    "sql": kept_text(debit.sql),
                    "digest": debit.digest,
                    "version": debit.version,
                    "events": kept_text(debit.events),
                    "epsilon": debit.epsilon,
                }
                if debit.parameters:
                    content["parameters"] = kept_text(debit.parameters)
                if debit.finds:
                    told = {"finds": list(debit.finds), "strength": debit.strength, "asker": debit.asker}
                    content |= told
                return Stored(pen.append(content | debit.price.written()), None, debit.price)
            if debit.analyst not in paid.payers:
                if named is not None:
                    account.afford(named, paid.price)
                account.fits(debit)
                share = {"kind": "share", "time": now(), "analyst": debit.analyst, "debit": paid.id}
                pen.append(share | paid.price.written())
                return replace(self._stored(paid), joined=named is not None)
            return self._stored(paid)

    def store(self, debit_id: int, answer: bytes) -> bytes:
        """Keep the answer of a debit, durably; the first one kept is the one that everybody gets."""
        assert type(answer) is bytes
        with self._chain.writing() as pen:
            paid = self._debit(debit_id)
            if paid.answer is not None:
                return self._chain.payload(paid.answer.id)
            pen.append(paid.belonging("answer"), answer)
            return answer

    def part(self, debit_id: int, place: int) -> bytes | None:
        """What was kept of a debit that has no answer yet."""
        with self._chain.reading():
            entry = self._debit(debit_id).parts.get(place)
            return None if entry is None else self._chain.payload(entry)

    def keep(self, debit_id: int, place: int, part: bytes) -> bytes:
        """Keep a part of an answer, durably, before the rest is made of it; the first one kept is the one."""
        assert type(part) is bytes
        with self._chain.writing() as pen:
            paid = self._debit(debit_id)
            kept = paid.parts.get(place)
            if kept is not None:
                return self._chain.payload(kept)
            pen.append(paid.belonging("part") | {"place": place}, part)
            return part

    def found(self, name: str, version: str) -> tuple[tuple[bytes, Found], ...]:
        """The answers in which a bound was found for this version of the data, the first one first."""
        with self._chain.reading():
            debits = self._chain.found(bound_name(name, version))
            found = [each for link in debits for each in self._paid_for(link).places(name)]
            found.sort(key=lambda each: (each.answer, each.place))
            return tuple((self._chain.payload(each.answer), each) for each in found)

    def searches(self, name: str, version: str) -> tuple[Search, ...]:
        """Debits for finding this bound, and perhaps others, that have no answer yet."""
        with self._chain.reading():
            paid = [self._paid(each) for each in self._chain.found(bound_name(name, version))]
            paid.sort(key=lambda each: each.id)
            return tuple(
                Search(self._stored(each), tuple(each.link.content["finds"]), each.link.content["strength"])
                for each in paid
                if each.answer is None
            )

    def asked(self, asker: str, version: str) -> bool:
        """Whether a query has paid for bounds on this version of the data."""
        with self._chain.reading():
            return any(self._chain.found(asker_name(asker, version), 1))

    def check(self, analyst: str, price: Amount) -> None:
        """Raise unless both accounts hold this price now. Nothing is debited."""
        with self._chain.reading():
            self._account.afford(analyst or None, price)
            self._account.afford(None, price)

    def verified(self, version: str) -> frozenset[str]:
        """The declared facts that were found to hold for this very version of the data."""
        with self._chain.reading():
            return self._verified(version)

    def note_verified(self, version: str, facts: frozenset[str]) -> None:
        with self._chain.writing() as pen:
            news = facts - self._verified(version)
            if news:
                pen.append({"kind": "verified", "time": now(), "version": version, "facts": sorted(news)})

    def fingerprint(self, text: str) -> str:
        """A mark of a text that nobody can check a guess against who does not hold this ledger.

        The version of the data is told from sizes of private files, and a manifest goes to analysts.
        """
        with self._chain.reading():
            return hmac.digest(self._account.salt.encode(), text.encode(), "sha256").hex()[:32]

    def entries(self) -> tuple[Entry, ...]:
        """Everything, in the order in which it happened, verified from the first entry on."""
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

    def verify(self) -> None:
        """Read everything: D506 unless every entry follows from the one before it, and the sums from all."""
        self._chain.verify(Account(), lambda link: None)

    def times(self, analyst: str | None = None) -> int:
        """How often anybody has paid, or one analyst."""
        with self._chain.reading():
            filled = self._account.filled
            names = filled if analyst is None else filled.keys() & {analyst}
            return sum(filled[each].times for each in names)

    def bought(self, analyst: str | None, most: int = -1) -> tuple[Entry, ...]:
        """What anybody has paid for, or one analyst: the last so many, oldest first."""
        with self._chain.reading():
            found = self._chain.found(BOUGHT if analyst is None else buyer_name(analyst), most)
            return tuple(map(self._bought, found))[::-1]

    def close(self) -> None:
        self._chain.close()

    def __enter__(self) -> Ledger:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _stored(self, paid: Paid) -> Stored:
        answer = None if paid.answer is None else self._chain.payload(paid.answer.id)
        return Stored(paid.id, answer, paid.price)

    def _bought(self, link: Link) -> Entry:
        debit = self._chain.link(link.content.get("debit", link.id))
        answered = self._paid_for(debit).answer is not None
        return entry_of(link, debit.content, answered, self._account.accountant)

    def _verified(self, version: str) -> frozenset[str]:
        return frozenset(
            fact for link in self._chain.found(fact_name(version)) for fact in link.content["facts"]
        )

    def _latest(self, digest: str, version: str) -> Paid | None:
        """The last debit of these measures; where none is found, it is paid for anew, which is safe."""
        return next(map(self._paid, self._chain.found(debit_name(digest, version), 1)), None)

    def _debit(self, number: int) -> Paid:
        link = self._chain.link(number)
        if link.content.get("kind") != "debit":
            title = f"an answer without a debit: the ledger has no debit {number}"
            raise refuse("D901", title, help="please report the query")
        return self._paid(link)

    def _paid_for(self, debit: Link) -> Paid:
        """What is found to belong to a debit: enough to show it."""
        price = self._account.accountant.read(debit.content)
        return Paid.of(debit, price, [*self._chain.found(part_name(debit.id))][::-1])

    def _paid(self, debit: Link) -> Paid:
        """The same for who would draw noise where there is no answer yet: that there is none is made sure."""
        paid = self._paid_for(debit)
        if paid.answer is not None:
            return paid
        for each in self._chain.after(self._silent.get(debit.id, debit)):
            if each.content.get("debit") == debit.id and each.id not in paid.entries:
                raise damaged(f"entry {each.id} is not where it is looked for")
        if len(self._silent) > SILENT:
            self._silent.clear()
        self._silent[debit.id] = self._chain.tail
        return paid

    def _check_promise(self, promise: Promise) -> None:
        kept, asked = self._account.promise, asdict(promise)
        wrong = [name for name in asked if kept.get(name) != asked[name]]
        if wrong:
            raise refuse(
                "D505",
                f"this ledger belongs to another {' and '.join(wrong)}",
                label=f"{self._chain.path} was opened under a promise that nothing can change later",
                notes=tuple(f"{name}: {kept.get(name)!r} there, {asked[name]!r} here" for name in wrong),
                help="go back to what the ledger was opened with, or name another ledger file; "
                "what a new ledger grants comes on top of everything that this one has spent",
            )


def _found(path: Path, promise: Promise, granted: Granted, create_it: bool) -> bool:
    if not create_it:
        raise refuse(
            "D507",
            "there is no ledger",
            label=f"nothing is at {path}",
            help="a new ledger is a new budget: put the old one back, or let the owner create one",
        )
    salt = secrets.token_hex(16)
    first = {"kind": "open", "time": now(), "promise": asdict(promise), "salt": salt}
    return create(path, [first, *Account().changes(granted)], names_of)


def _check_epsilon(epsilon: float) -> None:
    if type(epsilon) not in (int, float) or not 0 < epsilon < math.inf:
        raise refuse("D503", "epsilon must be a finite positive number", help="give an epsilon such as 0.1")


def _check_debit(debit: Debit) -> None:
    debit.price.check()
    _check_epsilon(debit.epsilon)
    if not debit.price:
        raise refuse("D503", "nothing is measured for nothing", help="pay at least one unit")


def _check_grants(granted: Granted) -> None:
    for name, epsilon, total in (("all", granted.epsilon, granted.total), *granted.analysts):
        total.check()
        _check_epsilon(epsilon)
        if not name:
            raise refuse("D504", "an analyst needs a name", help="write [analysts.ana] in the policy")
