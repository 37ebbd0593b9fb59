"""What an owner's export asks of each unit, and what comes out of it.

    ExportQuery = questions to the rows of a relation          what bind makes
    ExportPlan = the same with designs and a price     what is paid, run and explained
    ExactExport --release--> Responses                     true answers, and those that leave

A true answer is the number of a value in the question's public list.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias

from dpsql.ir.column import Type, Value
from dpsql.ir.event import Event
from dpsql.ir.measure import KeyList
from dpsql.ir.plan import Noise
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Scalar
from dpsql.ir.source import Source, Span

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """One DP_RANDOMIZED_RESPONSE(scalar, epsilon) of the text."""

    name: str
    scalar: Scalar
    values: KeyList
    type: Type
    epsilon: float
    span: Span | None


@dataclass(frozen=True, slots=True, eq=False)
class ExportQuery:
    """Questions to rows of which every unit has at most one."""

    source: Source
    relation: Relation
    asked: tuple[ExportColumn, ...]


@dataclass(frozen=True, slots=True)
class Design:
    """How a row answers: of ``size`` values directly, or by as many ``marks``.

    ``other`` is the chance, in 2^64ths, of each value (or of yes at each mark) that is not the row's own.
    """

    size: int
    marks: bool
    other: int

    @property
    def own(self) -> Fraction:
        """The chance of the row's own value, or of yes at its mark."""
        return Fraction(1, 2) if self.marks else 1 - (self.size - 1) * self.chance

    @property
    def chance(self) -> Fraction:
        return Fraction(self.other, 2**64)


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and the values that it can be answered with.

    ``otherwise`` is the number of the value that stands for whatever is on no list.
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
    """``rows`` is the noise on their number, on top of ``padding`` rows that belong to nobody.

    ``epsilon`` is the whole price, ``epsilon_of_rows`` the part that hides how many rows there are.
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


class ExactExport:
    """The true answers, one array per question: hot. It shows nothing and cannot be pickled."""

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
"""Numbers of values; or, of marks, eight to a byte, one row of bytes per answer."""


@dataclass(frozen=True, slots=True, eq=False)
class ReleasedExport:
    """The answers as they leave, sorted: anybody may see them."""

    rows: int
    columns: tuple[RandomizedColumn, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Export:
    """What the owner gets to give away: rows, and the ``manifest`` that tells how to count by them."""

    columns: tuple[str, ...]
    types: tuple[str, ...]
    rows: list[tuple[Value, ...]]
    manifest: dict[str, Any]
    cost: float
    remaining: float
    repeated: bool
