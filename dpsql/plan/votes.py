"""VoteQuery -> VotePlan: teachers, and the price of labels.

Claim   a vote is as private as so many choices of epsilon ``epsilon``: one by one of bounded range, together
        as their accountant adds them up.
Proof   1. A row of the relation is computed from the rows of one unit (bind/owned_rows.py), and a unit has
           one teacher: a keyed hash of it, whoever else is there (teachers/shares.py). So the rows of all
           other teachers are the same with and without that unit, and in the same order.
        2. What a teacher answers is computed from its own rows, the public rows and fresh randomness: it runs
           in a process that is forked from one which never had a private row, and no two run at the same
           time (teachers/processes.py). Whatever goes wrong in it is one fixed label. So one unit changes the
           answer of one teacher, which has one vote about each row: with the same randomness of all others,
           it moves one vote from one label to another.
        3. A label is chosen with probability proportional to exp(epsilon / 2 * votes). Two of these
           logarithms move by at most epsilon / 2, in opposite directions: a choice whose loss ranges over
           ``epsilon`` (mechanisms/exponential.py). Given all randomness of learners, all labels are such
           choices, and mixtures of them are no less private.
Test    tests/privacy/test_votes.py
"""

from __future__ import annotations

import hashlib

from dpsql.accounting.charged import charged
from dpsql.errors import InterfaceError, refuse
from dpsql.ir.votes import Ballot, VotePlan, VoteQuery, votes_of
from dpsql.plan.export import listed_literals
from dpsql.plan.public_groups import Combinations
from dpsql.plan.terms import Terms
from dpsql.plan.written_form import written

MOST_LABELS = 1_000
MOST_COUNTS = 10_000_000
"""Most public rows times labels: each has a count of votes, and all of them are in memory."""


def plan_vote(vote: VoteQuery, ballot: Ballot, terms: Terms, combinations: Combinations) -> VotePlan:
    """Return what would be voted on, and its price; reads no private row."""
    listed = listed_literals(vote.values, vote.type, combinations)
    labels = tuple(value for value in listed if value is not None)
    if not 2 <= len(labels) <= MOST_LABELS:
        raise refuse(
            "D301",
            f"this column has {len(labels):,} possible {'value' if len(labels) == 1 else 'values'}",
            vote.span,
            label=f"teachers choose one of 2 to {MOST_LABELS:,} labels",
            help="predict another column" if len(labels) < 2 else "group the values: x // 10",
        )
    _check_width(vote, ballot)
    _check_counts(len(labels), ballot)
    learner = ballot.learner
    limits = (ballot.seconds, ballot.megabytes)
    asked = (ballot.rows, ballot.teachers, ballot.epsilon, *limits, learner.function, learner.digest)
    parts = (written(vote.relation), written(vote.columns), written((vote.names, labels)), written(asked))
    digest = hashlib.sha256("\n".join(("vote", terms.accountant.name, *parts)).encode()).hexdigest()
    price = charged(terms.accountant, votes_of(ballot))
    return VotePlan(
        vote.source,
        vote.relation,
        vote.columns,
        vote.names[0],
        vote.type,
        labels,
        ballot,
        terms.accountant.epsilon(price, terms.budget),
        terms.accountant.name,
        digest,
    )


def _check_width(vote: VoteQuery, ballot: Ballot) -> None:
    """Refuse public rows that do not have the columns that predict."""
    width = len(vote.columns) - 1
    odd = next((row for row in ballot.rows if len(row) != width), None)
    if odd is not None:
        raise InterfaceError(
            f"a row has {len(odd)} values, and the query {width} columns that predict",
            help=f"give ({', '.join(vote.names[1:])}) of each row",
        )


def _check_counts(labels: int, ballot: Ballot) -> None:
    """Refuse more counts than are kept in memory."""
    if labels * len(ballot.rows) > MOST_COUNTS:
        raise InterfaceError(
            f"{len(ballot.rows):,} rows of {labels:,} labels are more than {MOST_COUNTS:,} counts of votes",
            help=f"ask about {MOST_COUNTS // labels:,} rows at a time: labels are paid one by one",
        )
