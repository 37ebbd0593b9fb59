"""What exists for an analyst, as they are told of it: tables, views, columns, ranges.

Table("patients", unit="patient", columns=(Column("age", "INTEGER", low=0, high=110), ...))
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from dpsql.ir.column import Categories, Fact, Interval, Kind, Listed, Value, as_text
from dpsql.ir.column import Column as Bound
from dpsql.policy.catalogue import Known, KnownTable


@dataclass(frozen=True, slots=True)
class Column:
    """A column, and what is publicly known of its values.

    ``range`` is declared or, if ``found``, was found privately; its ends are texts, dates as dates.
    ``values`` are the declared list; ``listed`` is the public table's column that holds it.
    """

    name: str
    type: str
    nullable: bool
    range: tuple[str, str] | None = None
    values: tuple[Value, ...] | None = None
    listed: str | None = None
    found: bool = False
    unit: bool = False
    line: int | None = None

    @property
    def hint(self) -> str:
        """What may be said beside it in a few words: [0, 110]."""
        if self.range is not None:
            return f"[{self.range[0]}, {self.range[1]}]"
        if self.values is not None:
            shown = ", ".join(map(str, self.values[:3]))
            return f"{shown}, ..." if len(self.values) > 3 else shown
        return f"those of {self.listed}" if self.listed is not None else ""


@dataclass(frozen=True, slots=True)
class Table:
    """A table or a view. ``unit`` says whose the rows are ('' if nobody's), ``path`` by which columns.

    ``rows_per_unit`` is where clipping starts (1 where the unit is the key), None where it is to be
    found; ``size`` is the number of rows of a public table; ``view`` says what a view holds.
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
    """What a view of the policy was found to hold."""

    kind: str
    columns: tuple[Bound, ...]


def tables_of(known: Known, views: Mapping[str, View]) -> tuple[Table, ...]:
    """Everything that may stand behind FROM, in the policy's order."""
    tables = [_table(each, known.unit) for each in known.tables]
    for name, view in views.items():
        tables.append(Table(name, tuple(_column(each) for each in view.columns), view=view.kind))
    return tuple(tables)


def _table(table: KnownTable, unit: str) -> Table:
    lines = dict(table.lines)
    columns = tuple(
        _column(
            each,
            found=each.name in table.found,
            unit=not table.links and each.name == table.unit_column,
            line=lines.get(each.name),
        )
        for each in table.columns
    )
    if table.public:
        return Table(table.name, columns, keys=table.keys, size=table.size)
    steps = tuple(f"{link.column} -> {link.table}.{link.key}" for link in table.links)
    path = steps or (table.unit_column or "",)
    rows = 1 if table.at_most == 1 else table.rows
    return Table(table.name, columns, unit, path, rows, table.keys)


def _column(column: Bound, *, found: bool = False, unit: bool = False, line: int | None = None) -> Column:
    fact = column.fact
    values = listed = None
    if isinstance(fact.domain, Categories) and fact.type.kind is not Kind.BOOLEAN:
        values = fact.domain.values
    if isinstance(fact.domain, Listed):
        listed = f"{fact.domain.table}.{fact.domain.column}"
    return Column(column.name, fact.type.said, fact.nullable, _range(fact), values, listed, found, unit, line)


def _range(fact: Fact) -> tuple[str, str] | None:
    domain = fact.domain.bounds if isinstance(fact.domain, Listed) else fact.domain
    if not isinstance(domain, Interval) or not domain.finite:
        return None
    return as_text(domain.low, fact.type), as_text(domain.high, fact.type)
