"""Private views: counts of all combinations of the columns of a query, which is bound by itself.

    CREATE PRIVATE VIEW census WITH (ranges = (age)) AS SELECT age, sex FROM patients

    census              SELECT *, COUNT(*) AS n FROM (SELECT age, sex FROM patients) GROUP BY ALL
    COUNT(*) of it      COALESCE(SUM(n), 0): it stands for that many rows

Claim   the measure of a view is the same whatever query reads it, so that its answer, bought once, is found.
Proof   It is bound in a context of its own: names that are made up depend on the view's query and on the
        names of tables alone. The query around it gets the released table and no more.
Test    tests/privacy/test_private_views.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.expressions.aggregates import is_named_aggregate
from dpsql.bind.private.from_clause import Item
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import Error, refuse
from dpsql.ir.private_view import COUNT, PrivateView
from dpsql.parse.parse import Query
from dpsql.parse.view_statements import Create
from dpsql.policy.catalogue import Known, KnownView


def with_created(query: Query, known: Known) -> tuple[Query, Known]:
    """Return a CREATE as a query that shows the rows of its view, and what is known with that view."""
    if not isinstance(query.view, Create):
        return query, known
    created = KnownView(query.view.view.name, query.view.text, query.view.view, created=True)
    name, at = exp.to_identifier(created.name, quoted=True), query.view.at
    name.meta.update(start=at.start, end=at.end - 1)
    tree = exp.Select(expressions=[exp.Star()], from_=exp.From(this=exp.Table(this=name)))
    return replace(query, tree=tree), replace(known, views=(*known.views, created))


def private_view(ctx: Context, view: PrivateView, body: exp.Expr, env: Mapping[str, Cte]) -> Open:
    """Bind a private view: its counts become a measure of the query that reads it."""
    names = {identifier.name for identifier in body.find_all(exp.Identifier)}
    fresh = Fresh(names | {table.name for table in ctx.known.seen})
    own = Context(ctx.text, ctx.known, fresh, ctx.evaluate, ctx.describe, ctx.bound, body)
    ctx.count_scan(None)
    rows = own.query(body, env)
    if not isinstance(rows, Private):
        raise refuse(
            "D409",
            f"a private view counts rows of {ctx.known.unit}s",
            ctx.span(body),
            label="these are public or released",
            help="CREATE PRIVATE VIEW v AS SELECT age, sex FROM ... of a private table",
        )
    _check_columns(ctx, view, [column.name for column in rows.scope.starred], body)
    own = replace(own, fresh=Fresh(names | {table.name for table in ctx.known.seen}), measures=[], scans=0)
    bound = own.query(_counted(view, body), env)
    if own.needed:
        raise own.needed[0].refusal
    if not isinstance(bound, Open):
        raise refuse(
            "D403",
            f"a column of this view identifies single {ctx.known.unit}s",
            ctx.span(body),
            label=f"each combination would be of one {ctx.known.unit}",
            help=f"name columns that many {ctx.known.unit}s share: SELECT age, sex FROM ...",
        )
    if own.stages or len(own.measures) != 1:
        raise refuse(
            "D409",
            "a private view does not read what is released first",
            ctx.span(body),
            help="let its query read the tables alone, without subqueries that aggregate",
        )
    (measure,), tree = own.measures, bound.tree.copy()
    renamed = {name: ctx.fresh(name) for name in (measure.name, *bound.hidden)}
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("this", renamed.get(identifier.name, identifier.name))
    ctx.measures.append(replace(measure, name=renamed[measure.name], view=view))
    margins = tuple(tuple(renamed[name] for name in margin) for margin in bound.margins)
    assert isinstance(tree, exp.Query)
    return replace(bound, tree=tree, margins=margins, counts=COUNT)


def _counted(view: PrivateView, body: exp.Expr) -> exp.Select:
    """Return the query that counts the rows of each combination."""
    shown: list[exp.Expr] = [exp.column(exp.to_identifier(name, quoted=True)) for name in view.columns]
    count = exp.alias_(exp.Count(this=exp.Star(), big_int=True), COUNT, quoted=True)
    rows = exp.Subquery(this=body.copy(), alias=exp.TableAlias(this=exp.to_identifier("rows", quoted=True)))
    return exp.Select(
        expressions=[*(shown or [exp.Star()]), count],
        from_=exp.From(this=rows),
        group=exp.Group(all=True),
    )


def _check_columns(ctx: Context, view: PrivateView, columns: list[str], body: exp.Expr) -> None:
    """Refuse columns that the view's query does not have, and one that is called as the count."""
    folded = [column.casefold() for column in columns]
    for name in (*view.ranges, *view.columns):
        if name.casefold() not in folded:
            raise _no_column(view, name, columns)
    if COUNT in folded and not view.columns:
        raise refuse(
            "D203",
            f"{COUNT} is the column with the count",
            ctx.span(body),
            help=f"give that column another name, or leave it out: SELECT {COUNT} AS other",
        )


def _no_column(view: PrivateView, name: str, columns: list[str]) -> Error:
    return refuse(
        "D202",
        f"the query of the view {view.name} has no column {name}",
        view.names_at,
        help=f"its columns are {', '.join(columns)}",
    )


