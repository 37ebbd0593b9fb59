"""Catalogue -> the text of a first policy, from types, names, keys and enums alone: no row is read.

    [tables.visits]
    unit = { column = "patient_id" }    # decide: guessed from the name
    rows_per_unit = 10    # decide: where the clipping of one patient's rows starts
    [tables.visits.columns]
    cost = { }    # decide: a range, such as { range = [0, 100] }

Every line that is the owner's to decide says so. Tables that nothing ties to the unit are commented out, so
that they do not exist for analysts until the owner says whose they are. The text is a policy as it stands.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass

from dpsql.ir.column import Kind
from dpsql.policy import keys, units
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable
from dpsql.policy.columns import MOST_VALUES
from dpsql.policy.domain import enum_members
from dpsql.policy.found import type_of
from dpsql.policy.names import fold

_PEOPLE = {
    *("person", "people", "patient", "customer", "client", "user", "member", "employee", "staff", "student"),
    *("subscriber", "citizen", "resident", "account", "household", "taxpayer", "voter", "participant"),
}


def draft(catalogue: Catalogue, database_name: str) -> str:
    """A policy that ``read_policy`` accepts, to be edited by the owner."""
    tables = tuple({fold(table.name): table for table in catalogue.tables}.values())
    unit = _guess(tables)
    word = _singular(unit.table.name) if unit is not None else "person"
    word = word if word.strip() and word.isprintable() else "unit"
    lines = [
        f"# A first policy for {_quoted(database_name)}, drafted from the schema alone: no data was read.",
        '# Lines marked "decide" are the owner\'s to settle.',
        "",
        "[budget]    # of all analysts together, for the life of the database",
        "epsilon = 1.0    # decide: the smaller, the more private",
        f"delta = 1e-6    # decide: well below one divided by the number of units ({_quoted(word)})",
        'accountant = "zcdp"',
        "",
        "[query]",
        "epsilon = 0.1    # decide: the default price of one query",
        "max_epsilon = 0.5    # decide: the highest price of one query",
        "# min_units = 10    # decide: hide groups of fewer units, whose keys no list declares",
        "",
        "# [analysts.ana]    # decide: a cap for each analyst, if they differ",
        "# epsilon = 0.5",
        "",
    ]
    if unit is None:
        return "\n".join([*lines, *_NOBODY])
    lines += [
        "[unit]    # decide: whom the promise protects; guessed from names and keys",
        f"name = {_quoted(word)}",
        f"table = {_quoted(unit.table.name)}",
        f"key = {_quoted(unit.key.name)}",
    ]
    paths = _paths(tables, unit)
    for table in tables:
        lines += ["", *_table(table, unit, paths.get(table.name), word)]
    return "\n".join([*lines, ""])


_NOBODY = (
    "# decide: no table here has a column that could tell units apart; this is a placeholder.",
    "[unit]",
    'name = "person"',
    'table = "people"',
    'key = "person_id"',
    "",
    "[tables.people]",
    "",
)


@dataclass(frozen=True, slots=True)
class _Keyed:
    """A table and one column that holds each of its rows' keys once, or is the best there is."""

    table: FoundTable
    key: FoundColumn


@dataclass(frozen=True, slots=True)
class _Way:
    """The column by which a table was reached, and the key it leads to (None: the unit itself)."""

    column: FoundColumn
    to: _Keyed | None


def _guess(tables: tuple[FoundTable, ...]) -> _Keyed | None:
    """A table of people, else one whose key is named after it, else the one that most others refer to."""

    def worth(each: _Keyed) -> tuple[bool, bool, int]:
        name = fold(_last(each.table.name))
        others = sum(_refers(table, each) is not None for table in tables if table is not each.table)
        return not _PEOPLE.isdisjoint((name, _singular(name))), _singular(name) in fold(each.key.name), others

    return max((each for table in tables for each in _candidates(table)), key=worth, default=None)


def _candidates(table: FoundTable) -> list[_Keyed]:
    """Columns that the database keeps unique; where it keeps none so, the first that could be a key."""
    fit = [column for column in table.columns if _fit(column)]
    unique = {names[0] for names in table.unique if len(names) == 1}
    if unique:
        return [_Keyed(table, column) for column in fit if column.name in unique]
    return [_Keyed(table, column) for column in fit[:1]]


def _fit(column: FoundColumn) -> bool:
    its = type_of(column)
    return its.kind in units.KINDS and not its.sql.startswith("ENUM(")


