"""What a reader has to know of an answer, in words: by its plan alone."""

from __future__ import annotations

from dpsql.ir.bound import Bound
from dpsql.ir.detail import Histogram, Matching
from dpsql.ir.grid import End
from dpsql.ir.plan import Plan, Threshold
from dpsql.mechanisms.found_range import few_units
from dpsql.plan.bound_search import again_above
from dpsql.post.order_statistic_facts import rows_beyond


def note_on(what: Plan, unit: str) -> str:
    """How many units a group needs to be shown or handed down, and what is biased."""
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
    blocks = [
        one.blocks for stage in what.stages for each in stage.measures for one in each.details if one.blocks
    ]
    if blocks:
        said.append(
            f"DP_SAMPLE is the median over {max(blocks)} blocks of units: small ones differ from the whole."
        )
    extremes = [
        rows_beyond(one)
        for stage in what.stages
        for each in stage.measures
        for one in each.details
        if isinstance(one.detail, Histogram) and any(isinstance(target, End) for target in one.detail.targets)
    ]
    if extremes:
        said.append(
            f"MIN and MAX have about {max(extremes):.3g} rows beyond them: where there are fewer than about "
            f"{2 * max(extremes):.3g} rows they tell next to nothing, and no margin shows that."
        )
    claims = [
        one.detail.most
        for stage in what.stages
        for each in stage.measures
        for one in each.details
        if isinstance(one.detail, Matching) and one.detail.short
    ]
    if claims:
        values = "one value" if max(claims) == 1 else f"{max(claims):,} values"
        said.append(
            f"COUNT(DISTINCT ...) counts at most {values} of one {unit} alone, and may miss others: "
            "OPTIONS(max_values_contributed = 50) counts more, with more noise."
        )
    return " ".join(said)


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
