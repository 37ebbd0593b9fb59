"""Key rules: show the groups of public lists; show others if their noisy count reaches the threshold."""

from __future__ import annotations

from dataclasses import replace

from dpsql.ir.event import ThresholdEvent
from dpsql.ir.plan import KeyRule, Noise, Threshold
from dpsql.mechanisms.threshold import steps_for
from dpsql.plan.clips import Clip
from dpsql.plan.measure_facts import MeasureFacts


def rule_of(facts: MeasureFacts, clip: Clip, noise: Noise, groups: int | None) -> KeyRule:
    """Return the key rule; one unit is in at most ``groups`` groups that are not public."""
    if facts.public.whole:
        return facts.listed()
    listed = facts.listed() if facts.public.sets else None
    return replace(threshold(facts, clip, noise, groups), listed=listed)


def threshold(facts: MeasureFacts, clip: Clip, noise: Noise, groups: int | None) -> Threshold:
    """Return the threshold for groups that are in no public list."""
    measure, allowance = facts.measure, facts.allowance
    delta = allowance.laplace_delta if noise.mechanism == "laplace" else allowance.gaussian_delta
    assert delta is not None
    assert measure.units is not None
    one, least = measure.statistics[measure.units].most, facts.known.min_units
    steps = steps_for(noise.mechanism, noise.scale, one, clip.steps, clip.norm, groups, delta)
    steps += (least - 1) * one
    return Threshold(measure.units, steps, steps / one, ThresholdEvent(delta), None, least)
