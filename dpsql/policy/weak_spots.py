"""What a policy allows that its owner may not have meant: ``policy check`` says it, and the owner decides.

events is public, and events.user_id may name a customer
delta is more than one in about 20,000 customers
epsilon = 1,000 in all
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.ir.relation import names_of
from dpsql.policy.catalogue import Known
from dpsql.policy.model import BudgetRule, Policy
from dpsql.policy.names import fold
from dpsql.policy.unit_guesses import names_a_person

_LARGE = 50.0
"""A budget of a larger epsilon in all is one that hardly anybody means."""


def weak_spots(policy: Policy, tables: Known) -> Iterator[str]:
    """Yield sentences on what the owner should decide once more."""
    yield from _public_people(tables)
    yield from _no_people(policy, tables)
    yield from _of_budget(policy.budget, tables.unit, policy.unit.about)


def _public_people(tables: Known) -> Iterator[str]:
    """Warn of public tables whose columns are named like the unit, or like people."""
    units = {
        fold(name)
        for table in tables.tables
        if not table.public and table.unit_column is not None
        for name in names_of(table.unit_column)
    }
    for table in tables.tables:
        named = [
            column.name
            for column in table.columns
            if table.public and (fold(column.name) in units or names_a_person(column.name))
        ]
        if named:
            columns = " and ".join(f"{table.name}.{name}" for name in named)
            yield (
                f"{table.name} is public, and {columns} may name people: all of its rows are shown to "
                f"every analyst as they are; if they are about {tables.unit}s, give it a unit"
            )


def _no_people(policy: Policy, tables: Known) -> Iterator[str]:
    """Warn of a unit that is a value of columns of which none is named like people."""
    if policy.unit.table is not None or policy.unit.column is None:
        return
    columns = names_of(policy.unit.column)
    if not any(map(names_a_person, columns)):
        yield (
            f"each {' and '.join(columns)} is one {tables.unit}: a person with several of them is protected "
            "in each alone, and not in all together"
        )


def _of_budget(budget: BudgetRule, unit: str, about: int | None) -> Iterator[str]:
    if about is not None and budget.delta * about > 1:
        usual = 10.0 ** -(len(str(about)) + 1)
        yield (
            f"delta = {budget.delta:g} is more than one in about {about:,} {unit}s: with this chance answers "
            f"may tell everything of somebody; {usual:g} or less is usual"
        )
    if budget.epsilon > _LARGE:
        yield (
            f"epsilon = {budget.epsilon:,g} in all: answers that spend it may tell nearly everything of a "
            f"{unit}; 1 to 10 is usual"
        )
