"""The plan of a query: what is released, with which noise, at what price.

Plan  = stages of (MeasurePlan..., Post)  paid, run, explained and audited
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from enum import Enum
from fractions import Fraction
from math import prod
from typing import Generic, TypeAlias, TypeVar

from dpsql.ir.alert import AlertPlan, Distance
from dpsql.ir.bound import Bound, Missing
from dpsql.ir.column import Column, Value, unique
from dpsql.ir.detail import Detail
from dpsql.ir.event import Event, ThresholdEvent
from dpsql.ir.listed_groups import ListedGroups
from dpsql.ir.measure import Measure, Post
from dpsql.ir.options import Goal
from dpsql.ir.relation import StageInput, tables_read
from dpsql.ir.source import Source
from dpsql.ir.strategy import Floats, Gram, Rows, Strategy
from dpsql.ir.synthetic import SyntheticRows
from dpsql.lazy_dataclass import dataclass


class Norm(Enum):
    """The norm that bounds a unit's vector over all groups."""

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
    """A detail and the mechanism that releases its numbers.

    ``rows`` is where a unit's clip starts. ``sensitivity`` is the largest L1 change of all weights by one
    unit. Numbers are released with ``noise``, or by ``choices`` successive choices at ``epsilon`` each.
    ``blocks`` is the number of blocks, if units are split into blocks.
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
    With grouping ``sets``, (number, positions of its keys), every combination of a set's keys is shown, after
    the number and with NULL for the other keys. ``tied`` are keys that come from one public row, as positions
    and their combinations.
    """

    domains: tuple[tuple[Value, ...], ...]
    sets: tuple[tuple[int, tuple[int, ...]], ...] = ()
    tied: tuple[tuple[tuple[int, ...], tuple[tuple[Value, ...], ...]], ...] = ()
    _listed: ListedGroups | None = field(init=False, compare=False, repr=False)
    _sizes: Mapping[int, int] | None = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        if any(len(unique(values)) < len(values) for values in self.domains):
            raise ValueError("a public key lists a value twice")
        if len(dict(self.sets)) < len(self.sets):
            raise ValueError("a grouping set is listed twice")
        if any(len(dict.fromkeys(rows)) < len(rows) for _, rows in self.tied):
            raise ValueError("a combination of public keys is listed twice")
        object.__setattr__(self, "_listed", None)
        object.__setattr__(self, "_sizes", None)

    def groups(self) -> tuple[tuple[Value, ...], ...]:
        """Return all groups that are shown; each time the same."""
        return self.listed().groups

    def listed(self) -> ListedGroups:
        """Return all groups that are shown, with their order; each time the same."""
        if self._listed is None:
            object.__setattr__(self, "_listed", ListedGroups(self._all))
        assert self._listed is not None
        return self._listed

    def _all(self) -> list[tuple[Value, ...]]:
        if not self.sets:
            return self._combined([None] * len(self.domains), range(len(self.domains)))
        groups: list[tuple[Value, ...]] = []
        for number, positions in self.sets:
            groups += self._combined([number, *[None] * (len(self.domains) - 1)], positions)
        return groups

    def groups_listed(self) -> ListedGroups | None:
        return self.listed()

    def sizes(self) -> Mapping[int, int]:
        """Return the number of groups of each grouping set by its number; 0 is the only one without sets."""
        if self._sizes is None:
            sets = self.sets or ((0, tuple(range(len(self.domains)))),)
            sizes = {number: prod(len(rows) for _, rows in self.parts(places)) for number, places in sets}
            object.__setattr__(self, "_sizes", sizes)
        assert self._sizes is not None
        return self._sizes

    def _combined(self, group: Sequence[Value], positions: Iterable[int]) -> list[tuple[Value, ...]]:
        """Return the combinations of the keys at these positions, and of ``group`` elsewhere."""
        parts = self.parts(positions)
        combined: list[tuple[Value, ...]] = []
        for rows in itertools.product(*(rows for _, rows in parts)):
            filled = list(group)
            for (places, _), row in zip(parts, rows, strict=True):
                for place, value in zip(places, row, strict=True):
                    filled[place] = value
            combined.append(tuple(filled))
        return combined

    def parts(
        self, positions: Iterable[int] | None = None
    ) -> list[tuple[tuple[int, ...], list[tuple[Value, ...]]]]:
        """Return what is combined freely: single keys, and keys of one public row with its combinations."""
        if positions is None:
            positions = range(len(self.domains))
        left, parts = list(positions), list[tuple[tuple[int, ...], list[tuple[Value, ...]]]]()
        for places, rows in self.tied:
            kept = [i for i, place in enumerate(places) if place in left]
            if kept:
                whole = len(kept) == len(places)
                projected = dict.fromkeys(rows if whole else (tuple(row[i] for i in kept) for row in rows))
                parts.append((tuple(places[i] for i in kept), list(projected)))
                left = [place for place in left if place not in places]
        return parts + [((place,), [(value,) for value in self.domains[place]]) for place in left]


