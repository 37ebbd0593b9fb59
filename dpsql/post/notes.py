"""The note below an answer: thresholds, found bounds and bias, from the plan alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpsql.detail_kinds import part
from dpsql.facts.ties import ties_of
from dpsql.ir.bound import Bound, MissingClip
from dpsql.ir.detail import Detail
from dpsql.ir.measure import Post
from dpsql.ir.plan import DetailPlan, Plan, Threshold
from dpsql.mechanisms.found_range import few_units
from dpsql.plan.bound_search import again_above
from dpsql.plan.multiplied_rows import limit_of_rows
from dpsql.render.english import one


def note_on(plan: Plan, unit: str) -> str:
    """Return the note on an answer: thresholds of groups, missing margins and bias."""
    sentences = [_on_bound(bound, unit) for bound in plan.bounds if bound.found]
    for words, stages in (("shown", plan.stages[-1:]), ("used inside", plan.stages[:-1])):
        rules = [(measure.again or measure).rule for stage in stages for measure in stage.measures]
        needed = [rule.units for rule in rules if isinstance(rule, Threshold)]
        if needed:
            sentences.append(f"A group is {words} when its noisy number of units reaches {max(needed):.0f}.")
            shown = (measure for stage in stages for measure in stage.measures)
            if any(measure.measure.added_up and isinstance(measure.rule, Threshold) for measure in shown):
                sentences.append("Other groups are in no sum of groups, and no margin says so.")
    rules = [measure.rule for measure in plan.measures]
    least = max((rule.least for rule in rules if isinstance(rule, Threshold)), default=1)
    if least > 1:
        sentences.append(f"The policy hides groups of fewer than {least}.")
    ties = [tie for measure in plan.measures for tie in ties_of(measure.measure.relation)]
    for tie in dict.fromkeys(ties):
        sentences.append(
            f"Joined by {tie}, rows of two {unit}s do not meet: the join is made within one {unit}."
        )
    limits = dict.fromkeys(limit_of_rows(measure, unit) for measure in plan.measures)
    sentences += [f"{limit}." for limit in limits if limit]
    if any(measure.measure.non_negative for measure in plan.measures):
        sentences.append("Sums that noise put below 0 were raised to 0: small groups add up to too much.")
    if any(measure.rests_on_noise for measure in plan.measures):
        sentences.append(
            "A number that rests on others released before it has no margin: their noise moves it too, and "
            "nobody knows how far."
        )
    sentences += _of_details([detail for measure in plan.measures for detail in measure.details], unit)
    return " ".join(sentences)


def note_of_hidden(
    post: Post, rows: Sequence[tuple[Any, ...]], margins: Sequence[tuple[float | None, ...]]
) -> str:
    """Return the note on what COALESCE puts in the place of numbers that are not there."""
    if post.replicated is None or not post.replicated.filled:
        return ""
    places, pairs = post.replicated.places, zip(rows, margins, strict=True)
    if all(row[at] is None or margin[at] is not None for row, margin in pairs for at in places):
        return ""
    return "What stands in for the number of a hidden group has no margin."


def note_without(columns: Sequence[str]) -> str:
    """Return the note on numbers that are computed in a way that gives no margin."""
    if not columns:
        return ""
    why = "chosen or divided by noisy numbers, or not linear in them"
    return f"No margin: {_listed(columns)} ({why})."


def note_of_blank(columns: Sequence[str]) -> str:
    """Return the note on numbers of which no row has a margin this time."""
    if not columns:
        return ""
    return f"Nobody can say how far off {_listed(columns)} may be."


def _listed(columns: Sequence[str]) -> str:
    more = f" and {len(columns) - _NAMED} more" if len(columns) > _NAMED else ""
    return ", ".join(columns[:_NAMED]) + more


_NAMED = 3
"""How many columns are named in a note."""


def _of_details(details: list[DetailPlan[Detail]], unit: str) -> list[str]:
    """Return the notes of each kind of detail; kinds without noise (choices) come first."""
    kinds: dict[str, list[DetailPlan[Detail]]] = {}
    for detail in sorted(details, key=lambda detail: (detail.noise is not None, detail.detail.kind)):
        kinds.setdefault(detail.detail.kind, []).append(detail)
    notes = (part("finish", kind).note(group, unit) for kind, group in kinds.items())
    return [note for note in notes if note]


def _on_clip(bound: Bound, missing: MissingClip, unit: str) -> str:
    rows = f"{bound.high / missing.one:,.3g} times the most of one row"
    if not bound.is_known:
        return (
            f"Too few {unit}s to choose the {missing.said} at this price: it is {rows}. A price of "
            f"{again_above(bound):g} looks again."
        )
    return (
        f"The {missing.said} was chosen privately, to fit: {one(unit)} that adds more than {rows} is scaled "
        "down. No margin shows what that cuts off."
    )


def _on_bound(bound: Bound, unit: str) -> str:
    if isinstance(bound.missing, MissingClip):
        return _on_clip(bound, bound.missing, unit)
    if not bound.is_known:
        return (
            f"Too few {unit}s to find the {bound.missing.said} at this price: the margin is that of the "
            f"widest there could be. A price above {again_above(bound):g} looks again."
        )
    return (
        f"The {bound.missing.said} was found privately: what a few {unit}s have beyond it is cut, and with "
        f"fewer than about {few_units(bound.strength):,} {unit}s it may be far off. No margin shows either."
    )
