"""The tables that exist for analysts, as shown to them: tables, views, columns, ranges.

Table("patients", unit="patient", columns=(Column("age", "INTEGER", low=0, high=110), ...))
"""

from __future__ import annotations

from collections.abc import Mapping

from dpsql.ir.column import Categories, Fact, Interval, Kind, Listed, Sized, Value, as_text
from dpsql.ir.column import Column as Bound
from dpsql.ir.relation import names_of
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import Known, KnownTable


@dataclass(frozen=True, slots=True)
class Column:
    """A column and its public facts.

    ``range`` is declared or, if ``found``, a found bound; its ends are texts, dates as dates.
    ``values`` are the declared list, ``length`` is the declared length of a text or a list; ``listed`` is the
    public table's column that holds the list. ``comment`` is what the owner says of it. ``unit``: it tells
    whose a row is; with the columns ``beside`` it, it does too, and alone it is a value like any other.
    """

    name: str
    type: str
    nullable: bool
    range: tuple[str, str] | None = None
    values: tuple[Value, ...] | None = None
    listed: str | None = None
    length: int | None = None
    found: bool = False
    unit: bool = False
    line: int | None = None
    comment: str = ""
    beside: tuple[str, ...] = ()

    @property
    def hint(self) -> str:
        """A short description of the values, such as [0, 110]."""
        if self.range is not None:
            return f"[{self.range[0]}, {self.range[1]}]"
        if self.values is not None:
            shown = ", ".join(map(str, self.values[:3]))
            return f"{shown}, ..." if len(self.values) > 3 else shown
        if self.length is not None:
            return f"length at most {self.length}"
        return f"those of {self.listed}" if self.listed is not None else ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table or a view. ``unit`` owns its rows ('' if they are public); ``path`` is how they reach the unit.

    ``rows_per_unit`` is where clipping starts (1 where the unit is the key), or None if it is still to be
    found. ``size`` is the number of rows of a public table. ``view`` describes the contents of a view.
    """

    name: str
    columns: tuple[Column, ...]
    unit: str = ""
    path: tuple[str, ...] = ()
    rows_per_unit: int | None = None
    keys: tuple[tuple[str, ...], ...] = ()
    size: int | None = None
    view: str = ""

    @property
    def public(self) -> bool:
        return not self.unit and not self.view


@dataclass(frozen=True, slots=True)
class View:
    """The kind and the columns of a view, found by binding it."""

    kind: str
    columns: tuple[Bound, ...]


def tables_of(known: Known, views: Mapping[str, View]) -> tuple[Table, ...]:
    """Return every table and view that FROM may name, in the policy's order."""
    tables = [_table(table, known) for table in known.seen]
    for name, view in views.items():
        tables.append(Table(name, tuple(column_of(column) for column in view.columns), view=view.kind))
    return tuple(tables)


def _table(table: KnownTable, known: Known) -> Table:
    lines, comments = dict(table.lines), dict(table.comments)
    columns = tuple(
        column_of(
            column,
            found=column.name in table.found,
            unit=table.unit_columns == {column.name},
            line=lines.get(column.name),
            comment=comments.get(column.name, ""),
            beside=_beside(table, column.name, known),
        )
        for column in table.seen
    )
    keys = tuple(key for key in table.keys if known.shows(table.name, *key))
    if table.public:
        return Table(table.name, columns, keys=keys, size=table.size)
    path = path_of(table) if _shows_path(table, known) else ()
    rows = 1 if table.at_most == 1 else table.rows
    return Table(table.name, columns, known.unit, path, rows, keys)


def _shows_path(table: KnownTable, known: Known) -> bool:
    """Whether all tables and columns on the path to the unit exist for the analyst who asks."""
    if not table.links:
        return known.shows(table.name, *names_of(table.unit_column or ""))
    holders = (table.name, *(link.table for link in table.links))
    steps = zip(holders, table.links, strict=False)
    return all(
        known.shows(holder, *names_of(link.column)) and known.shows(link.table, *names_of(link.key))
        for holder, link in steps
    )


def _beside(table: KnownTable, name: str, known: Known) -> tuple[str, ...]:
    """Return the other columns that are the unit together with this one, if all exist for who asks."""
    unit = names_of(table.unit_column or ())
    if name not in unit or not known.shows(table.name, *unit):
        return ()
    return tuple(column for column in unit if column != name)


def path_of(table: KnownTable) -> tuple[str, ...]:
    """Return how a private table's rows reach their unit: its column, or order_id -> orders.order_id."""
    steps = tuple(
        f"{', '.join(names_of(link.column))} -> "
        f"{', '.join(f'{link.table}.{key}' for key in names_of(link.key))}"
        for link in table.links
    )
    return steps or (", ".join(names_of(table.unit_column or "")),)


def column_of(
    column: Bound,
    *,
    found: bool = False,
    unit: bool = False,
    line: int | None = None,
    comment: str = "",
    beside: tuple[str, ...] = (),
) -> Column:
    """Return a column as it is shown, with the public facts about its values."""
    fact = column.fact
    values = listed = None
    if isinstance(fact.domain, Categories) and fact.type.kind is not Kind.BOOLEAN:
        values = fact.domain.values
    if isinstance(fact.domain, Listed):
        listed = f"{fact.domain.table}.{fact.domain.column}"
    length = fact.domain.most if isinstance(fact.domain, Sized) else None
    return Column(
        column.name,
        fact.type.said,
        fact.nullable,
        _range(fact),
        values,
        listed,
        length,
        found,
        unit,
        line,
        comment,
        beside,
    )


def _range(fact: Fact) -> tuple[str, str] | None:
    domain = fact.domain.bounds if isinstance(fact.domain, Listed) else fact.domain
    if not isinstance(domain, Interval) or not domain.finite:
        return None
    return as_text(domain.low, fact.type), as_text(domain.high, fact.type)
