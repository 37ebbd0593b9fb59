"""Digest of a plan, by which the ledger finds it: equal for plans that measure the same in the same way."""

from __future__ import annotations

import hashlib

from dpsql.ir.measure import Measure
from dpsql.ir.plan import KeyRule, MeasurePlan, PublicKeys, StagePlan
from dpsql.ir.strategy import Rows
from dpsql.once_each import once_each
from dpsql.plan.terms import Terms
from dpsql.plan.written_form import written


def digest_of(stages: tuple[StagePlan, ...], terms: Terms) -> str:
    """Hash everything that is measured and how, but no post-processing.

    Plans with different values have different texts (1 and 1.0, the types of constants): two plans of one
    text would share one answer, paid once. Nothing reads clips and norms back from the text.
    """
    parts = [terms.accountant.name, written(terms.epsilon), *([str(terms.share)] if terms.share != 1 else [])]
    for stage in stages:
        if stage.awaited is not None:
            parts += [written(stage.awaited), stage.post.sql]
            parts += [written(planned.measure.other) for planned in stage.measures]  # handed down as a row
            models = (planned.measure.model for planned in stage.measures)
            parts += [written(model) for model in models if model is not None]  # so are its rows
        for planned in stage.measures:
            parts += _parts(planned)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _parts(planned: MeasurePlan) -> list[str]:
    *read, finishes = _of_measure(planned.measure)
    parts = [*read, _of_rule(planned.rule), written(planned.shape), written(planned.noise), finishes]
    if planned.details:
        parts.append(written(planned.details))
    if planned.runs is not None:
        parts.append(written(planned.runs))
    if planned.applied is not None:
        applied = planned.applied
        parts += [applied.strategy.name, applied.asked]
        parts += [
            str(number)
            for number in (applied.strategy.shift, applied.clip, applied.column, applied.places, applied.unit)
        ]
    if planned.joint is not None:
        parts += [*_parts(planned.joint.cells), _digest(planned.joint.rows)]
    if planned.again is not None:
        parts.append(written((planned.again.rule, planned.again.noise)))
    return parts


@once_each
def _of_measure(measure: Measure) -> list[str]:
    return list(map(written, (measure.relation, measure.keys, measure.statistics, measure.finishes)))


def _of_rule(rule: KeyRule) -> str:
    if not isinstance(rule, PublicKeys):
        return written(rule)
    listed = rule.listed()
    if listed.written is None:
        listed.written = written(rule)
    return listed.written


def _digest(rows: Rows) -> str:
    """Hash which cells numbers are the sums of."""
    sizes, entries = rows.told()
    return hashlib.sha256(sizes.encode() + entries).hexdigest()
