"""Views of the policy: named queries, bound anew at each use.

[views.adults] sql = "SELECT * FROM patients WHERE age >= 18"

SELECT AVG(income) FROM adults
SELECT AVG(income) FROM (SELECT * FROM patients WHERE age >= 18) AS adults

A view reads the tables of the policy and the views before it, never the CTEs of a query, which may hide it
as they hide a table. It has no budget and no unit of its own. An error in an expanded view points at its
name in the query.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.scope.context import Cte
from dpsql.errors import refuse
from dpsql.ir.source import Source
from dpsql.parse.parameters import Moment
from dpsql.parse.parse import parse
from dpsql.policy.catalogue import Known, KnownView


def views_of(known: Known, named: set[str], now: Moment) -> dict[str, Cte]:
    """Return the views with these names (case folded), and the views that they read."""
    wanted, trees = set(named), {}
    for view in reversed(known.views):
        if view.name.casefold() in wanted:
            trees[view.name.casefold()] = tree = tree_of(view, now)
            wanted |= {table.name.casefold() for table in tree.find_all(exp.Table)}
    views: dict[str, Cte] = {}
    for view in known.views:
        name = view.name.casefold()
        if name in trees:
            views[name] = Cte(trees[name], (), dict(views), view=True)
    return views


def tree_of(view: KnownView, now: Moment) -> exp.Expr:
    """Parse a view; refuse EXPLAIN and a price in it."""
    query = parse(Source(view.sql, f"view {view.name}"), (), now)
    if query.explained or query.epsilon is not None or query.delta is not None:
        raise refuse(
            "D104", "a view is a plain query", help="leave out EXPLAIN and the price: a query names them"
        )
    return query.tree


def moved_to(tree: exp.Expr, name: exp.Expr) -> exp.Expr:
    """Return a copy of a view with all its positions at the name of the view in the query."""
    meta = name.this.meta
    moved = tree.copy()
    for child in moved.walk():
        if "start" in child.meta:
            child.meta.update(meta)
    return moved
