"""Text -> Plan: parse, bind, rewrite, plan; at a price, or at the least price for an accuracy.

    SELECT SUM(cost) ...                     at the price of the call, else the policy's
    SELECT OPTIONS(epsilon = 0.2) ...        at the query's own price
    SELECT OPTIONS(within = 50) ...          at the least price for that accuracy

Planning costs nothing and reads no private row.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cache, partial
from weakref import WeakKeyDictionary

from sqlglot import exp

from dpsql.bind.export import refuse_randomized_response
from dpsql.bind.found_ranges import with_found_ranges
from dpsql.bind.split import bind
from dpsql.errors import Error, refuse
from dpsql.ir.bound import Bound, Missing, MissingBound, MissingClip, NeededBounds
from dpsql.ir.column import Value
from dpsql.ir.measure import Split
from dpsql.ir.options import Goal, Option
from dpsql.ir.plan import Plan
from dpsql.ir.source import Source
from dpsql.once_each import once_each
from dpsql.parse.named_statements import Drop
from dpsql.parse.parse import Query, parse
from dpsql.parse.view_statements import Create, Refresh
from dpsql.plan.bound_lookup import Lookup, bounded, to_find
from dpsql.plan.bound_search import asker_of, bound_search_plan, good_enough
from dpsql.plan.bound_search_price import worth_finding
from dpsql.plan.plan import plan
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known, KnownView
from dpsql.policy.names import fold
from dpsql.post.accuracy_price import priced
from dpsql.rewrite import rewrite
from dpsql.session import Session
from dpsql.session.kept_plans import Prepared, key_of

_BOUND: WeakKeyDictionary[Query, Split] = WeakKeyDictionary()
"""Queries as they were bound first. Binding reads the query, with its moment, the policy and the public
tables of its session, and no price: at another price it would give the same again."""

_REWRITTEN: WeakKeyDictionary[Query, Split] = WeakKeyDictionary()
"""The same, rewritten with what is declared alone, which reads no price either."""


def parsed(session: Session, source: Source, parameters: Sequence[Value]) -> Query:
    """Text -> Query, at the session's time."""
    session.sealed.begin()
    try:
        query = parse(replace(source, parameters=tuple(parameters)), parameters, session.moment())
    except Error as refusal:
        from dpsql.policy.picture import pictured

        raise pictured(refusal, source.text, session.known) from None
    if not _only_aggregates(query.tree):
        session.sealed.start()  # starts while the query is planned
    return query


def _only_aggregates(tree: exp.Expr) -> bool:
    """Whether it is likely that nothing above the release needs the sealed engine."""
    clauses = {name for name, value in tree.args.items() if value}
    return clauses <= _BELOW and all(isinstance(item.unalias(), _SHOWN) for item in tree.expressions)


_BELOW = {"expressions", "from_", "joins", "where", "group"}
_SHOWN = exp.Column | exp.AggFunc | exp.Filter


def prepared(
    session: Session, source: Source, parameters: Sequence[Value], epsilon: float | None
) -> Prepared:
    """Text -> Plan at the price of a call, which is kept for as long as it holds."""
    session.sealed.begin()

    def make(query: Query | None) -> Prepared:
        query, terms = query or parsed(session, source, parameters), session.terms(epsilon)
        return Prepared(query, terms, planned_query(session, query, terms))

    key = key_of(source, parameters, epsilon, session.usual)
    if session.together is not None:
        key = None  # of the same text there may be another plan
    return session.kept.prepared(key, make)


def planned(
    session: Session,
    source: Source,
    parameters: Sequence[Value],
    terms: Terms,
    lookup: Lookup | None = None,
) -> Plan:
    """Text -> Plan."""
    return planned_query(session, parsed(session, source, parameters), terms, lookup)


