"""Private views: counts of all combinations of the columns of a query, which is bound by itself.

    CREATE PRIVATE VIEW census WITH (ranges = (age)) AS SELECT age, sex FROM patients

    census              SELECT *, COUNT(*) AS n FROM (SELECT age, sex FROM patients) GROUP BY ALL
    sums = (cost)       joined with SELECT ..., SUM(cost) AS cost FROM ... GROUP BY ALL, another measure
    COUNT(*) of it      COALESCE(SUM(n), 0): it stands for that many rows

Claim   the measure of a view is the same whatever query reads it, so that its answer, bought once, is found.
Proof   It is bound in a context of its own: names that are made up depend on the view's query and on the
        names of tables alone. The query around it gets the released table and no more.
Test    tests/privacy/test_private_views.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial

from sqlglot import exp

from dpsql.bind.expressions.aggregates import is_named_aggregate
from dpsql.bind.private.items import Item
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.sources import Open, Private, Summed
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import Error, refuse
from dpsql.facts.schema import fact_of, facts_of
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
    columns = {column.name: fact_of(column.scalar, facts_of(rows.relation)) for column in rows.scope.starred}
    _check_columns(ctx, view, list(columns), body)
    own = replace(own, fresh=Fresh(names | {table.name for table in ctx.known.seen}), measures=[], scans=0)
    bound = own.query(_measured(view, list(columns), body), env)
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
    if own.stages or len(own.measures) != 1 + len(view.sums):
        raise refuse(
            "D409",
            "a private view does not read what is released first",
            ctx.span(body),
            help="let its query read the tables alone, without subqueries that aggregate",
        )
    tree = bound.tree.copy()
    renamed = {name: ctx.fresh(name) for name in (*(each.name for each in own.measures), *bound.hidden)}
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("this", renamed.get(identifier.name, identifier.name))
    ctx.measures += (replace(each, name=renamed[each.name], view=view) for each in own.measures)
    margins = tuple(tuple(renamed[name] for name in margin) for margin in bound.margins)
    assert isinstance(tree, exp.Query)
    folded = {name.casefold(): fact for name, fact in columns.items()}
    sums = tuple(Summed(name, not folded[name.casefold()].nullable) for name in view.sums)
    return replace(bound, tree=tree, margins=margins, counts=COUNT, sums=sums)


def _measured(view: PrivateView, columns: Sequence[str], body: exp.Expr) -> exp.Select:
    """Return the query that counts the rows of each combination, joined with those that sum a column."""
    summed = [name.casefold() for name in view.sums]
    keys = view.columns or [name for name in columns if name.casefold() not in summed]
    count = exp.alias_(exp.Count(this=exp.Star(), big_int=True), COUNT, quoted=True)
    counted = _by_combination(view.columns if not view.sums else keys, count, body)
    if not view.sums:
        return counted
    joined = exp.Select(from_=exp.From(this=_aliased(counted, _COUNTED)))
    shown = [_column(name, _COUNTED) for name in (*keys, COUNT)]
    for number, name in enumerate(view.sums):
        alias = f"summed {number}"
        total = exp.alias_(exp.Sum(this=_column(name)), name, quoted=True)
        same = [exp.NullSafeEQ(this=_column(key, _COUNTED), expression=_column(key, alias)) for key in keys]
        other = exp.Join(this=_aliased(_by_combination(keys, total, body), alias), on=exp.and_(*same))
        joined.append("joins", other)
        shown.append(_column(name, alias))
    joined.set("expressions", [exp.alias_(each, each.name, quoted=True) for each in shown])
    return joined


_COUNTED = "counted"


def _by_combination(keys: Sequence[str], number: exp.Expr, body: exp.Expr) -> exp.Select:
    """Return the query of a number for each combination of these columns, or of all."""
    shown: list[exp.Expr] = [_column(name) for name in keys]
    return exp.Select(
        expressions=[*(shown or [exp.Star()]), number],
        from_=exp.From(this=_aliased(body.copy(), "rows")),
        group=exp.Group(all=True),
    )


def _column(name: str, table: str | None = None) -> exp.Column:
    return exp.column(exp.to_identifier(name, quoted=True), table and exp.to_identifier(table, quoted=True))


def _aliased(query: exp.Expr, alias: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))


def _check_columns(ctx: Context, view: PrivateView, columns: list[str], body: exp.Expr) -> None:
    """Refuse columns that the view's query does not have, and one that is called as the count."""
    folded = [column.casefold() for column in columns]
    for name in (*view.ranges, *view.columns, *view.sums):
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
    summed = partial(_summed, [(item.alias, each) for item in views for each in _sums(item)])
    for aggregate in _aggregates(counted):
        if any(each is not aggregate and is_aggregate(each) for each in aggregate.walk()):
            continue  # of other aggregates
        if any(map(summed, aggregate.find_all(exp.Column))):
            if len(known) > 1 or not known[0][1]:
                raise _uncounted(ctx, aggregate)
            argument = aggregate.this
            _add_up(ctx, aggregate, summed(argument) if isinstance(argument, exp.Column) else None, *known[0])
            continue
        star = isinstance(aggregate, exp.Count) and isinstance(aggregate.this, exp.Star)
        if not star and not isinstance(aggregate, exp.Count) and _weighed(aggregate, known):
            continue
        if not star or len(known) > 1 or not known[0][1]:
            raise _uncounted(ctx, aggregate)
        whole = _around(aggregate)
        total = _in_place(whole, aggregate, exp.Sum(this=exp.column(known[0][1], known[0][0], quoted=True)))
        count = exp.Coalesce(this=total, expressions=[exp.Literal.number(0)])
        whole.replace(exp.Cast(this=count, to=exp.DataType.build("BIGINT")))
    for item, name in zip(counted.expressions, names, strict=True):
        if not isinstance(item, exp.Alias) and any(map(is_aggregate, item.walk())):
            item.replace(exp.alias_(item.copy(), name, quoted=True))
    return counted


