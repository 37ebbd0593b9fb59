"""Subqueries: bound trees inside ordinary SQL, public rows and constants among private ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from dpsql.bind.expressions.aggregates import has_aggregate
from dpsql.bind.released.public_sql import exactly
from dpsql.bind.released.ranges import clamped
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.public_facts import given_fact, given_value
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.syntax.plain_columns import columns_of, place_of
from dpsql.errors import Error, refuse
from dpsql.facts.ownership import FAN_OUT
from dpsql.functions.core.literals import as_own
from dpsql.ir.column import Fact, Kind, Type, Value, type_named
from dpsql.ir.measure import Measure, Post, Stage
from dpsql.ir.relation import Materialized, ScanColumn, StageInput
from dpsql.ir.scalar import Literal, Ref
from dpsql.ir.source import Span
from dpsql.parse.allow_list import check_printed


def evaluated(ctx: Context, bound: Open, span: Span | None) -> tuple[list[Type], list[tuple[Value, ...]]]:
    """What ordinary SQL over public tables gives: few enough rows to hand down."""
    post = printed(ctx, exactly(bound, ctx.fresh), bound.columns, (None,) * len(bound.columns))
    spelled, rows = ctx.evaluate(post.sql, post.tables, FAN_OUT)
    if len(rows) > FAN_OUT:
        raise refuse(
            "D303",
            f"this public part has more than {FAN_OUT:,} rows",
            span,
            label="one private row could meet every one of them",
            help=f"keep it under {FAN_OUT:,} rows, or join with a public table on its declared key",
        )
    types = [type_named(each) for each in spelled]
    _refuse_opaque(types, span)
    return types, rows


def _refuse_opaque(types: list[Type], span: Span | None) -> None:
    """What is handed down to private rows is numbers, text, dates and the like."""
    for each in types:
        if each.kind in (Kind.OPAQUE, Kind.INTERVAL):
            raise refuse(
                "D205",
                f"{each.said} values are not handed down to private rows",
                span,
                help="leave the column out, or CAST it to text or a number",
            )


def given_rows(ctx: Context, bound: Open, span: Span | None, keys: int | None = None) -> Private:
    """Public SQL as a relation: its rows, with the facts that they show.

    A column on which no two of them agree is a key, and so are the first ``keys`` columns together.
    """
    types, rows = evaluated(ctx, bound, span)
    columns = tuple(
        ScanColumn(ctx.fresh(name), types[i].sql, given_fact(types[i], tuple(row[i] for row in rows)))
        for i, name in enumerate(bound.columns)
    )
    visible = tuple(
        Visible("", name, Ref(column.name)) for name, column in zip(bound.columns, columns, strict=True)
    )
    places = [(i,) for i in range(len(columns))] + ([tuple(range(keys))] if keys else [])
    unique = (tuple(columns[i].name for i in place) for place in places if distinct(rows, place))
    return Private(Materialized(columns, tuple(rows), tuple(unique), span), Scope(visible))


def distinct(rows: list[tuple[Value, ...]], places: tuple[int, ...]) -> bool:
    """Whether no two rows agree on these columns; NULL agrees with nothing."""
    found = [tuple(row[i] for i in places) for row in rows]
    present = [each for each in found if None not in each]
    return len(set(present)) == len(present)


MOST_KEYED = 100_000
"""Rows of a release that are handed down at most, where a key lets each row meet one of them."""


def awaited_rows(
    ctx: Context, bound: Open, span: Span | None, keys: int | None = None, one_row: bool = False
) -> Private:
    """What is released first, as rows among private ones: the stage that they are awaited of is noted.

    No two rows agree on the first ``keys`` columns, where that is said.
    """
    tree = exactly(bound, ctx.fresh)
    post = printed(ctx, tree, bound.columns, (None,) * len(bound.columns))
    measures = [each for each in ctx.measures if each.name in post.released]
    types = [type_named(each) for each in ctx.describe(post.sql, post.tables, measures)]
    if one_row and not gives_one_row(tree, measures):
        raise refuse(
            "D255",
            "this subquery may give several rows",
            span,
            label="a release has a row for each of its groups",
            help="leave GROUP BY out: (SELECT AVG(x) FROM ...); or take one group: ORDER BY 1 DESC LIMIT 1",
        )
    _refuse_opaque(types, span)
    domains = clamped(tree, measures, len(bound.columns))
    columns = tuple(
        ScanColumn(ctx.fresh(name), own.sql, Fact(own, domain))
        for name, own, domain in zip(bound.columns, types, domains, strict=True)
    )
    places = [tuple(range(keys))] if keys is not None else _keys(tree, measures)
    awaited = StageInput(
        ctx.fresh("awaited"),
        columns,
        tuple(tuple(columns[i].name for i in place) for place in places),
        1 if one_row else _most_rows(tree, MOST_KEYED if places else FAN_OUT),
        span,
    )
    ctx.stages.append(Stage((), post, awaited))
    visible = (Visible("", name, Ref(each.name)) for name, each in zip(bound.columns, columns, strict=True))
    return Private(awaited, Scope(tuple(visible)))


def gives_one_row(tree: exp.Expr, measures: list[Measure]) -> bool:
    """Whether ordinary SQL gives one row at most: LIMIT 1, an ungrouped aggregate, a measure without keys."""
    if isinstance(tree, exp.Subquery):
        return gives_one_row(tree.this, measures)
    if not isinstance(tree, exp.Select):
        return any(each.name == tree.name and not each.keys for each in measures)
    if _most_rows(tree) == 1:
        return True
    source = tree.args.get("from_")
    if tree.args.get("group") or tree.args.get("joins") or source is None:
        return source is None and not tree.args.get("joins")
    if any(each.find(exp.Unnest, exp.Explode) for each in tree.expressions):
        return False
    return any(has_aggregate(each) for each in tree.expressions) or gives_one_row(source.this, measures)


def _keys(tree: exp.Expr, measures: list[Measure]) -> list[tuple[int, ...]]:
    """The places of outputs on which no two rows agree: all keys of the measure that is read,

    carried up through SELECTs that only choose.
    """
    if isinstance(tree, exp.Table):
        return [tuple(range(len(each.keys))) for each in measures if each.name == tree.name]
    if isinstance(tree, exp.Subquery):
        return _keys(tree.this, measures)
    source = tree.args.get("from_") if isinstance(tree, exp.Select) else None
    if source is None or any(tree.args.get(each) for each in ("joins", "group", "laterals")):
        return []
    if any(each.find(exp.Unnest, exp.Explode) for each in tree.expressions):
        return []
    names = columns_of(source.this, measures)
    chosen: dict[int, int] = {}
    for place, each in enumerate(tree.expressions):
        inner = place_of(each.unalias(), source.this, names)
        if inner is not None:
            chosen.setdefault(inner, place)
    inside = _keys(source.this, measures)
    return [tuple(chosen[each] for each in key) for key in inside if all(each in chosen for each in key)]


def _most_rows(tree: exp.Expr, otherwise: int = FAN_OUT) -> int:
    """How many rows are handed down at most: a LIMIT, also one further in; or what one row may meet."""
    if isinstance(tree, exp.Subquery):
        return _most_rows(tree.this, otherwise)
    number, source = limit_of(tree), tree.args.get("from_")
    if number is not None:
        return max(1, min(FAN_OUT, number))
    if source is None or tree.args.get("joins") or not isinstance(source.this, exp.Subquery):
        return otherwise
    group = tree.args.get("group")
    if group is not None and group.find(exp.Rollup, exp.Cube, exp.GroupingSets):
        return otherwise  # each set has its own rows
    if any(each.find(exp.Unnest, exp.Explode) for each in tree.expressions):
        return otherwise
    return _most_rows(source.this, otherwise)


def limit_of(tree: exp.Expr) -> int | None:
    """LIMIT 10 as a number; None for none, and for what is not a plain number of rows."""
    limit = tree.args.get("limit")
    number = limit.expression if isinstance(limit, exp.Limit) else None
    if limit is None or limit.args.get("limit_options") or not isinstance(number, exp.Literal):
        return None
    return int(number.this) if not number.is_string and number.this.isdigit() else None


def _not_below_zero(clause: exp.Expr) -> None:
    """LIMIT (SELECT COUNT(*) ...): a noisy number may be negative, which would fail after it was paid for."""
    number = clause.expression
    if not isinstance(number, exp.Expr) or isinstance(number, exp.Literal):
        return
    negative = exp.LT(this=exp.Paren(this=number.copy()), expression=exp.Literal.number(0))
    case = exp.Case(ifs=[exp.If(this=negative, true=exp.Literal.number(0))], default=number.copy())
    clause.set("expression", case)


def printed(ctx: Context, tree: exp.Expr, columns: tuple[str, ...], margins: tuple[int | None, ...]) -> Post:
    """Ordinary SQL as it will run: every table that it reads is ours, every function vetted."""
    only_ours(ctx, tree)
    for each in list(tree.find_all(exp.Limit, exp.Offset)):
        _not_below_zero(each)
    sql = tree.sql(dialect="duckdb")
    check_printed(sql)
    named = {table.name for table in tree.find_all(exp.Table)}
    released = tuple(each.name for each in ctx.measures if each.name in named)
    plain = all(isinstance(each, _PLAIN) and not _is_value(each) for each in tree.walk())
    return Post(sql, columns, released, tables_in(ctx, tree), margins, plain)


def _is_value(node: exp.Expr) -> bool:
    """Whether it is a subquery that has to have one row."""
    return isinstance(node, exp.Subquery) and not isinstance(node.parent, exp.From)


_PLAIN = (
    *(exp.Select, exp.Subquery, exp.From, exp.Table, exp.TableAlias, exp.Alias, exp.Column, exp.Identifier),
    *(exp.Star, exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Literal),
)


def constants_of(ctx: Context, env: Mapping[str, Cte]) -> Callable[[exp.Expr], tuple[Literal, ...]]:
    """The values of a subquery among private rows: public ones only."""

    def constants(node: exp.Expr) -> tuple[Literal, ...]:
        inner = node.this if isinstance(node, exp.Subquery) else node
        try:
            bound = ctx.query(inner, env)
        except Error as error:
            if error.code != "D202":
                raise
            bound = None
        if bound is None or isinstance(bound, Private) or bound.released or len(bound.columns) != 1:
            raise refuse(
                "D255",
                "this subquery is not answered among private rows",
                ctx.span(node),
                label="one row's outcome would depend on rows of other units",
                help="join it on the unit; or compare with a released number: x > (SELECT AVG(x) FROM ...)",
            )
        types, rows = evaluated(ctx, bound, ctx.span(node))
        found = tuple(Literal(given_value(row[0], types[0]), types[0]) for row in rows)
        if any(each.value is not None and as_own(each.value, each.type) is None for each in found):
            raise refuse(
                "D205",
                "a value of this public part cannot be written as a constant",
                ctx.span(node),
                help="leave out NaN, infinities and dates outside the years 1 to 9999, or cast to text",
            )
        return found

    return constants


def bound_subqueries(
    ctx: Context,
    env: Mapping[str, Cte],
    outer: frozenset[str] = frozenset(),
    tied: Callable[[exp.Expr], exp.Expr | None] = lambda node: None,
) -> Callable[[exp.Expr], exp.Expr]:
    """What replaces a subquery in ordinary SQL: its own bound tree.

    ``tied`` is asked where it reads columns of the rows around it, which go by the names ``outer``.
    """

    def replaced(node: exp.Expr) -> exp.Expr:
        inner = node.this if isinstance(node, exp.Subquery | exp.Exists) else node
        if isinstance(node, exp.In):
            inner = node.args["query"]
            inner = inner.this if isinstance(inner, exp.Subquery) else inner
        try:
            bound = ctx.query(inner, env)
        except Error as error:
            if error.code != "D202":
                raise
            released = tied(node)
            if released is not None:
                return released
            if not any(each.table.casefold() in outer for each in inner.find_all(exp.Column)):
                raise
            raise refuse(
                "D255" if isinstance(node, exp.Subquery | exp.Select) else "D405",
                "public rows would be chosen or filled by private ones, row by row",
                ctx.span(inner),
                label=f"one {ctx.known.unit} could choose a public row",
                help="release the groups first, and join: ... FROM a JOIN (SELECT x, COUNT(*) AS n FROM ... "
                "GROUP BY x) AS b USING (x)",
            ) from None
        if isinstance(bound, Private):
            raise refuse(
                "D405" if not isinstance(node, exp.Subquery | exp.Select) else "D402",
                "rows here would be chosen by single private rows",
                ctx.span(inner),
                label=f"each row of this subquery is one {ctx.known.unit}'s",
                help="release it: IN (SELECT x FROM ... GROUP BY x), or a number: (SELECT AVG(x) FROM ...)",
            )
        tree = exactly(bound, ctx.fresh)
        if isinstance(node, exp.Exists):
            return exp.Exists(this=tree)
        if isinstance(node, exp.In):
            turned = node.copy()
            turned.set("query", exp.Subquery(this=tree))
            return turned
        return exp.Subquery(this=tree)

    return replaced


def only_ours(ctx: Context, tree: exp.Expr) -> None:
    """Every table that ordinary SQL reads is released or public: nothing slipped through unbound."""
    ours = {measure.name for measure in ctx.measures} | set(ctx.tables) | ctx.recursive
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and (table.name not in ours or table.db):
            raise refuse(
                "D105",
                "this way of reading a table is not answered",
                ctx.span(table),
                help="name it plainly",
            )


def tables_in(ctx: Context, tree: exp.Expr) -> tuple[str, ...]:
    """The public tables that ordinary SQL reads."""
    named = {table.name for table in tree.find_all(exp.Table)}
    return tuple(name for name in ctx.tables if name in named)
