"""What opening looks at: the policy, whether the data can be read, what the ledger is bound to, old types."""

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
    """The owner's policy from its file, or D80x."""
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = "is not text in UTF-8" if isinstance(error, UnicodeDecodeError) else "cannot be read"
        if isinstance(error, FileNotFoundError):
            reason = "is not there"
        raise refuse(
            "D807",
            f"the policy {path.name} {reason}",
            help="name another, or write one: dpsql init DB",
        ) from None
    return parse_policy(text, path.name)


def parse_policy(text: str, name: str) -> Policy:
    """The policy that this text says, under any accountant that there is; or D80x."""
    return read_policy(text, name, accountants())


def check_readable(engine: Engine, found: Known, verified: Set[str] = frozenset()) -> set[str]:
    """That every value can be read, as a fact for each table of which it is not known yet; or D602.

    Else a query would fail or not by the rows that it meets, and tell of them without a price.
    """
    facts = set[str]()
    for table in found.tables:
        readable = fact("readable", table.name, [each.name for each in table.columns])
        if readable not in verified:
            if not engine.is_readable(table.name, table.columns):
                raise refuse(
                    "D602",
                    f"the table {table.name} holds values that cannot be read",
                    label="pages are damaged, a text is not UTF-8, or a number or time is beyond its type",
                    help="write it anew; nothing can be asked before that",
                )
            facts.add(readable)
    return facts


def fact(kind: str, table: str, columns: Sequence[str]) -> str:
    """The name under which the ledger keeps what was found true: no two facts have one."""
    return json.dumps([kind, table, *columns])


def promise(policy: Policy, engine: Engine) -> Promise:
    """What a ledger of this database under this policy is bound to."""
    rule = policy.budget
    return Promise(engine.identity(), unit_text(policy), rule.accountant, rule.delta)


def kept_types(ledger: Ledger) -> str | None:
    """The types of all mentioned columns, as they were last seen: a ``snapshot``."""
    return _kept(ledger)[1]


def keep_types(ledger: Ledger, now: str) -> None:
    """Note the types, unless they are those that were last seen."""
    number, latest = _kept(ledger)
    if latest != now:
        ledger.note_verified(f"schema {number + 1}", frozenset((now,)))


def _kept(ledger: Ledger) -> tuple[int, str | None]:
    number, latest = 0, None
    while found := ledger.verified(f"schema {number + 1}"):
        number, latest = number + 1, next(iter(found))
    return number, latest