def _summed(sums: Sequence[tuple[str, Summed]], column: exp.Column) -> Summed | None:
    """Return the column of sums, of the view with this alias, that a column is."""
    name, table = column.name.casefold(), column.table.casefold()
    found = (each for alias, each in sums if each.name.casefold() == name and table in ("", alias.casefold()))
    return next(found, None)


def _add_up(ctx: Context, aggregate: exp.Expr, summed: Summed | None, view: str, count: str) -> None:
    """Replace the mean of a column of sums by its sum over the count; refuse all but sums and means of it."""
    if summed is None or not isinstance(aggregate, exp.Sum | exp.Avg):
        raise _not_added_up(ctx, aggregate, summed)
    if isinstance(aggregate, exp.Sum):
        return
    if not summed.full:
        raise _mean_of_some(ctx, aggregate, summed)
    whole = _around(aggregate)
    total = _in_place(whole, aggregate, exp.Sum(this=aggregate.this.copy()))
    rows = _in_place(whole, aggregate, exp.Sum(this=exp.column(count, view, quoted=True)))
    positive = exp.Nullif(this=rows, expression=exp.Literal.number(0))
    whole.replace(exp.Paren(this=exp.Div(this=total, expression=positive)))


def _around(aggregate: exp.Expr) -> exp.Expr:
    """Return an aggregate with its FILTER and OVER."""
    whole = aggregate
    while isinstance(whole.parent, exp.Filter | exp.Window):
        whole = whole.parent
    return whole


def _in_place(whole: exp.Expr, aggregate: exp.Expr, other: exp.Expr) -> exp.Expr:
    """Return a copy of ``whole`` with another aggregate in the place of this one."""
    if whole is aggregate:
        return other
    return whole.transform(lambda node: other if node == aggregate else node)


def _sums(item: Item) -> list[Summed]:
    """Return the columns of sums as the SELECT may name them."""
    assert isinstance(item.source, Open)
    places = {each.name: item.source.columns.index(each.name) for each in item.source.sums}
    return [replace(each, name=item.columns[places[each.name]]) for each in item.source.sums]


def passed_on(
    node: exp.Select, items: Sequence[Item], columns: Sequence[str]
) -> tuple[str | None, tuple[Summed, ...]]:
    """Return the column that says for how many rows the rows of this SELECT stand, and those of sums.

    As ``Open.counts`` and ``Open.sums`` say.
    """
    views = _views(items)
    grouped = node.args.get("group") or node.args.get("distinct") or _aggregates(node)
    if not views or grouped:
        return None, ()
    names = {_counts(item) for item in views}
    plain = [each for each in node.expressions if isinstance(each.unalias(), exp.Column)]
    shown = {each.unalias().name: each.alias_or_name for each in plain}
    stars = any(each.find(exp.Star) for each in node.expressions)

    def called(name: str) -> str:
        found: str = shown.get(name, name if stars and name in columns else "")
        return found

    alone = len(names) == 1
    sums = [replace(each, name=called(each.name)) for item in views if alone for each in _sums(item)]
    return called(names.pop()) if alone else "", tuple(each for each in sums if each.name)


def is_aggregate(node: exp.Expr) -> bool:
    """Whether a call adds up rows: not a window's own function, which numbers or looks at them."""
    if isinstance(node, _OF_WINDOWS):
        return False
    return isinstance(node, exp.AggFunc) or is_named_aggregate(node)


_OF_WINDOWS = tuple(
    kind
    for name in (
        *("RowNumber", "Rank", "DenseRank", "PercentRank", "CumeDist", "Ntile", "Lag", "Lead", "FirstValue"),
        *("LastValue", "NthValue", "Grouping"),
    )
    if (kind := getattr(exp, name, None)) is not None
)


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
        help=f"weigh each value by {COUNT}: SUM(x * {COUNT}); AVG(x) is SUM(x * {COUNT}) / SUM({COUNT}) "
        f"FILTER (WHERE x IS NOT NULL); COUNT(*) is SUM({COUNT}); or buy the sums of a number: CREATE "
        "PRIVATE VIEW ... WITH (sums = (cost)) AS ...",
    )


def _not_added_up(ctx: Context, aggregate: exp.Expr, summed: Summed | None) -> Error:
    name = "it" if summed is None else summed.name
    return refuse(
        "D409",
        "a column of sums can be summed and averaged, and nothing else",
        ctx.span(aggregate),
        label=f"{name} is a sum over the {COUNT} rows of a combination",
        help="write SUM(cost), or AVG(cost), of the column itself; compute with these: SUM(cost) / 100",
    )


def _mean_of_some(ctx: Context, aggregate: exp.Expr, summed: Summed) -> Error:
    return refuse(
        "D409",
        f"the view does not count the rows that have a {summed.name}",
        ctx.span(aggregate),
        label=f"{summed.name} may be NULL",
        help=f"let its query leave these rows out (WHERE {summed.name} IS NOT NULL); or write "
        f"SUM({summed.name}) / SUM({COUNT}), over all rows",
    )
