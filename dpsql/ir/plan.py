"""What a query asks for, and what exactly will be released for it.

    Split = stages of (Measure..., Post)          what bind and rewrite make
    Plan  = stages of (Planned measure..., Post)  what is paid, run, explained and audited

A Measure is the release point: an aggregate that drops the unit. A Post is ordinary SQL over released
and public tables.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from enum import Enum
from fractions import Fraction
from typing import TypeAlias

from dpsql.ir.bound import Bound, Lack
from dpsql.ir.column import Categories, Column, Listed, Type, Value, unique
from dpsql.ir.event import Event, ThresholdEvent
from dpsql.ir.formula import Derived
from dpsql.ir.grid import Grid, Target
from dpsql.ir.options import Goal, Option
from dpsql.ir.relation import AggregateCall, Awaited, Named, Relation
from dpsql.ir.scalar import Literal, Scalar
from dpsql.ir.source import Source, Span


class Part(Enum):
    """What one row adds to a statistic, in grid steps, where its condition holds (else 0)."""

    ROWS = "rows"  # most
    UNITS = "units"  # most, once per unit and group
    VALUE = "value"  # (clamped argument - offset) / step
    REST = "rest"  # most - (clamped argument - offset) / step
    BERNSTEIN = "bernstein"  # most * the cell's polynomial: (1-y)(1-y), 2y(1-y), yy of y in [0, 1]
    LAGRANGE = "lagrange"  # most * the cell's polynomial: (1-y)(1-2y), 4y(1-y), y(2y-1)


CELLS = frozenset((Part.BERNSTEIN, Part.LAGRANGE))
"""Parts that come in families of three (one argument) or nine (two: products of their polynomials)."""

SLACK = 8
"""Steps by which the cells of a family are longer at most than ``most``, since they are whole numbers."""


@dataclass(frozen=True, slots=True)
class Axis:
    """A second argument, clamped to [low, high]."""

    argument: Scalar
    low: float | int
    high: float | int


def width_of(low: float | int, high: float | int) -> float:
    """Of an axis, as what a distance in it is divided by."""
    return max(float(high) - float(low), 2.0**-900)


@dataclass(frozen=True, slots=True)
class Statistic:
    """A bounded number per row, summed over rows as an exact integer.

    ``argument`` is clamped to [low, high]; NULL and NaN add nothing. ``step`` is the SQL value of one
    grid step, and no row adds more than ``most`` steps. For ROWS and UNITS the argument, if there is
    one, must only not be NULL. Two statistics that compare equal are measured once. Of three cells each has
    a number; of nine, cell 3 * i + j is the argument's i-th polynomial times the ``other``'s j-th.
    """

    part: Part
    argument: Scalar | None
    condition: Scalar | None
    step: Fraction
    most: int
    low: float | int = 0
    high: float | int = 0
    offset: float | int = 0
    other: Axis | None = None
    cell: int = 0


@dataclass(frozen=True, slots=True)
class Histogram:
    """How much of an argument lies where: every unit's weight over the bins of a public grid.

    A unit weighs at most its clip, over all bins and groups together. Of each of the ordered ``targets`` two
    numbers are released: a bin, and how dense it is there (see ``mechanisms.density``).
    """

    argument: Scalar
    condition: Scalar | None
    grid: Grid
    targets: tuple[Target, ...]

    @property
    def width(self) -> int:
        """How many numbers are released for each group."""
        return 2 * len(self.targets)


@dataclass(frozen=True, slots=True)
class Votes:
    """How much of an argument is which of these values: every unit's weight over them."""

    argument: Scalar
    condition: Scalar | None
    values: tuple[Literal, ...]

    @property
    def width(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Matching:
    """How many different values there are, of which a unit claims at most ``most``, over all groups."""

    argument: Scalar
    condition: Scalar | None
    most: int

    @property
    def width(self) -> int:
        return 1


BINS = 4096
"""Of the grid on which the values of blocks lie."""


@dataclass(frozen=True, slots=True)
class Blocks:
    """How many blocks of units have which value of an aggregate: a unit is in one block of each group.

    ``extra`` are further arguments of the ``function``; values are clamped to [low, high].
    """

    argument: Scalar
    condition: Scalar | None
    function: str
    extra: tuple[float, ...]
    low: float
    high: float

    @property
    def width(self) -> int:
        return 1


@dataclass(frozen=True, slots=True)
class Reaches:
    """How far the values of each unit go from zero, on a ladder of limits between 2^first and 2^last.

    A unit stands in one place. Without an argument, the value is how many rows it has.
    """

    argument: Scalar | None
    first: int
    last: int
    signed: bool

    @property
    def width(self) -> int:
        return 1


Detail: TypeAlias = Histogram | Votes | Matching | Blocks | Reaches
"""What is measured of each group beside sums: weights on places, from which a mechanism of its own releases

``width`` numbers for each group that is shown.
"""


@dataclass(frozen=True, slots=True)
class Finish:
    """How an aggregate is computed from released numbers.

    Each number that it needs of the ``statistics`` is a sum of some of them (their positions in the
    measure). ``places`` are the released numbers of details, counted from the measure's first detail on.
    """

    call: AggregateCall
    statistics: tuple[tuple[int, ...], ...]
    type: Type
    places: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Family:
    """Statistics (positions) of which one row adds at most ``most`` steps in L1, all together."""

    statistics: tuple[int, ...]
    most: int


@dataclass(frozen=True, slots=True)
class KeyList:
    """The values that a key can have where the data keeps to its declarations; ``null``: NULL too."""

    domain: Categories | Listed
    null: bool


@dataclass(frozen=True, slots=True, eq=False)
class Measure:
    """An aggregate without the unit in its keys: the place where privacy is paid for.

    ``name`` is the released table that the Post reads. bind fills the first four fields, rewrite the
    others; ``units`` is the position of the hidden count of units that decides which groups show.
    ``titles`` are the keys' names as the analyst knows them; ``lists`` tells of each key which values it
    can have, if that is public. Where there are grouping ``sets``, the first key is the number of the
    set, each set names the positions of its keys, and every row is in the relation once for each set.
    ``clip`` is what the query says of where clipping starts. ``other`` is the name that it gives to what is
    not shown: the sets are then the keys and the total, whose row becomes the rest. ``weights``, one for
    each aggregate, say which shall be more exact. ``intervals``: the Post reads the ends of intervals,
    ``derived``: the outputs computed from aggregates whose half-widths it reads.
    ``running`` names the aggregates that are added up in the order of the only key, each with whether it is
    shown as well.
    """

    name: str
    relation: Relation
    keys: tuple[Named, ...]
    aggregates: tuple[AggregateCall, ...]
    span: Span | None = field(default=None, repr=False)
    statistics: tuple[Statistic, ...] = ()
    families: tuple[Family, ...] = ()
    details: tuple[Detail, ...] = ()
    finishes: tuple[Finish, ...] = ()
    units: int | None = None
    titles: tuple[str, ...] = ()
    clip: Option | None = field(default=None, repr=False)
    other: Option | None = field(default=None, repr=False)
    lists: tuple[KeyList | None, ...] = ()
    sets: tuple[tuple[int, ...], ...] = ()
    weights: tuple[Fraction, ...] = ()
    intervals: bool = False
    running: tuple[tuple[str, bool], ...] = ()
    derived: tuple[Derived, ...] = ()

    @property
    def copies(self) -> int:
        """How many groups each row is in."""
        return max(1, len(self.sets))

    @property
    def width(self) -> int:
        """How many numbers are released for each group: the statistics, then the details."""
        return len(self.statistics) + sum(each.width for each in self.details)

    @property
    def parts(self) -> int:
        """How many mechanisms share its price."""
        return bool(self.statistics) + len(self.details)


@dataclass(frozen=True, slots=True)
class Post:
    """SQL over released tables and public ones, printed from our own checked tree.

    ``released`` and ``tables`` are the released and the public tables it reads. The first outputs are
    ``columns``; ``margins`` tells for each of them which further output holds its half-width, or None.
    """

    sql: str
    columns: tuple[str, ...]
    released: tuple[str, ...]
    tables: tuple[str, ...]
    margins: tuple[int | None, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Measures that are taken together, and the SQL over what they and earlier stages release.

    Later stages await the rows of that SQL; those of the last stage are the answer.
    """

    measures: tuple[Measure, ...]
    post: Post
    awaited: Awaited | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A bound query: where privacy ends is decided."""

    source: Source
    stages: tuple[Stage, ...]
    delta: Option | None = None


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


@dataclass(frozen=True, slots=True)
class PlannedDetail:
    """A detail, and the mechanism that releases its numbers.

    ``rows`` is where a unit's clip starts, ``sensitivity`` what one unit changes of all weights together,
    in L1. Numbers are released by ``noise``, or chosen, ``choices`` times one after the other, each at
    ``epsilon``. ``blocks`` is how many there are, where units are dealt out to blocks.
    """

    detail: Detail
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
class Planned:
    """A measure, how it is bounded, noised, shown and finished.

    ``groups`` is the number of groups beyond which a unit is left out, where the threshold needs one.
    ``rows`` is where clipping starts, and ``rows_from`` who says so. Without statistics the noise is that
    of an empty vector, which costs nothing. ``again`` is a second round, without the groups found in this.
    """

    measure: Measure
    keys: tuple[Column, ...]
    rule: KeyRule
    shape: Shape
    noise: Noise
    groups: int | None = None
    rows: int | None = None
    rows_from: str = ""
    details: tuple[PlannedDetail, ...] = ()
    runs: Runs | None = None
    again: Planned | None = None

    @property
    def bound(self) -> tuple[Norm, int]:
        """What the engine holds the vector of a unit to."""
        if self.runs is not None:
            return Norm.L1, self.runs.clip
        return self.noise.norm, self.noise.sensitivity

    def detail_at(self, place: int) -> PlannedDetail:
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
class PlannedStage:
    """A stage whose measures are planned."""

    measures: tuple[Planned, ...]
    post: Post
    awaited: Awaited | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """The auditable artefact: explain prints it, the ledger records its digest, the audit checks it.

    ``bounds`` are those that it rests on and that were found privately. Where some are still to be found,
    ``first`` is the plan that finds them: it is paid and run before this one is made anew. ``goal`` is the
    accuracy that the price was found for, or that ``steps`` at these prices approach.
    """

    source: Source
    stages: tuple[PlannedStage, ...]
    epsilon: float
    accountant: str
    digest: str
    bounds: tuple[Bound, ...] = ()
    first: Findings | None = None
    goal: Goal | None = None
    steps: tuple[float, ...] = ()

    @property
    def price(self) -> float:
        """Of this plan and the one before it."""
        return self.epsilon if self.first is None else self.epsilon + self.first.plan.epsilon

    @property
    def events(self) -> tuple[Event, ...]:
        return tuple(e for stage in self.stages for each in stage.measures for e in each.events)


@dataclass(frozen=True, slots=True, eq=False)
class Findings:
    """A plan that finds bounds: a measure for each of ``lacks``.

    ``names`` are how the ledger knows them; ``asker`` is a digest of the query that pays.
    """

    plan: Plan
    lacks: tuple[Lack, ...]
    names: tuple[str, ...]
    asker: str

    @property
    def measures(self) -> tuple[Planned, ...]:
        return self.plan.stages[0].measures

    @property
    def strength(self) -> float:
        """The epsilon of each choice."""
        return self.measures[0].details[0].epsilon
