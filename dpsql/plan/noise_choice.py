"""Which noise: of the mechanisms that the price buys, the one whose numbers err least."""

from __future__ import annotations

from dpsql.errors import refuse
from dpsql.ir.plan import Noise, Norm, Shape
from dpsql.ir.statistic import Part
from dpsql.mechanisms import geometric, mechanism
from dpsql.plan.clips import Clip, clips_of
from dpsql.plan.key_rule import threshold
from dpsql.plan.measure_facts import MeasureFacts

LARGEST_SCALE = 2**50
"""Grid steps of a noise's scale at most."""

_USUAL = 20
"""Groups that a unit is in, where nobody says it."""


def noise_of(subject: MeasureFacts) -> tuple[Clip, Noise]:
    """For all sums of a measure, of which there may be none, or nothing but whose keys are shown."""
    if subject.keys_alone:
        return _noise_of_keys(subject)
    if not subject.measure.statistics:
        nothing = mechanism("laplace").event(0, 1.0)
        return Clip(Norm.L1, 0, Shape.ROWS), Noise("laplace", Norm.L1, 0, 1.0, nothing)
    return _noise_of_sums(subject)


def deviation(noise: Noise) -> float:
    return mechanism(noise.mechanism).deviation(noise.scale)


def noise_with(subject: MeasureFacts, name: str, clip: Clip, ratio: float) -> Noise:
    """A mechanism's noise for a clip; ``ratio`` is the noise's scale for a clip of one."""
    chosen = mechanism(name)
    scale = chosen.scale_for(clip.steps, ratio)
    if not scale < LARGEST_SCALE:
        raise refuse(
            "D503",
            "the price is too small: the noise would not fit the grid",
            subject.measure.span,
            help="pay more for this query",
        )
    a = subject.allowance
    event = chosen.event(clip.steps, scale, a.gaussian_epsilon, a.gaussian_point_delta)
    return Noise(name, clip.norm, clip.steps, scale, event)


def _noise_of_sums(subject: MeasureFacts) -> tuple[Clip, Noise]:
    """The mechanism with the smaller deviation; Laplace where they tie."""
    l1, l2 = clips_of(subject)
    allowance = subject.allowance
    choices = [(l1, noise_with(subject, "laplace", l1, 1 / allowance.laplace))]
    if allowance.gaussian is not None:
        choices.append((l2, noise_with(subject, "gaussian", l2, allowance.gaussian)))
    if allowance.geometric is not None and subject.public.whole and _whole_units(subject, l1):
        choices.insert(0, (l1, noise_with(subject, "geometric", l1, 1 / allowance.geometric)))
    return min(choices, key=lambda each: deviation(each[1]))


def _whole_units(subject: MeasureFacts, clip: Clip) -> bool:
    """Whether every number is a count, and no unit is scaled: then noise may be whole as well."""
    return clip.shape is Shape.ROWS and all(
        each.part in (Part.ROWS, Part.UNITS) and each.most == geometric.UNIT
        for each in subject.measure.statistics
    )


def _noise_of_keys(subject: MeasureFacts) -> tuple[Clip, Noise]:
    """Where nothing but keys is released: the mechanism that shows a group of the fewest units.

    A unit has one vote in all, and a norm to spread it in: in t groups it adds 1/t to each (L1), or
    1/sqrt(t) (L2). A larger clip only adds noise: c times the noise, and never c times the votes.
    """
    l1, l2 = clips_of(subject)
    allowance = subject.allowance
    choices = [(l1, noise_with(subject, "laplace", l1, 1 / allowance.laplace))]
    if allowance.gaussian is not None:
        choices.append((l2, noise_with(subject, "gaussian", l2, allowance.gaussian)))
    private = subject.private_groups()
    groups = 1 if private == 1 else subject.owned.rows or _USUAL

    def votes(choice: tuple[Clip, Noise]) -> float:
        clip, noise = choice
        rule = threshold(subject, clip, noise, private or subject.many_groups())
        spread: float = groups ** (1 / clip.norm.value)
        return rule.units * spread

    return min(choices, key=votes)
