"""The name under which the ledger knows a plan: equal for plans that measure the same in the same way."""

from __future__ import annotations

import hashlib

from dpsql.ir.plan import (
    PlannedStage,
)
from dpsql.plan.terms import Terms


def digest_of(stages: tuple[PlannedStage, ...], terms: Terms) -> str:
    """Of everything that is measured and how, but not of what is done with it afterwards.

    The text of a plan tells apart whatever its values tell apart (1 and 1.0, the types of constants). Clips
    and norms are not read from it: two plans of one text would show one answer, paid once.
    """
    said = [terms.accountant.name, repr(terms.epsilon), *([str(terms.share)] if terms.share != 1 else [])]
    for stage in stages:
        if stage.awaited is not None:
            said += [repr(stage.awaited), stage.post.sql]
            said += [repr(each.measure.other) for each in stage.measures]  # a row of what is handed down
        for each in stage.measures:
            m = each.measure
            said += [repr(m.relation), repr(m.keys), repr(m.statistics), repr(each.rule), repr(each.shape)]
            said += [repr(each.noise), repr(m.finishes)]
            if each.details:
                said.append(repr(each.details))
            if each.runs is not None:
                said.append(repr(each.runs))
            if each.again is not None:
                said.append(repr((each.again.rule, each.again.noise)))
    return hashlib.sha256("\n".join(said).encode()).hexdigest()
