"""Facts of one measure for choosing its noise: in how many rows and groups one unit may be."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

from dpsql.detail_kinds import part
from dpsql.errors import refuse
from dpsql.facts.few_rows import telling
from dpsql.facts.missing_bounds import needed_bounds
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.public_keys import Public, public_keys
from dpsql.facts.schema import facts_of, most_rows
from dpsql.facts.unit_mass import mass_of
from dpsql.ir.allowance import Allowance
from dpsql.ir.bound import NeededBounds
from dpsql.ir.column import Column
from dpsql.ir.detail import Detail
from dpsql.ir.measure import Measure
from dpsql.ir.plan import Norm, PublicKeys
from dpsql.ir.relation import scans, stage_inputs
from dpsql.ir.scalar import Call, Ref, Scalar, refs
from dpsql.ir.statistic import Part
from dpsql.lazy_dataclass import dataclass
from dpsql.plan.public_groups import Combinations, key_columns, listed_groups, sizes_of
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known

KEYS_ALONE = "keys alone"
"""The ``rows_from`` of a measure that releases keys only: a unit counts as one row in all."""


THEIR_VALUES = "so many values tell its rows apart"
"""The ``rows_from`` of a measure whose rows have few values (few_rows)."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A clip that was chosen privately, in grid steps of this norm; ``one`` is the most of one row."""

    norm: Norm
    steps: int
    one: int


