"""Catalogue -> the text of a first policy, from types, names, keys and enums; no value is copied.

    [tables.visits]
    unit = { column = "patient_id" }    # decide: guessed from the name
    rows_per_unit = 10    # decide: where the clipping of one patient's rows starts
    [tables.visits.columns]
    cost = { }    # decide: a range, such as { range = [0, 100] }

Every line that the owner has to decide says so. Tables without a path to the unit are commented out, so that
they do not exist for analysts until the owner declares them. The draft is a valid policy. The types of csv
columns are the engine's guesses; once written here, they are what the files are read as.
"""

from __future__ import annotations

from dpsql.ir.column import Kind, enum_members
from dpsql.policy import keys
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable
from dpsql.policy.check_ranges import proposed
from dpsql.policy.columns import MOST_VALUES
from dpsql.policy.file_rules import file_lines
from dpsql.policy.model import ColumnRule
from dpsql.policy.names import fold
from dpsql.policy.resolve import type_of
from dpsql.policy.toml_keys import ANALYST, BUDGET, COLUMN, QUERY, TABLE, UNIT
from dpsql.policy.toml_lines import drafted, inline
from dpsql.policy.toml_spelling import key, quoted, spelled_columns
from dpsql.policy.unit_guesses import Guess, Way, personal, unit_of, ways_to


def draft(catalogue: Catalogue, database_name: str) -> str:
    """Draft a policy that ``read_policy`` accepts, for the owner to edit."""
    tables = tuple({fold(table.name): table for table in catalogue.tables}.values())
    unit = unit_of(tables)
    word = unit.word if unit is not None else "person"
    word = word if word.strip() and word.isprintable() else "unit"
    lines = [
        *_origin(tables, database_name),
        '# Lines marked "decide" are the owner\'s to settle.',
        "",
        "[budget]    # of all analysts together, for the life of the database",
        *drafted(BUDGET, quoted(word)),
        "",
        "[query]",
        *drafted(QUERY, quoted(word)),
        "",
        "# [analysts.ana]    # decide: a cap for each analyst, if they differ",
        *drafted(ANALYST, quoted(word)),
        "",
    ]
    if unit is None:
        return "\n".join([*lines, *_NO_UNIT])
    lines += [
        "[unit]    # decide: whom the promise protects; guessed from names and keys",
        f"name = {quoted(word)}",
        *_held(unit),
        *drafted(UNIT, quoted(word)),
    ]
    paths = ways_to(tables, unit)
    for table in tables:
        lines += ["", *_table(table, unit, paths.get(table.name), word)]
    for view in catalogue.views:
        lines += ["", _VIEW, f"# [views.{key(view.name)}]", f"# sql = {quoted(view.sql)}"]
    return "\n".join([*lines, ""])


def _origin(tables: tuple[FoundTable, ...], name: str) -> list[str]:
    if all(table.csv is None for table in tables):
        return [f"# A first policy for {quoted(name)}, drafted from the schema alone: no data was read."]
    return [
        f"# A first policy for {quoted(name)}, drafted from the schema; no value was copied.",
        "# The types of csv files were guessed from their first lines: a value that does not fit is NULL.",
        "# Where a csv file seems to have a header, that is its first line: look whether it is one.",
    ]


_VIEW = "# decide: a view of the database, for analysts too? They may see its SQL, which may hold names."

_NO_UNIT = (
    "# decide: no table here has a column that could tell units apart; this is a placeholder.",
    "[unit]",
    'name = "person"',
    'table = "people"',
    'key = "person_id"',
    "",
    "[tables.people]",
    "",
)


def _held(unit: Guess) -> list[str]:
    if unit.table is None:
        return [f"column = {_spelled(unit.columns)}"]
    return [f"table = {quoted(unit.table.name)}", f"key = {_spelled(unit.columns)}"]


def _spelled(columns: tuple[FoundColumn, ...], before: str = "") -> str:
    return spelled_columns([f"{before}{column.name}" for column in columns])


def _table(table: FoundTable, unit: Guess, way: Way | None, word: str) -> list[str]:
    header = f"[tables.{key(table.name)}]"
    if table is unit.table:
        return [header, *file_lines(table), *_unique(table, unit.columns), *_columns(table, unit.columns)]
    if way is None:
        return [
            f"# decide: nothing in the schema links this table to {quoted(word)}. Is it public, or what is "
            "its unit?",
            f"# {header}",
            "# public = true",
            *(f"# {line}" for line in file_lines(table)),
            *(f"# {line}" for line in _columns(table, ()) if table.csv is not None),
        ]
    path = f"column = {_spelled(way.columns)}"
    if way.to is not None:
        path += f", references = {_spelled(way.to.columns, f'{way.to.table.name}.')}"
    return [
        header,
        f"unit = {{ {path} }}    # decide: guessed from the names",
        *drafted(TABLE, quoted(word)),
        *file_lines(table),
        *_unique(table, ()),
        *_columns(table, way.columns),
    ]


def _unique(table: FoundTable, besides: tuple[FoundColumn, ...]) -> list[str]:
    names = enforced_key(table, besides)
    return [f"key = [{', '.join(map(quoted, names))}]    # the database enforces it"] if names else []


def enforced_key(table: FoundTable, besides: tuple[FoundColumn, ...]) -> tuple[str, ...]:
    """Return the first key that the database enforces and dpsql can rely on, but for names and the like.

    Columns of a key exist for analysts, and an email is proposed as hidden.
    """
    kinds = {column.name: type_of(column).kind for column in table.columns}
    for unique in table.unique:
        known = set(unique) == {column.name for column in besides}
        usable = all(kinds.get(name) in keys.KINDS and not personal(name) for name in unique)
        if unique and not known and usable:
            return unique
    return ()


def _columns(table: FoundTable, owners: tuple[FoundColumn, ...]) -> list[str]:
    known = proposed(table)
    return [
        f"[tables.{key(table.name)}.columns]    # decide: take out what analysts need not know of",
        *(
            _left_out(table, column)
            if column not in owners and personal(column.name)
            else f"{key(column.name)} = "
            f"{_typed(table, column, '{ }' if column in owners else _column(column, known.get(column.name)))}"
            for column in table.columns
        ),
    ]


def _left_out(table: FoundTable, column: FoundColumn) -> str:
    """Comment out a column that seems to identify one person."""
    return (
        f"# {key(column.name)} = {_typed(table, column, '{ }')}    # decide: left out, it may name one person"
    )


def _typed(table: FoundTable, column: FoundColumn, settings: str) -> str:
    """Add the type of a csv file's column."""
    if table.csv is None:
        return settings
    written = f"{{ type = {quoted(column.sql)}"
    return settings.replace("{ }", f"{written} }}", 1)  # a csv column's type is never an ENUM


def _column(column: FoundColumn, known: ColumnRule | None) -> str:
    if known is not None:
        return (
            f"{inline(COLUMN.ordered('type'), known)}    # decide: public from now on; the database checks it"
        )
    its = type_of(column)
    if its.kind is Kind.TEXT and its.sql.startswith("ENUM("):
        members = enum_members(its.sql)
        if 0 < len(members) <= MOST_VALUES:
            listed = ", ".join(map(quoted, members))
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
