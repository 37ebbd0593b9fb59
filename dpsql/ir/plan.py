"""What exactly will be released for a query, with which noise, at what price.

Plan  = stages of (Planned measure..., Post)  what is paid, run, explained and audited
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from enum import Enum
from typing import Generic, TypeAlias, TypeVar

from dpsql.ir.bound import Bound, MissingBound
from dpsql.ir.column import Column, Value, unique
from dpsql.ir.detail import Detail
from dpsql.ir.event import Event, ThresholdEvent
from dpsql.ir.measure import Measure, Post
from dpsql.ir.options import Goal
from dpsql.ir.relation import StageInput
from dpsql.ir.source import Source


class Norm(Enum):
    """The norm in which a unit's whole vector is bounded."""

    L1 = 1
    L2 = 2


@dataclass(frozen=True, slots=True)
class Noise:
    """One draw for every number of a measure: mechanism, scale and sensitivity in grid steps."""

    mechanism: str
    norm: Norm
    sensitivity: int
    scale: float
    event: Event


D_co = TypeVar("D_co", bound=Detail, covariant=True)


@dataclass(frozen=True, slots=True)
class DetailPlan(Generic[D_co]):
    """A detail, and the mechanism that releases its numbers.

    ``rows`` is where a unit's clip starts, ``sensitivity`` what one unit changes of all weights together,
    in L1. Numbers are released by ``noise``, or chosen, ``choices`` times one after the other, each at
    ``epsilon``. ``blocks`` is how many there are, where units are dealt out to blocks.
    """

    detail: D_co
    rows: int
    sensitivity: int
    events: tuple[Event, ...]
    noise: Noise | None = None
    epsilon: float = 0.0
    choices: int = 0
    blocks: int = 0


@dataclass(frozen=True, slots=True)
class PublicKeys:
    """Every combination of these values is shown, empty or not (one list per key).

    No value is listed twice: a group that is shown twice would get two draws of noise for one price.
    Of grouping ``sets``, (number, positions of its keys), every combination of these keys is shown, behind
    the number and with NULL for the other keys.
    """

    domains: tuple[tuple[Value, ...], ...]
    sets: tuple[tuple[int, tuple[int, ...]], ...] = ()

    def __post_init__(self) -> None:
        if any(len(unique(values)) < len(values) for values in self.domains):
            raise ValueError("a public key lists a value twice")
        if len(dict(self.sets)) < len(self.sets):
            raise ValueError("a grouping set is listed twice")

    def groups(self) -> list[tuple[Value, ...]]:
        """All groups that are shown."""
        if not self.sets:
            return list(itertools.product(*self.domains))
        found: list[tuple[Value, ...]] = []
        for number, positions in self.sets:
            keys = (self.domains[i] if i in positions else (None,) for i in range(1, len(self.domains)))
            found += itertools.product((number,), *keys)
        return found


@dataclass(frozen=True, slots=True)
class Threshold:
    """A group is shown when its noisy count of units reaches ``steps`` grid steps.

    ``listed`` are grouping sets whose keys are public, or which have none: always shown. ``least`` is how
    many units the policy asks for.
    """

    statistic: int
    steps: int
    units: float
    event: ThresholdEvent
    listed: PublicKeys | None = None
    least: int = 1


KeyRule: TypeAlias = PublicKeys | Threshold


@dataclass(frozen=True, slots=True)
class Runs:
    """Sums of runs of groups that are measured in the place of so many groups, in the order of their key.

    ``branching`` names the matrix (mechanisms/prefix.py); ``clip`` bounds the L1 norm of a unit over all
    groups, and the sensitivity is ``column`` times that. ``unit`` is what running totals are rounded to, in
    grid steps: groups that are rounded one by one would add up their roundings.
    """

    branching: int
    groups: int
    clip: int
    column: int
    unit: int


class Shape(Enum):
    """How the engine bounds a unit's contribution; each enforces the noise's sensitivity."""

    ROWS = "one row per unit: one pass"
    UNIT = "the unit's sums, then one clip"
    L1 = "one norm per unit, rows scaled"
    CELLS = "sums per unit and group, then one clip"


@dataclass(frozen=True, slots=True, eq=False)
class MeasurePlan:
    """A measure, how it is bounded, noised, shown and finished.

    ``groups`` is the number of groups beyond which a unit is left out, where the threshold needs one.
    ``rows`` is where clipping starts, and ``rows_from`` who says so. Without statistics the noise is that
    of an empty vector, which costs nothing. ``again`` is a second round, without the groups found in this.
    ``rests_on_noise``: it reads numbers that were released before it, or rows that such numbers chose, and
    its own noise is not all that keeps it from the truth.
    """

    measure: Measure
    keys: tuple[Column, ...]
    rule: KeyRule
    shape: Shape
    noise: Noise
    groups: int | None = None
    rows: int | None = None
    rows_from: str = ""
    details: tuple[DetailPlan[Detail], ...] = ()
    runs: Runs | None = None
    again: MeasurePlan | None = None
    rests_on_noise: bool = False

    @property
    def bound(self) -> tuple[Norm, int]:
        """What the engine holds the vector of a unit to."""
        if self.runs is not None:
            return Norm.L1, self.runs.clip
        return self.noise.norm, self.noise.sensitivity

    def detail_at(self, place: int) -> DetailPlan[Detail]:
        """The detail of which this is a number."""
        for each in self.details:
            if place < each.detail.width:
                return each
            place -= each.detail.width
        raise IndexError("the measure has no such number")

    @property
    def events(self) -> tuple[Event, ...]:
        found = [self.noise.event] if self.measure.statistics else []
        if isinstance(self.rule, Threshold):
            found.append(self.rule.event)
        found += [event for each in self.details for event in each.events]
        return (*found, *(() if self.again is None else self.again.events))


@dataclass(frozen=True, slots=True, eq=False)
class StagePlan:
    """A stage whose measures are planned."""

    measures: tuple[MeasurePlan, ...]
    post: Post
    awaited: StageInput | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The auditable artefact: explain prints it, the ledger records its digest, the audit checks it.

    ``bounds`` are those that it rests on and that were found privately. Where some are still to be found,
    ``first`` is the plan that finds them: it is paid and run before this one is made anew. ``goal`` is the
    accuracy that the price was found for, or that ``steps`` at these prices approach.
    """

    source: Source
    stages: tuple[StagePlan, ...]
    epsilon: float
    accountant: str
    digest: str
    bounds: tuple[Bound, ...] = ()
    first: BoundSearchPlan | None = None
    goal: Goal | None = None
    steps: tuple[float, ...] = ()

    @property
    def price(self) -> float:
        """Of this plan and the one before it."""
        return self.epsilon if self.first is None else self.epsilon + self.first.plan.epsilon

    @property
    def measures(self) -> tuple[MeasurePlan, ...]:
        return tuple(each for stage in self.stages for each in stage.measures)

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(event for each in self.measures for event in each.events)


@dataclass(frozen=True, slots=True, eq=False)
class BoundSearchPlan:
    """A plan that finds bounds: a measure for each of ``missing_bounds``.

    ``names`` are how the ledger knows them; ``asker`` is a digest of the query that pays.
    """

    plan: Plan
    missing_bounds: tuple[MissingBound, ...]
    names: tuple[str, ...]
    asker: str

    @property
    def measures(self) -> tuple[MeasurePlan, ...]:
        return self.plan.measures

    @property
    def strength(self) -> float:
        """The epsilon of each choice."""
        return self.measures[0].details[0].epsilon