def planned_query(session: Session, query: Query, terms: Terms, lookup: Lookup | None = None) -> Plan:
    """Query -> Plan, at the query's own price if it has one.

    Missing bounds come from the ledger, unless ``lookup`` gives others. A statement of a file that is
    measured with others has the plan that was made for all of them.
    """
    made = session.together
    if made is not None and lookup is None and made.source.text == query.source.text:
        return made
    refuse_randomized_response(query)
    if query.alert is not None:
        from dpsql.alerts.planning import alert_plan

        about = alert_plan(session, query, terms, partial(_bound_with, session, query, session.known))
        if about is not None:
            return about
    over_view = _over_private_view(session, query, terms)
    if over_view is not None:
        return over_view
    if query.goal is not None:
        return _within(session, query, query.goal, terms, lookup)
    if query.epsilon is not None:
        terms = price_of_query(session, query.epsilon, query.source, terms)
    result = planned_at(session, query, terms, lookup)
    if result.first is not None:
        worth_finding(result.first, session.known, terms)
    return result


def _over_private_view(session: Session, query: Query, terms: Terms) -> Plan | None:
    """Return the plan of a private view that a query creates or reads; None if it does neither."""
    if not _may_name_private_view(session, query):
        return None
    from dpsql.private_views import answered_from, known_with, price_of_view, view_read

    try:
        known = known_with(session, query)
        if known is None:
            return None
        split = rewrite(_bound_with(session, query, known), known)
        measures = [measure for stage in split.stages for measure in stage.measures]
        view = view_read([measure.view for measure in measures], query)
        if view is None and measures and not split.needed:
            return None  # another name hides it
        asked = terms
        if view is not None and not isinstance(query.view, Create):
            terms = replace(terms, epsilon=price_of_view(session, view))
        elif query.epsilon is not None:
            terms = price_of_query(session, query.epsilon, query.source, terms)
        if isinstance(query.view, Create) and session.pending is not None and not query.explained:
            price = replace(query.view.view, epsilon=terms.epsilon)
            others = [each for each in session.pending if each.name != price.name]
            session.pending = (*others, KnownView(price.name, query.view.text, price))
        if split.needed:
            raise _declared(split.needed[0].refusal)
        result = plan(split, known, terms, session.combinations)
        if isinstance(result, NeededBounds):
            raise _declared(result.refusal)
        return result if view is None else answered_from(session, query, view, result, asked)
    except Error as error:
        raise error.within(query.source.text, query.source.name) from None


def _declared(refusal: Error) -> Error:
    """Return the refusal of what is missing for a private view, which rests on what is declared alone."""
    refusal.help = "let the owner declare it in the policy: a private view uses no bound that was found"
    return refusal


def _may_name_private_view(session: Session, query: Query) -> bool:
    """Whether a query is about a private view, or names what is neither a table nor a plain view."""
    if isinstance(query.view, Drop) and session.pending is not None:
        session.pending = tuple(each for each in session.pending if fold(each.name) != fold(query.view.name))
    if isinstance(query.view, Create | Refresh):
        return True
    plain = {fold(table.name) for table in session.known.seen}
    plain |= {fold(view.name) for view in session.known.views if view.private is None}
    return not _named(query) <= plain


@once_each
def _named(query: Query) -> frozenset[str]:
    """Return the names of the tables that a query reads, as they are compared."""
    return frozenset(fold(table.name) for table in query.tree.find_all(exp.Table))


