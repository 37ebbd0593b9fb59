"""Mark measures that depend on noise released in earlier stages: no margin describes their error.

    stage 1   AVG(age) of everybody                  54.6 ± 0.2
    stage 2   COUNT(*) of those who are older        4,212, no margin: another mean selects other people

Claim   a margin is shown only if the released number differs from the query's answer without any noise by
        the noise of its own measure alone.
Proof   A measure reads private rows, public rows, and the rows that earlier stages hand down. Only the last
        may differ from what they would be without noise. They do not if their SQL reads only public tables
        and measures that cost nothing: such a measure lists public keys.
Test    tests/unit/test_staged_margins.py

The weights that a step of a fit reads are not counted: whatever they are, its margins describe how far the
noise of all steps moves the fit (post/logistic.py, post/linear.py).

The effect of earlier noise depends on the private rows near the released numbers, which are not public. So
the answer says that there is no margin.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from dpsql.ir.model import HANDED_DOWN
from dpsql.ir.plan import StagePlan
from dpsql.ir.relation import stage_inputs


def resting(stages: Iterable[StagePlan]) -> tuple[StagePlan, ...]:
    """Set ``rests_on_noise`` of every measure that depends on noise released in earlier stages."""
    marked: list[StagePlan] = []
    noised, handed_down = set[str](), set[str]()
    for stage in stages:
        measures = tuple(
            replace(
                planned, rests_on_noise=not handed_down.isdisjoint(stage_inputs(planned.measure.relation))
            )
            for planned in stage.measures
        )
        noised |= {planned.measure.name for planned in measures if planned.events}
        if stage.awaited is not None and not noised.isdisjoint(stage.post.released) and not _weights(stage):
            handed_down.add(stage.awaited.name)
        marked.append(replace(stage, measures=measures))
    return tuple(marked)


def _weights(stage: StagePlan) -> bool:
    """Whether a stage hands down the weights of a fit and nothing else."""
    read = [planned.measure for planned in stage.measures if planned.measure.name in stage.post.released]
    return len(read) == len(stage.post.released) and all(
        measure.model is not None and measure.model.fit in HANDED_DOWN for measure in read
    )
