"""What is known of one measure before its noise is chosen: in how many rows and groups one unit may be."""

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
"""Who says where clipping starts when nothing but keys is released: a unit counts as one, in all."""


@dataclass(frozen=True, slots=True)
class MeasureFacts:
    """``rows`` of a unit count in full, says ``rows_from``, the query or the policy; None: nobody says it."""

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
        """What a share of the price buys."""
        return self.terms.accountant.allowance(self.terms.epsilon, self.terms.budget, share, thresholds)

    # ---- groups ------------------------------------------------------------------------------------

    def settled(self) -> bool:
        """Whether a unit is in one group at most (of each grouping set)."""
        return _settled(self.measure, self.owned)

    def proved_groups(self) -> int | None:
        """In how many groups one unit is proved to be, public ones too."""
        return self.measure.copies if self.settled() else self.owned.at_most

    def private_groups(self) -> int | None:
        """In how many groups that are not public one unit is proved to be."""
        private = self.measure.copies - len(self.public.sets)
        if self.settled():
            return private
        return None if self.owned.at_most is None else self.owned.at_most // self.measure.copies * private

    def many_groups(self) -> int:
        """Many more than a unit that is clipped little is in; beyond, it is left out."""
        if self.keys_alone:  # where a unit in many groups still adds something to each
            return 1_000 * self.measure.copies
        assert self.rows is not None
        return 16 * self.rows * self.measure.copies + 240

    # ---- rows --------------------------------------------------------------------------------------

    @property
    def guessed(self) -> int:
        """Where clipping starts, where no key proves how many rows a unit has."""
        assert self.rows is not None, "needed_rows comes first"
        return self.rows

    def proved_rows(self) -> int | None:
        """How many rows one unit has at most, if that is proved and few enough for none to be scaled."""
        at_most = None if self.owned.at_most is None else self.owned.at_most // self.measure.copies
        counted = any(each.part is Part.UNITS for each in self.measure.statistics)
        if at_most is not None and at_most <= (self.rows or at_most) and (at_most == 1 or not counted):
            return at_most
        return None

    def detail_rows(self, detail: Detail) -> int:
        """How many rows of a unit count in full in a detail, its copies in grouping sets counted apart."""
        proved = self._proved_in(detail)
        return self.guessed * self.measure.copies if proved is None else proved

    def _proved_in(self, detail: Detail) -> int | None:
        own = part("plan", detail.kind).own_rows(detail)
        if own is not None:
            return own
        at_most = self.owned.at_most
        few = at_most is not None and at_most <= (self.rows or at_most) * self.measure.copies
        return at_most if few else None

    def needed_rows(self) -> tuple[NeededBounds, ...]:
        """The number of rows of one unit, where clipping starts from it and nobody says it."""
        proved = [self._proved_in(each) for each in self.measure.details]
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
    """Whether nothing is released but which groups there are."""
    return not measure.aggregates and not public.whole


def _settled(measure: Measure, owned: Owned) -> bool:
    numbers = refs(measure.keys[0].scalar) if measure.sets else frozenset()
    return all(refs(key.scalar) - numbers <= owned.settled for key in measure.keys)


def _rows(measure: Measure, known: Known, owned: Owned, public: Public) -> tuple[int | None, str]:
    """Where clipping starts: as the query says, or as the policy guesses.

    A unit that is in one group at most contributes to no more, whatever is said of its groups.
    """
    said = measure.clip
    if keys_alone(measure, public) and said is None:
        return 1, KEYS_ALONE
    if said is None or (said.name == "max_groups_contributed" and _settled(measure, owned)):
        rows = None if owned.rows is None else owned.rows // measure.copies
        return rows, _rows_said(measure, known)
    assert isinstance(said.value, int)
    return said.value, f"{said.name} in the query"


def _rows_said(measure: Measure, known: Known) -> str:
    tables = {each.table for each in scans(measure.relation)}
    found = [each.name for each in known.tables if each.name in tables and "" in each.found]
    if found:
        return f"rows per {known.unit} of {' and '.join(found)} found privately"
    return f"rows_per_unit in {known.policy_name}"
