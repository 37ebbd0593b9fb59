"""What the ledger's entries say, one by one and folded together.

open      the promise                          once, the first entry
grant     what an analyst, or all, may spend   whenever the policy grants something else
debit     a statement is about to be measured  counts for its analyst and for the database
share     an analyst joins another's debit     counts for that analyst only
part      what the rest of an answer rests on  the first one is the only one
answer    the noisy answer of a debit          the first one is the only one
verified  declared facts that held             for one version of the data
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from typing import Any

from dpsql.accounting import Spent
from dpsql.accounting.chain import Link
from dpsql.errors import OperationalError, refuse

Content = dict[str, Any]
NOTHING = 0.0, Spent()


@dataclass(frozen=True, slots=True)
class Promise:
    """What a ledger is bound to for its whole life."""

    database: str
    unit: str
    accountant: str
    delta: float


@dataclass(frozen=True, slots=True)
class Granted:
    """What the policy grants now: over all analysts, and to each by name."""

    epsilon: float
    total: Spent
    analysts: tuple[tuple[str, float, Spent], ...] = ()


@dataclass(frozen=True, slots=True)
class Debit:
    """What is about to be measured. ``digest`` names the measures, their noise and their price.

    Where it ``finds`` bounds, these are their names, one for each table of the answer, each found at
    ``strength``; ``asker`` is a digest of the query that needs them.
    """

    analyst: str  # "" is the owner, whom only the database's total binds
    sql: str
    digest: str
    version: str
    events: str
    epsilon: float
    price: Spent
    finds: tuple[str, ...] = ()
    strength: float = 0.0
    asker: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """Where a bound was found: in which of the tables of which answer; when, how well, and for whom.

    ``epsilon`` is what it cost, with all that was found beside it.
    """

    answer: int
    place: int
    tables: int
    time: str
    strength: float
    asker: str
    epsilon: float


@dataclass(frozen=True, slots=True)
class Search:
    """A debit for bounds that has no answer: it was interrupted, or somebody is about to answer it."""

    debit: Stored
    finds: tuple[str, ...]
    strength: float


@dataclass(frozen=True, slots=True)
class Stored:
    """A debit made before; without an answer it was paid for and never completed.

    ``joined`` says that somebody else paid the database for it, and this analyst's own account just did.
    """

    debit_id: int
    answer: bytes | None
    price: Spent
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger for people to read; ``price`` is the total where it is a grant."""

    id: int
    time: str
    kind: str  # open, grant, debit, share, part, answer, verified
    analyst: str
    sql: str
    digest: str
    version: str
    events: str
    epsilon: float
    price: Spent
    answered: bool


class Overdrawn(OperationalError):
    """D501, with the numbers for whoever can say them in epsilon; analyst None is the database."""

    def __init__(self, needed: Spent, remaining: Spent, total: Spent, analyst: str | None) -> None:
        whose = "the database" if analyst is None else f"analyst {analyst}"
        super().__init__(
            "D501",
            f"the budget of {whose} does not hold this price",
            label=_shortage(needed, remaining, total),
            help="ask at a lower price, repeat what was answered before (free), or let the owner grant more",
        )
        self.needed = needed
        self.remaining = remaining
        self.analyst = analyst


@dataclass(slots=True)
class Paid:
    """A debit in memory: who has paid for it, and the entries that hold its answer and the parts of it."""

    id: int
    price: Spent
    payers: set[str]
    answer: int | None = None
    parts: dict[int, int] = field(default_factory=dict)
    finds: tuple[str, ...] = ()
    strength: float = 0.0
    asker: str = ""
    epsilon: float = 0.0
    version: str = ""


