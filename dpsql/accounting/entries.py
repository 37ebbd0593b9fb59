"""Kinds of ledger entries, and the values that are read from and written into them.

open      the promise                              once, the first entry
grant     what an analyst, or all, may spend       whenever the policy's grant changes
debit     a plan is about to be measured           counts for its analyst and for the database
share     an analyst joins another's debit         counts for that analyst only; has their own text
cap       what a group or a study may spend        whenever the policy's cap changes
members   analysts who join a group                each once, with what they paid before
blocks    blocks of units, and whether checked     whenever the policy's list grows
units     digest of the file of units              whenever units are seen for the first time
part      a released table, before the rest        the first of a debit and place is the only one
answer    the released tables of a debit           the first of a debit is the only one
verified  declared facts that hold                 for one version of the data
contents  digests of files in their present states so that no file is read twice for it
forgotten a found bound                            that later queries are to find anew
moved     the people's data has another name       whenever the owner says so
place     another file that entries are written to the policy's witness or mirror, once for each
view      a debit has a name, or has it no longer  of its creator, "" for the policy's and the owner's
access    another analyst may read a named view    or may no longer
alert     a debit has the name of an alert         or has it no longer; who else may ask
outcome   a question to an alert has its outcome   before it is shown; ``above`` is the true that ends it
sums      the totals of all entries before it      so that nobody must read those to know what is left
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any

from dpsql.accounting import Accountant, Amount
from dpsql.accounting.blocks import BlocksWanted
from dpsql.accounting.chain import Link
from dpsql.errors import OperationalError
from dpsql.lazy_dataclass import dataclass

Content = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Promise:
    """What a ledger is bound to for its whole life.

    ``order`` is the Renyi order of a new ledger; one that exists keeps its own, and is refused only if the
    policy asks for this one (``ordered``). ``responses`` is the part of epsilon that is kept for them.
    """

    database: str
    unit: str
    accountant: str
    delta: float
    order: float | None = None
    responses: float | None = None
    ordered: bool = False

    def written(self) -> Content:
        """Return what the first entry says of it."""
        fields = asdict(self)
        del fields["ordered"]
        return {name: value for name, value in fields.items() if value is not None}

    def differs(self, stored: Content) -> list[str]:
        """Return what a ledger was bound to otherwise."""
        names = ["database", "unit", "accountant", "delta", "responses", *["order"][: self.ordered]]
        return [name for name in names if stored.get(name) != getattr(self, name)]


@dataclass(frozen=True, slots=True)
class SharedGrant:
    """The cap of a group or a study, if it has one, and the present members of a group."""

    account: str
    epsilon: float | None
    total: Amount
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Granted:
    """The policy's present grants: to all analysts together, to each by name, to groups and studies."""

    epsilon: float
    total: Amount
    analysts: tuple[tuple[str, float, Amount], ...] = ()
    shared: tuple[SharedGrant, ...] = ()
    blocks: BlocksWanted | None = None


@dataclass(frozen=True, slots=True)
class TimeCap:
    """What an analyst may spend from a moment on, ``until`` another, which is for display."""

    analyst: str
    name: str  # per_day
    since: str
    until: str
    epsilon: float
    total: Amount


@dataclass(frozen=True, slots=True)
class Standing:
    """What an account has spent in a block, and may: an analyst's, all's (None), or a ``shared`` one."""

    analyst: str | None
    shared: str
    block: int
    spent: Amount
    epsilon: float
    total: Amount


@dataclass(frozen=True, slots=True)
class Debit:
    """A request to pay for a plan. ``digest`` identifies its measures, their noise and their price.

    ``version`` is that of the ``tables`` that the plan measures. ``finds`` names the bounds that it searches,
    one for each table of its answer; ``strength`` is the epsilon of each search, and ``asker`` a digest of
    the query that needs them. ``parameters`` are the values of the question marks in the SQL. ``room`` is how
    many bytes of the ledger the analyst may fill. With ``digested``, the ledger keeps keyed digests of the
    SQL and the parameters. ``blocks`` are those of units that it reads, None all, of a list with ``listed``
    values. ``checked`` is the entry since which its connection's units are checked.
    """

    analyst: str  # "" is the owner, who pays from the database's account only
    sql: str
    digest: str
    version: str
    events: str
    epsilon: float
    price: Amount
    tables: tuple[str, ...] = ()
    finds: tuple[str, ...] = ()
    strength: float = 0.0
    asker: str = ""
    parameters: str = ""
    room: int | None = None
    digested: bool = False
    caps: tuple[TimeCap, ...] = ()
    study: str = ""
    blocks: tuple[int, ...] | None = None
    listed: int = 0
    checked: int | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """Which data a debit was for: these tables in this version."""

    tables: tuple[str, ...]
    version: str


