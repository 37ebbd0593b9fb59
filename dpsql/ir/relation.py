"""Tables that a query speaks of: a small closed set of immutable nodes.

    Project(Filter(Join(Scan("visits"), Scan("patients")))))

Names of columns are unique inside one query, so a join simply puts two schemas side by side and a
``Ref`` needs no qualifier. Every private relation carries a hidden column that holds the unit; the
analyst's name for the unit column resolves to that very column, so that the unit is known by lineage.
Relations compare by identity; ``repr`` shows their structure without spans.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import TypeAlias, assert_never

from dpsql.ir.column import Column, Fact, Value
from dpsql.ir.scalar import Scalar
from dpsql.ir.source import Span


@dataclass(frozen=True, slots=True)
class ScanColumn:
    """A column of a scanned table: our name for it, the table's name for it, what is known of it.

    ``guessed`` says that its range is not declared: about all units were found to be within.
    """

    name: str
    source: str
    fact: Fact
    guessed: bool = field(default=False, repr=False)


@dataclass(frozen=True, slots=True)
class Link:
    """One step of the path to the unit: ``column`` of the table so far equals ``table.key``."""

    column: str
    table: str
    key: str


@dataclass(frozen=True, slots=True)
class Owner:
    """How a scanned table knows its unit.

    ``name`` is the hidden column, ``fact`` what is known of it; its value is ``column`` of the scanned
    table, or of the last table of ``links``. ``rows`` is where clipping starts (a guess); ``at_most``
    is what an enforced key proves of the rows of one unit, or None; ``filled`` says that the database
    itself keeps NULL out of the column, ``widened`` that its own type is not the unit's.
    """

    name: str
    fact: Fact
    column: str
    links: tuple[Link, ...]
    rows: int | None
    at_most: int | None
    filled: bool = False
    widened: bool = False


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Scan:
    """A table of the policy. ``keys`` are its declared unique keys, each enforced or verified.

    ``owner`` is None for a public table, whose ``size`` (rows, public) is known.
    Rows whose unit is NULL are dropped here, before anything else.
    """

    table: str
    columns: tuple[ScanColumn, ...]
    keys: tuple[tuple[str, ...], ...]
    owner: Owner | None
    size: int | None = None
    span: Span | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Materialized:
    """A subtree of public tables only, run whole by the sealed engine and handed down as its rows.

    ``source`` of a column is its DuckDB type; dates and the like stand in the rows as text. ``keys`` are
    sets of columns on which no two rows agree.
    """

    columns: tuple[ScanColumn, ...]
    rows: tuple[tuple[Value, ...], ...]
    keys: tuple[tuple[str, ...], ...] = ()
    span: Span | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class StageInput:
    """What an earlier stage releases, handed down as its rows: by then a public table like any other.

    ``size`` is the most rows that are handed down; ``keys`` and ``size`` are checked when they are.
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
    """A scalar under a name."""

    name: str
    scalar: Scalar


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Project:
    """Exactly these columns (the hidden unit column is always among them, as a plain Ref)."""

    input: Relation
    columns: tuple[Named, ...]


class JoinKind(Enum):
    """RIGHT joins are read as LEFT ones with the sides exchanged; SEMI and ANTI keep the left side alone."""

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
    """Both sides' columns, side by side; None as the condition joins every row with every row.

    The rows of a FULL join belong to the unit of whichever side is there: ``unit`` is that column.
    """

    kind: JoinKind
    left: Relation
    right: Relation
    condition: Scalar | None
    span: Span | None = field(default=None, repr=False)
    unit: Column | None = None


@dataclass(frozen=True, slots=True)
class AggregateCall:
    """An aggregate under a name. ``argument`` is None for COUNT(*); ``others`` are what follows it."""

    name: str
    function: str
    argument: Scalar | None
    distinct: bool = False
    condition: Scalar | None = None  # FILTER (WHERE ...)
    span: Span | None = field(default=None, compare=False, repr=False)
    others: tuple[Scalar, ...] = ()


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Aggregate:
    """Per-unit work: the unit is among ``keys``. What drops the unit is a Measure, not a relation.

    DISTINCT that keeps the unit is an Aggregate without aggregates.
    """

    input: Relation
    keys: tuple[Named, ...]
    aggregates: tuple[AggregateCall, ...]


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Union:
    """UNION ALL of two relations with the same column names, the unit in the same position."""

    left: Relation
    right: Relation


@dataclass(frozen=True, slots=True)
class Ordering:
    """One expression of an ORDER BY."""

    scalar: Scalar
    descending: bool = False
    nulls_first: bool = False


@dataclass(frozen=True, slots=True)
class WindowCall:
    """A window function, or an aggregate over a window, under a name.

    ``rows`` are the ends of a ROWS frame (None: unbounded), else the frame is SQL's own: up to the
    current row's peers where there is an order, the whole partition where there is none.
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
    """The input's columns and one more, computed inside one unit: the unit is in its partition."""

    input: Relation
    call: WindowCall


Relation: TypeAlias = Scan | Materialized | StageInput | Filter | Project | Join | Aggregate | Union | Window


def stage_inputs(relation: Relation) -> frozenset[str]:
    """The names of all that a relation awaits of earlier stages."""
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


def with_rows(relation: Relation, rows: Mapping[str, tuple[tuple[Value, ...], ...]]) -> Relation:
    """The relation with what it awaits, as far as it is there by now."""
    match relation:
        case StageInput(name, columns, keys, _, span):
            return Materialized(columns, rows[name], keys, span) if name in rows else relation
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
