"""Relations: a small closed set of immutable nodes.

    Project(Filter(Join(Scan("visits"), Scan("patients")))))

Column names are unique inside a query, so a join puts two schemas side by side and a ``Ref`` needs no
qualifier. Every private relation has a hidden column with the unit. The analyst's name of the unit column
resolves to that same column, so the unit is known by lineage.
Relations compare by identity; ``repr`` shows their structure without spans.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, replace
from enum import Enum
from typing import TypeAlias, assert_never

from dpsql.ir.column import Column, Fact, Kind, Type, Value, field_types
from dpsql.ir.scalar import Scalar
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class ScanColumn:
    """A column of a scanned table: its name in the query, its name in the table, and its fact.

    ``guessed`` says that the range is a found bound, not a declared one: about all units are within.
    """

    name: str
    source: str
    fact: Fact
    guessed: bool = field(default=False, repr=False)


Columns: TypeAlias = str | tuple[str, ...]
"""A column, or several that are one value together: NULL where one of them is, and compared one by one."""


def names_of(columns: Columns) -> tuple[str, ...]:
    """Return the names of one column or of several."""
    return (columns,) if isinstance(columns, str) else columns


def unit_type_of(types: tuple[Type, ...]) -> Type:
    """Return the type of a value of columns with these types: that of one, or a STRUCT."""
    fields = ", ".join(f"u{place} {of_it.sql}" for place, of_it in enumerate(types, 1))
    return types[0] if len(types) == 1 else Type(Kind.COMPOSITE, f"STRUCT({fields})")


def unit_types(type: Type) -> tuple[Type, ...]:
    """Return the types of the columns that a value is made of."""
    if type.kind is not Kind.COMPOSITE:
        return (type,)
    return tuple(field_types(Type(Kind.OPAQUE, type.sql)).values())


@dataclass(frozen=True, slots=True)
class Link:
    """One step of the path to the unit: ``column`` of the table so far equals ``table.key``.

    ``filled`` says that the database itself keeps NULL out of the column.
    """

    column: Columns
    table: str
    key: Columns
    filled: bool = field(default=False, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Owner:
    """How a scanned table is linked to its unit.

    ``name`` is the hidden column and ``fact`` its fact. Its value is ``column`` of the scanned table, or of
    the last table of ``links``; of several columns it is a STRUCT, which no query can name. ``rows`` is where
    clipping starts (a guess). ``at_most`` is the number of rows per unit that an enforced key proves, or
    None. ``filled`` says that the database itself keeps NULL out of the column, ``widened`` that the column's
    own type is not the unit's.
    """

    name: str
    fact: Fact
    column: Columns
    links: tuple[Link, ...]
    rows: int | None
    at_most: int | None
    filled: bool = False
    widened: bool = False

    @property
    def composite(self) -> bool:
        """Whether several columns hold the unit."""
        return not isinstance(self.column, str)

    @property
    def step(self) -> Columns:
        """The columns of the scanned table that hold the unit, or the first link to it."""
        return self.links[0].column if self.links else self.column


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Scan:
    """A table of the policy. ``keys`` are its declared unique keys, each enforced or verified.

    ``owner`` is None for a public table, which has a known ``size`` in rows. Rows with a NULL unit are
    dropped here, before anything else. Of each pair of ``checks`` the first column is at most the second:
    declared, and not verified, so that only ranges rest on it. ``tied`` are columns of which each value
    belongs to one unit, as the policy says: nobody verified it. ``most`` is how many rows of a public table
    share one value of columns.
    """

    table: str
    columns: tuple[ScanColumn, ...]
    keys: tuple[tuple[str, ...], ...]
    owner: Owner | None
    size: int | None = None
    span: Span | None = field(default=None, repr=False)
    checks: tuple[tuple[str, str], ...] = ()
    tied: tuple[str, ...] = field(default=(), repr=False)
    most: tuple[tuple[frozenset[str], int], ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Materialized:
    """A subtree of public tables only, run by the sealed engine and replaced by its rows.

    ``source`` of a column is its DuckDB type; dates and the like are text in the rows. ``keys`` are sets of
    columns that are unique together.
    """

    columns: tuple[ScanColumn, ...]
    rows: tuple[tuple[Value, ...], ...]
    keys: tuple[tuple[str, ...], ...] = ()
    span: Span | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class StageInput:
    """The released rows of an earlier stage, read like a public table.

    ``size`` is the most rows that it can have; ``keys`` and ``size`` are checked when the rows arrive.
    """

    name: str
    columns: tuple[ScanColumn, ...]
    keys: tuple[tuple[str, ...], ...]
    size: int
    span: Span | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Filter:
    """The rows for which ``condition`` is true."""

    input: Relation
    condition: Scalar


@dataclass(frozen=True, slots=True)
class Named:
    """A scalar under a name. ``known`` is what is known of it, where that does not follow from the scalar."""

    name: str
    scalar: Scalar
    known: Fact | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Project:
    """Exactly these columns; the hidden unit column is always among them, as a plain Ref."""

    input: Relation
    columns: tuple[Named, ...]


class JoinKind(Enum):
    """RIGHT joins are read as LEFT joins with the sides exchanged; SEMI and ANTI keep the left side only."""

    INNER = "inner"
    LEFT = "left"
    FULL = "full"
    SEMI = "semi"
    ANTI = "anti"

    @property
    def one_sided(self) -> bool:
        return self in (JoinKind.SEMI, JoinKind.ANTI)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Join:
    """The columns of both sides; without a condition, every row with every row.

    A row of a FULL join belongs to the unit of the side that is present: ``unit`` is that column. ``added``
    says that the query did not write the equality of the units, which the condition has.
    """

    kind: JoinKind
    left: Relation
    right: Relation
    condition: Scalar | None
    span: Span | None = field(default=None, repr=False)
    unit: Column | None = None
    added: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class Ordering:
    """One expression of an ORDER BY."""

    scalar: Scalar
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate and its name. ``argument`` is None for COUNT(*); ``others`` are the further arguments."""

    name: str
    function: str
    argument: Scalar | None
    distinct: bool = False
    condition: Scalar | None = None  # FILTER (WHERE ...)
    span: Span | None = field(default=None, compare=False, repr=False)
    others: tuple[Scalar, ...] = ()


