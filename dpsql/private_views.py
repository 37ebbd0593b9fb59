"""Private views of a session: which names a query may use, and the purchase that answers it.

    CREATE PRIVATE VIEW census ...     planned, paid, stored; then the ledger names the debit
    SELECT SUM(n) FROM census          the same plan with other SQL above it: its answer is in the ledger

A name belongs to who created it; a view of the policy to everybody for whom it exists. Whoever may read a
view and has not paid for it joins its debit, as for any query. A view stays of the data that it was bought
for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from dpsql.accounting.entries import LONGEST, Stored
from dpsql.accounting.named_views import NamedView, access_content, dropped_content, view_content
from dpsql.bind.checked_views import BOUGHT
from dpsql.bind.split import bind
from dpsql.errors import Error, refuse
from dpsql.ir.column import Column, Fact, type_named
from dpsql.ir.plan import BoughtView, Plan
from dpsql.ir.private_view import COUNT, PrivateView
from dpsql.ir.source import Source, Span
from dpsql.parse.named_statements import Access, Drop
from dpsql.parse.parse import Query, parse
from dpsql.parse.spans import span_of
from dpsql.parse.view_statements import Create, Refresh, view_statement
from dpsql.plan.public_groups import key_columns
from dpsql.plan.terms import Terms
from dpsql.policy.catalogue import Known, KnownView
from dpsql.policy.listing import Table, column_of
from dpsql.policy.names import fold, perhaps
from dpsql.rewrite import rewrite
from dpsql.session import Session


def known_with(session: Session, query: Query) -> Known | None:
    """Return what is known with the private views that a query names; None if it names none."""
    hidden = {fold(cte.alias) for cte in query.tree.find_all(exp.CTE)}
    tables = {fold(table.name) for table in query.tree.find_all(exp.Table)} - hidden
    creates = isinstance(query.view, Create)
    readable = _readable(session)
    views = [view for view in readable if fold(view.name) in tables]
    named = [view.name for view in views if not (creates and view.lent)]
    named += [view.name for view in session.known.views if view.private]
    over = next((name for name in named if fold(name) in tables), None)
    if isinstance(query.view, Refresh) and over is None:
        raise unknown(session, query.view.name, query.view.at)
    if creates and over is not None:
        read = next(table for table in query.tree.find_all(exp.Table) if fold(table.name) == fold(over))
        raise refuse(
            "D409",
            "a private view does not read another private view",
            span_of(read, query.source.text),
            label=f"{over} is one",
            help=f"ask {over} itself: what is computed from it is free",
        )
    if isinstance(query.view, Create):
        _check_new(session, query.view, query.source.text)
    if over is None and not creates:
        if not readable or tables <= {"", *_names(session.known)}:
            return None
        views = readable  # some name is unknown: it may be near one of these
    return replace(session.known, views=(*session.known.views, *views))


def view_read(measures: Sequence[PrivateView | None], query: Query) -> PrivateView | None:
    """Return the view that the measures of a query are of; refuse others beside it, and a price."""
    views = [view for view in measures if view is not None]
    if not views:
        return None
    if len(views) < len(measures) or len({fold(view.name) for view in views}) > 1:
        raise refuse(
            "D410",
            "a question over a private view reads no other private rows",
            label=f"{views[0].name} is paid by itself",
            help="ask views and tables one by one; public tables may be joined with a view",
        )
    option = query.epsilon if not isinstance(query.view, Create) else None
    span = option.span if option is not None else None if query.goal is None else query.goal.span
    if span is not None or query.delta is not None:
        raise refuse(
            "D503",
            "a question over a private view has no price",
            span,
            label=f"{views[0].name} is paid for: it is free",
            help="leave the option out",
        )
    return views[0]


def price_of_view(session: Session, view: PrivateView) -> float:
    """Return the price at which a view is, or was, bought."""
    return session.policy.query.epsilon if view.epsilon is None else view.epsilon


def answered_from(session: Session, query: Query, view: PrivateView, plan: Plan, asked: Terms) -> Plan:
    """Return the plan with the purchase that answers it; refuse what the ``asked`` terms do not allow."""
    named = _named(session, view.name)
    if isinstance(query.view, Create):
        if named is not None and named.creator == session.payer:
            _check_price(query.view, named, plan)
        return plan
    owned = named is None or not named.sql or named.creator == session.payer
    if isinstance(query.view, Refresh) and owned:
        if session.keeps_digests and named is not None and named.sql:
            raise refuse(
                "D409", "the ledger cannot keep the text of this view", query.view.at, help=_IN_POLICY
            )
        return _at_most(session, plan, asked)
    newest, found = isinstance(query.view, Refresh), None
    if named is not None:
        ask = partial(session.ledger.bought_view, named, plan.digest, session.payer, newest)
        found = session.kept.ask(ask)
    of_policy = any(fold(each.name) == fold(view.name) and each.private for each in session.known.views)
    if found is None or (of_policy and found.digest != plan.digest):
        if any(fold(each.name) == fold(view.name) for each in session.pending or ()):
            return plan  # created by a statement of a file before
        if not of_policy:
            raise unknown(session, view.name)
        return _at_most(session, plan, asked)  # bought by the first who asks
    if found.digest != plan.digest:
        raise refuse(
            "D513",
            f"the private view {view.name} was bought under other declarations",
            label=f"the policy or a public table changed since {found.time[:10]}"
            if owned
            else "other columns exist for you than for who created it, or the policy changed since",
            help=f"REFRESH PRIVATE VIEW {view.name} pays for it as it would be now"
            if owned
            else "create a view of your own: CREATE PRIVATE VIEW ...",
        )
    return _at_most(session, replace(plan, bought=BoughtView(view.name, found.time, found.version)), asked)


def _at_most(session: Session, plan: Plan, asked: Terms) -> Plan:
    """Return a plan that this analyst has paid for, or may pay for at these terms."""
    if session.kept.ask(lambda: session.stored(plan) is not None):
        return plan
    session.terms(plan.epsilon)  # within the owner's limits
    if asked.given and asked.epsilon < plan.epsilon:
        raise refuse(
            "D503",
            f"the private view costs {plan.epsilon:g}, and the call allows {asked.epsilon:g}",
            help="leave the call's epsilon out: the view has a price of its own, once",
        )
    return plan


def _check_price(statement: Create, named: NamedView, plan: Plan) -> None:
    """Refuse to buy the same view at another price under its name."""
    if named.sql and named.epsilon != plan.epsilon:
        raise refuse(
            "D411",
            f"the private view {named.name} was bought at epsilon {named.epsilon:g}",
            statement.at,
            label=f"not at {plan.epsilon:g}",
            help=f"ask it, it is free; or DROP PRIVATE VIEW {named.name} first",
        )


def listed(session: Session) -> tuple[Table, ...]:
    """Return the private views that were created, with their columns, as tables that may be asked."""
    tables = []
    for view in _readable(session):
        try:
            query = parse(Source(f'FROM "{_escaped(view.name)}"', view.name), (), session.moment())
            known = replace(session.known, views=(*session.known.views, view))
            split = rewrite(bind(query, known, session.sealed.public, session.sealed.check), known)
        except Error:  # it reads what does not exist any more, or not for this analyst
            continue
        measure, *sums = split.stages[-1].measures
        keys = zip(measure.titles, key_columns(measure), strict=True)
        columns = [column_of(replace(column, name=title)) for title, column in keys]
        count = column_of(Column(COUNT, Fact(type_named("BIGINT"), nullable=False)))
        names = () if measure.view is None else measure.view.sums
        called = zip(names, (each.finishes[0].type for each in sums), strict=True)
        totals = (column_of(Column(name, Fact(kind, nullable=False))) for name, kind in called)
        tables.append(Table(view.name, (*columns, count, *totals), view=BOUGHT))
    return tuple(tables)


def _escaped(name: str) -> str:
    return name.replace('"', '""')


def conclude(session: Session, query: Query, plan: Plan, receipt: Stored | None) -> None:
    """Note in the ledger what a statement about a view has done.

    Receipts with an answer cost nothing now: without room for the note they are refused.
    """
    paid_now = receipt is not None and receipt.answer is None
    match query.view:
        case Create(view=view):
            assert receipt is not None
            own = session.payer, view.name, query.source.text, plan.epsilon, receipt.debit_id
            _note(session, view_content(*own), paid_now)
        case Refresh(name=name):
            assert receipt is not None
            named = _named(session, name)
            owner, sql = ("", "") if named is None else (named.creator, named.sql)
            if named is None or named.creator == _creator(session, named):
                _note(session, view_content(owner, name, sql, plan.epsilon, receipt.debit_id), paid_now)
        case Drop(name=name):
            _note(session, dropped_content(session.payer, name), True)  # to take back needs no room
        case Access(name=name, analyst=to, granted=granted):
            named = _named(session, name)
            if named is None or (to in named.readers) != granted:
                _note(session, access_content(session.payer, name, to, granted), not granted)
        case None if plan.bought is None and receipt is not None:
            read = next((each.measure.view for each in plan.measures if each.measure.view), None)
            if read is not None:
                _note(session, view_content("", read.name, "", plan.epsilon, receipt.debit_id), True)
        case _:
            pass


def check_own(session: Session, query: Query) -> None:
    """Refuse to drop or to lend what is not one's own, and to lend to nobody."""
    statement = query.view
    if not isinstance(statement, Drop | Access):
        return
    own = [view for view in session.ledger.views() if view.creator == session.payer and view.sql]
    if fold(statement.name) not in {fold(view.name) for view in own}:
        raise unknown(session, statement.name, statement.at, [view.name for view in own])
    if isinstance(statement, Access):
        analysts = [rule.name for rule in session.policy.analysts]
        if statement.analyst not in analysts:
            raise refuse(
                "D504",
                f"the policy {session.policy.name} knows no analyst {statement.analyst}",
                help=perhaps(statement.analyst, analysts) if session.analyst is None else "ask the owner",
            )


