"""What a policy allows that its owner may not have meant: ``policy check`` says it, and the owner decides.

events is public, and events.user_id may name a customer
incidents is public, and incidents.trip_id leads to rows of trips
each trip is one unit, and a rider with several is protected in each alone
payments.payment_id is the unit, and is named like a key of payments
fees.fee_id is the unit, though fees has "student_id", as the students have
delta is more than one in about 20,000 customers
epsilon = 1,000 in all
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.ir.relation import Columns, names_of
from dpsql.policy.catalogue import Catalogue, FoundTable, Known, KnownTable
from dpsql.policy.model import BudgetRule, Policy
from dpsql.policy.names import fold
from dpsql.policy.toml_spelling import spelled_columns
from dpsql.policy.unit_guesses import (
    Guess,
    is_key_of_another,
    is_of_people,
    named_like_a_key,
    names_a_person,
    people_in,
)
from dpsql.render.english import one

_LARGE = 50.0
"""A budget of a larger epsilon in all is one that hardly anybody means."""


def weak_spots(policy: Policy, tables: Known, catalogue: Catalogue) -> Iterator[str]:
    """Yield sentences on what the owner should decide once more."""
    found = {table.name: table for table in catalogue.tables}
    private = [table for table in tables.tables if not table.public]
    for table in (table for table in tables.tables if table.public):
        yield from _public_people(table, found[table.name], private, tables.unit)
        for other in private:
            yield from _public_rows(found[table.name], other, found[other.name], tables.unit)
    yield from _no_people(policy, tables.unit)
    holder = None if policy.unit.table is None else tables.table(policy.unit.table)
    if policy.unit.column is not None:
        for table in private:
            yield from _unused_unit(table, found[table.name], policy.unit.column, tables.unit)
    if holder is not None and holder.unit_column is not None:
        columns = {column.name: column for column in found[holder.name].columns}
        key, *more = (columns[name] for name in names_of(holder.unit_column))
        unit = Guess(found[holder.name], key, tuple(more))
        yield from _people_behind(unit, tables.unit)
        for table in private:
            if table is not holder and not table.links:
                unused = list(_unused_unit(table, found[table.name], holder.unit_column, tables.unit))
                yield from unused or _another_key(table, catalogue, unit, tables.unit)
    yield from _of_budget(policy.budget, tables.unit, policy.unit.about)


def _public_people(
    table: KnownTable, found: FoundTable, private: list[KnownTable], unit: str
) -> Iterator[str]:
    """Warn of a public table whose columns lead to the unit, or are named like it, or like people."""
    owned = [
        (fold(each.name), names_of(each.unit_column)) for each in private if each.unit_column is not None
    ]
    units = {fold(name) for _, names in owned for name in names}
    holders = {(name, fold(key)) for name, names in owned for key in names}
    leading = {
        column
        for each in found.foreign
        for column, key in zip(names_of(each.column), names_of(each.key), strict=True)
        if (fold(each.table), fold(key)) in holders
    }
    named = [
        column.name
        for column in table.columns
        if column.name in leading or fold(column.name) in units or names_a_person(column.name)
    ]
    if named:
        columns = " and ".join(f"{table.name}.{name}" for name in named)
        yield (
            f"{table.name} is public, and {columns} may name people: all of its rows are shown to "
            f"every analyst as they are; if they are about {unit}s, give it a unit"
        )


def _public_rows(table: FoundTable, private: KnownTable, other: FoundTable, unit: str) -> Iterator[str]:
    """Warn of a public table with columns that lead to the rows of a private one, by a key of theirs."""
    steps = [
        (names_of(each.column), names_of(each.key))
        for each in table.foreign
        if fold(each.table) == fold(private.name)
    ]
    known = {column for columns, _ in steps for column in columns}
    keys = {fold(key[0]): key[0] for key in (*other.unique, *private.keys) if len(key) == 1}
    for column in table.columns:
        key = keys.get(fold(column.name))
        if key is not None and column.name not in known and fold(key) != "id" and named_like_a_key(key):
            steps.append(((column.name,), (key,)))
    for columns, names in steps:
        if not private.unit_columns.issuperset(names):
            leading = " and ".join(f"{table.name}.{name}" for name in columns)
            lead = "leads" if len(columns) == 1 else "lead"
            to = spelled_columns([f"{private.name}.{name}" for name in names])
            yield (
                f"{table.name} is public, and {leading} {lead} to rows of {private.name}: all of its rows "
                f"are shown to every analyst as they are; if they are about {unit}s, give it a unit: unit = "
                f"{{ column = {spelled_columns(columns)}, references = {to} }}"
            )


def _no_people(policy: Policy, unit: str) -> Iterator[str]:
    """Warn of a unit that is a value of columns of which none is named like people."""
    if policy.unit.table is not None or policy.unit.column is None:
        return
    columns = names_of(policy.unit.column)
    if not any(map(names_a_person, columns)):
        yield (
            f"each {' and '.join(columns)} is one {unit}: a person with several of them is protected "
            "in each alone, and not in all together"
        )


def _people_behind(unit: Guess, word: str) -> Iterator[str]:
    """Warn of a unit that is no person, where a column of its table names one: the rider of a trip."""
    assert unit.table is not None
    if is_of_people(unit.table, unit.key.name):
        return
    for name in people_in(unit.table, unit):
        yield (
            f"each row of {unit.table.name} is one {word}: a person in {unit.table.name}.{name} with several "
            "of them is protected in each alone, and not in all together"
        )


def _another_key(table: KnownTable, catalogue: Catalogue, unit: Guess, word: str) -> Iterator[str]:
    """Warn of a column that says whose a row is, but is named like the key of something else."""
    assert unit.table is not None
    assert table.unit_column is not None
    found = next(each for each in catalogue.tables if each.name == table.name)
    for name in names_of(table.unit_column):
        if is_key_of_another(found, name, catalogue.tables, unit):
            yield (
                f"{table.name}.{name} says whose a row is, and is not named like {unit.table.name}."
                f"{unit.key.name}: if it is the key of something else, {one(word)} with several of them is "
                "protected in each alone, and not in all together"
            )


def _unused_unit(table: KnownTable, found: FoundTable, key: Columns | None, unit: str) -> Iterator[str]:
    """Warn of a table with columns named like the key of the units, where others say whose a row is."""
    if key is None or table.unit_column is None or table.links:
        return
    if any(names_a_person(name) for name in names_of(table.unit_column)):
        return
    named = {fold(column.name): column.name for column in found.columns}
    keys = [fold(name) for name in names_of(key)]
    used = {fold(name) for name in names_of(table.unit_column)}
    if "id" not in keys and used.isdisjoint(keys) and all(name in named for name in keys):
        mine = " and ".join(f"{table.name}.{name}" for name in names_of(table.unit_column))
        theirs = spelled_columns([named[name] for name in keys])
        yield (
            f"{mine} says whose a row is, though {table.name} has {theirs}: if that is the {unit}, write "
            f"unit = {{ column = {theirs} }}"
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