@dataclass(frozen=True, slots=True)
class Threshold:
    """A group is shown when its noisy count of units reaches ``steps`` grid steps.

    ``listed`` are grouping sets with public keys or without keys: always shown. ``least`` is the policy's
    minimum of units.
    """

    statistic: int
    steps: int
    units: float
    event: ThresholdEvent
    listed: PublicKeys | None = None
    least: int = 1

    def groups_listed(self) -> ListedGroups | None:
        """Return the groups that are shown whatever their numbers."""
        return None if self.listed is None else self.listed.listed()


KeyRule: TypeAlias = PublicKeys | Threshold | SyntheticRows


@dataclass(frozen=True, slots=True)
class Runs:
    """Sums over ranges of consecutive groups, instead of one sum per group.

    ``branching`` selects the matrix (mechanisms/prefix.py). ``clip`` bounds the L1 norm of a unit over all
    groups; the sensitivity is ``column`` times that. ``unit`` is the rounding unit of running totals, in grid
    steps: totals of rounded groups would add up the rounding errors.
    """

    branching: int
    groups: int
    clip: int
    column: int
    unit: int


@dataclass(frozen=True, slots=True, eq=False)
class Applied:
    """A strategy that is measured instead of one sum per group; the groups are found again from it.

    ``clip`` bounds the L1 norm of a unit over all groups; the sensitivity is ``column`` times that. The cell
    of a strategy is the sum of the groups whose ``places`` say so; -1 is read by nobody. ``gram`` says what
    the cells are for: they are made whole, in steps of ``unit``, such that their sums keep their answers.
    ``asked`` is a digest of all that is asked of them, with the weights: a strategy is found for it.
    """

    strategy: Strategy
    clip: int
    column: int
    places: tuple[int, ...]
    gram: Gram
    unit: int
    asked: str

    def first_places(self) -> list[int]:
        """Return the first group of each cell: there the released number of the cell stands."""
        firsts: dict[int, int] = {}
        for group, cell in enumerate(self.places):
            firsts.setdefault(cell, group)
        return [firsts[cell] for cell in range(self.strategy.cells)]


@dataclass(frozen=True, slots=True, eq=False)
class Joint:
    """Numbers that are sums of cells which are measured together, in their place.

    ``rows`` has a row for each number, statistic by statistic of each listed group.
    """

    cells: MeasurePlan
    rows: Rows

    @property
    def applied(self) -> Applied:
        assert self.cells.applied is not None
        return self.cells.applied

    def first_groups(self) -> list[tuple[Value, ...]]:
        """Return the group of released cells in which the number of each cell stands."""
        assert isinstance(self.cells.rule, PublicKeys)
        groups = self.cells.rule.groups()
        return [groups[place] for place in self.applied.first_places()]

    def deviations(self) -> Floats:
        """Return the deviation of each number, for noise of deviation 1 in what is measured."""
        variances = self.applied.strategy.variances_of(self.rows)
        root: Floats = variances.clip(min=0.0) ** 0.5
        return root


class Shape(Enum):
    """How the engine bounds a unit's contribution; every shape enforces the sensitivity of the noise."""

    ROWS = "one row per unit: one pass"
    UNIT = "the unit's sums, then one clip"
    L1 = "one norm per unit, rows scaled"
    CELLS = "sums per unit and group, then one clip"