def unknown(session: Session, name: str, at: Span | None = None, own: Sequence[str] = ()) -> Error:
    """Return the refusal of a name that no private view has."""
    known = own or [view.name for view in _readable(session)]
    names = [each for each in known if fold(each) != fold(name)]
    return refuse(
        "D201",
        f"there is no private view {name}",
        at,
        help=perhaps(name, names) or "CREATE PRIVATE VIEW makes one",
    )


# ---- names ----------------------------------------------------------------------------------------------


def _named(session: Session, name: str) -> NamedView | None:
    """Return what a name stands for: one's own view, the policy's, or the one that was lent last."""
    views = [view for view in session.kept.ask(session.ledger.views) if fold(view.name) == fold(name)]
    of_policy = any(fold(view.name) == fold(name) and view.private for view in session.known.views)
    if of_policy:
        return next((view for view in views if not view.sql), None)
    views = [view for view in views if view.sql]
    own = [view for view in views if view.creator == session.payer]
    lent = [view for view in views if session.analyst is None or session.payer in view.readers]
    return next(iter([*own, *lent[::-1]]), None)


def _readable(session: Session) -> list[KnownView]:
    """Return the private views that were created, and that this analyst may read."""
    names = dict.fromkeys(view.name for view in session.kept.ask(session.ledger.views) if view.sql)
    taken = _names(session.known)
    readable = [_named(session, name) for name in names if fold(name) not in taken]
    views = {fold(each.name): _known_view(session, each) for each in readable if each is not None}
    return [*({fold(view.name): view for view in session.pending or ()} | views).values()]


