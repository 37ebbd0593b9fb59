"""What a query asks for: where privacy ends, and the SQL above.

    Split = stages of (Measure..., Post)          what bind and rewrite make

A Measure is the release point: an aggregate that drops the unit. A Post is ordinary SQL over released
and public tables.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction

from dpsql.ir.bound import NeededBounds
from dpsql.ir.column import Categories, Listed, Type
from dpsql.ir.detail import Detail
from dpsql.ir.formula import Derived
from dpsql.ir.options import Option
from dpsql.ir.relation import AggregateCall, Named, Relation, StageInput
from dpsql.ir.source import Source, Span
from dpsql.ir.statistic import Family, Statistic


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
    It is ``plain`` if it only chooses and orders: then it cannot fail.
    """

    sql: str
    columns: tuple[str, ...]
    released: tuple[str, ...]
    tables: tuple[str, ...]
    margins: tuple[int | None, ...]
    plain: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """Measures that are taken together, and the SQL over what they and earlier stages release.

    Later stages await the rows of that SQL; those of the last stage are the answer.
    """

    measures: tuple[Measure, ...]
    post: Post
    awaited: StageInput | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """A bound query: where privacy ends is decided. Where bounds are ``needed``, it is only looked at."""

    source: Source
    stages: tuple[Stage, ...]
    delta: Option | None = None
    needed: tuple[NeededBounds, ...] = ()
