"""The name under which the ledger knows a plan: equal for plans that measure the same in the same way."""

from __future__ import annotations

import hashlib

from dpsql.ir.plan import StagePlan
from dpsql.plan.terms import Terms
from dpsql.plan.written_form import written


def digest_of(stages: tuple[StagePlan, ...], terms: Terms) -> str:
    """Of everything that is measured and how, but not of what is done with it afterwards.

    The text of a plan tells apart whatever its values tell apart (1 and 1.0, the types of constants). Clips
    and norms are not read from it: two plans of one text would show one answer, paid once.
    """
    said = [terms.accountant.name, written(terms.epsilon), *([str(terms.share)] if terms.share != 1 else [])]
    for stage in stages:
        if stage.awaited is not None:
            said += [written(stage.awaited), stage.post.sql]
            said += [written(each.measure.other) for each in stage.measures]  # a row of what is handed down
        for each in stage.measures:
            m = each.measure
            said += [
                written(m.relation),
                written(m.keys),
                written(m.statistics),
                written(each.rule),
                written(each.shape),
            ]
            said += [written(each.noise), written(m.finishes)]
            if each.details:
                said.append(written(each.details))
            if each.runs is not None:
                said.append(written(each.runs))
            if each.again is not None:
                said.append(written((each.again.rule, each.again.noise)))
    return hashlib.sha256("\n".join(said).encode()).hexdigest()
