"""Plans that choose the clip of a measure, on the rows that the query itself reads.

    SELECT OPTIONS(max_rows_contributed = auto) place, COUNT(*) FROM visits GROUP BY place

    first    the norm of what every visitor adds to these counts: one choice among clips, for a tenth of the
             price
    then     the counts, each visitor clipped to it, for the rest of the price

The best start of a clip depends on the question: with few places the noise is small, and cutting a hundred
regular visitors costs more than it saves. A clip is kept in the ledger under the sums, their rows, the norm
and the octave of the price, so a later query that adds up the same uses it free. Any clip keeps privacy: the
engine enforces it.

A tenth: noise grows by 11 % where epsilons add up, by 5 % under zCDP. A larger share chooses better among few
units, and costs every query more.
"""

from __future__ import annotations

import hashlib
import math
from dataclasses import replace
from fractions import Fraction

from dpsql.ir.bound import Bound, MissingClip
from dpsql.ir.clip_search import ClipSearch, clip_search
from dpsql.ir.event import ChoiceEvent, LaplaceEvent
from dpsql.ir.measure import Measure
from dpsql.ir.plan import DetailPlan, MeasurePlan, Noise, Norm, PublicKeys, Shape
from dpsql.ir.relation import scans
from dpsql.ir.statistic import Part
from dpsql.mechanisms.clip_ladder import SENSITIVITY, few, ladder, least_units
from dpsql.plan.clips import LARGEST, norms_of
from dpsql.plan.measure_facts import Fitted, MeasureFacts
from dpsql.plan.noise_choice import deviation, shape_in
from dpsql.plan.written_form import written

SHARE = Fraction(1, 10)
"""Share of a query's price for the choices of all its clips together."""

_USUAL = 20
"""Assumed number of a unit's rows, and of groups with private keys, where nobody says it."""

_OCTAVES = 13
"""Octaves of the ladder above the most of one row."""

_BELOW = 10
"""Octaves below it, for sums of values."""

_NOTHING = Noise("laplace", Norm.L1, 0, 1.0, LaplaceEvent(0, 1.0))


def assumed(facts: MeasureFacts) -> MeasureFacts:
    """Return the facts with a number of rows, by which the form of the vector and its norm are chosen."""
    return replace(facts, rows=facts.rows or _USUAL)


def missing_clip(facts: MeasureFacts, planned: MeasurePlan) -> MissingClip:
    """Return the clip that a measure needs; ``planned`` is its plan with the assumed rows."""
    measure, norm, terms = planned.measure, planned.noise.norm, facts.terms
    one = _one_row(measure, norm)
    limits = _limits(facts, measure, one)
    choice = terms.accountant.allowance(terms.epsilon, terms.budget, SHARE, thresholds=False).choice
    groups = len(planned.rule.groups()) if isinstance(planned.rule, PublicKeys) else _USUAL
    numbers = groups * sum(len(family.alternatives) for family in measure.families)
    beyond = few(numbers * deviation(planned.noise) / planned.noise.sensitivity, choice)
    vector = replace(planned, shape=shape_in(norm, facts), details=(), runs=None, again=None)
    detail = clip_search(vector, limits, beyond)
    octave = math.floor(math.log2(terms.epsilon))
    parts = [terms.accountant.name, str(octave), written(replace(detail, few=0))]
    digest = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    tables = dict.fromkeys(scan.table for scan in scans(measure.relation))
    return MissingClip(
        f"clip {digest}", measure.relation, detail, one, _unchosen(facts, norm, limits), " and ".join(tables)
    )


def fitted_in(bound: Bound, norm: Norm) -> Fitted:
    """Return the clip that was chosen, or the one that is used where nothing was."""
    assert isinstance(bound.missing, MissingClip)
    return Fitted(norm, int(bound.high), bound.missing.one)


def clip_of(missing: MissingClip, place: int, time: str) -> Bound:
    """Return the clip at a place; past the last one nothing was chosen."""
    limits = _detail(missing).limits
    chosen = place < len(limits)
    return Bound(missing, 0, limits[place] if chosen else missing.otherwise, time, is_known=chosen)


def widest_clip(missing: MissingClip) -> Bound:
    """Return the clip that asks most of a plan."""
    return Bound(missing, 0, max(missing.otherwise, _detail(missing).limits[-1]))


def search_of(missing: MissingClip, epsilon: float, number: int) -> MeasurePlan:
    """Plan the norms of all units, and one choice among the clips."""
    detail = _detail(missing)
    measure = Measure(f"clip{number}", missing.relation, (), (), details=(detail,))
    choice = DetailPlan(detail, 1, SENSITIVITY, (ChoiceEvent(epsilon),), epsilon=epsilon, choices=1)
    return MeasurePlan(measure, (), PublicKeys(()), Shape.ROWS, _NOTHING, details=(choice,))


def units_needed(missing: MissingClip, epsilon: float) -> int:
    """Return with how many units a choice at this epsilon finds something."""
    detail = _detail(missing)
    return least_units(detail.limits, detail.few, epsilon)


def _detail(missing: MissingClip) -> ClipSearch:
    assert isinstance(missing.detail, ClipSearch)
    return missing.detail


def _one_row(measure: Measure, norm: Norm) -> int:
    """Return the most that a row adds, with its copies in grouping sets."""
    most = [family.most for family in measure.families]
    if norm is Norm.L1:
        return measure.copies * sum(most)
    return math.isqrt(measure.copies * sum(steps * steps for steps in most) - 1) + 1


def _limits(facts: MeasureFacts, measure: Measure, one: int) -> tuple[int, ...]:
    """Return the ladder: from a row that adds least, to the most rows that are proved or usual.

    A unit that is counted somewhere counts in full there, or no group could reach its threshold.
    """
    counted = [statistic.most for statistic in measure.statistics if statistic.part is Part.UNITS]
    least = min((family.most for family in measure.families), default=1)
    if facts.lone_sums():
        least = max(1, one >> _BELOW)
    rows = 2**_OCTAVES if facts.owned.at_most is None else facts.owned.at_most
    first = math.floor(math.log2(max([least, *counted]) / one))
    return ladder(one, min(0, first), min(_OCTAVES, math.ceil(math.log2(rows))), LARGEST)


def _unchosen(facts: MeasureFacts, norm: Norm, limits: tuple[int, ...]) -> int:
    """Return the clip of the policy's number of rows, or the widest: what is used if nothing is chosen."""
    if facts.rows is None:
        return limits[-1]
    clips = {clip.norm: clip.steps for clip in norms_of(facts)}
    return min(LARGEST, clips[norm])
