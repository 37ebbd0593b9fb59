"""Views of the policy: queries that go by a name, bound anew wherever an analyst names them.

[views.adults] sql = "SELECT * FROM patients WHERE age >= 18"

SELECT AVG(income) FROM adults
SELECT AVG(income) FROM (SELECT * FROM patients WHERE age >= 18) AS adults

A view sees the policy's tables and the views before it, never the analyst's CTEs, which may hide it as
they hide a table. It has no budget and no unit of its own. What is wrong with an expanded view is shown
where the analyst named it.
"""

from __future__ import annotations

import datetime

from sqlglot import exp

from dpsql.bind.scope.context import Cte
from dpsql.errors import refuse
from dpsql.ir.source import Source
from dpsql.parse.parse import parse
from dpsql.policy.catalogue import Known, KnownView


def views_of(known: Known, named: set[str], now: datetime.datetime) -> dict[str, Cte]:
    """The views that these words (case folded) may mean, and those that they are made of."""
    wanted, trees = set(named), {}
    for view in reversed(known.views):
        if view.name.casefold() in wanted:
            trees[view.name.casefold()] = tree = tree_of(view, now)
            wanted |= {each.name.casefold() for each in tree.find_all(exp.Table)}
    views: dict[str, Cte] = {}
    for view in known.views:
        name = view.name.casefold()
        if name in trees:
            views[name] = Cte(trees[name], (), dict(views), view=True)
    return views


def tree_of(view: KnownView, now: datetime.datetime) -> exp.Expr:
    """What a view says; the price is the asker's to name."""
    query = parse(Source(view.sql, f"view {view.name}"), (), now)
    if query.explained or query.epsilon is not None or query.delta is not None:
        raise refuse("D104", "a view is a plain query", help="leave EXPLAIN and the price to who asks")
    return query.tree


def placed(tree: exp.Expr, name: exp.Expr) -> exp.Expr:
    """A copy in which everything stands where a view's name does."""
    there = name.this.meta
    moved = tree.copy()
    for each in moved.walk():
        if "start" in each.meta:
            each.meta.update(there)
    return moved
