"""Split -> Plan: what exactly is released, with which noise, at what price.

For each measure: how a unit's vector is bounded (``Shape``), the norm and mechanism with the smaller
expected error under the accountant in force, and the rule that shows a group. Nothing here has seen
the data: plans, prices and refusals depend on the query, the policy and the public tables.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.accounting import Allowance
from dpsql.errors import Error, refuse
from dpsql.facts.lacks import scans, uncounted
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.literals import as_own
from dpsql.ir.column import Categories, Column, Listed, Type, Value, unique
from dpsql.ir.detail import Blocks, Detail, Matching
from dpsql.ir.event import ThresholdEvent
from dpsql.ir.measure import KeyList, Measure, Split
from dpsql.ir.plan import (
    KeyRule,
    Noise,
    Norm,
    Plan,
    Planned,
    PlannedStage,
    PublicKeys,
    Runs,
    Shape,
    Threshold,
)
from dpsql.ir.scalar import refs
from dpsql.ir.statistic import CELLS, Part
from dpsql.mechanisms import geometric, mechanism, prefix
from dpsql.mechanisms.threshold import steps_for
from dpsql.plan.deltas import check_delta
from dpsql.plan.details import planned_detail
from dpsql.plan.digest import digest_of
from dpsql.plan.runs import CHOICES, asked_of, delivered_unit, plain_variances, running_groups
from dpsql.plan.split_budget import share_of
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known
from dpsql.rewrite.atoms import load, ways
from dpsql.rewrite.keys import public_keys
from dpsql.rewrite.statistics import GRID

LARGEST = 2**40
"""Grid steps of a clip at most: far from where sums of integers could overflow."""

LARGEST_SCALE = 2**50
"""Grid steps of a noise's scale at most."""

KEYS_ALONE = "keys alone"
"""Who says where clipping starts when nothing but keys is released: a unit counts as one, in all."""

_ROUNDS = (Fraction(1, 10), Fraction(9, 10))
"""Of the price of keys that are sought twice: the common ones are found for little."""

_USUAL = 20
"""Groups that a unit is in, where nobody says it."""

Values = Callable[[str, str], tuple[Value, ...]]
"""The distinct values of a column of a public table."""


def plan(split: Split, known: Known, terms: Terms, values: Values) -> Plan:
    """The auditable artefact: explain prints it, the ledger records its digest, the audit checks it."""
    measures = [each for stage in split.stages for each in stage.measures]
    try:
        share = share_of(measures) * terms.share
        stages = tuple(
            PlannedStage(
                tuple(
                    min(
                        (_Planner(way, known, terms, share, values).planned() for way in ways(each)),
                        key=_variance,
                    )
                    for each in stage.measures
                ),
                stage.post,
                stage.awaited,
            )
            for stage in split.stages
        )
        if split.delta is not None:
            check_delta(split.delta, stages, terms)
    except Error as error:
        raise error.within(split.source.text, split.source.name) from None
    digest = digest_of(stages, terms)
    paid = any(each.events for stage in stages for each in stage.measures)
    price = float(Fraction(terms.epsilon) * terms.share) if paid else 0.0
    return Plan(split.source, stages, price, terms.accountant.name, digest)


def _variance(planned: Planned) -> float:
    """What noise adds to all numbers together, relative to what one row adds to each."""
    return float(load(planned.measure)) * _deviation(planned.noise) ** 2


def _deviation(noise: Noise) -> float:
    return mechanism(noise.mechanism).deviation(noise.scale)


@dataclass(frozen=True, slots=True)
class _Clip:
    """A way to bound a unit's vector: in this norm, by so many grid steps, enforced in this shape."""

    norm: Norm
    steps: int
    shape: Shape