def _refers(table: FoundTable, target: _Keyed) -> FoundColumn | None:
    """The column of a table that is named like another table's key, and of its kind."""
    key, name = fold(target.key.name), fold(_last(target.table.name))
    wanted = {key, _bare(key)} if key != "id" else set()
    wanted |= {f"{name}_id", f"{name}id", f"{_singular(name)}_id", f"{_singular(name)}id"}
    kind = type_of(target.key).kind
    for column in table.columns:
        own = fold(column.name)
        if _fit(column) and type_of(column).kind is kind and (own in wanted or _bare(own) in wanted):
            return column
    return None


def _paths(tables: tuple[FoundTable, ...], unit: _Keyed) -> Mapping[str, _Way]:
    """How each table reaches the unit: by its own column, else through a table that does."""
    ways: dict[str, _Way] = {}
    for table in tables:
        column = _refers(table, unit)
        if table is not unit.table and column is not None:
            ways[table.name] = _Way(column, None)
    fresh = list(ways)
    while fresh:
        reached = [each for table in tables if table.name in fresh for each in _candidates(table)]
        fresh = []
        for table in tables:
            for target in reached:
                column = _refers(table, target)
                if table is not unit.table and table.name not in ways and column is not None:
                    ways[table.name] = _Way(column, target)
                    fresh.append(table.name)
    return ways


def _table(table: FoundTable, unit: _Keyed, way: _Way | None, word: str) -> list[str]:
    header = f"[tables.{_key(table.name)}]"
    if table is unit.table:
        return [header, *_unique(table, unit.key), *_columns(table, unit.key)]
    if way is None:
        return [
            f"# decide: nothing in the schema ties this table to {_quoted(word)}. Public, or whose is it?",
            f"# {header}",
            "# public = true",
        ]
    path = f"column = {_quoted(way.column.name)}"
    if way.to is not None:
        path += f", references = {_quoted(f'{way.to.table.name}.{way.to.key.name}')}"
    return [
        header,
        f"unit = {{ {path} }}    # decide: guessed from the names",
        f"rows_per_unit = 10    # decide: where the clipping of one unit's rows starts ({_quoted(word)})",
        *_unique(table, None),
        *_columns(table, way.column),
    ]


def _unique(table: FoundTable, besides: FoundColumn | None) -> list[str]:
    """The first key that the database enforces, if dpsql can rely on it."""
    kinds = {column.name: type_of(column).kind for column in table.columns}
    for unique in table.unique:
        known = besides is not None and unique == (besides.name,)
        if unique and not known and all(kinds.get(name) in keys.KINDS for name in unique):
            names = ", ".join(map(_quoted, unique))
            return [f"key = [{names}]    # the database enforces it"]
    return []


def _columns(table: FoundTable, owner: FoundColumn) -> list[str]:
    return [
        f"[tables.{_key(table.name)}.columns]    # decide: take out what analysts need not know of",
        *(f"{_key(each.name)} = {'{ }' if each is owner else _column(each)}" for each in table.columns),
    ]


def _column(column: FoundColumn) -> str:
    its = type_of(column)
    if its.kind is Kind.TEXT and its.sql.startswith("ENUM("):
        members = enum_members(its.sql)
        if 0 < len(members) <= MOST_VALUES:
            listed = ", ".join(map(_quoted, members))
            return f"{{ values = [{listed}] }}    # decide: public from now on; was it built from the data?"
    match its.kind:
        case Kind.INTEGER | Kind.DECIMAL | Kind.FLOAT:
            return "{ }    # decide: a range if it is summed, such as { range = [0, 100] }"
        case Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
            return "{ }    # decide: a range, such as { range = [2000-01-01, 2030-12-31] }"
        case Kind.TEXT:
            return '{ }    # decide: the public values if there are few, such as { values = ["A", "B"] }'
        case _:
            return "{ }"


def _last(name: str) -> str:
    """``sales.orders`` -> ``orders``."""
    return name.rpartition(".")[2] or name


def _singular(name: str) -> str:
    """patients -> patient, a guess."""
    name = _last(name)
    if fold(name) == "people":
        return "person"
    if len(name) > 3 and fold(name).endswith("ies"):
        return name[:-3] + "y"
    return name[:-1] if len(name) > 1 and fold(name).endswith("s") and fold(name)[-2] != "s" else name


def _bare(name: str) -> str:
    """c_custkey -> custkey: short prefixes in front of names of columns."""
    return re.sub(r"^[a-z]{1,2}_(?=.{4})", "", name)


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _quoted(name)


def _quoted(name: str) -> str:
    """A TOML string, fit for a comment too: one line, no control characters."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")
