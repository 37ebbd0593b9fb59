"""Query -> Split: bind a query, and find the release point, where privacy ends.

Bottom-up, every FROM item and every query is Private (rows that belong to units) or Open (released or
public). The first aggregate that drops the unit turns Private into Open: it becomes a Measure, and the rest
of the query becomes SQL over the released table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.headings import asks_for_no_rows, headings
from dpsql.bind.private.row_items import refuse_unused
from dpsql.bind.private_views import with_created
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.public_facts import Describe, Evaluate
from dpsql.bind.scope.scope import Visible
from dpsql.bind.scope.sources import Private
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.starting_context import starting_context
from dpsql.bind.subqueries.evaluation import post_of
from dpsql.bind.syntax.interval_functions import asks_interval
from dpsql.errors import Error, refuse
from dpsql.facts.identity import identifying, tells
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.row_guesses import guessed
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions import ArgumentError
from dpsql.ir.column import ANYTHING, Categories, Column, Listed
from dpsql.ir.measure import Post, Split, Stage
from dpsql.ir.relation import Aggregate, Filter, Project, stage_inputs
from dpsql.parse.parse import Query
from dpsql.policy.catalogue import Known


def bind(query: Query, known: Known, evaluate: Evaluate, describe: Describe) -> Split:
    """Return the measures of a query and the SQL over their released tables, or refuse with a span."""
    query, known = with_created(query, known)
    try:
        ctx, views = starting_context(query, known, evaluate, describe)
    except Error as error:
        raise error.within(query.source.text, query.source.name) from None
    ctx.goal, ctx.max_unnest = query.goal, query.max_unnest
    ctx.intervals = any(asks_interval(tree) for tree in (query.tree, *(v.node for v in views.values())))
    split = _split_or_needed(ctx, query, views)
    for bounds in ctx.needed:
        bounds.refusal.within(query.source.text, query.source.name)
    return replace(split, needed=tuple(ctx.needed))


def _split_or_needed(ctx: Context, query: Query, views: Mapping[str, Cte]) -> Split:
    """Split the query. Where a bound is missing, report that and drop the errors that follow from it."""
    try:
        return _split(ctx, query, views)
    except Error as error:
        refusal = error
    except ArgumentError as reason:  # a constant that is read outside any expression
        remedy = reason.help or "write a plain constant"
        refusal = refuse(reason.code, reason.title, reason.span, help=remedy)
    if ctx.needed:
        return Split(query.source, ())
    raise refusal.within(query.source.text, query.source.name)


def _split(ctx: Context, query: Query, views: Mapping[str, Cte]) -> Split:
    """Bind the query, and split it into stages."""
    bound = ctx.query(query.tree, views)
    refuse_unused(ctx)
    if asks_for_no_rows(query.tree, bound):
        return Split(query.source, (Stage((), headings(ctx, bound)),), query.delta)
    if isinstance(bound, Private):
        _refuse_rows(ctx, bound, query.tree)
    outputs = (*bound.columns, *bound.hidden)
    margins = (outputs.index(margin[0], len(bound.columns)) if margin else None for margin in bound.margins)
    post = post_of(ctx, bound.tree, bound.columns, tuple(margins))
    if not post.plain and ctx.goal is None:
        from dpsql.bind.released.replicas import replicated

        read = [measure for measure in ctx.measures if measure.name in post.released]
        again, without = replicated(bound.tree, read, len(bound.columns), post.margins)
        post = replace(post, replicated=again, without=without)
    if any(bound.totals):
        marks = (None if name is None else outputs.index(name, len(bound.columns)) for name in bound.totals)
        post = replace(post, totals=tuple(marks))
    return Split(query.source, _stages(ctx, post), query.delta)


def _stages(ctx: Context, post: Post) -> tuple[Stage, ...]:
    """Return the stages that the answer needs, each with its measures, found backwards from the answer.

    A measure that was bound but is not used is in none of them (a subquery is first tried on its own).
    """
    needed = [Stage((), post)]
    measures = {measure.name: measure for measure in ctx.measures}
    used = set(post.released)
    for stage in reversed(ctx.stages):
        assert stage.awaited is not None
        if any(stage.awaited.name in stage_inputs(measures[name].relation) for name in used):
            needed.insert(0, stage)
            used |= set(stage.post.released)
    stages, taken = [], set[str]()
    added_up = frozenset().union(*(stage.post.released for stage in needed if stage.post.adds_up))
    for stage in needed:
        names = [name for name in measures if name in stage.post.released and name not in taken]
        read = (replace(measures[name], added_up=name in added_up) for name in names)
        stages.append(replace(stage, measures=tuple(read)))
        taken |= set(names)
    return tuple(stages)


def _example_key(bound: Private, secret: list[Visible]) -> str:
    """Return the name of a column to group by in an example; prefer one with few values."""
    facts = facts_of(bound.relation)
    columns = [column for column in bound.scope.columns if column not in secret]
    few = [
        column for column in columns if isinstance(fact_of(column.scalar, facts).domain, Listed | Categories)
    ]
    return next((column.name for column in [*few, *columns]), "x")


def _picture(ctx: Context, bound: Private, identifiers: list[Visible]) -> tuple[str, ...]:
    """Return what is declared of the columns that the query would show. A count of rows has no range."""
    from dpsql.policy.listing import column_of
    from dpsql.policy.picture import picture

    facts = facts_of(bound.relation)
    shown = bound.scope.starred
    found = [fact_of(visible.scalar, facts) for visible in shown]
    known = (
        replace(fact, domain=ANYTHING) if guessed(bound.relation, visible.scalar) else fact
        for visible, fact in zip(shown, found, strict=True)
    )
    columns = (Column(visible.name, fact) for visible, fact in zip(shown, known, strict=True))
    told = (visible in identifiers for visible in shown)
    return picture(
        [column_of(column, unit=unit) for column, unit in zip(columns, told, strict=True)], ctx.known.unit
    )


def _refuse_rows(ctx: Context, bound: Private, tree: exp.Expr) -> NoReturn:
    """Refuse a query that would return private rows."""
    owned = ownership_of(bound.relation)
    assert isinstance(owned, Owned)
    secret = identifying(bound.relation)
    identifiers = [column for column in bound.scope.columns if tells(column.scalar, bound.relation, secret)]
    listed = tree.expressions if isinstance(tree, exp.Select) else []
    first = listed[0] if listed else tree.args.get("group")  # of a PIVOT
    inner = bound.relation
    while isinstance(inner, Project | Filter):
        inner = inner.input
    key = _example_key(bound, identifiers)
    again = isinstance(inner, Aggregate) and "(" in key  # a count that the query gave no name
    if identifiers and isinstance(inner, Aggregate):
        raise refuse(
            "D403",
            f"each row of this would be about one {ctx.known.unit}",
            ctx.span(first),
            label=f"{identifiers[0].name} identifies single {ctx.known.unit}s",
            help=_once_more(ctx),
        )
    shown = f"{key}, COUNT(*) FROM ... GROUP BY 1"
    if listed and all(isinstance(unaliased(each), exp.Literal) for each in listed):
        shown = "COUNT(*) FROM ..."
    raise refuse(
        "D402",
        "single private rows are never shown",
        ctx.span(first),
        label="this query returns rows, not aggregates",
        notes=_picture(ctx, bound, identifiers),
        help=_once_more(ctx)
        if again
        else f"aggregate them: SELECT {shown}, or SELECT AVG(x) ...; to get only the names and types of the "
        "columns, LIMIT 0",
    )


def _once_more(ctx: Context) -> str:
    unit = ctx.known.unit_column
    return (
        f"aggregate again, over the {ctx.known.unit}s: SELECT AVG(n), COUNT(*) FROM (SELECT {unit}, "
        f"COUNT(*) AS n FROM ... GROUP BY {unit})"
    )