class _Planner:
    def __init__(
        self,
        measure: Measure,
        known: Known,
        terms: Terms,
        share: Fraction,
        values: Values,
        once: bool = False,
    ) -> None:
        self.measure, self.known, self.terms, self.values = measure, known, terms, values
        self.once = once  # a round of keys that are sought twice
        owned = ownership_of(measure.relation)
        assert isinstance(owned, Owned)
        self.owned = owned
        facts = facts_of(measure.relation)
        self.columns = tuple(Column(key.name, fact_of(key.scalar, facts)) for key in measure.keys)
        self.public = public_keys(measure, known)
        self.keys_alone = not measure.aggregates and not self.public.whole
        self.rows, self.rows_from = self._rows()
        self.share = share
        self.allowance = self._allowance(share, thresholds=not self.public.whole)

    def _allowance(self, share: Fraction, thresholds: bool = False) -> Allowance:
        return self.terms.accountant.allowance(self.terms.epsilon, self.terms.budget, share, thresholds)

    def planned(self) -> Planned:
        if not self.public.whole and self.allowance.laplace_delta is None:
            raise refuse(
                "D304",
                "these groups are not public, and there is no delta to show them with",
                self.measure.span,
                label="which groups exist depends on the data",
                help="group by a column with declared values, or cut a declared range (age // 10); "
                "or let the owner choose another accountant",
            )
        if self.keys_alone:
            clip, noise = self._noise_of_keys()
        else:
            clip, noise = self._noise() if self.measure.statistics else self._nothing()
        if noise.norm is Norm.L2:
            self.measure = _in_l2(self.measure)
        proved = self._private_groups()
        enforced = None
        if not self.public.whole and proved is None:
            enforced = self._many_groups()
        rule = self._rule(clip, noise, proved or enforced)
        details = tuple(
            planned_detail(
                each,
                self.measure,
                self._detail_rows(each),
                self._proved_groups(),
                self.share,
                self._allowance,
            )
            for each in self.measure.details
        )
        found = Planned(
            self.measure, self.columns, rule, clip.shape, noise, enforced, self.rows, self.rows_from, details
        )
        return self._in_rounds(self._in_runs(found))

    def _in_rounds(self, whole: Planned) -> Planned:
        """Keys alone, sought twice where the second time costs little of its sharpness.

        Under rho, nine tenths of the price are 5 % more noise; where epsilons add up they are 11 %.
        """
        one_group = self._private_groups() == 1
        if self.once or not self.keys_alone or one_group or self.measure.sets or self.rows_from != KEYS_ALONE:
            return whole
        try:
            first, again = (
                _Planner(self.measure, self.known, self.terms, self.share * part, self.values, once=True)
                for part in _ROUNDS
            )
            rounds = first.planned(), again.planned()
        except Error:  # too small a price to be shared
            return whole
        before, after = (each.rule for each in (whole, rounds[1]))
        assert isinstance(before, Threshold)
        assert isinstance(after, Threshold)
        if whole.noise.norm is not Norm.L2 or after.steps > 1.08 * before.steps:
            return whole
        return replace(rounds[0], again=rounds[1])

    def _in_runs(self, plain: Planned) -> Planned:
        """The same by sums of runs of groups, where running totals are asked for and become more exact."""
        groups = running_groups(plain)
        if groups is None:
            return plain
        clip, _ = self._clips()  # in L1, whatever the noise: so the columns' norms bound it
        found, least = plain, asked_of(plain.measure, plain_variances(groups)) * _deviation(plain.noise) ** 2
        for name, norm, branching in CHOICES:
            ratio = 1 / self.allowance.laplace if name == "laplace" else self.allowance.gaussian
            column = prefix.column(branching, groups, norm)
            wider = _Clip(norm, clip.steps * column, clip.shape)
            if ratio is None or not mechanism(name).scale_for(wider.steps, ratio) < LARGEST_SCALE:
                continue
            noise = self._with(name, wider, ratio)
            error = asked_of(plain.measure, prefix.variances(branching, groups)) * _deviation(noise) ** 2
            if error < least:
                runs = Runs(branching, groups, clip.steps, column, delivered_unit(plain.measure))
                found, least = replace(plain, shape=clip.shape, noise=noise, runs=runs), error
        return found

    def _many_groups(self) -> int:
        """Many more than a unit that is clipped little is in; beyond, it is left out."""
        if self.keys_alone:  # where a unit in many groups still adds something to each
            return 1_000 * self.measure.copies
        assert self.rows is not None
        return 16 * self.rows * self.measure.copies + 240

    def _detail_rows(self, detail: Detail) -> int:
        """How many rows of a unit count in full in a detail, its copies in grouping sets counted apart."""
        if isinstance(detail, Matching):  # has a bound of its own
            return detail.most
        if isinstance(detail, Blocks):  # all rows of a unit count
            return 0
        at_most = self.owned.at_most
        if at_most is not None and at_most <= (self.rows or at_most) * self.measure.copies:
            return at_most
        return self._guessed() * self.measure.copies

    def _proved_groups(self) -> int | None:
        """In how many groups one unit is proved to be, public ones too."""
        return self.measure.copies if self._settled() else self.owned.at_most

    def _private_groups(self) -> int | None:
        """In how many groups that are not public one unit is proved to be."""
        private = self.measure.copies - len(self.public.sets)
        if self._settled():
            return private
        return None if self.owned.at_most is None else self.owned.at_most // self.measure.copies * private

    def _settled(self) -> bool:
        """Whether a unit is in one group at most (of each grouping set)."""
        keys = self.measure.keys
        numbers = refs(keys[0].scalar) if self.measure.sets else frozenset()
        return all(refs(key.scalar) - numbers <= self.owned.settled for key in keys)

    # ---- how much one unit can change --------------------------------------------------------------

    def _rows(self) -> tuple[int | None, str]:
        """Where clipping starts: as the query says, or as the policy guesses.

        A unit that is in one group at most contributes to no more, whatever is said of its groups.
        """
        said = self.measure.clip
        if self.keys_alone and said is None:
            return 1, KEYS_ALONE
        if said is None or (said.name == "max_groups_contributed" and self._settled()):
            rows = self.owned.rows
            rows = None if rows is None else rows // self.measure.copies
            return rows, self._rows_said()
        assert isinstance(said.value, int)
        return said.value, f"{said.name} in the query"

    def _rows_said(self) -> str:
        tables = {each.table for each in scans(self.measure.relation)}
        found = [each.name for each in self.known.tables if each.name in tables and "" in each.found]
        if found:
            return f"rows per {self.known.unit} of {' and '.join(found)} found privately"
        return f"rows_per_unit in {self.known.policy_name}"

    def _clips(self) -> tuple[_Clip, _Clip]:
        """The L1 and the L2 way. A row adds at most ``most`` steps to each family, in either norm.

        Where a row is copied into n grouping sets, its copies fall in n different groups, since the set's
        number is a key: n times v on n coordinates of their own is n |v| in L1 and sqrt(n) |v| in L2. The
        triangle inequality over a unit's rows (not over their copies) does the rest.
        """
        copies = self.measure.copies
        most = [family.most for family in self.measure.families]
        one_l1, one_l2 = copies * sum(most), _root(copies * sum(each * each for each in most))
        at_most = None if self.owned.at_most is None else self.owned.at_most // copies
        counted = any(each.part is Part.UNITS for each in self.measure.statistics)
        if at_most is not None and at_most <= (self.rows or at_most) and (at_most == 1 or not counted):
            return (
                _Clip(Norm.L1, self._sized(one_l1 * at_most), Shape.ROWS),
                _Clip(Norm.L2, self._sized(one_l2 * at_most), Shape.ROWS),
            )
        rows = self._guessed()
        cells = Shape.UNIT if not self.measure.keys else Shape.CELLS
        scaled = cells if counted or not self.measure.keys else Shape.L1
        return (
            _Clip(Norm.L1, self._sized(one_l1 * rows), scaled),
            _Clip(Norm.L2, self._sized(one_l2 * rows), cells),
        )

    def _guessed(self) -> int:
        """Where clipping starts, or the refusal of a relation of which nobody says it."""
        if self.rows is None:
            raise refuse(
                "D302",
                f"nothing says how many rows one {self.known.unit} has here",
                self.measure.span,
                label="this is where clipping would start",
                help="say it: SELECT OPTIONS(max_rows_contributed = 20) ...; or the owner adds rows_per_unit",
            ).lacking(uncounted(self.measure.relation))
        return self.rows

    def _sized(self, steps: int) -> int:
        if steps > LARGEST:
            raise refuse(
                "D305",
                f"one {self.known.unit} could own too many rows here",
                self.measure.span,
                label=f"up to {steps // GRID:,} rows after all joins",
                help="join on declared keys, or lower rows_per_unit in the policy",
            )
        return steps

    # ---- which noise -------------------------------------------------------------------------------

    def _noise(self) -> tuple[_Clip, Noise]:
        """The mechanism with the smaller deviation; Laplace where they tie."""
        l1, l2 = self._clips()
        choices = [(l1, self._with("laplace", l1, 1 / self.allowance.laplace))]
        if self.allowance.gaussian is not None:
            choices.append((l2, self._with("gaussian", l2, self.allowance.gaussian)))
        if self.allowance.geometric is not None and self.public.whole and self._whole_units(l1):
            choices.insert(0, (l1, self._with("geometric", l1, 1 / self.allowance.geometric)))
        return min(choices, key=lambda each: mechanism(each[1].mechanism).deviation(each[1].scale))

    def _whole_units(self, clip: _Clip) -> bool:
        """Whether every number is a count, and no unit is scaled: then noise may be whole as well."""
        return clip.shape is Shape.ROWS and all(
            each.part in (Part.ROWS, Part.UNITS) and each.most == geometric.UNIT
            for each in self.measure.statistics
        )

    def _noise_of_keys(self) -> tuple[_Clip, Noise]:
        """Where nothing but keys is released: the mechanism that shows a group of the fewest units.

        A unit has one vote in all, and a norm to spread it in: in t groups it adds 1/t to each (L1), or
        1/sqrt(t) (L2). A larger clip only adds noise: c times the noise, and never c times the votes.
        """
        ways = self._clips()
        names = ("laplace", "gaussian") if self.allowance.gaussian is not None else ("laplace",)
        groups = 1 if self._private_groups() == 1 else self.owned.rows or _USUAL
        best: list[tuple[float, _Clip, Noise]] = []
        for name, clip in zip(names, ways, strict=False):
            ratio = 1 / self.allowance.laplace if name == "laplace" else self.allowance.gaussian
            assert ratio is not None
            noise = self._with(name, clip, ratio)
            rule = self._rule(clip, noise, self._private_groups() or self._many_groups())
            assert isinstance(rule, Threshold)
            best.append((rule.units * groups ** (1 / clip.norm.value), clip, noise))
        _, clip, noise = min(best, key=lambda each: each[0])
        return clip, noise

    def _nothing(self) -> tuple[_Clip, Noise]:
        """No sums are measured: a vector of no numbers."""
        chosen = mechanism("laplace")
        return _Clip(Norm.L1, 0, Shape.ROWS), Noise("laplace", Norm.L1, 0, 1.0, chosen.event(0, 1.0))

    def _with(self, name: str, clip: _Clip, ratio: float) -> Noise:
        chosen = mechanism(name)
        scale = chosen.scale_for(clip.steps, ratio)
        if not scale < LARGEST_SCALE:
            raise refuse(
                "D503",
                "the price is too small: the noise would not fit the grid",
                self.measure.span,
                help="pay more for this query",
            )
        a: Allowance = self.allowance
        event = chosen.event(clip.steps, scale, a.gaussian_epsilon, a.gaussian_point_delta)
        return Noise(name, clip.norm, clip.steps, scale, event)

    # ---- which groups are shown --------------------------------------------------------------------

    def _rule(self, clip: _Clip, noise: Noise, groups: int | None) -> KeyRule:
        if self.public.whole:
            return self._listed()
        a = self.allowance
        delta = a.laplace_delta if noise.mechanism == "laplace" else a.gaussian_delta
        assert delta is not None
        assert self.measure.units is not None
        one, least = self.measure.statistics[self.measure.units].most, self.known.min_units
        steps = steps_for(noise.mechanism, noise.scale, one, clip.steps, clip.norm, groups, delta)
        steps += (least - 1) * one
        listed = self._listed() if self.public.sets else None
        return Threshold(self.measure.units, steps, steps / one, ThresholdEvent(delta), listed, least)

    def _listed(self) -> PublicKeys:
        """The lists of all keys that some public group has."""
        m, sets = self.measure, self.public.sets
        used = {i for _, positions in sets for i in positions} if m.sets else set(range(len(m.keys)))
        domains = [
            self._values(each, column.fact.type) if each is not None and i in used else ()
            for i, (each, column) in enumerate(zip(self.public.lists, self.columns, strict=True))
        ]
        return PublicKeys(tuple(domains), sets)

    def _values(self, each: KeyList, type: Type) -> tuple[Value, ...]:
        match each.domain:
            case Categories(values):
                found: tuple[Value, ...] = values
            case Listed(table, column):
                found = self.values(table, column)
        present = unique(tuple(own for value in found if (own := as_own(value, type)) is not None))
        return (*present, None) if each.null else present


def _in_l2(measure: Measure) -> Measure:
    """Cells of polynomials in the basis that is short in L2, and tells more there: as many, as long."""
    return replace(
        measure,
        statistics=tuple(
            replace(each, part=Part.LAGRANGE) if each.part in CELLS else each for each in measure.statistics
        ),
    )


def _root(square: int) -> int:
    root = math.isqrt(square)
    return root if root * root == square else root + 1
