"""The query of a vote -> VoteQuery: private rows as they are, the first column predicted by the others.

    SELECT smoker, age, sex FROM patients WHERE age > 17

Nobody is shown these rows: they are read by learners, each of which sees those of one teacher's units.
"""

from __future__ import annotations

from dpsql.bind.export import refuse_alert, refuse_randomized_response
from dpsql.bind.owned_rows import (
    Use,
    check_clauses,
    check_tells_nobody,
    listed_values,
    owned_rows,
    pointing_into,
)
from dpsql.bind.scope.public_facts import Describe, Evaluate
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.starting_context import starting_context
from dpsql.errors import refuse
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Kind
from dpsql.ir.scalar import Ref
from dpsql.ir.votes import VoteQuery
from dpsql.parse.parse import Query
from dpsql.policy.catalogue import Known

_EXAMPLE = "SELECT smoker, age, ward FROM patients"
_USE = Use("a vote", "reads", "teachers learn from the rows as they are, in an order of their own", _EXAMPLE)

_READ = (Kind.BOOLEAN, Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.TEXT, Kind.DATE, Kind.TIMESTAMP)
"""Of timestamps only the usual ones: others may fail where one is compared with the years that Python has."""


def bind_vote(query: Query, known: Known, evaluate: Evaluate, describe: Describe) -> VoteQuery:
    """Return the rows that teachers learn from, or refuse with a span."""
    refuse_alert(query)
    refuse_randomized_response(query)
    with pointing_into(query.source):
        for option in (query.epsilon, query.delta, query.goal):
            if option is not None:
                raise refuse(
                    "D252",
                    "the query of a vote has no price",
                    option.span,
                    label="each label has one",
                    help="leave it out: dpsql.vote(..., epsilon=0.05) is the price of a label",
                )
        ctx, views = starting_context(query, known, evaluate, describe)
        tree = check_clauses(ctx, query.tree, _USE)
        relation, columns = owned_rows(ctx, tree, views, query.tree, _USE)
        if len(columns) < 2:
            raise refuse(
                "D252",
                "a vote predicts one column from others",
                ctx.span(query.tree),
                label="this is one column",
                help=f"{_EXAMPLE}: smoker is predicted",
            )
        facts, refs = facts_of(relation), []
        for at, column in enumerate(columns):
            node = query.tree.expressions[min(at, len(query.tree.expressions) - 1)]
            assert isinstance(column.scalar, Ref)
            check_tells_nobody(ctx, column.scalar, relation, node, "leave it out: it predicts nobody else")
            its = fact_of(column.scalar, facts).type
            if its.kind not in _READ or (its.kind is Kind.TIMESTAMP and its.sql != "TIMESTAMP"):
                raise refuse(
                    "D252",
                    f"no learner reads a column of this type ({its.said})",
                    ctx.span(unaliased(node)),
                    help="make a number, a text, a boolean, a date or a timestamp of it",
                )
            refs.append(column.scalar)
        target, node = refs[0], query.tree.expressions[0]
        values = listed_values(ctx, target, relation)
        if values is None:
            raise refuse(
                "D301",
                "the labels that teachers may give are not declared",
                ctx.span(unaliased(node)),
                label="the first column is predicted, and has a public list of values",
                help="predict a condition: SELECT x > 100, ...; or list the values in the policy",
            )
        names = tuple(column.name for column in columns)
        kind_of_label = fact_of(target, facts).type
        span = ctx.span(unaliased(node))
        return VoteQuery(query.source, relation, tuple(refs), names, values, kind_of_label, span)
