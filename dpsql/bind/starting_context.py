"""Create the context of a query, with unused fresh names, and the views of the policy that it names."""

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
    """Return the context of a query, and its views."""
    names = {identifier.name for identifier in query.tree.find_all(exp.Identifier)}
    views = views_of(known, {name.casefold() for name in names}, query.now)
    names |= {identifier.name for view in views.values() for identifier in view.node.find_all(exp.Identifier)}
    fresh = Fresh(names | {table.name for table in known.seen})
    return Context(query.source.text, known, fresh, evaluate, describe, bound_query, query.tree), views
