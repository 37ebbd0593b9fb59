"""The two kinds of FROM items and queries: private rows still to be aggregated, or ordinary SQL.

Private   rows that belong to units: a relation, and the names of its columns in the query
Open      released or public: a syntax tree that the sealed engine runs as it is
"""

from __future__ import annotations

from dataclasses import replace
from typing import TypeAlias

from sqlglot import exp

from dpsql.bind.scope.scope import Fresh, Scope, Visible
from dpsql.ir.column import Fact
from dpsql.ir.formula import Formula
from dpsql.ir.relation import Filter, Owner, Relation, Scan, ScanColumn, names_of, unit_types
from dpsql.ir.scalar import Call, Ref
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import Known, KnownTable

Margin: TypeAlias = tuple[str, ...]
"""(), (half-width,) or (half-width, lower end, upper end), as names of outputs."""

Number: TypeAlias = "tuple[str, Formula] | None"
"""What an output is in each row of a released table, by the name of that table; None for any other."""


@dataclass(frozen=True, slots=True, eq=False)
class Private:
    """Rows that belong to units; ``scope`` names the columns, in order."""

    relation: Relation
    scope: Scope


@dataclass(frozen=True, slots=True)
class Summed:
    """A column of sums of a private view; ``full``: each of the rows that are summed has a value."""

    name: str
    full: bool


@dataclass(frozen=True, slots=True, eq=False)
class Open:
    """Ordinary SQL over released and public tables, with the outputs ``columns``.

    ``margins`` names, for each column, the further outputs with its half-width and, where the query asks for
    them, the ends of its interval; it is empty for a column that is no released number. ``rows`` is the same
    as a relation, for joins with private rows; only a public table or a plain selection from one has it.
    ``totals`` names, for each column that is a key of ROLLUP or the like, the further output that is 1 in the
    rows of which it is no key. The rows of a private view stand for as many rows as the column ``counts``
    says; it is '' where that column was left out, and None for all other rows. ``sums`` are columns with sums
    over those rows. ``numbers`` are the columns that are linear in counts and sums; it may be empty.
    """

    tree: exp.Query | exp.Table
    columns: tuple[str, ...]
    margins: tuple[Margin, ...]
    rows: Private | None = None
    released: bool = False
    totals: tuple[str | None, ...] = ()
    counts: str | None = None
    sums: tuple[Summed, ...] = ()
    numbers: tuple[Number, ...] = ()

    @property
    def hidden(self) -> tuple[str, ...]:
        """The outputs behind the columns, which hold the margins, and then the marks of totals."""
        margins = (name for margin in self.margins for name in margin)
        return (*margins, *(name for name in self.totals if name is not None))


def scan(table: KnownTable, known: Known, alias: str, fresh: Fresh, span: Span | None) -> Private:
    """Return a table of the policy as a relation; its unit column, if it has one, is the hidden unit.

    Of several columns none is: the hidden unit is made of them.
    """
    unseen = table.unseen  # their names would number others, in what is explained
    names = {
        column.name: fresh("unseen" if column.name in unseen else column.name) for column in table.columns
    }
    facts = {column.name: column.fact for column in table.columns}
    owner: Owner | None = None
    if not table.public:
        assert table.unit_column is not None
        holder = known.table(table.links[-1].table) if table.links else table
        assert holder is not None
        stored = {column.name: column.fact for column in holder.columns}
        read = dict(zip(names_of(table.unit_column), unit_types(known.unit_type), strict=True))
        widened = any(stored[name].type != of_it for name, of_it in read.items())
        if not table.links:
            facts |= {name: replace(stored[name], type=of_it) for name, of_it in read.items()}
        if isinstance(table.unit_column, str):
            hidden = fresh("unit") if table.links else names[table.unit_column]
            fact = Fact(known.unit_type, stored[table.unit_column].domain, nullable=False)
        else:
            hidden, fact = fresh("unit"), Fact(known.unit_type, nullable=False)
        links = table.unit_column, table.links
        owner = Owner(hidden, fact, *links, table.rows, table.at_most, holder.unit_filled, widened)
    relation: Relation = Scan(
        table.name,
        tuple(
            ScanColumn(names[column.name], column.name, facts[column.name], column.name in table.found)
            for column in table.columns
        ),
        tuple(tuple(names[name] for name in key) for key in table.keys),
        owner,
        table.size,
        span,
        tuple((names[lesser], names[greater]) for lesser, greater in table.checks),
        tuple(names[name] for name in table.tied),
    )
    scope = Scope(
        tuple(Visible(alias, column.name, Ref(names[column.name])) for column in table.seen),
        ("a private column exists only where the policy lists it",) if owner else (),
    )
    return Private(_filled(relation, [names[name] for name in table.filled]), scope)


def _filled(relation: Relation, columns: list[str]) -> Relation:
    """Leave out the rows with NULL in columns that the policy declares without.

        sex = { values = ["F", "M"], null = false }        WHERE sex IS NOT NULL

    Claim   the facts hold whether the declaration does or not.
    Proof   It is not relied on: the condition is in the SQL, and narrows the facts as an analyst's own would.
    Test    tests/unit/test_null_groups.py, grammar_tests/group_by/without_null.sql
    """
    for name in columns:
        relation = Filter(relation, Call("is_not_null", (Ref(name),)))
    return relation