def _known_view(session: Session, named: NamedView) -> KnownView:
    statement = view_statement(named.sql)
    assert isinstance(statement, Create), "the ledger keeps it as it was planned"
    private = replace(statement.view, epsilon=named.epsilon)
    return KnownView(named.name, statement.text, private, lent=named.creator != session.payer)


def _names(known: Known) -> set[str]:
    tables, views = {fold(table.name) for table in known.seen}, {fold(view.name) for view in known.views}
    return tables | views


def _creator(session: Session, named: NamedView) -> str:
    """Return whose a view would be if this session may buy it anew."""
    return session.payer if named.sql else ""


def _check_new(session: Session, statement: Create, text: str) -> None:
    """Refuse a name that is taken, and a view that the ledger could not keep."""
    name = statement.view.name
    if session.keeps_digests or len(text) > LONGEST:
        raise refuse(
            "D409",
            "the ledger cannot keep the text of this view",
            statement.at,
            label=f"it has more than {LONGEST:,} characters" if len(text) > LONGEST else "it keeps digests",
            help="shorten it" if len(text) > LONGEST else _IN_POLICY,
        )
    if fold(name) != name.casefold() or not name.isprintable() or "." in name:
        raise refuse(
            "D411",
            "a private view needs a plain name",
            statement.at,
            help="write it with the letters a to z, digits and _",
        )
    views = [view for view in session.kept.ask(session.ledger.views) if view.sql]
    mine = [view for view in views if view.creator == session.payer]
    own = next((view for view in mine if fold(view.name) == fold(name)), None)
    if fold(name) in _names(session.known) or (own is not None and own.sql != text):
        raise refuse(
            "D411",
            f"there is a {'private view' if own is not None else 'table or view'} {name} already",
            statement.at,
            help=f"DROP PRIVATE VIEW {name} first, or choose another name" if own else "choose another name",
        )


_IN_POLICY = (
    "let the owner write it into the policy: [views.census] sql = 'SELECT ...', private = { epsilon = 0.5 }"
)


def _note(session: Session, content: dict[str, object], paid_now: bool = False) -> None:
    """Write an entry, unless it would change nothing."""
    before = session.ledger.views()
    if content["kind"] == "view" and "debit" in content:
        key = content["analyst"], fold(str(content["name"])), content["sql"]
        same = [view for view in before if (view.creator, fold(view.name), view.sql) == key]
        same = [view for view in same if view.epsilon == content["epsilon"]]
        if same and same[0].debits[-1] == content["debit"]:
            return
    session.ledger.note_view(content, None if paid_now else session.room)
