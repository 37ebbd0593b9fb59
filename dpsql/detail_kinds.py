"""The interface of a kind of detail: each kind is a folder of ``dpsql/details`` that implements these parts.

    details/quantiles/    detail  measure  plan  sql  release  finish  explain  audit

    part("plan", "quantiles").planned(detail, measure, rows, groups, share, ask)

A kind is looked up by name (``Detail.kind``), and its parts are imported on demand: planning does not have to
load numpy for the release part. This module lies below all rooms that ask for parts; none of them imports a
kind:

    rewrite   asks for   measure          engines   asks for   sql          post      asks for   finish
    plan      asks for   plan             release   asks for   release      explain   asks for   explain
    audit     asks for   audit

A part is a module with the functions of its Protocol. The ``__init__`` of a kind builds a ``Kind`` of its
parts under TYPE_CHECKING, so that mypy reports missing functions.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Generic, Literal, Protocol, TypeAlias, TypeVar, overload

from dpsql.ir.column import Fact, Interval, Value
from dpsql.ir.detail import Detail
from dpsql.ir.measure import Finish, Measure
from dpsql.ir.plan import DetailPlan, MeasurePlan, Noise
from dpsql.ir.relation import AggregateCall
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

    from dpsql.ir.allowance import Allowance
    from dpsql.ir.finished import Finished
    from dpsql.ir.table import Masses, ReleasedTable
    from dpsql.mechanisms.exponential import Choose

D = TypeVar("D", bound=Detail, contravariant=True)

Bounds: TypeAlias = Callable[[AggregateCall], tuple[Interval, Fact]]
"""Return the finite range of a call's argument and its fact; refuse an argument without a range."""

Made: TypeAlias = tuple[Detail, dict[AggregateCall, tuple[int, ...]]]
"""A detail, and for each call the indices of its numbers among the numbers of the detail."""

Ask: TypeAlias = "Callable[[Fraction], Allowance]"
"""Return the noise and choices that a share of the price pays for."""

Arrays: TypeAlias = "dict[str, NDArray[Any]]"
"""The columns of a SELECT, fetched as arrays; it returns numbers without NULL."""

Rows: TypeAlias = list[tuple[object, ...]]
"""The fetched rows of a SELECT."""

Group: TypeAlias = Callable[[Sequence[object]], tuple[Value, ...]]
"""Convert the fetched keys of a row to a group."""

Spelling: TypeAlias = Any
"""A dialect of the engines, which this module lies below."""

Special: TypeAlias = Any
"""The rows that the engines read apart; see there."""

Draw: TypeAlias = "Callable[[Noise, int], NDArray[np.int64]]"
"""Draw a number of fresh samples of a planned noise."""


@dataclass(frozen=True, slots=True)
class Reads:
    """The SELECTs of a detail: first those fetched as arrays, then those fetched as rows.

    An engine may read others with the same weights, where it knows which units are ``apart``.
    """

    arrays: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    apart: Apart | None = None


@dataclass(frozen=True, slots=True)
class Apart:
    """A measure of the same rows with the same clip, and what is read for the units that it might scale."""

    counted: MeasurePlan
    printed: Callable[[Special], Reads]


class Measuring(Protocol):
    """measure.py: aggregate calls -> the detail that answers them."""

    def made(self, measure: Measure, calls: Sequence[AggregateCall], bounds: Bounds) -> Made:
        """Return the detail that answers the first call, and all other calls that can share it."""
        ...


class Planning(Protocol[D]):
    """plan.py: a detail -> the mechanism that releases its numbers, and its events."""

    def planned(
        self, detail: D, measure: Measure, rows: int, groups: int | None, share: Fraction, ask: Ask
    ) -> DetailPlan[Detail]:
        """Choose the mechanism and its parameters.

        ``rows`` of a unit count in full. A unit is proved to be in at most ``groups`` groups (None: not
        proved). ``share`` is the detail's share of the price.
        """
        ...

    def own_rows(self, detail: D) -> int | None:
        """Return how many rows of a unit count in full if the detail sets it; None: the clip decides."""
        ...


class Printing(Protocol[D]):
    """sql.py: a planned detail -> the SQL that the engine runs, and the fetched numbers -> weights."""

    def reads(self, planned: MeasurePlan, detail_plan: DetailPlan[D], dialect: Spelling = ...) -> Reads:
        """Return the SELECTs; they bound the weight of every unit."""
        ...

    def weights(
        self,
        planned: MeasurePlan,
        detail_plan: DetailPlan[D],
        arrays: Sequence[Arrays],
        rows: Sequence[Rows],
        group: Group,
    ) -> Masses:
        """Compute the exact weights of every group that is not empty from the fetched results."""
        ...


class Releasing(Protocol[D]):
    """release.py: exact weights -> released numbers. Only ``dpsql/release`` calls it."""

    def released(
        self,
        detail_plan: DetailPlan[D],
        weights: Masses,
        groups: Sequence[tuple[Value, ...]],
        draw: Draw,
        choose: Choose,
    ) -> NDArray[np.int64]:
        """Return one row of ``width`` numbers for every group that is shown."""
        ...


class Finishing(Protocol[D]):
    """finish.py: released numbers -> the columns that the analyst asked for."""

    def column(
        self,
        finish: Finish,
        planned: MeasurePlan,
        detail_plan: DetailPlan[D],
        released: ReleasedTable,
        first: int,
    ) -> Finished:
        """Return the column of one call; its numbers begin at column ``first`` of the released table."""
        ...

    def reach(self, detail_plan: DetailPlan[D], confidence: float) -> float | None:
        """Return the half-width of the noise at a confidence; None if it depends on the released number."""
        ...

    def note(self, detail_plans: Sequence[DetailPlan[D]], unit: str) -> str:
        """Return the note below an answer that uses these details; '' for none."""
        ...


class Explaining(Protocol[D]):
    """explain.py: a planned detail -> the explanation of a column."""

    def facts(self, finish: Finish, planned: MeasurePlan, detail_plan: DetailPlan[D]) -> dict[str, Any]:
        """Return the explanation as plain values; the caller adds the column's name, aggregate and type."""
        ...

    def words(self, column: Mapping[str, Any], unit: str) -> list[str]:
        """Return the same in words, one part per item; the caller adds the column's name and type."""
        ...


class Auditing(Protocol[D]):
    """audit.py: what the owner's audit needs to know about a kind."""

    def coarseness(self, detail: D) -> float:
        """Return the largest error of a released number without noise, in SQL units."""
        ...


@dataclass(frozen=True, slots=True)
class Kind(Generic[D]):
    """All parts of a kind, for mypy."""

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
    """Import and return one part of a kind."""
    return importlib.import_module(f"dpsql.details.{kind}.{name}")
