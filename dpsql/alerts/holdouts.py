"""The answer of a private holdout: the public number while the private mean is near, else that with noise.

    outcome false                    0.31
    the second true of the holdout   part 2 of its debit: two sums with noise -> 0.402 +- 0.03

A noisy mean is stored at the place of its true before it is shown: who was killed in between draws it anew,
and of many who ask at once all get the first that is stored.
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.accounting.entries import Stored
from dpsql.accounting.named_alerts import Outcome
from dpsql.answer import Answer
from dpsql.ir.plan import Plan
from dpsql.parse.alert_statements import AskAlert
from dpsql.post.stages import types_of_stages
from dpsql.release.release import from_system, release
from dpsql.release.serialization import to_bytes
from dpsql.releasing import answer_of, tables_of
from dpsql.session import Session


def holdout_answer(
    session: Session, statement: AskAlert, plan: Plan, outcome: Outcome, receipt: Stored, may_read: bool
) -> Answer | None:
    """Return the answer to a question; None where it has to be measured and may not be."""
    assert plan.question is not None
    assert plan.question.number is not None
    left = session.remaining_for(plan)
    if not outcome.above:
        assert statement.public is not None
        row = (float(statement.public),)
        return Answer((statement.title,), ("DOUBLE",), [row], [(None,)], 0.0, left, False, "")
    part, number = session.part(receipt, outcome.which), plan.question.number
    if part is None and not may_read:
        return None
    if part is None:
        (measure,) = number.measures
        exact = session.engine.measure(measure)
        with session.drawing():
            table = release(exact, measure, from_system)
            kept = to_bytes([table], [measure] if session.keeps_digests else ())
            part = session.keep(receipt, outcome.which, kept)
        session.drawing.heed()
    types = types_of_stages(number.stages, session.sealed)
    shown = answer_of(session, number, tables_of(number, part), types, 0.0, repeated=False)
    return replace(shown, columns=(statement.title,), remaining=left)