@dataclass(frozen=True, slots=True)
class OrderedCall(AggregateCall):
    """An aggregate of rows in an order: that of FIRST(x ORDER BY y), or of ARG_MIN(x, y)."""

    order: tuple[Ordering, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Aggregate:
    """An aggregate within units: the unit is among ``keys``. An aggregate that drops the unit is a Measure.

    DISTINCT that keeps the unit is an Aggregate without aggregates.
    """

    input: Relation
    keys: tuple[Named, ...]
    aggregates: tuple[AggregateCall, ...]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Union:
    """UNION ALL of two relations with the same column names and the unit in the same position."""

    left: Relation
    right: Relation


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window function, or an aggregate over a window, and its name.

    ``rows`` are the ends of a ROWS frame (None: unbounded). Without it the frame is SQL's default: up to the
    current row's peers with an ORDER BY, the whole partition without one.
    """

    name: str
    function: str
    arguments: tuple[Scalar, ...]
    partition: tuple[Scalar, ...]
    order: tuple[Ordering, ...]
    rows: tuple[int | None, int | None] | None = None
    condition: Scalar | None = None  # FILTER (WHERE ...)
    ignore_nulls: bool = False
    span: Span | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Window:
    """The input's columns and one more, computed within units: the unit is in the partition."""

    input: Relation
    call: WindowCall


Relation: TypeAlias = Scan | Materialized | StageInput | Filter | Project | Join | Aggregate | Union | Window


def stage_inputs(relation: Relation) -> frozenset[str]:
    """Return the names of the stage inputs that a relation reads."""
    match relation:
        case StageInput(name):
            return frozenset((name,))
        case Scan() | Materialized():
            return frozenset()
        case Filter() | Project() | Aggregate() | Window():
            return stage_inputs(relation.input)
        case Join() | Union():
            return stage_inputs(relation.left) | stage_inputs(relation.right)
        case _:
            assert_never(relation)


def scans(relation: Relation) -> tuple[Scan, ...]:
    """Return the tables of the policy that a relation reads."""
    match relation:
        case Scan():
            return (relation,)
        case Materialized() | StageInput():
            return ()
        case Filter() | Project() | Aggregate() | Window():
            return scans(relation.input)
        case Join() | Union():
            return scans(relation.left) + scans(relation.right)
        case _:
            assert_never(relation)


def tables_read(relation: Relation) -> frozenset[str]:
    """Return the names of the tables that a relation reads, with those on the paths to units."""
    links = (link for scan in scans(relation) if scan.owner is not None for link in scan.owner.links)
    return frozenset((*(scan.table for scan in scans(relation)), *(link.table for link in links)))


def with_rows(relation: Relation, rows: Mapping[str, tuple[tuple[Value, ...], ...]]) -> Relation:
    """Replace stage inputs by their rows, where these are there already; a part that reads none stays."""
    if stage_inputs(relation).isdisjoint(rows):
        return relation
    match relation:
        case StageInput(name, columns, keys, _, span):
            return Materialized(columns, rows[name], keys, span)
        case Scan() | Materialized():
            return relation
        case Filter() | Project() | Aggregate() | Window():
            return replace(relation, input=with_rows(relation.input, rows))
        case Join() | Union():
            return replace(
                relation, left=with_rows(relation.left, rows), right=with_rows(relation.right, rows)
            )
        case _:
            assert_never(relation)
