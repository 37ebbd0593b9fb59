"""Vote: from a query, a learner and public rows to a label of each row.

parse --> bind_vote --> plan_vote --> [pay] --> examples --> votes of teachers --> drawn_labels --> store

A kill between the payment and the labels costs nothing: no vote was seen, and they are counted again.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Sequence

import numpy as np

from dpsql.answer import Answer
from dpsql.bind.votes import bind_vote
from dpsql.errors import Error, InterfaceError, refuse
from dpsql.ir.column import Value
from dpsql.ir.source import Source
from dpsql.ir.votes import Ballot, ExactVotes, Examples, VotePlan
from dpsql.plan.votes import plan_vote
from dpsql.planning import parsed
from dpsql.release.votes import drawn_labels
from dpsql.session import Session
from dpsql.teachers.processes import INSIDE, Teachers
from dpsql.teachers.shares import key_of_teachers, shares

Words = Callable[[int], bytes]


def vote(
    session: Session, source: Source, parameters: Sequence[Value], ballot: Ballot, words: Words = os.urandom
) -> Answer:
    """Text -> Answer: one label for each public row of the ballot."""
    if INSIDE in os.environ:
        raise InterfaceError(
            "a learner asks no vote", help="call dpsql.vote under if __name__ == '__main__': in this script"
        )
    plan = planned_vote(session, source, parameters, ballot)
    receipt = session.answered(plan)
    if receipt is None:
        with Teachers(ballot, plan.labels) as teachers:
            receipt = session.pay(plan)
            if receipt.answer is None:
                votes = counted(session.engine.examples(plan), plan, teachers, session.ledger.salt)
                stored = session.store(receipt, json.dumps(drawn_labels(votes, plan, words)).encode())
    repeated = receipt.answer is not None
    if receipt.answer is not None:
        stored = receipt.answer
    labels = [(plan.labels[place],) for place in json.loads(stored)]
    return Answer(
        (plan.name,),
        (plan.type.sql,),
        labels,
        [(None,)] * len(labels),
        plan.epsilon if receipt.charged else 0.0,
        session.remaining_for(plan),
        repeated,
        "",
    )


def planned_vote(session: Session, source: Source, parameters: Sequence[Value], ballot: Ballot) -> VotePlan:
    """Return the plan of a vote; all labels together must be within the ceiling of one query."""
    query, terms = parsed(session, source, parameters), session.terms(None)
    if query.explained:
        raise refuse(
            "D104", "a vote cannot be explained", help="its price is in the answer: epsilon for each label"
        )
    bound = bind_vote(query, session.known, session.sealed.public, session.sealed.check)
    try:
        plan = plan_vote(bound, ballot, terms, session.combinations)
        session.terms(plan.epsilon)
        session.engine.examples_sql(plan)  # SQL that cannot be printed is refused before the debit
    except Error as error:
        raise error.within(source.text, source.name) from None
    return plan


def counted(examples: Examples, plan: VotePlan, teachers: Teachers, salt: str) -> ExactVotes:
    """Return the votes of all teachers, one after the other."""
    ballot = plan.ballot
    counts = np.zeros((len(ballot.rows), len(plan.labels)), dtype=np.int64)
    every = np.arange(len(ballot.rows))
    for rows in shares(examples, ballot.teachers, key_of_teachers(salt)):
        counts[every, teachers.answers(rows)] += 1
    return ExactVotes(counts)
