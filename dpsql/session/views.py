"""Check the policy's views as an analyst would use them; D808 when the session opens, not in a query.

Every view is bound; a view that ends in a release is planned as well, with cells in place of the strategies
that a purchase searches for. Nothing is paid, and no private row is read.
"""

from __future__ import annotations

import datetime
from dataclasses import replace
from functools import cache

from dpsql.accounting import budget_of, opened
from dpsql.bind.checked_views import BOUGHT, RELEASED, check_views, refused_view
from dpsql.bind.split import bind
from dpsql.engines import Engine
from dpsql.errors import Error
from dpsql.facts.missing_bounds import all_missing_bounds
from dpsql.ir.bound import NeededBounds
from dpsql.ir.source import Source
from dpsql.parse.parse import parse
from dpsql.plan.bound_search import widest
from dpsql.plan.plan import plan
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known
from dpsql.policy.found_bounds import with_bounds
from dpsql.policy.listing import View
from dpsql.policy.model import Policy
from dpsql.post.sealed import Sealed
from dpsql.post.stages import types_of_stages
from dpsql.rewrite import rewrite


def check_all_views(
    policy: Policy, known: Known, engine: Engine, sealed: Sealed, analyst: str | None = None
) -> dict[str, View]:
    """Return each view's columns; D808 for a view that an analyst, or this ``analyst``, could not use."""
    if policy.query.find_bounds:
        known = with_bounds(known, [widest(missing, known) for missing in all_missing_bounds(known)])
    sealed.begin()
    views = check_views(policy, known, sealed.public, sealed.check, analyst)
    rule = policy.budget
    terms = Terms(opened(rule.accountant, budget_of(rule)), budget_of(rule), policy.query.epsilon)
    for view in known.views:
        if views[view.name].kind not in (RELEASED, BOUGHT):
            continue
        price = None if view.private is None else view.private.epsilon
        sealed.begin()
        name = view.name.replace('"', '""')
        try:
            now = cache(lambda: datetime.datetime.now(datetime.UTC))
            query = parse(Source(f'FROM "{name}"', view.name), (), now)
            split = rewrite(bind(query, known, sealed.public, sealed.check), known)
            at_price = terms if price is None else replace(terms, epsilon=price)
            try:
                planned = plan(split, known, replace(at_price, searched=False), engine.combinations)
            except Error:  # a search may find what a smaller price pays for
                planned = plan(split, known, at_price, engine.combinations)
            if isinstance(planned, NeededBounds):
                raise planned.refusal
            types_of_stages(planned.stages, sealed)
        except Error as error:
            raise refused_view(policy, view, error, analyst) from None
    return views