# ---- what a query asks of a view ----------------------------------------------------------------------


def counting(ctx: Context, node: exp.Select, items: Sequence[Item]) -> exp.Select:
    """Return a SELECT from a private view that counts what its rows stand for, not the rows themselves."""
    views = _views(items)
    if not views:
        return node
    counted, names = node.copy(), [output_name(item) for item in node.expressions]
    known = [(item.alias, _counts(item)) for item in views]
    for aggregate in _aggregates(counted):
        if any(each is not aggregate and is_aggregate(each) for each in aggregate.walk()):
            continue  # of other aggregates
        star = isinstance(aggregate, exp.Count) and isinstance(aggregate.this, exp.Star)
        if not star and not isinstance(aggregate, exp.Count) and _weighed(aggregate, known):
            continue
        if not star or len(known) > 1 or not known[0][1]:
            raise _uncounted(ctx, aggregate)
        total = exp.Sum(this=exp.column(known[0][1], known[0][0], quoted=True))
        aggregate.replace(total)
        whole: exp.Expr = total
        while isinstance(whole.parent, exp.Filter | exp.Window):
            whole = whole.parent
        whole.replace(exp.Coalesce(this=whole.copy(), expressions=[exp.Literal.number(0)]))
    for item, name in zip(counted.expressions, names, strict=True):
        if not isinstance(item, exp.Alias) and any(map(is_aggregate, item.walk())):
            item.replace(exp.alias_(item.copy(), name, quoted=True))
    return counted


def passed_on(node: exp.Select, items: Sequence[Item], columns: Sequence[str]) -> str | None:
    """Return the column that says for how many rows the rows of this SELECT stand, as ``Open.counts``."""
    views = _views(items)
    grouped = node.args.get("group") or node.args.get("distinct") or _aggregates(node)
    if not views or grouped:
        return None
    names = {_counts(item) for item in views}
    plain = [each for each in node.expressions if isinstance(each.unalias(), exp.Column)]
    shown = {each.unalias().name: each.alias_or_name for each in plain}
    stars = any(each.find(exp.Star) for each in node.expressions)
    found = [shown.get(name, name if stars and name in columns else "") for name in names if len(names) == 1]
    return found[0] if found else ""


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a call adds up rows: not a window's own function, which numbers or looks at them."""
    if isinstance(node, _OF_WINDOWS):
        return False
    return isinstance(node, exp.AggFunc) or is_named_aggregate(node) or _is_unknown_aggregate(node)


_OF_WINDOWS = tuple(
    kind
    for name in (
        *("RowNumber", "Rank", "DenseRank", "PercentRank", "CumeDist", "Ntile", "Lag", "Lead", "FirstValue"),
        *("LastValue", "NthValue", "Grouping"),
    )
    if (kind := getattr(exp, name, None)) is not None
)
_COUNTS_ROWS = ("count_star", "histogram", "product", "first", "last", "arbitrary", "list", "fsum", "favg")


def _is_unknown_aggregate(node: exp.Expr) -> bool:
    """Whether it is an aggregate of DuckDB that private rows have not, so that no shelf knows it."""
    return isinstance(node, exp.Anonymous) and node.name.casefold() in _COUNTS_ROWS


def _views(items: Sequence[Item]) -> list[Item]:
    """Return the items whose rows stand for several."""
    opened = [item for item in _flat(items) if isinstance(item.source, Open)]
    return [item for item in opened if isinstance(item.source, Open) and item.source.counts is not None]


def _flat(items: Sequence[Item]) -> Iterator[Item]:
    """Yield the items of FROM, those in parentheses too."""
    for item in items:
        if isinstance(item.source, list):
            yield from _flat(item.source)
        else:
            yield item


def _counts(item: Item) -> str:
    """Return the name of the count as the SELECT may name it; '' where it was left out."""
    assert isinstance(item.source, Open)
    name = item.source.counts
    return item.columns[item.source.columns.index(name)] if name else ""


def _weighed(aggregate: exp.Expr, known: Sequence[tuple[str, str]]) -> bool:
    """Whether an aggregate names the count of every view that it reads."""
    named = {column.name.casefold() for column in aggregate.find_all(exp.Column)}
    return all(count and count.casefold() in named for _, count in known)


def _aggregates(node: exp.Select) -> list[exp.Expr]:
    """Return the aggregates of a SELECT itself, not of queries in it."""
    found = []
    for clause in ("expressions", "having", "order", "qualify"):
        value = node.args.get(clause)
        for part in value if isinstance(value, list) else [value] if value is not None else []:
            inside = part.walk(prune=lambda inner: isinstance(inner, exp.Query))
            found += [each for each in inside if is_aggregate(each)]
    return found


def _uncounted(ctx: Context, aggregate: exp.Expr) -> Error:
    return refuse(
        "D409",
        "a row of a private view stands for n rows",
        ctx.span(aggregate),
        label=f"this leaves {COUNT} out",
        help=f"weigh each value by {COUNT}: SUM({COUNT}), SUM(x * {COUNT}) / SUM({COUNT}); COUNT(*) is "
        f"SUM({COUNT})",
    )
