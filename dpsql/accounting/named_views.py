"""Names of private views, folded from the entries of the ledger.

    view     {analyst: ana, name: census, sql: CREATE ..., epsilon: 0.5, debit: 7}    it is bought, or anew
    view     {analyst: ana, name: census}                                             it is dropped
    access   {analyst: ana, name: census, to: bo, granted: true}

A name is its creator's: two analysts may each have a view of that name.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dpsql.accounting.entries import Content
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.names import fold


@dataclass(frozen=True, slots=True)
class NamedView:
    """A name for the answers of debits, the one that it was given last at the end.

    ``sql`` is its CREATE; '' if the policy holds it.
    """

    name: str
    creator: str
    sql: str
    epsilon: float
    debits: tuple[int, ...]
    readers: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Bought:
    """A purchase of a view: the digest of its plan, and the version of the data that it was for."""

    digest: str
    version: str
    time: str

    @classmethod
    def of(cls, debit: Content) -> Bought:
        return cls(debit["digest"], debit["version"], debit["time"])


def view_content(creator: str, name: str, sql: str, epsilon: float, debit: int) -> Content:
    return {"kind": "view", "analyst": creator, "name": name, "sql": sql, "epsilon": epsilon, "debit": debit}


def dropped_content(creator: str, name: str) -> Content:
    return {"kind": "view", "analyst": creator, "name": name}


def access_content(creator: str, name: str, to: str, granted: bool) -> Content:
    return {"kind": "access", "analyst": creator, "name": name, "to": to, "granted": granted}


def named_views(entries: Iterable[Content]) -> tuple[NamedView, ...]:
    """Return the views that have a name after these entries, which come newest first."""
    views: dict[tuple[str, str], NamedView] = {}
    for content in [*entries][::-1]:
        key = content["analyst"], fold(content["name"])
        if content["kind"] == "access":
            if key in views:
                readers, to = views[key].readers, {content["to"]}
                after = readers | to if content["granted"] else readers - to
                views[key] = replace(views[key], readers=after)
        elif "debit" not in content:
            views.pop(key, None)
        elif key in views and views[key].sql == content["sql"]:
            before = tuple(debit for debit in views[key].debits if debit != content["debit"])
            price, debits = content["epsilon"], (*before, content["debit"])
            views[key] = replace(views[key], epsilon=price, debits=debits)
        else:
            own = content["name"], content["analyst"], content["sql"], content["epsilon"]
            views[key] = NamedView(*own, (content["debit"],))
    return tuple(views.values())