def planned_at(
    session: Session, query: Query, terms: Terms, lookup: Lookup | None = None, clip: Option | None = None
) -> Plan:
    """Query -> Plan at one price. The plan's ``first`` searches the bounds that are missing, if any.

    With ``clip``, clipping starts there and not where the query or the policy say.
    """

    def bound_with(known: Known) -> Split:
        return _bound_with(session, query, known)

    def make(known: Known, share: Fraction, chosen: Mapping[MissingClip, Bound]) -> Plan | NeededBounds:
        if known is session.known:
            split = rewritten(session, query)
        else:
            split = rewrite(with_found_ranges(_bound(session, query), known) or bound_with(known), known)
        split = split if clip is None else clipped(split, clip)
        return plan(
            split,
            known,
            replace(terms, share=share),
            session.combinations,
            chosen,
            query.goal is None,  # an accuracy is of numbers with their own noise
        )

    @cache  # it reads the text anew
    def asker(clip: bool) -> str:
        return asker_of(query.source, terms.epsilon, MissingClip if clip else MissingBound)

    def usable(missing: Missing) -> Bound | None:
        return good_enough(session.bounds(missing), asker(isinstance(missing, MissingClip)), terms)

    own_lookup = Lookup(session.find_bounds, usable, lambda kind: session.asked(asker(kind is MissingClip)))
    result, bounds = bounded(make, session.known, lookup or own_lookup)
    # a plan without events is free and uses no bounds, even if some were missing on the way to it
    missing = to_find(bounds) if result.events else []
    search = bound_search_plan(missing, session.known, query.source, terms) if missing else None
    return replace(result, bounds=bounds, first=search)


def rewritten(session: Session, query: Query) -> Split:
    """Query -> Split, with what is declared alone."""
    if query not in _REWRITTEN:
        _REWRITTEN[query] = rewrite(_bound(session, query), session.known)
    return _REWRITTEN[query]


def _bound(session: Session, query: Query) -> Split:
    if query not in _BOUND:
        _BOUND[query] = _bound_with(session, query, session.known)
    return _BOUND[query]


def _bound_with(session: Session, query: Query, known: Known) -> Split:
    return bind(query, known, session.sealed.public, session.sealed.check)


def clipped(split: Split, clip: Option) -> Split:
    """Return a bound query as if its SELECTs had this option."""
    return replace(
        split,
        stages=tuple(
            replace(
                stage, measures=tuple(replace(measure, clip=clip, fitted=None) for measure in stage.measures)
            )
            for stage in split.stages
        ),
    )


def bounds_at_any_price(session: Session, terms: Terms) -> Lookup:
    """Return a lookup that gives the same bounds at any price: those good enough for the price of terms."""
    return Lookup(
        session.find_bounds, lambda missing: good_enough(session.bounds(missing), "", terms), lambda _: False
    )


def price_of_query(session: Session, price: Option, source: Source, terms: Terms) -> Terms:
    """Return the terms with the query's own price; a refusal points at the option."""
    try:
        return session.terms_with(terms, price)
    except Error as error:
        raise error.within(source.text, source.name) from None


def _check_unfitted(result: Plan, goal: Goal) -> None:
    """Refuse a clip that is chosen: it depends on the price, and the price on the accuracy."""
    if any(isinstance(bound.missing, MissingClip) for bound in result.bounds):
        raise refuse(
            "D252",
            "an accuracy and a clip that is chosen do not go together",
            goal.span,
            label="the clip is chosen for a price",
            help="say a number, max_rows_contributed = 20; or ask at a price, OPTIONS(epsilon = 0.5)",
        )


def _within(session: Session, query: Query, goal: Goal, terms: Terms, lookup: Lookup | None) -> Plan:
    """Return the plan at the lowest price that reaches an accuracy."""

    def plan_at(price: float) -> Plan:
        bounds = lookup or bounds_at_any_price(session, terms)
        result = planned_at(session, query, replace(terms, epsilon=price), bounds)
        _check_unfitted(result, goal)
        if result.first is not None:
            missing = " or the ".join(bound.said for bound in result.first.missing_bounds)
            raise refuse(
                "D301",
                "the accuracy of this query is not known yet",
                goal.span,
                label=f"nobody has declared or found the {missing}",
                help=f"ask it once at a price, OPTIONS(epsilon = {terms.epsilon:g}): "
                "the bound that is found serves this query too",
            )
        return result

    try:
        if terms.given:
            raise refuse(
                "D503",
                "the call sets a price, and the query an accuracy",
                goal.span,
                label="the accuracy determines the price",
                help="set only one of them; EXPLAIN shows the price of the accuracy",
            )
        return priced(goal, plan_at, terms, session.least, session.ceiling)
    except Error as error:
        raise error.within(query.source.text, query.source.name) from None
