"""A bound query: measures, where privacy is paid for, and the SQL over their released tables.

    Split = stages of (Measure..., Post)          made by bind and rewrite

A Measure is the release point: an aggregate that drops the unit. A Post is ordinary SQL over released
and public tables.
"""

from __future__ import annotations

from dataclasses import field
from fractions import Fraction

from dpsql.ir.bound import NeededBounds
from dpsql.ir.column import Categories, Listed, Type, Value
from dpsql.ir.detail import Detail
from dpsql.ir.formula import Derived
from dpsql.ir.model import Model
from dpsql.ir.options import Option
from dpsql.ir.posterior import Posterior
from dpsql.ir.private_view import PrivateView
from dpsql.ir.relation import AggregateCall, Join, Named, Relation, StageInput
from dpsql.ir.source import Source, Span
from dpsql.ir.statistic import Family, Statistic
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Line:
    """The map from x to slope * x + offset."""

    slope: Fraction
    offset: Fraction

    def ends(self, low: float | int, high: float | int) -> tuple[float, float]:
        """Return the image of a range."""
        first, second = (float(self.slope * Fraction(end) + self.offset) for end in (low, high))
        return min(first, second), max(first, second)


@dataclass(frozen=True, slots=True)
class Finish:
    """How an aggregate is computed from released numbers.

    ``statistics`` has one entry per number needed: the positions in the measure to add up. ``places`` are
    positions among the released numbers of the measure's details. With a ``line``, the aggregate is of this
    line of the call's argument.
    """

    call: AggregateCall
    statistics: tuple[tuple[int, ...], ...]
    type: Type
    places: tuple[int, ...] = ()
    line: Line | None = None


@dataclass(frozen=True, slots=True)
class PublicColumn:
    """A column of the n-th public scan among the keys; ``missing``: an outer join may find no row."""

    number: int
    table: str
    column: str
    missing: bool


@dataclass(frozen=True, slots=True)
class KeyList:
    """The values that a key can have if the data satisfies its declarations; ``null``: NULL too.

    A list that is made of a declared range, ``of_range``, is used where it leaves few groups only. Keys with
    the same number of ``scan`` are columns of one row of a public table, so they have its combinations.
    """

    domain: Categories | Listed
    null: bool
    of_range: bool = False
    scan: PublicColumn | None = None


@dataclass(frozen=True, slots=True)
class KeyPairs:
    """The combinations that conditions leave of the keys at ``places``."""

    places: tuple[int, ...]
    rows: tuple[tuple[Value, ...], ...]

    def moved(self, by: int) -> KeyPairs:
        """Return the same for keys that follow others."""
        return KeyPairs(tuple(place + by for place in self.places), self.rows)


