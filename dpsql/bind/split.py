"""Query -> Split: what do the words mean, and where does privacy end?

Bottom-up, every FROM item and every query is Private (rows that belong to units) or Open (released or
public). The first aggregate that drops the unit turns Private into Open: it becomes a Measure, and what
stands around it becomes SQL over the released table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.headings import asks_for_no_rows, headings
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.public_facts import Describe, Evaluate
from dpsql.bind.scope.scope import Visible
from dpsql.bind.scope.sources import Private
from dpsql.bind.starting_context import starting_context
from dpsql.bind.subqueries.evaluation import printed
from dpsql.bind.syntax.interval_functions import asks_interval
from dpsql.errors import Error, refuse
from dpsql.facts.identity import identifying, tells
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions import ArgumentError
from dpsql.ir.column import Categories, Listed
from dpsql.ir.measure import Post, Split, Stage
from dpsql.ir.relation import Aggregate, Filter, Project, stage_inputs
from dpsql.parse.parse import Query
from dpsql.policy.catalogue import Known


def bind(query: Query, known: Known, evaluate: Evaluate, describe: Describe) -> Split:
    """The query as measures and the SQL over what they release, or a refusal that points at the text."""
    try:
        ctx, views = starting_context(query, known, evaluate, describe)
    except Error as error:
        raise error.within(query.source.text, query.source.name) from None
    ctx.goal = query.goal
    ctx.intervals = any(asks_interval(each) for each in (query.tree, *(v.node for v in views.values())))
    split = _looked_at(ctx, query, views)
    for each in ctx.needed:
        each.refusal.within(query.source.text, query.source.name)
    return replace(split, needed=tuple(ctx.needed))


def _looked_at(ctx: Context, query: Query, views: Mapping[str, Cte]) -> Split:
    """What goes wrong behind a missing bound says nothing: that stands first."""
    try:
        return _split(ctx, query, views)
    except Error as error:
        refusal = error
    except ArgumentError as unfit:  # a constant that is read outside any expression
        remedy = unfit.help or "write a plain constant"
        refusal = refuse(unfit.code, unfit.title, unfit.span, help=remedy)
    if ctx.needed:
        return Split(query.source, ())
    raise refusal.within(query.source.text, query.source.name)


def _split(ctx: Context, query: Query, views: Mapping[str, Cte]) -> Split:
    bound = ctx.query(query.tree, views)
    if asks_for_no_rows(query.tree, bound):
        return Split(query.source, (Stage((), headings(ctx, bound)),), query.delta)
    if isinstance(bound, Private):
        _refuse_rows(ctx, bound, query.tree)
    outputs = (*bound.columns, *bound.hidden)
    margins = (outputs.index(each[0], len(bound.columns)) if each else None for each in bound.margins)
    post = printed(ctx, bound.tree, bound.columns, tuple(margins))
    return Split(query.source, _stages(ctx, post), query.delta)


def _stages(ctx: Context, post: Post) -> tuple[Stage, ...]:
    """The stages that the answer needs, each with its measures: from the answer backwards.

    What was bound and then not used (a subquery is tried on its own first) is not in any of them.
    """
    needed = [Stage((), post)]
    measures = {each.name: each for each in ctx.measures}
    used = set(post.released)
    for stage in reversed(ctx.stages):
        assert stage.awaited is not None
        if any(stage.awaited.name in stage_inputs(measures[name].relation) for name in used):
            needed.insert(0, stage)
            used |= set(stage.post.released)
    found, taken = [], set[str]()
    for stage in needed:
        own = [name for name in measures if name in stage.post.released and name not in taken]
        found.append(replace(stage, measures=tuple(measures[name] for name in own)))
        taken |= set(own)
    return tuple(found)


def _shared(bound: Private, secret: list[Visible]) -> str:
    """A column of these rows to group by: best one with few values."""
    facts = facts_of(bound.relation)
    names = [each for each in bound.scope.columns if each not in secret]
    few = [each for each in names if isinstance(fact_of(each.scalar, facts).domain, Listed | Categories)]
    return next((each.name for each in [*few, *names]), "x")


def _refuse_rows(ctx: Context, bound: Private, tree: exp.Expr) -> NoReturn:
    owned = ownership_of(bound.relation)
    assert isinstance(owned, Owned)
    secret = identifying(bound.relation)
    shown = [each for each in bound.scope.columns if tells(each.scalar, secret)]
    listed = tree.expressions if isinstance(tree, exp.Select) else []
    inner = bound.relation
    while isinstance(inner, Project | Filter):
        inner = inner.input
    if shown and isinstance(inner, Aggregate):
        raise refuse(
            "D403",
            f"each row of this would be about one {ctx.known.unit}",
            ctx.span(listed[0]) if listed else None,
            label=f"{shown[0].name} tells one {ctx.known.unit} from another",
            help=f"aggregate once more over the {ctx.known.unit}s: SELECT AVG(n), COUNT(*) FROM (SELECT "
            f"{ctx.known.unit_column}, COUNT(*) AS n FROM ... GROUP BY {ctx.known.unit_column})",
        )
    raise refuse(
        "D402",
        "single private rows are never shown",
        ctx.span(listed[0]) if listed else None,
        label="this query returns rows, not aggregates",
        help=f"aggregate them: SELECT {_shared(bound, shown)}, COUNT(*) FROM ... GROUP BY 1, or SELECT "
        "AVG(x) ...; for names and types of columns alone, LIMIT 0",
    )
