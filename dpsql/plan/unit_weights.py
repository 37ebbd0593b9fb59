"""Finer grids for counts of units beside sums of rows, where they cost the sums hardly anything.

    SELECT city, SUM(x) FROM visits GROUP BY city       20 rows of a person: the hidden count decides which
                                                        cities show; it is measured 4 times as exactly

A unit that has all its rows in one group is counted there once, and one in many groups adds little to each
(``unit_norms``). So the counts of units have room: measured in finer steps, they hardly lengthen the longest
vector, and the noise, which is as many steps for every number, is less of a unit.

Claim   the guarantee is that of one vector with one clip, whatever the grid.
Proof   A count of units adds its ``most`` once for a unit and group. With another ``most`` the norm is
        computed from that, and the engine clips to it. Nothing but the plan's public facts chooses it.
Test    grammar_tests/aggregates/units_by_group.sql, tests/unit/test_unit_weights.py

Splitting the price between the sums and the counts of units is the same trade without the room: with the
shares 1 - x and x, Gaussian noise is that of one vector whose weights make the bounds r^2 A / (1 - x) and
G B / x equal, but one vector is bounded by the longest of its vectors, not by the sum of both bounds.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from dpsql.ir.measure import Measure
from dpsql.ir.statistic import Family, Part, Statistic
from dpsql.once_each import once_each
from dpsql.plan.clips import norms_of
from dpsql.plan.measure_facts import MeasureFacts
from dpsql.rewrite.disjoint_cells import load

_WEIGHTS = tuple(Fraction(step, 4) * 2**octave for octave in range(6) for step in (4, 5, 6, 7))
"""How many times finer the grid may be: four steps an octave, up to 56."""


def weighed(facts: MeasureFacts) -> list[MeasureFacts]:
    """Return the facts with the best weights of the counts of units for an L1 norm, and for an L2 norm."""
    if not _has_room(facts):
        return [facts]
    options = [replace(facts, measure=measure) for measure in _finer_forms(facts.measure)]
    norms = [norms_of(option) for option in options]
    loads = [load(option.measure) for option in options]
    best = [min(range(len(options)), key=lambda i: loads[i] * norms[i][norm].steps ** 2) for norm in range(2)]
    return [options[i] for i in dict.fromkeys(best)]


def _has_room(facts: MeasureFacts) -> bool:
    """Whether units are counted beside sums of several rows, and the query says no weights."""
    parts = {statistic.part for statistic in facts.measure.statistics}
    mixed = Part.UNITS in parts and len(parts) > 1
    return mixed and len(set(facts.measure.weights)) < 2 and facts.proved_rows() is None


@once_each
def _finer_forms(measure: Measure) -> list[Measure]:
    return [_finer(measure, weight) for weight in _WEIGHTS]


def _finer(measure: Measure, weight: Fraction) -> Measure:
    """Divide the steps of all counts of units by a weight."""

    def finer(statistic: Statistic) -> Statistic:
        if statistic.part is not Part.UNITS:
            return statistic
        most = round(statistic.most * weight)
        return replace(statistic, most=most, step=Fraction(1, most))

    statistics = tuple(map(finer, measure.statistics))
    families = tuple(
        Family(family.alternatives, max(statistics[i].together for i, *_ in family.alternatives))
        for family in measure.families
    )
    return replace(measure, statistics=statistics, families=families)