@dataclass(frozen=True, slots=True, eq=False, weakref_slot=True)
class Measure:
    """An aggregate without the unit in its keys: the release point.

    ``name`` is the released table that the Post reads. bind fills the first four fields, rewrite the others.
    ``units`` is the position of the hidden count of units that decides which groups show. The statistics at
    ``counted`` add up to a count of the group's rows or units, if one is released. ``titles`` are the
    keys' names as the analyst wrote them. ``lists`` has for each key its possible values, if these are
    public, and ``pairs`` are the combinations of them that conditions leave. With grouping ``sets``, the
    first key is the number of the set, each set names the positions of its keys, and every row is in the
    relation once per set. ``clip`` is where the query starts clipping; ``fitted`` asks for a clip that is
    chosen privately.
    ``other`` is the query's name for the groups that are not shown: the sets are then the keys and the total,
    and the total's row becomes the rest. ``weights`` are the aggregates' accuracy weights. ``intervals``: the
    Post reads the ends of intervals. ``derived``: outputs computed from aggregates, with half-widths that the
    Post reads. ``running`` names the aggregates that are running totals over the only key, each with whether
    the total per group is shown too. ``added_up``: SQL above aggregates the groups, or has windows over them.
    ``view``: these are the counts of a private view. ``non_negative`` raises what is released to 0.
    ``posteriors`` are computed from the aggregates. With a ``model``, the released table has the rows of its
    fit in place of the aggregates.
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
    counted: tuple[int, ...] = ()
    titles: tuple[str, ...] = ()
    clip: Option | None = field(default=None, repr=False)
    fitted: Option | None = field(default=None, repr=False)
    other: Option | None = field(default=None, repr=False)
    lists: tuple[KeyList | None, ...] = ()
    pairs: tuple[KeyPairs, ...] = ()
    sets: tuple[tuple[int, ...], ...] = ()
    weights: tuple[Fraction, ...] = ()
    intervals: bool = False
    running: tuple[tuple[str, bool], ...] = ()
    derived: tuple[Derived, ...] = ()
    added_up: bool = False
    view: PrivateView | None = None
    non_negative: Option | None = field(default=None, repr=False)
    model: Model | None = None
    posteriors: tuple[Posterior, ...] = ()

    @property
    def copies(self) -> int:
        """Number of groups that each row is in."""
        return max(1, len(self.sets))

    @property
    def uncopied(self) -> Relation:
        """The relation before its rows are copied into grouping sets."""
        if not self.sets:
            return self.relation
        assert isinstance(self.relation, Join), "rows are copied last"
        return self.relation.left

    @property
    def width(self) -> int:
        """Numbers released per group: the statistics, then the details."""
        return len(self.statistics) + sum(detail.width for detail in self.details)

    @property
    def parts(self) -> int:
        """Number of mechanisms that share the price."""
        return bool(self.statistics) + len(self.details)


REPLICAS = 64
"""How many replicas of a released table there are, beside the table itself, which is replica 0."""

REPLICA_NUMBER, REPLICA_ID = "#replica", "#id"
"""The columns with the number of a row's replica, and with what is the same of a row in all replicas."""

BEYOND = 5
"""How many deviations a denominator must be from zero."""


def replicas_of(table: str) -> str:
    """Name the table with all replicas of a released table."""
    return f"{table} replicas"


@dataclass(frozen=True, slots=True)
class Replicated:
    """The SQL of a Post over replicas of the released tables (bind/released/replicas.py).

    ``shown`` is the Post's own, with the id of each row as its last output; ``half_widths`` gives for each id
    the half-widths of the outputs at ``places``. ``filled``: COALESCE may put something in the place of a
    number that is missing, which has no half-width then.
    """

    shown: str
    half_widths: str
    places: tuple[int, ...]
    filled: bool = False


@dataclass(frozen=True, slots=True)
class Post:
    """SQL over released and public tables, rendered from the checked tree.

    ``released`` and ``tables`` are the released and the public tables that it reads. The first outputs are
    ``columns``; ``margins`` has for each of them the position of its half-width, or None. A ``plain`` Post
    only selects and orders, so it cannot fail. ``replicated`` gives half-widths to outputs that are computed;
    outputs ``without`` have noise, and no margin. ``totals`` has for each output that is a key of ROLLUP or
    the like the position of the output that is 1 where a row is no group of that key; it is empty else.
    ``adds_up``: it aggregates the rows that it reads, or has windows over them.
    """

    sql: str
    columns: tuple[str, ...]
    released: tuple[str, ...]
    tables: tuple[str, ...]
    margins: tuple[int | None, ...]
    plain: bool = False
    replicated: Replicated | None = None
    without: tuple[int, ...] = ()
    totals: tuple[int | None, ...] = ()
    adds_up: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Measures that are released together, and the SQL over what they and earlier stages release.

    Later stages take the rows of that SQL as input; the rows of the last stage are the answer.
    """

    measures: tuple[Measure, ...]
    post: Post
    awaited: StageInput | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A bound query, split into stages. If bounds are ``needed``, it is only analysed, never run."""

    source: Source
    stages: tuple[Stage, ...]
    delta: Option | None = None
    needed: tuple[NeededBounds, ...] = ()
