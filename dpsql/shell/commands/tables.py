"""``\\d``: list the tables and views with their public facts; never the size of a private table.

┌──────────┬────────────────────────┬──────────────────┬────────┐
│ name     │ rows                   │ rows per patient │ size   │
├──────────┼────────────────────────┼──────────────────┼────────┤
│ patients │ private, by patient_id │ 1                │        │
│ visits   │ private, by patient_id │ clipped from 15  │        │
│ wards    │ public                 │                  │ 6 rows │
└──────────┴────────────────────────┴──────────────────┴────────┘
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from fnmatch import fnmatchcase

from dpsql.errors import refuse
from dpsql.ir.column import type_named
from dpsql.policy import listing
from dpsql.policy.listing import Table
from dpsql.policy.names import fold, perhaps
from dpsql.render.cells import one_line
from dpsql.render.digits import plain, printable
from dpsql.render.display import Look
from dpsql.render.english import one
from dpsql.render.folding import Column, Text, cut, draw_table
from dpsql.shell.commands.command import Command
from dpsql.shell.state import Shell
from dpsql.terminal.output import put

_MAX_VALUE_LINES = 4
_MAX_TYPE_WIDTH = 24
_MIN_VALUES_WIDTH = 20


def _describe(shell: Shell, argument: str) -> None:
    tables = shell.db.tables
    if not argument:
        put(tables_text(tables, shell.width()))
        return
    name = _unquoted(argument)
    for table in tables:
        if fold(table.name) == fold(name):
            put(table_text(table, shell.width()))
            return
    matches = [table for table in tables if fnmatchcase(fold(table.name), fold(name))]
    if matches:
        put(tables_text(matches, shell.width()))
        return
    raise refuse(
        "D201",
        f"there is no table {name}",
        help=perhaps(name, [table.name for table in tables]) or "\\d lists the tables",
    )


def _unquoted(name: str) -> str:
    name = name.removesuffix(";").rstrip().removeprefix("main.")
    if len(name) > 1 and name[0] == name[-1] == '"':
        return name[1:-1].replace('""', '"')
    return name


def tables_text(tables: Sequence[Table], width: int) -> str:
    """List tables and views."""
    unit = next((table.unit for table in tables if table.unit), "unit")
    cells = [(table.name, _privacy(table), _per_unit(table), _size(table)) for table in tables]
    return _boxed(("name", "rows", f"rows per {unit}", "size"), cells, width)


def table_text(table: Table, width: int) -> str:
    """Describe one table: whether it is private, its bound on rows per unit, and its columns."""
    about = [_privacy(table), *filter(None, (_size(table), _clip(table)))]
    about += [f"key {', '.join(key)}" for key in table.keys]
    title = textwrap.fill(printable(f"{table.name}: {'; '.join(about)}"), width, break_on_hyphens=False)
    names = ("column", "type", "null", "values", "known from")
    facts = [
        (one_line(column.name), cut(column.type, _MAX_TYPE_WIDTH), _null(column), _known_from(column, table))
        for column in table.columns
    ]
    taken = sum(max(len(row[at]) for row in (*facts, _HEAD)) for at in range(4))
    room = width - taken - 3 * len(names) - 1
    if room < _MIN_VALUES_WIDTH:  # show each column as a record
        room = max(1, width - len("known from") - 7)
        value_texts = [" ".join(_values(column, table, room)) for column in table.columns]
        records = [(*row[:3], values, row[3]) for row, values in zip(facts, value_texts, strict=True)]
        return title + "\n" + _boxed(names, records, width, records=True)
    rows: list[tuple[str, ...]] = []
    for (name, kind, null, known_from), column in zip(facts, table.columns, strict=True):
        first, *more = _values(column, table, room) or [""]
        rows.append((name, kind, null, first, known_from))
        rows += [("", "", "", line, "") for line in more]
    return title + "\n" + _boxed(names, rows, width)


_HEAD = ("column", "type", "null", "known from")


def _boxed(names: Sequence[str], rows: Sequence[Sequence[str]], width: int, records: bool = False) -> str:
    """Draw a box that fits the width, without its empty columns."""
    kept = [at for at in range(len(names)) if at == 0 or any(row[at] for row in rows)]
    columns = [Column(names[at], tuple(Text(one_line(row[at])) for row in rows), False) for at in kept]
    return draw_table(columns, Look(width=width, records=records))


def _privacy(table: Table) -> str:
    if table.view:
        return "a view, public" if table.view == "public" else f"a view: {table.view}"
    if table.public:
        return "public"
    return f"private, by {', '.join(table.path)}" if table.path else "private"


def _per_unit(table: Table) -> str:
    if not table.unit:
        return ""
    if table.rows_per_unit == 1:
        return "1"
    return "found by a query" if table.rows_per_unit is None else f"clipped from {table.rows_per_unit}"


def _clip(table: Table) -> str:
    if not table.unit:
        return ""
    if table.rows_per_unit == 1:
        return f"one row per {table.unit}"
    if table.rows_per_unit is None:
        return f"the first query that needs it finds a bound on {one(table.unit)}'s rows"
    return f"{one(table.unit)} with more than about {table.rows_per_unit} rows is clipped"


def _size(table: Table) -> str:
    if table.size is None:
        return ""
    return f"{table.size:,} {'row' if table.size == 1 else 'rows'}"


def _null(column: listing.Column) -> str:
    return "" if column.nullable else "no"


def _values(column: listing.Column, table: Table, room: int) -> list[str]:
    """Describe the values of a column in a few lines, after the owner's words for it."""
    said = textwrap.wrap(printable(column.comment), room)
    beside = f"with {', '.join(column.beside)} the {table.unit}" if column.beside else ""
    return [*said, *_known_values(column, table, room), *textwrap.wrap(printable(beside), room)]


def _known_values(column: listing.Column, table: Table, room: int) -> list[str]:
    if column.unit:
        return textwrap.wrap(f"the {table.unit}: never shown", room)
    if column.values is not None:
        return _value_list([plain(value) for value in column.values], room)
    if column.range is not None:
        low, high = column.range
        return [low if low == high else f"{low} to {high}"]
    if column.listed is not None and not table.public:
        return textwrap.wrap(f"those of {column.listed}", room)
    if column.type == "BOOLEAN":
        return ["false, true"]
    return ["no range declared"] if table.unit and type_named(column.type).numeric else []


def _value_list(values: Sequence[str], room: int) -> list[str]:
    """List the values; of a long list, the first values and the count."""
    lines = textwrap.wrap(printable(", ".join(values)), room, break_on_hyphens=False)
    if len(lines) <= _MAX_VALUE_LINES:
        return lines
    return [*lines[: _MAX_VALUE_LINES - 1], f"... {len(values):,} in all"]


def _known_from(column: listing.Column, table: Table) -> str:
    """Return the source of a column's facts: the policy, a found bound, the public rows, or the type."""
    if column.found:
        return "found"
    if table.public:
        return "its rows" if column.range is not None else ""
    if column.line is not None:
        return f"policy:{column.line}"
    return "its type" if column.range is not None else ""


COMMANDS = (Command("d", "\\d [TABLE]", "list tables and views, or describe one", _describe, "table"),)
