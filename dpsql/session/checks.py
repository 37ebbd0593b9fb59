"""Checks when a session opens: the policy, readable data, the ledger's promise, unchanged column types."""

from __future__ import annotations

import json
from collections.abc import Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.accounting import accountants
from dpsql.accounting.entries import Promise
from dpsql.errors import refuse
from dpsql.policy.model import Policy, unit_text
from dpsql.policy.toml import read_policy

if TYPE_CHECKING:
    from dpsql.accounting.ledger import Ledger
    from dpsql.engines import Engine
    from dpsql.policy.catalogue import Known


def load_policy(path: Path) -> Policy:
    """Read the owner's policy from its file, or raise D80x."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else "cannot be read"
        if isinstance(error, FileNotFoundError):
            reason = "does not exist"
        raise refuse(
            "D807",
            f"the policy {path.name} {reason}",
            help="name another, or write one: dpsql init DB",
        ) from None
    return parse_policy(text, path.name)


def parse_policy(text: str, name: str) -> Policy:
    """Parse a policy under any installed accountant, or raise D80x."""
    return read_policy(text, name, accountants())


def check_readable(engine: Engine, known: Known, verified: Set[str] = frozenset()) -> set[str]:
    """Check that every value can be read, or raise D602; return the facts that are new.

    Otherwise a query would fail or not depending on private rows, and reveal them at no price.
    """
    facts = set[str]()
    for table in known.tables:
        readable = fact("readable", table.name, [column.name for column in table.columns])
        if readable not in verified:
            if not engine.is_readable(table.name, table.columns):
                raise refuse(
                    "D602",
                    f"the table {table.name} holds values that cannot be read",
                    label="pages are damaged, a text is not UTF-8, or a number or time is beyond its type",
                    help="repair the table; no query can be asked before that",
                )
            facts.add(readable)
    return facts


def fact(kind: str, table: str, columns: Sequence[str]) -> str:
    """Return the ledger's name of a verified fact; different facts have different names."""
    return json.dumps([kind, table, *columns])


def promise(policy: Policy, engine: Engine) -> Promise:
    """Return the promise that binds a ledger of this database under this policy."""
    rule = policy.budget
    return Promise(engine.identity(), unit_text(policy), rule.accountant, rule.delta)


def kept_types(ledger: Ledger) -> str | None:
    """Return the last noted types of the policy's columns, as a ``snapshot``."""
    return _latest_types(ledger)[1]


def keep_types(ledger: Ledger, now: str) -> None:
    """Note the types unless they equal the last noted ones."""
    number, latest = _latest_types(ledger)
    if latest != now:
        ledger.note_verified(f"schema {number + 1}", frozenset((now,)))


def _latest_types(ledger: Ledger) -> tuple[int, str | None]:
    number, latest = 0, None
    while types := ledger.verified(f"schema {number + 1}"):
        number, latest = number + 1, next(iter(types))
    return number, latest
