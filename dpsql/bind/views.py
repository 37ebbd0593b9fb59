"""Views of the policy: named queries, bound anew at each use.

[views.adults] sql = "SELECT * FROM patients WHERE age >= 18"

SELECT AVG(income) FROM adults
SELECT AVG(income) FROM (SELECT * FROM patients WHERE age >= 18) AS adults

A view reads the tables of the policy and the views before it, never the CTEs of a query, which may hide it
as they hide a table. It has no budget and no unit of its own. An error in an expanded view points at its
name in the query.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NoReturn

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
            trees[view.name.casefold()] = tree = tree_of(view, now if view.private is None else _no_clock)
            wanted |= {table.name.casefold() for table in tree.find_all(exp.Table)}
    views: dict[str, Cte] = {}
    for view in known.views:
        name = view.name.casefold()
        if name in trees:
            views[name] = Cte(trees[name], (), dict(views) if view.private is None else {}, view=view)
            if view.private is not None:
                read = {table.name.casefold() for table in trees[name].find_all(exp.Table)}
                plain = tuple(each for each in known.views if each.private is None)
                views[name].env = views_of(replace(known, views=plain), read, _no_clock)
    return views


def _no_clock() -> NoReturn:
    raise refuse(
        "D409",
        "a private view does not read the clock",
        label="it is bought once, and would be another one tomorrow",
        help="write the date itself: DATE '2026-01-31'",
    )


def tree_of(view: KnownView, now: Moment) -> exp.Expr:
    """Parse a view; refuse EXPLAIN and a price in it."""
    query = parse(Source(view.sql, f"view {view.name}"), (), now)
    if query.view or query.explained or query.epsilon or query.delta or query.goal:
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
