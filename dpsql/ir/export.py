"""Randomized-response exports: the questions, their plan and the responses.

    ExportQuery = questions to the rows of a relation      made by bind
    ExportPlan = the same with designs and a price         paid, run and explained
    ExactExport --release--> ReleasedExport                true answers, and randomized ones

A true answer is the position of a value in the question's public list.
"""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from dpsql.ir.column import Type, Value
from dpsql.ir.event import Event
from dpsql.ir.measure import KeyList
from dpsql.ir.plan import Noise
from dpsql.ir.relation import Relation, tables_read
from dpsql.ir.scalar import Scalar
from dpsql.ir.source import Source, Span
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """One DP_RANDOMIZED_RESPONSE(scalar, epsilon) of the query."""

    name: str
    scalar: Scalar
    values: KeyList
    type: Type
    epsilon: float
    span: Span | None


@dataclass(frozen=True, slots=True, eq=False)
class ExportQuery:
    """Questions to the rows of a relation in which every unit has at most one row."""

    source: Source
    relation: Relation
    asked: tuple[ExportColumn, ...]


@dataclass(frozen=True, slots=True)
class Design:
    """The response design: one of ``size`` values directly, or ``size`` yes/no ``marks``.

    ``other`` is the probability, in 2^64ths, of each value (or of yes at each mark) that is not the row's
    own.
    """

    size: int
    marks: bool
    other: int

    @property
    def own(self) -> Fraction:
        """The probability of the row's own value, or of yes at its mark."""
        return Fraction(1, 2) if self.marks else 1 - (self.size - 1) * self.chance

    @property
    def chance(self) -> Fraction:
        """``other`` as a fraction."""
        return Fraction(self.other, 2**64)


@dataclass(frozen=True, slots=True)
class Question:
    """A question and its possible answers.

    ``otherwise`` is the position of the value that stands for every value not on the list.
    """

    name: str
    scalar: Scalar
    type: Type
    values: tuple[Value, ...]
    otherwise: int
    epsilon: float
    design: Design


@dataclass(frozen=True, slots=True, eq=False)
class ExportPlan:
    """A planned export.

    ``rows`` is the noise on the number of rows, on top of ``padding`` rows that belong to no unit.
    ``epsilon`` is the whole price; ``epsilon_of_rows`` is the part that hides the number of rows.
    """

    source: Source
    relation: Relation
    questions: tuple[Question, ...]
    rows: Noise
    padding: int
    epsilon: float
    epsilon_of_rows: float
    accountant: str
    events: tuple[Event, ...]
    digest: str

    @property
    def tables(self) -> frozenset[str]:
        """The tables whose rows are measured."""
        return tables_read(self.relation)


class ExactExport:
    """The true answers, one array per question: private. It shows nothing and cannot be pickled."""

    __slots__ = ("columns", "rows")

    def __init__(self, rows: int, columns: list[NDArray[np.int64]]) -> None:
        assert all(len(column) == rows for column in columns)
        self.rows = rows
        self.columns = columns

    def __repr__(self) -> str:
        return "ExactExport(not shown)"

    def __reduce_ex__(self, protocol: object) -> NoReturn:
        raise TypeError("true answers are never stored")


RandomizedColumn: TypeAlias = "NDArray[np.uint16] | NDArray[np.uint8]"
"""Positions of values; or marks, eight to a byte, one row of bytes per answer."""


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedExport:
    """The randomized responses, sorted: public."""

    rows: int
    columns: tuple[RandomizedColumn, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Export:
    """The result for the owner: rows, and the ``manifest`` with the numbers needed to estimate counts."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Value, ...]]
    manifest: dict[str, Any]
    cost: float
    remaining: float
    repeated: bool
