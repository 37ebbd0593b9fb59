"""Which groups are shown: those of public lists, and of the others those whose noisy count is high enough."""

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
"""The distinct values of a column of a public table."""


def rule_of(subject: MeasureFacts, clip: Clip, noise: Noise, groups: int | None, values: Values) -> KeyRule:
    """``groups``: in how many that are not public one unit is."""
    if subject.public.whole:
        return _public_keys(subject, values)
    listed = _public_keys(subject, values) if subject.public.sets else None
    return replace(threshold(subject, clip, noise, groups), listed=listed)


def threshold(subject: MeasureFacts, clip: Clip, noise: Noise, groups: int | None) -> Threshold:
    """For the groups that no list has."""
    measure, allowance = subject.measure, subject.allowance
    delta = allowance.laplace_delta if noise.mechanism == "laplace" else allowance.gaussian_delta
    assert delta is not None
    assert measure.units is not None
    one, least = measure.statistics[measure.units].most, subject.known.min_units
    steps = steps_for(noise.mechanism, noise.scale, one, clip.steps, clip.norm, groups, delta)
    steps += (least - 1) * one
    return Threshold(measure.units, steps, steps / one, ThresholdEvent(delta), None, least)


def _public_keys(subject: MeasureFacts, values: Values) -> PublicKeys:
    """The lists of all keys that some public group has."""
    measure, public = subject.measure, subject.public
    used = (
        {i for _, positions in public.sets for i in positions}
        if measure.sets
        else set(range(len(measure.keys)))
    )
    domains = [
        _values(each, column.fact.type, values) if each is not None and i in used else ()
        for i, (each, column) in enumerate(zip(public.lists, subject.columns, strict=True))
    ]
    return PublicKeys(tuple(domains), public.sets)


def _values(each: KeyList, type: Type, values: Values) -> tuple[Value, ...]:
    match each.domain:
        case Categories(members):
            found: tuple[Value, ...] = members
        case Listed(table, column):
            found = values(table, column)
    present = unique(tuple(own for value in found if (own := as_own(value, type)) is not None))
    return (*present, None) if each.null else present
