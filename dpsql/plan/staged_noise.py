"""Which measures rest on noise that was released before them, so that no margin tells how far they are off.

    stage 1   AVG(age) of everybody                  54.6 ± 0.2
    stage 2   COUNT(*) of those who are older        4,212, and no margin: another mean chooses other people

Claim   a margin is shown only where the released number differs from that of the query without any noise
        by noise of its own measure.
Proof   a measure reads private rows, public ones, and the rows that earlier stages hand down. Only the
        last may differ from what they would be without noise, and do not where the SQL that makes them
        reads public tables and measures that cost nothing: such a measure lists public keys.
Test    tests/unit/test_staged_margins.py

How far the inner noise reaches depends on the private rows that lie near the released numbers, and of these
nothing is public: so it is said that there is no margin, and none is made up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dpsql.ir.plan import StagePlan
from dpsql.ir.relation import stage_inputs


def resting(stages: Iterable[StagePlan]) -> tuple[StagePlan, ...]:
    """The stages, each measure knowing whether it rests on noise that was released before it."""
    found: list[StagePlan] = []
    noised, handed_down = set[str](), set[str]()
    for stage in stages:
        measures = tuple(
            replace(each, rests_on_noise=not handed_down.isdisjoint(stage_inputs(each.measure.relation)))
            for each in stage.measures
        )
        noised |= {each.measure.name for each in measures if each.events}
        if stage.awaited is not None and not noised.isdisjoint(stage.post.released):
            handed_down.add(stage.awaited.name)
        found.append(replace(stage, measures=measures))
    return tuple(found)
