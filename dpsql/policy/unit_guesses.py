"""Guesses from names, types and keys alone: whom the promise may protect, and how tables reach them.

    patients(patient_id PRIMARY KEY, ...)    a table of people, its key named after it: the unit
    visits(visit_id UNIQUE, patient_id, ...) its column is called like the unit's key: each row is theirs
    drugs(visit_id, dose)                    reaches them through visits

No row is read. The owner confirms what is guessed, or says better.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from dpsql.ir.column import type_of_all
from dpsql.policy import units
from dpsql.policy.catalogue import FoundColumn, FoundTable
from dpsql.policy.names import fold
from dpsql.policy.resolve import type_of

_PEOPLE = {
    *("person", "people", "patient", "customer", "client", "user", "member", "employee", "staff", "student"),
    *("subscriber", "citizen", "resident", "account", "household", "taxpayer", "voter", "participant"),
}

_PERSONAL = {
    *("name", "firstname", "lastname", "surname", "forename", "fullname", "email", "mail", "phone", "mobile"),
    *("address", "street", "ssn", "passport", "iban", "password", "note", "notes", "comment", "comments"),
}


@dataclass(frozen=True, slots=True)
class Keyed:
    """A table and one column that holds each of its rows' keys once, or is the best there is."""

    table: FoundTable
    key: FoundColumn


@dataclass(frozen=True, slots=True)
class Way:
    """The column by which a table was reached, and the key it leads to (None: the unit itself)."""

    column: FoundColumn
    to: Keyed | None


def unit_of(tables: tuple[FoundTable, ...]) -> Keyed | None:
    """A table of people, else one whose key is named after it, else the one that most others refer to."""

    def worth(each: Keyed) -> tuple[bool, bool, int]:
        name = fold(_last(each.table.name))
        others = sum(_refers(table, each) is not None for table in tables if table is not each.table)
        return not _PEOPLE.isdisjoint((name, singular(name))), singular(name) in fold(each.key.name), others

    return max((each for table in tables for each in _candidates(table)), key=worth, default=None)


def _candidates(table: FoundTable) -> list[Keyed]:
    """Columns that the database keeps unique; where it keeps none so, the first that could be a key."""
    fit = [column for column in table.columns if tells_apart(column)]
    unique = {names[0] for names in table.unique if len(names) == 1}
    if unique:
        return [Keyed(table, column) for column in fit if column.name in unique]
    return [Keyed(table, column) for column in fit[:1]]


def tells_apart(column: FoundColumn) -> bool:
    its = type_of(column)
    return its.kind in units.KINDS and not its.sql.startswith("ENUM(")


def _refers(table: FoundTable, target: Keyed) -> FoundColumn | None:
    """The column of a table that is named like another table's key, and of its kind."""
    key, name = fold(target.key.name), fold(_last(target.table.name))
    wanted = {key, _unprefixed(key)} if key != "id" else set()
    wanted |= {f"{name}_id", f"{name}id", f"{singular(name)}_id", f"{singular(name)}id"}
    its = type_of(target.key)
    for column in table.columns:
        own = fold(column.name)
        if (
            tells_apart(column)
            and type_of(column).kind is its.kind
            and type_of_all([type_of(column), its]) is not None
            and (own in wanted or _unprefixed(own) in wanted)
        ):
            return column
    return None


def ways_to(tables: tuple[FoundTable, ...], unit: Keyed) -> Mapping[str, Way]:
    """How each table reaches the unit: by its own column, else through a table that does."""
    ways: dict[str, Way] = {}
    for table in tables:
        column = _refers(table, unit)
        if table is not unit.table and column is not None:
            ways[table.name] = Way(column, None)
    fresh = list(ways)
    while fresh:
        reached = [each for table in tables if table.name in fresh for each in _candidates(table)]
        fresh = []
        for table in tables:
            for target in reached:
                column = _refers(table, target)
                if table is not unit.table and table.name not in ways and column is not None:
                    ways[table.name] = Way(column, target)
                    fresh.append(table.name)
    return ways


def _last(name: str) -> str:
    """``sales.orders`` -> ``orders``."""
    return name.rpartition(".")[2] or name


def singular(name: str) -> str:
    """patients -> patient, a guess."""
    name = _last(name)
    if fold(name) == "people":
        return "person"
    if len(name) > 3 and fold(name).endswith("ies"):
        return name[:-3] + "y"
    return name[:-1] if len(name) > 1 and fold(name).endswith("s") and fold(name)[-2] != "s" else name


def _unprefixed(name: str) -> str:
    """c_custkey -> custkey: short prefixes in front of names of columns."""
    return re.sub(r"^[a-z]{1,2}_(?=.{4})", "", name)


def personal(name: str) -> bool:
    """Whether a column seems to hold what names or describes one person, and nobody groups or sums."""
    return not _PERSONAL.isdisjoint(re.split(r"[^a-z]+", fold(name)))
