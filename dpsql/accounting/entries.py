"""What the ledger's entries say, one by one and folded together.

open      the promise                          once, the first entry
grant     what an analyst, or all, may spend   whenever the policy grants something else
debit     a statement is about to be measured  counts for its analyst and for the database
share     an analyst joins another's debit     counts for that analyst only
part      what the rest of an answer rests on  the first one is the only one
answer    the noisy answer of a debit          the first one is the only one
verified  declared facts that held             for one version of the data
sums      what all entries before it amount to so that nobody needs to read them to know what is left
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from dpsql.accounting import Accountant, Amount
from dpsql.accounting.chain import Link
from dpsql.errors import OperationalError

Content = dict[str, Any]


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
    total: Amount
    analysts: tuple[tuple[str, float, Amount], ...] = ()


@dataclass(frozen=True, slots=True)
class Debit:
    """What is about to be measured. ``digest`` names the measures, their noise and their price.

    Where it ``finds`` bounds, these are their names, one for each table of the answer, each found at
    ``strength``; ``asker`` is a digest of the query that needs them. ``parameters`` are what stood for the
    question marks of the SQL, and ``room`` is how many bytes of the ledger the analyst may fill.
    """

    analyst: str  # "" is the owner, whom only the database's total binds
    sql: str
    digest: str
    version: str
    events: str
    epsilon: float
    price: Amount
    finds: tuple[str, ...] = ()
    strength: float = 0.0
    asker: str = ""
    parameters: str = ""
    room: int | None = None


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
    price: Amount
    joined: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the ledger for people to read; ``price`` is the total where it is a grant."""

    id: int
    time: str
    kind: str  # open, grant, debit, share, part, answer, verified, sums
    analyst: str
    sql: str
    digest: str
    version: str
    events: str
    epsilon: float
    price: Amount
    answered: bool
    parameters: str = ""


class Overdrawn(OperationalError):
    """D501, with the amounts for whoever can say them in epsilon; analyst None is the database."""

    def __init__(self, needed: Amount, left: Amount, total: Amount, analyst: str | None) -> None:
        whose = "the database" if analyst is None else f"analyst {analyst}"
        super().__init__(
            "D501",
            f"the budget of {whose} does not hold this price",
            label=_shortage(needed, left, total),
            help="ask at a lower price, repeat what was answered before (free), or let the owner grant more",
        )
        self.needed = needed
        self.left = left
        self.analyst = analyst


LONGEST = 4_000
"""Characters of one text that are kept; of a longer one its beginning, its length and its digest."""


def kept_text(text: str) -> str:
    """A text as the ledger keeps it. What stands before the query that bounds are found for is kept apart."""
    head, mark, rest = text.partition("*/ ") if text.startswith("/* finds ") else ("", "", text)
    return _shortened(head) + mark + _shortened(rest)


def _shortened(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[: LONGEST - 200]} ... ({len(text)} characters, sha256 {digest})"


def entry_of(link: Link, origin: Content, answered: bool, rules: Accountant) -> Entry:
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
        price=rules.read(content) if kind in ("debit", "share", "grant") else rules.zero,
        answered=answered,
        parameters=content.get("parameters", ""),
    )


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def _shortage(needed: Amount, left: Amount, total: Amount) -> str:
    """In percent, so that it holds for every accountant."""
    kind, need, rest, whole = needed.shortage(left, total)
    if not whole:
        return f"it needs some {kind}, and none was granted"
    return f"it needs {100 * need / whole:.4g} % of the whole {kind}; {100 * rest / whole:.4g} % is left"