@dataclass(frozen=True, slots=True)
class Found:
    """Where the ledger holds a found bound: the answer, its place among ``many``, the time, and who asked.

    ``strength`` is the epsilon of its own search; ``epsilon`` the price of all bounds found together.
    """

    answer: int
    place: int
    many: int
    time: str
    strength: float
    asker: str
    epsilon: float
    data: Measured


@dataclass(frozen=True, slots=True)
class Search:
    """A debit for a bound search without an answer: interrupted, or still running in another process."""

    debit: Stored
    finds: tuple[str, ...]
    strength: float
    data: Measured


@dataclass(frozen=True, slots=True)
class Stored:
    """A receipt: a debit, with its answer if the release was completed.

    ``charged``: some account was charged now; ``joined``: not the database's, which another analyst's debit
    had charged.
    """

    debit_id: int
    answer: bytes | None
    price: Amount
    joined: bool = False
    charged: bool = False


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of the ledger for display.

    ``price`` of a grant is its total, and of a share what its analyst paid.

    ``borrowed``: the texts are those of the debit that was joined, which may name what does not exist for who
    joined it. ``blocks`` are those of units that were paid in; None is all that there were.
    """

    id: int
    time: str
    kind: str  # one of those above
    analyst: str
    sql: str
    digest: str
    version: str
    events: str
    epsilon: float
    price: Amount
    answered: bool
    parameters: str = ""
    borrowed: bool = False
    blocks: tuple[int, ...] | None = None


class Overdrawn(OperationalError):
    """D501 with the amounts, for a caller that converts them to epsilon; analyst None is the database."""

    def __init__(
        self,
        needed: Amount,
        left: Amount,
        total: Amount,
        analyst: str | None,
        cap: TimeCap | None = None,
        account: str = "",
        block: str = "",
    ) -> None:
        payer = account or ("the database" if analyst is None else f"analyst {analyst}")
        payer += "" if cap is None else f" ({cap.name} until {cap.until})"
        payer += f" in {block}" if block else ""
        super().__init__(
            "D501",
            f"the budget of {payer} does not hold this price",
            label=_shortage(needed, left, total),
            help="ask at a lower price, repeat an earlier query (free), or let the owner grant more",
        )
        self.needed = needed
        self.left = left
        self.analyst = analyst
        self.cap = cap
        self.account = account
        self.block = block


LONGEST = 4_000
"""Characters of a text that an entry keeps; of a longer one its beginning, its length and its digest."""


def kept_text(text: str, longest: int = LONGEST) -> str:
    """Shorten a text for the ledger. The comment before the query of a bound search is shortened apart."""
    head, rest = in_two(text)
    return _shortened(head, longest) + _shortened(rest, longest)


def in_two(text: str) -> tuple[str, str]:
    """Split the text of a bound search into the comment that names its bounds, and the query."""
    head, mark, rest = text.partition("*/ ") if text.startswith("/* finds ") else ("", "", text)
    return head + mark, rest


def _shortened(text: str, longest: int) -> str:
    if len(text) <= longest:
        return text
    digest = sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    return f"{text[: LONGEST - 200]} ... ({len(text)} characters, sha256 {digest})"


_NO_PRICE = ("part", "answer", "view", "access", "alert", "outcome")


def entry_of(link: Link, origin: Content, answered: bool, rules: Accountant) -> Entry:
    """Build an entry for display. ``origin`` is the debit of a share or an answer, else the entry itself.

    The texts of a share are those of who joined. Shares of the first versions have none: see ``borrowed``.
    """
    kind = link.content["kind"]
    borrowed = kind == "share" and "sql" not in link.content
    content = origin | link.content
    priced = kind in ("debit", "share", "grant") and content.get("own", True)
    if kind == "share" and not borrowed:
        content["parameters"] = link.content.get("parameters", "")
    return Entry(
        id=link.id,
        time=content["time"],
        kind=kind,
        analyst=content.get("analyst") or "",
        sql=content.get("sql", ""),
        digest=content.get("digest", ""),
        version=content.get("version", ""),
        events=", ".join(content["facts"]) if kind == "verified" else content.get("events", ""),
        epsilon=content.get("epsilon", 0.0) if kind not in _NO_PRICE and content.get("own", True) else 0.0,
        price=rules.read(content) if priced else rules.zero,
        answered=answered,
        parameters=content.get("parameters", ""),
        borrowed=borrowed,
        blocks=None if (blocks := link.content.get("blocks")) is None else tuple(blocks),
    )


def measured(debit: Content) -> Measured:
    return Measured(tuple(debit["tables"]), debit["version"])


def clock() -> datetime:
    return datetime.now(UTC)


def now() -> str:
    return clock().isoformat(timespec="milliseconds")


def _shortage(needed: Amount, left: Amount, total: Amount) -> str:
    """Say what is missing in percent, which every accountant can."""
    kind, need, rest, granted = needed.shortage(left, total)
    if not granted:
        return f"it needs some {kind}, and none was granted"
    return f"it needs {100 * need / granted:.4g} % of the whole {kind}; {100 * rest / granted:.4g} % is left"
