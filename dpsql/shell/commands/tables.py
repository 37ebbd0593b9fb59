"""``\\d``: what exists, and what is publicly known of it. Never how many rows a private table has.

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
from dpsql.render.folding import Column, Text, cut, folded
from dpsql.shell.commands.command import Command
from dpsql.shell.state import Shell
from dpsql.terminal.output import put

_LINES = 4  # of a list of values
_TYPE = 24  # columns for a type
_LEAST = 20  # columns for a list of values


def _describe(shell: Shell, argument: str) -> None:
    tables = shell.db.tables
    if not argument:
        put(tables_text(tables, shell.width()))
        return
    wanted = _unquoted(argument)
    for each in tables:
        if fold(each.name) == fold(wanted):
            put(table_text(each, shell.width()))
            return
    like = [each for each in tables if fnmatchcase(fold(each.name), fold(wanted))]
    if like:
        put(tables_text(like, shell.width()))
        return
    raise refuse(
        "D201",
        f"there is no table {wanted}",
        help=perhaps(wanted, [each.name for each in tables]) or "\\d lists the tables",
    )


def _unquoted(name: str) -> str:
    name = name.removesuffix(";").rstrip().removeprefix("main.")
    if len(name) > 1 and name[0] == name[-1] == '"':
        return name[1:-1].replace('""', '"')
    return name


def tables_text(tables: Sequence[Table], width: int) -> str:
    """All tables and views."""
    unit = next((each.unit for each in tables if each.unit), "unit")
    cells = [(each.name, _whose(each), _per_unit(each), _size(each)) for each in tables]
    return _boxed(("name", "rows", f"rows per {unit}", "size"), cells, width)


def table_text(table: Table, width: int) -> str:
    """One table: whose rows it has, and every column with what is known of its values."""
    about = [_whose(table), *filter(None, (_size(table), _clip(table)))]
    about += [f"key {', '.join(key)}" for key in table.keys]
    title = textwrap.fill(printable(f"{table.name}: {'; '.join(about)}"), width, break_on_hyphens=False)
    names = ("column", "type", "null", "values", "known from")
    known = [
        (one_line(each.name), cut(each.type, _TYPE), _null(each), _known_from(each, table))
        for each in table.columns
    ]
    taken = sum(max(len(row[at]) for row in (*known, _HEAD)) for at in range(4))
    room = width - taken - 3 * len(names) - 1
    if room < _LEAST:  # column by column
        room = max(1, width - len("known from") - 7)
        whole = [" ".join(_values(each, table, room)) for each in table.columns]
        found = [(*row[:3], values, row[3]) for row, values in zip(known, whole, strict=True)]
        return title + "\n" + _boxed(names, found, width, records=True)
    rows: list[tuple[str, ...]] = []
    for (name, kind, null, known_from), column in zip(known, table.columns, strict=True):
        first, *more = _values(column, table, room) or [""]
        rows.append((name, kind, null, first, known_from))
        rows += [("", "", "", line, "") for line in more]
    return title + "\n" + _boxed(names, rows, width)


_HEAD = ("column", "type", "null", "known from")


def _boxed(names: Sequence[str], rows: Sequence[Sequence[str]], width: int, records: bool = False) -> str:
    """A box no wider than there is room, without the columns in which nothing stands."""
    kept = [at for at in range(len(names)) if at == 0 or any(row[at] for row in rows)]
    columns = [Column(names[at], tuple(Text(one_line(row[at])) for row in rows), False) for at in kept]
    return folded(columns, Look(width=width, records=records))


def _whose(table: Table) -> str:
    if table.view:
        return "a view, public" if table.view == "public" else f"a view: {table.view}"
    if table.public:
        return "public"
    return f"private, by {', '.join(table.path)}"


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
        return f"where clipping a {table.unit}'s rows starts is found by the first query that needs it"
    return f"a {table.unit} with more than about {table.rows_per_unit} rows is clipped"


def _size(table: Table) -> str:
    if table.size is None:
        return ""
    return f"{table.size:,} {'row' if table.size == 1 else 'rows'}"


def _null(column: listing.Column) -> str:
    return "" if column.nullable else "no"


def _values(column: listing.Column, table: Table, room: int) -> list[str]:
    """What may stand in a column, in a few lines."""
    if column.unit:
        return textwrap.wrap(f"the {table.unit}: never shown", room)
    if column.values is not None:
        return _values_shown([plain(each) for each in column.values], room)
    if column.range is not None:
        low, high = column.range
        return [low if low == high else f"{low} to {high}"]
    if column.listed is not None and not table.public:
        return textwrap.wrap(f"those of {column.listed}", room)
    if column.type == "BOOLEAN":
        return ["false, true"]
    return ["no range declared"] if table.unit and type_named(column.type).numeric else []


def _values_shown(values: Sequence[str], room: int) -> list[str]:
    """The values, or the first of them and how many there are."""
    lines = textwrap.wrap(printable(", ".join(values)), room, break_on_hyphens=False)
    if len(lines) <= _LINES:
        return lines
    return [*lines[: _LINES - 1], f"... {len(values):,} in all"]


def _known_from(column: listing.Column, table: Table) -> str:
    """Who says so: the policy, a private finding, the public rows, or the type alone."""
    if column.found:
        return "found"
    if table.public:
        return "its rows" if column.range is not None else ""
    if column.line is not None:
        return f"policy:{column.line}"
    return "its type" if column.range is not None else ""


COMMANDS = (Command("d", "\\d [TABLE]", "tables and views, or the columns of one", _describe, "table"),)