@dataclass(frozen=True, slots=True)
class MeasureFacts:
    """Facts of one measure.

    ``rows`` of a unit count in full, as ``rows_from`` (the query or the policy) says; None if unknown.
    ``groups`` has for each grouping set the most groups that a unit can be in, None if only its rows say, and
    ``alone`` whether a unit has one row in a group; both are empty if nothing depends on them. ``masses`` has
    what a unit's values of summed columns add up to, where that is known. ``fitted`` is a clip that was
    chosen privately.
    """

    measure: Measure
    known: Known
    terms: Terms
    share: Fraction
    owned: Owned
    public: Public
    rows: int | None
    rows_from: str
    groups: tuple[int | None, ...]
    alone: tuple[bool, ...]
    masses: Mapping[Scalar, Fraction]
    combinations: Combinations
    fitted: Fitted | None = None

    @property
    def keys_alone(self) -> bool:
        return keys_alone(self.measure, self.public)

    @property
    def columns(self) -> tuple[Column, ...]:
        return key_columns(self.measure)

    @property
    def allowance(self) -> Allowance:
        return self.bought(self.share, thresholds=not self.public.whole)

    def bought(self, share: Fraction, thresholds: bool = False) -> Allowance:
        """Return the allowance that a share of the price buys."""
        return self.terms.accountant.allowance(self.terms.epsilon, self.terms.budget, share, thresholds)

    @property
    def counts_units(self) -> bool:
        return _counts_units(self.measure)

    # ---- groups ------------------------------------------------------------------------------------

    def settled(self) -> bool:
        """Whether a unit is in one group at most (of each grouping set)."""
        return _settled(self.measure, self.owned)

    def proved_groups(self) -> int | None:
        """Return the most groups, public ones included, that one unit provably is in; None if unknown."""
        return self.measure.copies if self.settled() else self.owned.at_most

    def private_groups(self) -> int | None:
        """Return the same for groups that are not public."""
        private = self.measure.copies - len(self.public.sets)
        if self.settled():
            return private
        return None if self.owned.at_most is None else self.owned.at_most // self.measure.copies * private

    def listed(self) -> PublicKeys:
        """Return the groups that are public."""
        return listed_groups(self.measure, self.public, self.combinations)

    def many_groups(self) -> int:
        """Return beyond how many groups a unit is left out: far more than a barely clipped unit has."""
        if self.keys_alone:  # a unit in many groups still adds something to each
            return 1_000 * self.measure.copies
        if self.fitted is not None:
            return 16 * math.ceil(self.fitted.steps / self.fitted.one) * self.measure.copies + 240
        assert self.rows is not None
        return 16 * self.rows * self.measure.copies + 240

    # ---- rows --------------------------------------------------------------------------------------

    @property
    def guessed(self) -> int:
        """Return where clipping starts if no key proves how many rows a unit has."""
        assert self.rows is not None, "needed_rows comes first"
        return self.rows

    def proved_rows(self) -> int | None:
        """Return how many rows one unit has at most, if proved and so few that none needs scaling."""
        at_most = None if self.owned.at_most is None else self.owned.at_most // self.measure.copies
        few = at_most is not None and at_most <= (self.rows or at_most)
        if few and (at_most == 1 or not self.counts_units):
            return at_most
        return None

    def only_counts_units(self) -> bool:
        """Whether nothing but units is counted: a unit counts once in a group, however many rows it has."""
        parts = {statistic.part for statistic in self.measure.statistics}
        return parts == {Part.UNITS}

    @property
    def once(self) -> bool:
        """Whether a unit counts once in every group: it is counted there, or has one row there."""
        return bool(self.groups) and all(self.only_counts_units() or alone for alone in self.alone)

    def scales(self) -> bool:
        """Whether a unit can be scaled down: not if it counts once in all groups that it can be in.

        It can count under every condition there; one row counts under one of those that exclude each other.
        """
        if self.keys_alone or not self.once or None in self.groups:
            return True
        most = [
            groups * (1 if alone else len(self.measure.statistics))
            for groups, alone in zip(self.groups, self.alone, strict=True)
            if groups is not None
        ]
        return self.rows is not None and self.rows < max(most)

    def may_fit(self) -> bool:
        """Whether the query asks for a clip that fits its sums, and one may fit better than another.

        Of one row, only a lone sum of values can be far below its most. Running totals have sums of groups,
        whose clip is another; and rows chosen by numbers released before are not known yet.
        """
        measure = self.measure
        if measure.fitted is None or not measure.statistics or self.keys_alone or measure.running:
            return False
        if any(stage_inputs(measure.relation)):
            return False
        return self.lone_sums() or (self.owned.at_most != measure.copies and self.scales())

    def lone_sums(self) -> bool:
        """Whether a sum of values stands alone: what a row adds to it may be far below its most."""
        return any(
            self.measure.statistics[first].part is Part.VALUE
            for family in self.measure.families
            for first, *_ in family.alternatives
        )

    def detail_rows(self, detail: Detail) -> int:
        """Return how many rows of a unit count in full in a detail, counting each copy in a grouping set."""
        proved = self._proved_detail_rows(detail)
        return self.guessed * self.measure.copies if proved is None else proved

    def _proved_detail_rows(self, detail: Detail) -> int | None:
        own = part("plan", detail.kind).own_rows(detail)
        if own is not None:
            return own
        at_most = self.owned.at_most
        few = at_most is not None and at_most <= (self.rows or at_most) * self.measure.copies
        return at_most if few else None

    def needed_rows(self) -> tuple[NeededBounds, ...]:
        """Return the rows per unit as missing, if clipping starts there and nobody says it."""
        proved = [self._proved_detail_rows(detail) for detail in self.measure.details]
        if self.measure.statistics and self.scales() and not self.may_fit():
            proved.append(self.proved_rows())
        if self.rows is not None or None not in proved:
            return ()
        refusal = refuse(
            "D302",
            f"nothing says how many rows one {self.known.unit} has here",
            self.measure.span,
            label="this is where clipping would start",
            help="say it: SELECT OPTIONS(max_rows_contributed = 20) ...; or the owner adds rows_per_unit",
        )
        return (needed_bounds(self.measure.relation, (), self.known, refusal),)


def measure_facts_of(
    measure: Measure, known: Known, terms: Terms, share: Fraction, combinations: Combinations
) -> MeasureFacts:
    owned, public = ownership_of(measure.relation), public_keys(measure, known)
    assert isinstance(owned, Owned)
    rows, rows_from = _rows(measure, known, owned, public)
    alone = tuple(_one_row_in_group(measure, positions) for positions in _sets(measure))
    sharper = owned.at_most != measure.copies and (_counts_units(measure) or any(alone))
    groups = _groups(measure, owned, public, combinations) if sharper else ()
    said = (rows, rows_from, groups, alone, _masses(measure))
    return MeasureFacts(measure, known, terms, share, owned, public, *said, combinations)


