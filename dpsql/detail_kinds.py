"""What every kind of detail answers, and where its answers are found: a folder of ``dpsql/details`` each.

    details/quantiles/    detail  measure  plan  sql  release  finish  explain  audit

    part("plan", "quantiles").planned(detail, measure, rows, groups, share, ask)

A kind is looked up by the name that its details carry, ``Detail.kind``, and a part of it is loaded when
somebody asks for it: no plan waits for the arrays of a release. This module stands below all rooms that ask,
and none of them imports a kind:

    rewrite   asks for   measure          engines   asks for   sql          post      asks for   finish
    plan      asks for   plan             release   asks for   release      explain   asks for   explain
    audit     asks for   audit

A part is a module with the functions of its Protocol. The ``__init__`` of a kind makes a ``Kind`` of its
parts for mypy alone, which names what is forgotten.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar, overload

from dpsql.ir.column import Fact, Interval, Value
from dpsql.ir.detail import Detail
from dpsql.ir.measure import Finish, Measure
from dpsql.ir.plan import DetailPlan, MeasurePlan, Noise
from dpsql.ir.relation import AggregateCall

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

    from dpsql.ir.allowance import Allowance
    from dpsql.ir.finished import Finished
    from dpsql.ir.table import Masses, ReleasedTable
    from dpsql.mechanisms.exponential import Choose

D = TypeVar("D", bound=Detail, contravariant=True)

Bounds: TypeAlias = Callable[[AggregateCall], tuple[Interval, Fact]]
"""The finite range of a call's argument, or the refusal of one that has none."""

Made: TypeAlias = tuple[Detail, dict[AggregateCall, tuple[int, ...]]]
"""A detail, and the numbers of each call among those of the detail."""

Ask: TypeAlias = "Callable[[Fraction], Allowance]"
"""What a share of the price buys."""

Arrays: TypeAlias = "dict[str, NDArray[Any]]"
"""The columns of a SELECT of numbers without NULL."""

Rows: TypeAlias = list[tuple[object, ...]]
"""The rows of a SELECT."""

Group: TypeAlias = Callable[[Sequence[object]], tuple[Value, ...]]
"""The fetched keys of a row as a group."""

Draw: TypeAlias = "Callable[[Noise, int], NDArray[np.int64]]"
"""So many fresh draws of a planned noise."""


@dataclass(frozen=True, slots=True)
class Reads:
    """The SELECTs of a detail: those that are fetched as arrays, then those that are fetched as rows."""

    arrays: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()


class Measuring(Protocol):
    """measure.py: aggregate calls -> the detail that answers them."""

    def made(self, measure: Measure, calls: Sequence[AggregateCall], bounds: Bounds) -> Made:
        """The detail of the first call, and of all others that share it."""
        ...


class Planning(Protocol[D]):
    """plan.py: a detail -> which mechanism releases its numbers, and what that costs."""

    def planned(
        self, detail: D, measure: Measure, rows: int, groups: int | None, share: Fraction, ask: Ask
    ) -> DetailPlan[Detail]:
        """``rows`` of a unit count in full, it is proved to be in ``groups``; ``share`` is of the price."""
        ...

    def own_rows(self, detail: D) -> int | None:
        """How many rows of a unit count in full, where the detail itself says it; else a clip decides."""
        ...


class Printing(Protocol[D]):
    """sql.py: a planned detail -> SQL, which the engine runs, and what the fetched numbers become."""

    def reads(self, planned: MeasurePlan, each: DetailPlan[D]) -> Reads:
        """The SELECTs that bound every unit's weight."""
        ...

    def weights(
        self,
        planned: MeasurePlan,
        each: DetailPlan[D],
        arrays: Sequence[Arrays],
        rows: Sequence[Rows],
        group: Group,
    ) -> Masses:
        """What lies where, in every group that has anything: exact, from what the SELECTs told."""
        ...


class Releasing(Protocol[D]):
    """release.py: exact weights -> released numbers. Asked by ``dpsql/release`` alone."""

    def released(
        self,
        each: DetailPlan[D],
        weights: Masses,
        groups: Sequence[tuple[Value, ...]],
        draw: Draw,
        choose: Choose,
    ) -> NDArray[np.int64]:
        """One row of ``width`` numbers for every group that is shown."""
        ...


class Finishing(Protocol[D]):
    """finish.py: released numbers -> the columns that the analyst asked for."""

    def column(
        self, finish: Finish, planned: MeasurePlan, each: DetailPlan[D], released: ReleasedTable, first: int
    ) -> Finished:
        """The column of one call, the numbers of which begin at column ``first`` of the table."""
        ...

    def reach(self, each: DetailPlan[D], confidence: float) -> float | None:
        """How far the noise of a number reaches, whatever the number; None where that depends on it."""
        ...

    def note(self, found: Sequence[DetailPlan[D]], unit: str) -> str:
        """What a reader has to know of an answer that rests on these; '' where there is nothing."""
        ...


class Explaining(Protocol[D]):
    """explain.py: a planned detail -> what an explanation says of a column."""

    def facts(self, finish: Finish, planned: MeasurePlan, each: DetailPlan[D]) -> dict[str, Any]:
        """As plain values, behind the column's name, aggregate and type."""
        ...

    def words(self, column: Mapping[str, Any], unit: str) -> list[str]:
        """The same in words, part by part, behind the column's name and type."""
        ...


class Auditing(Protocol[D]):
    """audit.py: what the owner's audit has to know of a kind."""

    def coarseness(self, detail: D) -> float:
        """How far a number may be off without any noise, in SQL units."""
        ...


@dataclass(frozen=True, slots=True)
class Kind(Generic[D]):
    """All parts of a kind."""

    measure: Measuring
    plan: Planning[D]
    sql: Printing[D]
    release: Releasing[D]
    finish: Finishing[D]
    explain: Explaining[D]
    audit: Auditing[D]


@overload
def part(name: Literal["measure"], kind: str) -> Measuring: ...
@overload
def part(name: Literal["plan"], kind: str) -> Planning[Any]: ...
@overload
def part(name: Literal["sql"], kind: str) -> Printing[Any]: ...
@overload
def part(name: Literal["release"], kind: str) -> Releasing[Any]: ...
@overload
def part(name: Literal["finish"], kind: str) -> Finishing[Any]: ...
@overload
def part(name: Literal["explain"], kind: str) -> Explaining[Any]: ...
@overload
def part(name: Literal["audit"], kind: str) -> Auditing[Any]: ...


def part(name: str, kind: str) -> Any:
    """A part of the kind of that name."""
    return importlib.import_module(f"dpsql.details.{kind}.{name}")
