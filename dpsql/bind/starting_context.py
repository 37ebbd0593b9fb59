"""Where binding starts: a context with names that nobody uses, and the policy's views that are named."""

from __future__ import annotations

from collections.abc import Mapping

from sqlglot import exp

from dpsql.bind.queries import query as bound_query
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.public_facts import Describe, Evaluate
from dpsql.bind.scope.scope import Fresh
from dpsql.bind.views import views_of
from dpsql.parse.parse import Query
from dpsql.policy.catalogue import Known


def starting_context(
    query: Query, known: Known, evaluate: Evaluate, describe: Describe
) -> tuple[Context, Mapping[str, Cte]]:
    """The context of a query, and the views."""
    words = {each.name for each in query.tree.find_all(exp.Identifier)}
    views = views_of(known, {each.casefold() for each in words}, query.now)
    words |= {each.name for view in views.values() for each in view.node.find_all(exp.Identifier)}
    fresh = Fresh(words | {table.name for table in known.tables})
    return Context(query.source.text, known, fresh, evaluate, describe, bound_query, query.tree), views
