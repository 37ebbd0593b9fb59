"""Every view of a policy, bound once for its owner: what an analyst would stumble over is theirs to mend.

    error[D808]: the view adults: there is no column agee here
      --> clinic.toml:31:45
       |
    31 | sql = "SELECT * FROM patients WHERE agee >= 18"
       |                                     ^^^^
       = help: did you mean age?

It reads the policy, the database's tables and public rows only.
"""

from __future__ import annotations

import datetime
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.queries import query as bound_query
from dpsql.bind.released.public_sql import exactly
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.public_facts import Describe, Evaluate
from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.sources import Private
from dpsql.bind.subqueries.evaluation import printed
from dpsql.bind.views import tree_of, views_of
from dpsql.errors import Error, refuse
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Column, Fact, type_named
from dpsql.ir.source import Span
from dpsql.policy.catalogue import Known, KnownView
from dpsql.policy.listing import View
from dpsql.policy.model import Policy
from dpsql.policy.toml_positions import document_of

RELEASED = "a release, paid when it is asked"


def check_views(policy: Policy, known: Known, evaluate: Evaluate, describe: Describe) -> dict[str, View]:
    """D808 for the first view that could not be used; what each of the others holds."""
    now = datetime.datetime.now(datetime.UTC)
    found = {}
    for index, view in enumerate(known.views):
        try:
            found[view.name] = _viewed(
                view, replace(known, views=known.views[:index]), evaluate, describe, now
            )
        except Error as error:
            raise refused_view(policy, view, error) from None
    return found


def _viewed(
    view: KnownView, known: Known, evaluate: Evaluate, describe: Describe, now: datetime.datetime
) -> View:
    tree = tree_of(view, now)
    words = {each.name for each in tree.find_all(exp.Identifier)}
    named = {each.casefold() for each in words}
    fresh = Fresh(words | {table.name for table in known.tables})
    ctx = Context(view.sql, known, fresh, evaluate, describe, bound_query, tree)
    bound = ctx.query(tree, views_of(known, named, now))
    if ctx.needed:
        raise ctx.needed[0].refusal
    names = [each.name for each in bound.scope.columns] if isinstance(bound, Private) else [*bound.columns]
    twice = [each for i, each in enumerate(names) if each.casefold() in map(str.casefold, names[:i])]
    if twice:
        raise refuse(
            "D203", f"two columns are called {twice[0]}", help="give each column of a view a name of its own"
        )
    if isinstance(bound, Private):
        facts = facts_of(bound.relation)
        return View(
            f"rows of {known.unit}s",
            tuple(Column(each.name, fact_of(each.scalar, facts)) for each in bound.scope.columns),
        )
    post = printed(ctx, exactly(bound, fresh), bound.columns, (None,) * len(bound.columns))
    if ctx.measures:
        types = describe(post.sql, post.tables, ctx.measures)
    else:
        types, _ = evaluate(post.sql, post.tables, 0)
    columns = (Column(name, Fact(type_named(sql))) for name, sql in zip(bound.columns, types, strict=False))
    return View(RELEASED if ctx.measures else "public", tuple(columns))


def refused_view(policy: Policy, view: KnownView, error: Error) -> Error:
    """What is wrong with a view, at its place in the policy where that can be told."""
    document = document_of(policy.text, policy.name)
    said = document.refuse(
        "D808",
        f"the view {view.name}: {error.title}",
        ("views", view.name, "sql"),
        label=error.label,
        notes=error.notes,
        help=error.help,
    )
    value = document.spot(("views", view.name, "sql")).value
    at = policy.text.find(view.sql, value.start, value.end)
    if at >= 0 and error.start is not None and error.text in ("", view.sql):
        place = Span(at + error.start, at + (error.end or error.start + 1))
        said.start, said.end = place.start, place.end
    return said
