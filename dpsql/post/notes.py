"""The note below an answer: thresholds, found bounds and bias, from the plan alone."""

from __future__ import annotations

from dpsql.detail_kinds import part
from dpsql.ir.bound import Bound
from dpsql.ir.detail import Detail
from dpsql.ir.plan import DetailPlan, Plan, Threshold
from dpsql.mechanisms.found_range import few_units
from dpsql.plan.bound_search import again_above


def note_on(what: Plan, unit: str) -> str:
    """Return the note on an answer: thresholds of groups, missing margins and bias."""
    said = [_on_bound(each, unit) for each in what.bounds if each.found]
    for words, stages in (("shown", what.stages[-1:]), ("used inside", what.stages[:-1])):
        rules = [(each.again or each).rule for stage in stages for each in stage.measures]
        needed = [each.units for each in rules if isinstance(each, Threshold)]
        if needed:
            said.append(f"A group is {words} when its noisy number of units reaches {max(needed):.0f}.")
    rules = [each.rule for stage in what.stages for each in stage.measures]
    least = max((each.least for each in rules if isinstance(each, Threshold)), default=1)
    if least > 1:
        said.append(f"The policy hides groups of fewer than {least}.")
    if any(each.rests_on_noise for stage in what.stages for each in stage.measures):
        said.append(
            "A number that rests on others released before it has no margin: their noise moves it too, and "
            "nobody knows how far."
        )
    said += _of_details(
        [one for stage in what.stages for each in stage.measures for one in each.details], unit
    )
    return " ".join(said)


def _of_details(details: list[DetailPlan[Detail]], unit: str) -> list[str]:
    """Return the notes of each kind of detail; kinds without noise (choices) come first."""
    kinds: dict[str, list[DetailPlan[Detail]]] = {}
    for each in sorted(details, key=lambda each: (each.noise is not None, each.detail.kind)):
        kinds.setdefault(each.detail.kind, []).append(each)
    notes = (part("finish", kind).note(found, unit) for kind, found in kinds.items())
    return [note for note in notes if note]


def _on_bound(bound: Bound, unit: str) -> str:
    if not bound.is_known:
        return (
            f"Too few {unit}s to find the {bound.missing.said} at this price: the margin is that of the "
            f"widest there could be. A price above {again_above(bound):g} looks again."
        )
    return (
        f"The {bound.missing.said} was found privately: what a few {unit}s have beyond it is cut, and with "
        f"fewer than about {few_units(bound.strength):,} {unit}s it may be far off. No margin shows either."
    )
