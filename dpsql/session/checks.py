"""Checks when a session opens: the policy, readable data, the ledger's promise, unchanged column types."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dpsql.accounting import accountant, accountants, budget_of
from dpsql.accounting.entries import Promise
from dpsql.accounting.entry_index import names_of
from dpsql.accounting.ledger_file import place
from dpsql.accounting.second_places import Mirror, SecondPlace, Witness
from dpsql.errors import refuse
from dpsql.ir.column import Categories, Column, Fact, Interval, Listed
from dpsql.policy.model import Policy, unit_text
from dpsql.policy.toml import read_policy

if TYPE_CHECKING:
    from dpsql.accounting.ledger import Ledger
    from dpsql.engines import Engine
    from dpsql.policy.catalogue import Known
    from dpsql.session.data_versions import DataVersions


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


class Verified:
    """Declared facts that were verified for the present version of their table, and those that are new."""

    def __init__(self, ledger: Ledger, versions: DataVersions) -> None:
        self._ledger, self._versions = ledger, versions
        self._noted: dict[str, frozenset[str]] = {}
        self._fresh: dict[str, set[str]] = {}

    def has(self, table: str, fact: str) -> bool:
        reading = self._versions.reading(table)
        if reading not in self._noted:
            self._noted[reading] = self._ledger.verified(reading)
        return fact in self._noted[reading]

    def add(self, table: str, fact: str) -> None:
        self._fresh.setdefault(self._versions.reading(table), set()).add(fact)

    def note(self) -> None:
        """Write the new ones into the ledger."""
        for reading, facts in self._fresh.items():
            self._ledger.note_verified(reading, frozenset(facts))
        self._fresh.clear()


_READABLE = "readable, boolean and enum too"
"""Another name where more is checked: what an earlier version found of the same rows is not enough."""


def check_readable(engine: Engine, known: Known, verified: Verified | None = None) -> None:
    """Check that every value can be read, or raise D602.

    Otherwise a query would fail or not depending on private rows, and reveal them at no price.
    """
    for table in known.tables:
        readable = fact(_READABLE, table.name, [column.name for column in table.columns])
        if verified is None or not verified.has(table.name, readable):
            if not engine.is_readable(table.name, table.columns):
                raise refuse(
                    "D602",
                    f"the table {table.name} holds values that cannot be read",
                    label="pages are damaged, a text is not UTF-8 or too long, or a value is beyond its type",
                    help="repair the table; no query can be asked before that",
                )
            if verified is not None:
                verified.add(table.name, readable)


def with_ranges(declared: Known, engine: Engine) -> Known:
    """Add to each column of a public table the range of its values, and whether none of them is NULL."""
    tables = []
    for table in declared.tables:
        columns = table.columns
        if table.public:
            found = engine.public_columns(table.name, table.size or 0)
            columns = tuple(
                _with_range(column, found.ranges.get(column.name), column.name in found.filled)
                for column in columns
            )
        tables.append(replace(table, columns=columns))
    return replace(declared, tables=tuple(tables))


def _with_range(column: Column, bounds: Interval | None, filled: bool) -> Column:
    fact = column.fact
    domain = fact.domain
    if bounds is not None and not isinstance(domain, Interval | Categories):
        domain = replace(domain, bounds=bounds) if isinstance(domain, Listed) else bounds
    return Column(column.name, Fact(fact.type, domain, fact.nullable and not filled))


def fact(kind: str, table: str, columns: Sequence[str]) -> str:
    """Return the ledger's name of a verified fact; different facts have different names."""
    return json.dumps([kind, table, *columns])


def promise(policy: Policy, engine: Engine) -> Promise:
    """Return the promise that binds a ledger of this database under this policy."""
    rule = policy.budget
    return Promise(
        engine.identity(),
        unit_text(policy),
        rule.accountant,
        rule.delta,
        accountant(rule.accountant).best_order(budget_of(rule)),
        rule.responses,
        ordered=rule.up_to is not None,
    )


def second_places(policy: Policy, file: Path, ledger: Path) -> tuple[SecondPlace, ...]:
    """Return the witness and the mirror of a ledger; their paths start at the folder of the policy's file."""
    rule, folder = policy.ledger, file.absolute().parent
    places: list[SecondPlace] = []
    if rule.mirror:
        mirror = folder / rule.mirror
        places.append(Mirror(place(mirror / ledger.name if rule.mirror.endswith("/") else mirror), names_of))
    if rule.witness:
        places.append(Witness(place(folder / rule.witness)))
    for other in places:
        if other.path == place(ledger):
            raise refuse(
                "D803",
                f"the {other.kind} of the ledger is the ledger itself",
                label=str(other.path),
                help=f"name another file in {other.kind} of [ledger], on another disk",
            )
    return tuple(places)


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
