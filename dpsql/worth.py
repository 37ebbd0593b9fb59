"""Refuse a query whose answer would show nothing, before it is paid for, and say what would show something.

    SELECT url, COUNT(*) FROM events GROUP BY url        D511: a group shows from 37,200 users on
    [unit] about = 30_000

The remedies are tried before they are named: another price, fewer groups of a unit, keys that are public. The
decision and the remedies depend on the query, the policy, the public tables and the ledger, never on private
rows. It holds back a debit and nothing else: ``OPTIONS(anyway = true)`` asks all the same.

A threshold depends on the rows per unit, or on the clip, that a search finds: where no group can reach it,
the refusal comes after that search, and says what was paid for it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dpsql.errors import Error, refuse
from dpsql.explain.doubts import Doubt, doubts_of
from dpsql.explain.public_spellings import spellings
from dpsql.ir.options import Option
from dpsql.ir.plan import Plan, Threshold
from dpsql.ir.source import Span
from dpsql.parse.parse import Query
from dpsql.plan.least_price import least_price
from dpsql.plan.terms import Terms
from dpsql.planning import bounds_at_any_price, planned_at, price_of_query
from dpsql.render.english import one
from dpsql.session import Session

ANYWAY = "OPTIONS(anyway = true) after SELECT"
_FEWER = (50, 20, 10, 5, 3, 2, 1)
"""Numbers of groups of a unit that are tried."""


def hopeless(session: Session, plan: Plan) -> Doubt | None:
    """Return what is known that keeps an answer from showing anything."""
    return next((doubt for doubt in doubts_of(plan, session.known) if doubt.nothing), None)


def check_worth(session: Session, query: Query, terms: Terms, plan: Plan, paid: str = "") -> None:
    """Raise D511 if the answer would show nothing, unless the query says anyway or was paid for before.

    ``paid`` says what was paid for the bounds of this query by now.
    """
    if query.anyway or plan.steps:
        return
    first = hopeless(session, plan)
    if first is None or session.stored(plan) is not None:
        return
    remedies = [*_remedies(session, query, terms, plan, first), f"ask all the same: {ANYWAY}"]
    raise refuse(
        "D511",
        "the answer would show nothing at this price",
        first.measure.measure.span,
        label=first.said,
        notes=(paid,) if paid else (),
        help="; or ".join(remedies),
    ).within(query.source.text, query.source.name)


def _remedies(session: Session, query: Query, terms: Terms, plan: Plan, doubt: Doubt) -> Iterator[str]:
    if query.epsilon is not None:
        terms = price_of_query(session, query.epsilon, query.source, terms)

    def shows(terms: Terms, clip: Option | None = None) -> bool:
        try:
            other = planned_at(session, query, terms, bounds_at_any_price(session, terms), clip)
        except Error:  # at this price, or with this clip, it cannot be asked at all
            return False
        return hopeless(session, other) is None

    if isinstance(doubt.measure.rule, Threshold):
        yield from map("show public keys: {}".format, spellings(doubt.measure.measure))
    most = min(session.ceiling, session.fits())
    if query.goal is None and terms.epsilon < most:
        price = least_price(lambda price: shows(replace(terms, epsilon=price)), terms.epsilon, most)
        if price is not None:
            yield f"pay {price:g} or more"
    rows = doubt.measure.rows or 0
    if len(plan.measures) == 1 and not query.goal:
        for groups in (groups for groups in _FEWER if groups < rows):
            if shows(terms, Option("max_groups_contributed", groups, Span(0, 0))):
                unit = session.known.unit
                yield f"count fewer groups of {one(unit)}: OPTIONS(max_groups_contributed = {groups})"
                break
