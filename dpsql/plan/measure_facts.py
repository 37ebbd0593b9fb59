"""Facts of one measure for choosing its noise: in how many rows and groups one unit may be."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from dpsql.detail_kinds import part
from dpsql.errors import refuse
from dpsql.facts.missing_bounds import needed_bounds, scans
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.public_keys import Public, public_keys
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.allowance import Allowance
from dpsql.ir.bound import NeededBounds
from dpsql.ir.column import Column
from dpsql.ir.detail import Detail
from dpsql.ir.measure import Measure
from dpsql.ir.scalar import refs
from dpsql.ir.statistic import Part
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known

KEYS_ALONE = "keys alone"
"""The ``rows_from`` of a measure that releases keys only: a unit counts as one row in all."""


@dataclass(frozen=True, slots=True)
class MeasureFacts:
    """``rows`` of a unit count in full, as ``rows_from`` (the query or the policy) says; None if unknown."""

    measure: Measure
    known: Known
    terms: Terms
    share: Fraction
    owned: Owned
    public: Public
    rows: int | None
    rows_from: str

    @property
    def keys_alone(self) -> bool:
        return keys_alone(self.measure, self.public)

    @property
    def columns(self) -> tuple[Column, ...]:
        facts = facts_of(self.measure.relation)
        return tuple(Column(key.name, fact_of(key.scalar, facts)) for key in self.measure.keys)

    @property
    def allowance(self) -> Allowance:
        return self.bought(self.share, thresholds=not self.public.whole)

    def bought(self, share: Fraction, thresholds: bool = False) -> Allowance:
        """Return the allowance that a share of the price buys."""
        return self.terms.accountant.allowance(self.terms.epsilon, self.terms.budget, share, thresholds)

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

    def many_groups(self) -> int:
        """Return beyond how many groups a unit is left out: far more than a barely clipped unit has."""
        if self.keys_alone:  # a unit in many groups still adds something to each
            return 1_000 * self.measure.copies
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
        counted = any(statistic.part is Part.UNITS for statistic in self.measure.statistics)
        if at_most is not None and at_most <= (self.rows or at_most) and (at_most == 1 or not counted):
            return at_most
        return None

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
        if self.measure.statistics or self.keys_alone:
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


def measure_facts_of(measure: Measure, known: Known, terms: Terms, share: Fraction) -> MeasureFacts:
    owned, public = ownership_of(measure.relation), public_keys(measure, known)
    assert isinstance(owned, Owned)
    rows, rows_from = _rows(measure, known, owned, public)
    return MeasureFacts(measure, known, terms, share, owned, public, rows, rows_from)


def keys_alone(measure: Measure, public: Public) -> bool:
    """Whether the measure releases only which groups exist."""
    return not measure.aggregates and not public.whole


def _settled(measure: Measure, owned: Owned) -> bool:
    numbers = refs(measure.keys[0].scalar) if measure.sets else frozenset()
    return all(refs(key.scalar) - numbers <= owned.settled for key in measure.keys)


def _rows(measure: Measure, known: Known, owned: Owned, public: Public) -> tuple[int | None, str]:
    """Return where clipping starts, by the query or by the policy's guess, and which of them says it.

    If a unit is in one group at most, a query's number of groups changes nothing.
    """
    clip = measure.clip
    if keys_alone(measure, public) and clip is None:
        return 1, KEYS_ALONE
    if clip is None or (clip.name == "max_groups_contributed" and _settled(measure, owned)):
        rows = None if owned.rows is None else owned.rows // measure.copies
        return rows, _policy_source(measure, known)
    assert isinstance(clip.value, int)
    return clip.value, f"{clip.name} in the query"


def _policy_source(measure: Measure, known: Known) -> str:
    scanned = {scan.table for scan in scans(measure.relation)}
    names = [table.name for table in known.tables if table.name in scanned and "" in table.found]
    if names:
        return f"rows per {known.unit} of {' and '.join(names)} found privately"
    return f"rows_per_unit in {known.policy_name}"
