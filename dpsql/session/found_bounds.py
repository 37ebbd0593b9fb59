"""Found bounds in the ledger, and what they rest on: with another type or format they are found anew.

    people.income: 0..58 signed or nothing 5f0c81ab     what the ledger calls it, in every version of the data

Claim   a bound that was found in one version of the data serves later ones for the same column of the same
        table, and any bound keeps the promise.
Proof   A found bound was released, so that it is public from then on; the engine clamps to it whatever rows
        hold. Only accuracy depends on it. The name has the column's type and whether it holds NULL, the
        table's files and their format, and how often the owner wanted it to be found anew.
Test    tests/privacy/test_versions.py
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from dpsql.ir.column import Fact
from dpsql.policy.catalogue import Known, KnownTable
from dpsql.policy.model import Policy, TableRule

if TYPE_CHECKING:  # what finds bounds loads with the first query
    from dpsql.accounting.entries import Measured
    from dpsql.accounting.ledger import Ledger
    from dpsql.ir.bound import Bound, Missing


def bounds_in(
    ledger: Ledger, known: Known, missing: Missing, usable: Callable[[Measured], bool] = lambda data: True
) -> tuple[Bound, ...]:
    """Return the found bounds of usable versions of the data, oldest first."""
    from dpsql.plan.bound_search import bound_of, name_of
    from dpsql.release.serialization import from_bytes

    bounds = []
    for stored, where in ledger.found(name_of(missing, known)):
        if usable(where.data):
            place = int(from_bytes(stored, [1] * where.many)[where.place].sums[0, 0])
            bound = bound_of(missing, known, place, where.time)
            bounds.append(replace(bound, strength=where.strength, paid=where.epsilon, asker=where.asker))
    return tuple(bounds)


def marked(known: Known, policy: Policy, forgotten: Mapping[str, int]) -> Known:
    """Return the catalogue with the mark of every bound that a query may find.

    ``forgotten`` is how often the owner wanted a bound to be found anew.
    """

    def of(table: KnownTable) -> KnownTable:
        rule = policy.table(table.name)
        assert rule is not None
        facts: dict[str, Fact | None] = {column.name: column.fact for column in table.columns}
        marks = [
            (column, _mark(rule, fact, forgotten.get(bound_called(table.name, column), 0)))
            for column, fact in {"": None, **facts}.items()
        ]
        return replace(table, marks=tuple(marks))

    tables = (table if table.public else of(table) for table in known.tables)
    return replace(known, tables=tuple(tables))


def bound_called(table: str, column: str) -> str:
    """Return what an owner calls a bound: people.income, or visits for its rows per unit."""
    return f"{table}.{column}" if column else table


def _mark(rule: TableRule, fact: Fact | None, forgotten: int) -> str:
    kind = None if fact is None else (fact.type.sql, fact.nullable)
    rests = (rule.files, rule.csv, kind, forgotten)
    return f" {hashlib.sha256(repr(rests).encode()).hexdigest()[:8]}"