@dataclass(slots=True)
class Account:
    """The entries folded together; only verified entries of the file ever change it."""

    promise: Content = field(default_factory=dict)
    salt: str = ""  # drawn when the ledger was made
    grants: dict[str | None, tuple[float, Spent]] = field(default_factory=dict)
    spent: defaultdict[str | None, Spent] = field(default_factory=lambda: defaultdict(Spent))
    debits: dict[int, Paid] = field(default_factory=dict)
    latest: dict[tuple[str, str], Paid] = field(default_factory=dict)
    verified: defaultdict[str, frozenset[str]] = field(default_factory=lambda: defaultdict(frozenset))
    found: defaultdict[tuple[str, str], list[Found]] = field(default_factory=lambda: defaultdict(list))
    asked: set[tuple[str, str]] = field(default_factory=set)  # asker and version

    def fold(self, link: Link) -> None:
        entry = link.content
        match entry["kind"]:
            case "open":
                self.promise, self.salt = entry["promise"], entry["salt"]
            case "grant":
                self.grants[entry["analyst"]] = entry["epsilon"], _price(entry)
            case "debit":
                paid = Paid(link.id, _price(entry), {entry["analyst"]}, version=entry["version"])
                if "finds" in entry:
                    paid.finds, paid.strength = tuple(entry["finds"]), entry["strength"]
                    paid.asker, paid.epsilon = entry["asker"], entry["epsilon"]
                    self.asked.add((paid.asker, paid.version))
                self.debits[link.id] = self.latest[entry["digest"], entry["version"]] = paid
                self.spent[None] += paid.price
                self.spent[entry["analyst"]] += paid.price
            case "share":
                paid = self.debits[entry["debit"]]
                paid.payers.add(entry["analyst"])
                self.spent[entry["analyst"]] += paid.price
            case "part":
                self.debits[entry["debit"]].parts[entry["place"]] = link.id
            case "answer":
                paid = self.debits[entry["debit"]]
                paid.answer = link.id
                for place, name in enumerate(paid.finds):
                    where = link.id, place, len(paid.finds)
                    found = Found(*where, entry["time"], paid.strength, paid.asker, paid.epsilon)
                    self.found[name, paid.version].append(found)
            case "verified":
                self.verified[entry["version"]] |= frozenset(entry["facts"])
            case kind:
                raise ValueError(kind)

    def changes(self, granted: Granted) -> list[Content]:
        """The entries that turn the grants so far into these. Who is not named any more gets nothing."""
        wanted: dict[str | None, tuple[float, Spent]] = {None: (granted.epsilon, granted.total)}
        wanted |= {name: (epsilon, total) for name, epsilon, total in granted.analysts}
        wanted |= {name: NOTHING for name in self.grants if name not in wanted}
        return [
            {"kind": "grant", "time": now(), "analyst": name, "epsilon": epsilon} | asdict(total)
            for name, (epsilon, total) in wanted.items()
            if self.grants.get(name) != (epsilon, total)
        ]

    def afford(self, analyst: str | None, price: Spent) -> None:
        """Raise unless the grant holds what was spent and this."""
        _, total = self.grants.get(analyst, NOTHING)
        if analyst is not None and total == Spent():
            title = f"the policy grants nothing to analyst {analyst}"
            raise refuse("D504", title, help=f"the owner adds [analysts.{analyst}] to the policy")
        spent = self.spent[analyst]
        if not (spent + price).within(total):
            remaining = Spent(max(0, total.main - spent.main), max(0, total.delta - spent.delta))
            raise Overdrawn(price, remaining, total, analyst)


def entry_of(link: Link, origin: Content, answered: set[int]) -> Entry:
    """``origin`` is the debit that a share or an answer belongs to, and otherwise the entry itself."""
    content = origin | link.content
    kind = content["kind"]
    return Entry(
        id=link.id,
        time=content["time"],
        kind=kind,
        analyst=content.get("analyst") or "",
        sql=content.get("sql", ""),
        digest=content.get("digest", ""),
        version=content.get("version", ""),
        events=", ".join(content["facts"]) if kind == "verified" else content.get("events", ""),
        epsilon=content.get("epsilon", 0.0) if kind not in ("part", "answer") else 0.0,
        price=_price(content) if kind in ("debit", "share", "grant") else Spent(),
        answered=content.get("debit", link.id) in answered,
    )


def _price(content: Content) -> Spent:
    return Spent(content["main"], content["delta"])


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _shortage(needed: Spent, remaining: Spent, total: Spent) -> str:
    """In percent, so that it holds for every accountant; of delta where only that runs short."""
    kind, need, rest, whole = "budget", needed.main, remaining.main, total.main
    if need <= rest and needed.delta > remaining.delta:
        kind, need, rest, whole = "delta", needed.delta, remaining.delta, total.delta
    if not whole:
        return f"it needs some {kind}, and none was granted"
    return f"it needs {100 * need / whole:.4g} % of the whole {kind}; {100 * rest / whole:.4g} % is left"
