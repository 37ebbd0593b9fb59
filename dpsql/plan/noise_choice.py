"""Choose the noise: among the mechanisms that the price buys, the one with the smallest error."""

from __future__ import annotations

from dpsql.errors import refuse
from dpsql.ir.plan import Noise, Norm, Shape
from dpsql.ir.statistic import Part
from dpsql.mechanisms import geometric, mechanism
from dpsql.plan.clips import Clip, clips_of
from dpsql.plan.key_rule import threshold
from dpsql.plan.measure_facts import Fitted, MeasureFacts

LARGEST_SCALE = 2**50
"""Largest scale of a noise in grid steps."""

_USUAL = 20
"""Assumed number of groups of a unit, if neither query nor policy says it."""


def noise_of(facts: MeasureFacts) -> tuple[Clip, Noise]:
    """Return the clip and the noise of a measure's sums; it may have no sums, or release keys only."""
    if facts.keys_alone:
        return _noise_of_keys(facts)
    if facts.fitted is not None:
        return _noise_of_fitted(facts, facts.fitted)
    if not facts.measure.statistics:
        nothing = mechanism("laplace").event(0, 1.0)
        return Clip(Norm.L1, 0, Shape.ROWS), Noise("laplace", Norm.L1, 0, 1.0, nothing)
    return _noise_of_sums(facts)


def deviation(noise: Noise) -> float:
    return mechanism(noise.mechanism).deviation(noise.scale)


def noise_with(facts: MeasureFacts, name: str, clip: Clip, ratio: float) -> Noise:
    """Return a mechanism's noise for a clip; ``ratio`` is the scale for a clip of one grid step."""
    chosen = mechanism(name)
    scale = chosen.scale_for(clip.steps, ratio)
    if not scale < LARGEST_SCALE:
        raise refuse(
            "D503",
            "the price is too small: the noise would not fit the grid",
            facts.measure.span,
            help="pay more for this query",
        )
    a = facts.allowance
    event = chosen.event(clip.steps, scale, a.gaussian_epsilon, a.gaussian_point_delta)
    return Noise(name, clip.norm, clip.steps, scale, event)


def _noise_of_sums(facts: MeasureFacts) -> tuple[Clip, Noise]:
    """Return the mechanism with the smallest deviation."""
    l1, l2 = clips_of(facts)
    allowance = facts.allowance
    choices = [(l1, noise_with(facts, "laplace", l1, 1 / allowance.laplace))]
    if allowance.gaussian is not None:
        choices.append((l2, noise_with(facts, "gaussian", l2, allowance.gaussian)))
    if allowance.geometric is not None and facts.public.whole and whole_units(facts, l1):
        choices.insert(0, (l1, noise_with(facts, "geometric", l1, 1 / allowance.geometric)))
    return min(choices, key=lambda choice: deviation(choice[1]))


def _noise_of_fitted(facts: MeasureFacts, fitted: Fitted) -> tuple[Clip, Noise]:
    """Return the noise in the norm in which the clip was chosen; the engine scales every unit to the clip."""
    allowance, clip = facts.allowance, Clip(fitted.norm, fitted.steps, shape_in(fitted.norm, facts))
    if fitted.norm is Norm.L2:
        assert allowance.gaussian is not None, "the norm was chosen for this noise"
        return clip, noise_with(facts, "gaussian", clip, allowance.gaussian)
    return clip, noise_with(facts, "laplace", clip, 1 / allowance.laplace)


def shape_in(norm: Norm, facts: MeasureFacts) -> Shape:
    """Return the shape in which the engine scales units of any number of rows."""
    if not facts.measure.keys:
        return Shape.UNIT
    return Shape.L1 if norm is Norm.L1 and not facts.counts_units else Shape.CELLS


def whole_units(facts: MeasureFacts, clip: Clip) -> bool:
    """Whether every number is a count and no unit is scaled, so that the noise may be a whole number too.

    Whole noise hides nothing of a fraction. A unit that determines its groups counts once in each, under each
    condition; the clip allows that unless the query says fewer rows than conditions.
    """
    full = facts.measure.copies * sum(statistic.most for statistic in facts.measure.statistics)
    in_full = facts.settled() and facts.only_counts_units() and clip.steps >= full
    return (clip.shape is Shape.ROWS or in_full) and all(
        statistic.part in (Part.ROWS, Part.UNITS) and statistic.most == geometric.UNIT
        for statistic in facts.measure.statistics
    )


def _noise_of_keys(facts: MeasureFacts) -> tuple[Clip, Noise]:
    """Return the mechanism for keys only: the one that shows groups with the fewest units.

    A unit has one vote of norm 1 to spread: in t groups it adds 1/t to each (L1), or 1/sqrt(t) (L2). A
    larger clip only adds noise: c times the noise, but never c times the votes.
    """
    l1, l2 = clips_of(facts)
    allowance = facts.allowance
    choices = [(l1, noise_with(facts, "laplace", l1, 1 / allowance.laplace))]
    if allowance.gaussian is not None:
        choices.append((l2, noise_with(facts, "gaussian", l2, allowance.gaussian)))
    private = facts.private_groups()
    groups = 1 if private == 1 else facts.owned.rows or _USUAL

    def votes(choice: tuple[Clip, Noise]) -> float:
        clip, noise = choice
        rule = threshold(facts, clip, noise, private or facts.many_groups())
        spread: float = groups ** (1 / clip.norm.value)
        return rule.units * spread

    return min(choices, key=votes)