@dataclass(frozen=True, slots=True, eq=False)
class MeasurePlan:
    """A measure, how it is bounded, noised, shown and finished.

    ``groups`` is the largest number of groups of a unit that is kept, where the threshold needs one. ``rows``
    is where clipping starts; ``rows_from`` says where that number comes from. Without statistics the noise is
    that of an empty vector, which costs nothing. ``once``: a unit counts once in a group, so that its groups
    and not its rows are scaled down. ``again`` is a second round over the groups that this one
    does not show. Of synthetic rows the ``noise`` is that of their total. ``rests_on_noise``: the measure
    reads numbers that were released before, or rows chosen by such numbers, so its error is more than its own
    noise. With a ``joint``, its cells are measured, and the noise is theirs. ``fitted`` is a clip that was
    chosen privately, in multiples of the most of one row.
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
    applied: Applied | None = None
    joint: Joint | None = None
    again: MeasurePlan | None = None
    once: bool = False
    rests_on_noise: bool = False
    fitted: float | None = None

    @property
    def bound(self) -> tuple[Norm, int]:
        """The norm and the bound that the engine clips a unit's vector to."""
        if self.joint is not None:
            return self.joint.cells.bound
        if self.applied is not None:
            return Norm.L1, self.applied.clip
        if self.runs is not None:
            return Norm.L1, self.runs.clip
        if isinstance(self.rule, SyntheticRows):
            return Norm.L1, self.rule.plan.clip
        return self.noise.norm, self.noise.sensitivity

    @property
    def without_margins(self) -> bool:
        """Whether nobody knows how far numbers are off: they rest on earlier noise, or on a fit."""
        return self.rests_on_noise or isinstance(self.rule, SyntheticRows)

    def deviations(self) -> Floats | None:
        """Return the deviation of each number of all groups, for noise of deviation 1 in what is measured.

        None where the numbers themselves are measured.
        """
        if self.joint is not None:
            found = self.joint.deviations()
        elif self.applied is not None:
            found = self.applied.strategy.variances().clip(min=0.0)[list(self.applied.places)] ** 0.5
        else:
            return None
        return found.reshape(-1, len(self.measure.statistics))

    @property
    def measured(self) -> MeasurePlan:
        """What the engine measures: the cells, where numbers are sums of cells."""
        return self if self.joint is None else self.joint.cells

    @property
    def has_no_group(self) -> bool:
        """Whether no group is listed, so that nothing is read, drawn or shown."""
        if not isinstance(self.rule, PublicKeys) or self.measure.view is not None:
            return False
        return not any(self.rule.sizes().values())

    def detail_at(self, place: int) -> DetailPlan[Detail]:
        """Return the detail that releases the number at this place."""
        for plan in self.details:
            if place < plan.detail.width:
                return plan
            place -= plan.detail.width
        raise IndexError("the measure has no such number")

    @property
    def events(self) -> tuple[Event, ...]:
        if isinstance(self.rule, SyntheticRows):
            return self.rule.plan.events
        events = [self.noise.event] if self.measure.statistics else []
        if isinstance(self.rule, Threshold):
            events.append(self.rule.event)
        events += [event for detail in self.details for event in detail.events]
        return (*events, *(() if self.again is None else self.again.events))


@dataclass(frozen=True, slots=True, eq=False)
class StagePlan:
    """A stage with planned measures."""

    measures: tuple[MeasurePlan, ...]
    post: Post
    awaited: StageInput | None = None


@dataclass(frozen=True, slots=True)
class BoughtView:
    """The purchase of a private view that answers a plan, of this version of the data."""

    name: str
    time: str
    version: str


@dataclass(frozen=True, slots=True, eq=False)
class AlertQuestion:
    """The number that a question compares with an alert's threshold, in its ``step``; it is never released.

    ``digest`` tells questions apart: the same one of the same data has one outcome. Of a holdout the noise
    ``compared`` is that of how far the mean is, a ``distance``; ``number`` is what is released after a true.
    """

    measure: MeasurePlan
    step: Fraction
    digest: str
    distance: Distance | None = None
    number: Plan | None = None
    compared: Noise | None = None

    @property
    def tables(self) -> frozenset[str]:
        return frozenset(tables_read(self.measure.measure.relation))


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The auditable artefact: explain prints it, the ledger records its digest, the audit checks it.

    ``bounds`` are the found bounds that it depends on. If some are still to be found, ``first`` is the plan
    that finds them; it is paid and run before this query is planned again. ``goal`` is the accuracy that
    determined the price, or that ``steps`` at these prices approach. ``bought`` is the private view that it
    reads, if there is one with a purchase. With an ``alert``, the plan is its purchase; a ``question`` of it
    has no other events, and its number is in no stage.
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
    bought: BoughtView | None = None
    alert: AlertPlan | None = None
    question: AlertQuestion | None = None

    @property
    def price(self) -> float:
        """The epsilon of this plan and of the bound search before it."""
        return self.epsilon if self.first is None else self.epsilon + self.first.plan.epsilon

    @property
    def measures(self) -> tuple[MeasurePlan, ...]:
        return tuple(measure for stage in self.stages for measure in stage.measures)

    @property
    def events(self) -> tuple[Event, ...]:
        if self.alert is not None:
            return self.alert.events
        if all(measure.has_no_group for measure in self.measures):
            return ()
        return tuple(event for measure in self.measures for event in measure.events)

    @property
    def tables(self) -> frozenset[str]:
        """The tables whose rows are measured, and the public ones that make what stages hand down."""
        handed_down = (stage.post.tables for stage in self.stages if stage.awaited is not None)
        measured = (tables_read(each.measure.relation) for each in self.measures)
        return frozenset[str]().union(*measured, *handed_down)


@dataclass(frozen=True, slots=True, eq=False)
class BoundSearchPlan:
    """A plan that finds bounds, with one measure for each of ``missing_bounds``.

    ``names`` are their names in the ledger; ``asker`` is a digest of the query that pays.
    """

    plan: Plan
    missing_bounds: tuple[Missing, ...]
    names: tuple[str, ...]
    asker: str

    @property
    def measures(self) -> tuple[MeasurePlan, ...]:
        return self.plan.measures

    @property
    def strength(self) -> float:
        """The epsilon of each choice."""
        return self.measures[0].details[0].epsilon
