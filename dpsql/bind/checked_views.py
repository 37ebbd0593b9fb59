"""Check the views of a policy: bind each once, so that the owner sees its errors.

    error[D808]: the view adults: there is no column agee here
      --> clinic.toml:31:45
       |
    31 | sql = "SELECT * FROM patients WHERE agee >= 18"
       |                                     ^^^^
       = help: did you mean age?

The check reads only the policy, the schema of the database and public rows.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from functools import cache

from sqlglot import exp

from dpsql.bind.queries import query as bound_query
from dpsql.bind.released.public_sql import without_margins
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.public_facts import Describe, Evaluate
from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.sources import Private
from dpsql.bind.subqueries.evaluation import post_of
from dpsql.bind.views import tree_of, views_of
from dpsql.errors import Error, refuse
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Column, Fact, type_named
from dpsql.ir.source import Span
from dpsql.parse.parameters import Moment
from dpsql.policy.catalogue import Known, KnownView
from dpsql.policy.listing import View
from dpsql.policy.model import Policy
from dpsql.policy.names import fold
from dpsql.policy.toml_positions import document_of

RELEASED = "a release, paid when it is asked"
BOUGHT = "counts of all combinations, paid once and then free"


def check_views(
    policy: Policy, known: Known, evaluate: Evaluate, describe: Describe, analyst: str | None = None
) -> dict[str, View]:
    """Return the columns of each view; raise D808 for the first view that cannot be used."""
    now = cache(lambda: datetime.datetime.now(datetime.UTC))
    views = {}
    for index, view in enumerate(known.views):
        try:
            views[view.name] = _view_columns(
                view, replace(known, views=known.views[:index]), evaluate, describe, now
            )
        except Error as error:
            raise refused_view(policy, view, error, analyst) from None
    return views


def _view_columns(view: KnownView, known: Known, evaluate: Evaluate, describe: Describe, now: Moment) -> View:
    """Return the columns of a view, and whether it is private, public, a release or bought."""
    tree = tree_of(view, now)
    if view.private is not None:
        known, tree = replace(known, views=(*known.views, view)), tree_of(_shown(view), now)
    words = {identifier.name for identifier in tree.find_all(exp.Identifier)}
    named = {name.casefold() for name in words}
    fresh = Fresh(words | {table.name for table in known.seen})
    ctx = Context(view.sql, known, fresh, evaluate, describe, bound_query, tree)
    bound = ctx.query(tree, views_of(known, named, now))
    if ctx.needed:
        raise ctx.needed[0].refusal
    names = (
        [column.name for column in bound.scope.columns] if isinstance(bound, Private) else [*bound.columns]
    )
    twice = [name for i, name in enumerate(names) if name.casefold() in map(str.casefold, names[:i])]
    if twice:
        raise refuse(
            "D203", f"two columns are called {twice[0]}", help="give each column of a view its own name"
        )
    if isinstance(bound, Private):
        facts = facts_of(bound.relation)
        return View(
            f"rows of {known.unit}s",
            tuple(Column(column.name, fact_of(column.scalar, facts)) for column in bound.scope.columns),
        )
    post = post_of(ctx, without_margins(bound, fresh), bound.columns, (None,) * len(bound.columns))
    if ctx.measures:
        types = describe(post.sql, post.tables, ctx.measures)
    else:
        types, _ = evaluate(post.sql, post.tables, 0)
    columns = (Column(name, Fact(type_named(sql))) for name, sql in zip(bound.columns, types, strict=False))
    bought = BOUGHT if view.private is not None else RELEASED
    return View(bought if ctx.measures else "public", tuple(columns))


def _shown(view: KnownView) -> KnownView:
    """Return a view of all columns of a view."""
    name = view.name.replace('"', '""')
    return KnownView(view.name, f'FROM "{name}"')


def refused_view(policy: Policy, view: KnownView, error: Error, analyst: str | None = None) -> Error:
    """Return D808 for an error in a view, at its position in the policy where that is known.

    Where only part of the policy exists for the ``analyst``, the place is the list of it.
    """
    document = document_of(policy.text, policy.name)
    rule = next((rule for rule in policy.analysts if rule.name == analyst), None)
    group = None if rule is None else policy.group_of(rule)
    if rule is not None and error.code in ("D201", "D202"):
        kind, holder = ("analysts", rule) if group is None else ("groups", group)
        places = [i for i, entry in enumerate(holder.tables or ()) if fold(entry) == fold(view.name)]
        if places:
            return document.refuse(
                "D808",
                f"the view {view.name}: {error.title}, for {rule.name}",
                (kind, holder.name, "tables", places[0]),
                label=f"the view reads what does not exist for {rule.name}",
                help=f"list what it reads in [{kind}.{holder.name}] tables, too, or leave the view out",
            )
    refusal = document.refuse(
        "D808",
        f"the view {view.name}: {error.title}",
        ("views", view.name, "sql"),
        label=error.label,
        notes=error.notes,
        help=error.help,
    )
    value = document.spot(("views", view.name, "sql")).value
    start = policy.text.find(view.sql, value.start, value.end)
    if start >= 0 and error.start is not None and error.text in ("", view.sql):
        place = Span(start + error.start, start + (error.end or error.start + 1))
        refusal.start, refusal.end = place.start, place.end
    return refusal