def keys_alone(measure: Measure, public: Public) -> bool:
    """Whether the measure releases only which groups exist."""
    return not measure.aggregates and not public.whole


def _settled(measure: Measure, owned: Owned) -> bool:
    return _in_one_group(measure, owned, range(len(measure.keys)))


def _counts_units(measure: Measure) -> bool:
    return any(statistic.part is Part.UNITS for statistic in measure.statistics)


def _groups(
    measure: Measure, owned: Owned, public: Public, combinations: Combinations
) -> tuple[int | None, ...]:
    """Return the most groups of each grouping set that a unit can be in; None if only its rows say."""
    sets = _sets(measure)
    listed: list[int | None] = [None] * len(sets)
    if public.whole or public.sets:
        listed = sizes_of(listed_groups(measure, public, combinations), len(sets))
    proved = None if owned.at_most is None else owned.at_most // measure.copies
    return tuple(
        1 if _in_one_group(measure, owned, positions) else _least(size, proved)
        for positions, size in zip(sets, listed, strict=True)
    )


def _sets(measure: Measure) -> tuple[tuple[int, ...], ...]:
    """Return the positions of the keys of each grouping set, or of the only one."""
    return measure.sets or (tuple(range(len(measure.keys))),)


def _masses(measure: Measure) -> dict[Scalar, Fraction]:
    """Return the masses of the columns that are summed without an offset."""
    relation, masses = measure.uncopied, dict[Scalar, Fraction]()
    for statistic in measure.statistics:
        if statistic.part is Part.VALUE and statistic.argument is not None and not statistic.offset:
            mass = mass_of(relation, statistic.argument)
            if mass is not None:
                masses[statistic.argument] = mass
    return masses


def _one_row_in_group(measure: Measure, positions: Iterable[int]) -> bool:
    """Whether a unit has one row in a group: its rows differ in a key of the group.

    Like all groups and rows of a unit this says where clipping starts: the clip holds if it is wrong.
    """
    owned = ownership_of(measure.uncopied)
    copied = refs(measure.keys[0].scalar) if measure.sets else frozenset()
    assert isinstance(owned, Owned)
    plain = {name for i in positions if (name := _plain(measure.keys[i].scalar, copied)) is not None}
    keys = telling(owned, facts_of(measure.uncopied))
    return any(key - owned.units <= plain for key in keys)


def _plain(key: Scalar, copied: frozenset[str]) -> str | None:
    """Return the column that a key is, within the grouping sets that have it."""
    match key:
        case Ref(name):
            return name
        case Call("case", (Call("in", (Ref(number), *_)), Ref(name))) if number in copied:
            return name
        case _:
            return None


def _in_one_group(measure: Measure, owned: Owned, positions: Iterable[int]) -> bool:
    """Whether a unit determines the keys at these positions, within one grouping set."""
    numbers = refs(measure.keys[0].scalar) if measure.sets else frozenset()
    return all(refs(measure.keys[i].scalar) - numbers <= owned.settled for i in positions)


def _least(*numbers: int | None) -> int | None:
    return min((number for number in numbers if number is not None), default=None)


def _rows(measure: Measure, known: Known, owned: Owned, public: Public) -> tuple[int | None, str]:
    """Return where clipping starts, by the query or by the policy's guess, and which of them says it.

    If a unit is in one group at most, a query's number of groups changes nothing.
    """
    clip = measure.clip
    if keys_alone(measure, public) and clip is None:
        return 1, KEYS_ALONE
    if clip is None or (clip.name == "max_groups_contributed" and _settled(measure, owned)):
        rows, most = None if owned.rows is None else owned.rows // measure.copies, most_rows(measure.uncopied)
        return most, rows_declared_in(measure, known) if most == rows else THEIR_VALUES
    assert isinstance(clip.value, int)
    return clip.value, f"{clip.name} in the query"


def rows_declared_in(measure: Measure, known: Known) -> str:
    """Return what says how many rows of a unit count in full: the policy, or a bound that was found."""
    scanned = {scan.table for scan in scans(measure.relation)}
    names = [table.name for table in known.tables if table.name in scanned and "" in table.found]
    if names:
        return f"rows per {known.unit} of {' and '.join(names)} found privately"
    return f"rows_per_unit in {known.policy_name}"
