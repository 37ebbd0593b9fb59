"""Key rules: show the groups of public lists; show others if their noisy count reaches the threshold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from dpsql.functions.core.literals import as_own
from dpsql.ir.column import Categories, Listed, Type, Value, unique
from dpsql.ir.event import ThresholdEvent
from dpsql.ir.measure import KeyList
from dpsql.ir.plan import KeyRule, Noise, PublicKeys, Threshold
from dpsql.mechanisms.threshold import steps_for
from dpsql.plan.clips import Clip
from dpsql.plan.measure_facts import MeasureFacts

Values = Callable[[str, str], tuple[Value, ...]]
"""Function (table, column) -> distinct values of a column of a public table."""


def rule_of(facts: MeasureFacts, clip: Clip, noise: Noise, groups: int | None, values: Values) -> KeyRule:
    """Return the key rule; one unit is in at most ``groups`` groups that are not public."""
    if facts.public.whole:
        return _public_keys(facts, values)
    listed = _public_keys(facts, values) if facts.public.sets else None
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


def _public_keys(facts: MeasureFacts, values: Values) -> PublicKeys:
    """List the values of every key of a public group."""
    measure, public = facts.measure, facts.public
    used = (
        {i for _, positions in public.sets for i in positions}
        if measure.sets
        else set(range(len(measure.keys)))
    )
    domains = [
        _values(key_list, column.fact.type, values) if key_list is not None and i in used else ()
        for i, (key_list, column) in enumerate(zip(public.lists, facts.columns, strict=True))
    ]
    return PublicKeys(tuple(domains), public.sets)


def _values(key_list: KeyList, type: Type, values: Values) -> tuple[Value, ...]:
    match key_list.domain:
        case Categories(members):
            candidates: tuple[Value, ...] = members
        case Listed(table, column):
            candidates = values(table, column)
    present = unique(tuple(literal for value in candidates if (literal := as_own(value, type)) is not None))
    return (*present, None) if key_list.null else present
