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

from dpsql.ir.column import Kind
from dpsql.policy import keys
from dpsql.policy.catalogue import Catalogue, FoundColumn, FoundTable
from dpsql.policy.columns import MOST_VALUES
from dpsql.policy.domain import enum_members
from dpsql.policy.file_rules import file_lines
from dpsql.policy.names import fold
from dpsql.policy.resolve import type_of
from dpsql.policy.toml_keys import ANALYST, BUDGET, QUERY, TABLE, UNIT
from dpsql.policy.toml_lines import drafted
from dpsql.policy.toml_spelling import key, quoted
from dpsql.policy.unit_guesses import Keyed, Way, personal, singular, unit_of, ways_to


def draft(catalogue: Catalogue, database_name: str) -> str:
    """Draft a policy that ``read_policy`` accepts, for the owner to edit."""
    tables = tuple({fold(table.name): table for table in catalogue.tables}.values())
    unit = unit_of(tables)
    word = singular(unit.table.name) if unit is not None else "person"
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
        f"table = {quoted(unit.table.name)}",
        f"key = {quoted(unit.key.name)}",
        *drafted(UNIT, quoted(word)),
    ]
    paths = ways_to(tables, unit)
    for table in tables:
        lines += ["", *_table(table, unit, paths.get(table.name), word)]
    return "\n".join([*lines, ""])


def _origin(tables: tuple[FoundTable, ...], name: str) -> list[str]:
    if all(table.csv is None for table in tables):
        return [f"# A first policy for {quoted(name)}, drafted from the schema alone: no data was read."]
    return [
        f"# A first policy for {quoted(name)}, drafted from the schema; no value was copied.",
        "# The types of csv files were guessed from their first lines: a value that does not fit is NULL.",
        "# Where a csv file seems to have a header, that is its first line: look whether it is one.",
    ]


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


def _table(table: FoundTable, unit: Keyed, way: Way | None, word: str) -> list[str]:
    header = f"[tables.{key(table.name)}]"
    if table is unit.table:
        return [header, *file_lines(table), *_unique(table, unit.key), *_columns(table, unit.key)]
    if way is None:
        return [
            f"# decide: nothing in the schema links this table to {quoted(word)}. Is it public, or what is "
            "its unit?",
            f"# {header}",
            "# public = true",
            *(f"# {line}" for line in file_lines(table)),
            *(f"# {line}" for line in _columns(table, None) if table.csv is not None),
        ]
    path = f"column = {quoted(way.column.name)}"
    if way.to is not None:
        path += f", references = {quoted(f'{way.to.table.name}.{way.to.key.name}')}"
    return [
        header,
        f"unit = {{ {path} }}    # decide: guessed from the names",
        *drafted(TABLE, quoted(word)),
        *file_lines(table),
        *_unique(table, None),
        *_columns(table, way.column),
    ]


def _unique(table: FoundTable, besides: FoundColumn | None) -> list[str]:
    names = enforced_key(table, besides)
    return [f"key = [{', '.join(map(quoted, names))}]    # the database enforces it"] if names else []


def enforced_key(table: FoundTable, besides: FoundColumn | None) -> tuple[str, ...]:
    """Return the first key that the database enforces and dpsql can rely on."""
    kinds = {column.name: type_of(column).kind for column in table.columns}
    for unique in table.unique:
        known = besides is not None and unique == (besides.name,)
        if unique and not known and all(kinds.get(name) in keys.KINDS for name in unique):
            return unique
    return ()


def _columns(table: FoundTable, owner: FoundColumn | None) -> list[str]:
    return [
        f"[tables.{key(table.name)}.columns]    # decide: take out what analysts need not know of",
        *(
            _left_out(table, column)
            if column is not owner and personal(column.name)
            else f"{key(column.name)} = "
            f"{_typed(table, column, '{ }' if column is owner else _column(column))}"
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


def _column(column: FoundColumn) -> str:
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
