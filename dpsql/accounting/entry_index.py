"""Names of entries in the index, and the entries that belong to a debit.

debit     by digest and version, by its analyst; a bound search also by each bound and by its asker (before
          debits named their tables: each with its version)
share     by its debit, by its analyst
part      by its debit
answer    by its debit
verified  by version
contents  by the state of each file
forgotten by its kind
view      by what it is about, as access is
alert     by what it is about
outcome   by its alert and its question; if it is true, also by its alert
sums      by its kind
"""

from __future__ import annotations

from dpsql.accounting import Amount
from dpsql.accounting.chain import SUMS, Link
from dpsql.accounting.entries import Content, Found, measured, now
from dpsql.lazy_dataclass import dataclass

_BELONGING = ("share", "part", "answer")


@dataclass(frozen=True, slots=True)
class Paid:
    """A debit, who has paid for it, and the entries that hold its answer and parts."""

    link: Link
    price: Amount
    payers: frozenset[str]
    charged: frozenset[str]  # accounts of groups and studies
    answer: Link | None
    parts: dict[int, int]
    entries: frozenset[int]

    @classmethod
    def of(cls, debit: Link, price: Amount, belonging: list[Link]) -> Paid:
        by_kind = {kind: [link for link in belonging if link.content["kind"] == kind] for kind in _BELONGING}
        bought = (debit, *by_kind["share"])
        return cls(
            debit,
            price,
            frozenset(link.content["analyst"] for link in bought if link.content.get("own", True)),
            frozenset(account for link in bought for account in link.content.get("accounts", ())),
            next(iter(by_kind["answer"]), None),
            {link.content["place"]: link.id for link in reversed(by_kind["part"])},
            frozenset(link.id for link in belonging),
        )

    @property
    def id(self) -> int:
        return self.link.id

    def belonging(self, kind: str) -> Content:
        """Return the content of a new entry that belongs to this debit."""
        return {"kind": kind, "time": now(), "debit": self.id, "analyst": self.link.content["analyst"]}

    def places(self, name: str) -> list[Found]:
        """Return where its answer holds a bound of that name."""
        content, answer = self.link.content, self.answer
        names = content.get("finds", ())
        if answer is None:
            return []
        time, rest = answer.content["time"], (content["strength"], content["asker"], content["epsilon"])
        return [
            Found(answer.id, place, len(names), time, *rest, measured(content))
            for place, bound in enumerate(names)
            if bound == name
        ]


def names_of(content: Content) -> tuple[str, ...]:
    """Return the names of an entry in the index."""
    match content.get("kind"):
        case "debit":
            version = content["version"]
            once = "" if "tables" in content else version
            bounds = [bound_name(bound, once) for bound in content.get("finds", ())]
            askers = [asker_name(content["asker"], once)] if bounds else []
            digest = debit_name(content["digest"], version)
            return tuple(dict.fromkeys([digest, BOUGHT, buyer_name(content["analyst"]), *askers, *bounds]))
        case "share":
            return part_name(content["debit"]), BOUGHT, buyer_name(content["analyst"])
        case "part" | "answer":
            return (part_name(content["debit"]),)
        case "verified":
            return (fact_name(content["version"]),)
        case "contents":
            return tuple(map(content_name, content["files"]))
        case "forgotten":
            return (FORGOTTEN,)
        case "view" | "access":
            return (NAMED,)
        case "alert":
            return (ALERTS,)
        case "outcome":
            once = outcome_name(content["alert"], content["question"], content["version"])
            return (once, true_name(content["alert"])) if content["above"] else (once,)
        case "sums":
            return (SUMS,)
        case _:
            return ()


BOUGHT, FORGOTTEN, NAMED, ALERTS = "bought", "forgotten", "named", "alerts"


def buyer_name(analyst: str) -> str:
    return f"bought by {analyst}"


def debit_name(digest: str, version: str) -> str:
    return f"debit {digest} {version}"


def part_name(debit: int) -> str:
    return f"of {debit}"


def bound_name(name: str, version: str = "") -> str:
    return f"bound {version} {name}"


def asker_name(asker: str, version: str = "") -> str:
    return f"asker {asker} {version}"


def outcome_name(alert: int, question: str, version: str) -> str:
    return f"outcome {alert} {question} {version}"


def true_name(alert: int) -> str:
    return f"true {alert}"


def content_name(state: str) -> str:
    return f"content {state}"


def fact_name(version: str) -> str:
    return f"facts {version}"
