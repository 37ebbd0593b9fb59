"""Subqueries: bound trees inside ordinary SQL, public rows and constants among private ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from sqlglot import exp

from dpsql.bind.context import Context, Cte
from dpsql.bind.given import given_fact, given_value
from dpsql.bind.names import Scope, Visible
from dpsql.bind.opened import (
    exactly,
)
from dpsql.bind.sources import Open, Private
from dpsql.errors import Error, refuse
from dpsql.facts.ownership import FAN_OUT
from dpsql.functions.literals import as_own
from dpsql.ir.column import Kind, Type, Value, type_named
from dpsql.ir.relation import (
    Given,
    ScanColumn,
)
from dpsql.ir.scalar import Literal, Ref
from dpsql.ir.source import Span
from dpsql.parse.allowed import check_printed


def evaluated(ctx: Context, bound: Open, span: Span | None) -> tuple[list[Type], list[tuple[Value, ...]]]:
    """What ordinary SQL over public tables gives: few enough rows to hand down."""
    tree = exactly(bound, ctx.fresh)
    only_ours(ctx, tree)
    sql = tree.sql(dialect="duckdb")
    check_printed(sql)
    spelled, rows = ctx.evaluate(sql, tables_in(ctx, tree), FAN_OUT)
    if len(rows) > FAN_OUT:
        raise refuse(
            "D303",
            f"this public part has more than {FAN_OUT:,} rows",
            span,
            label="one private row could meet every one of them",
            help=f"keep it under {FAN_OUT:,} rows, or join with a public table on its declared key",
        )
    types = [type_named(each) for each in spelled]
    if any(each.kind in (Kind.OPAQUE, Kind.INTERVAL) for each in types):
        raise refuse("D205", "a column of this public part is of no plain type", span, help="cast it")
    return types, rows


def given_rows(ctx: Context, bound: Open, span: Span | None) -> Private:
    """Public SQL as a relation: its rows, with the facts that they show."""
    types, rows = evaluated(ctx, bound, span)
    columns = tuple(
        ScanColumn(ctx.fresh(name), types[i].sql, given_fact(types[i], tuple(row[i] for row in rows)))
        for i, name in enumerate(bound.columns)
    )
    visible = tuple(
        Visible("", name, Ref(column.name)) for name, column in zip(bound.columns, columns, strict=True)
    )
    return Private(Given(columns, tuple(rows), span), Scope(visible))


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
                "this subquery stands among private rows",
                ctx.span(node),
                label="one row's outcome would depend on rows of other units",
                help="write it as a join on the unit, or ask it as a query of its own",
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
    ctx: Context, env: Mapping[str, Cte], outer: frozenset[str] = frozenset()
) -> Callable[[exp.Expr], exp.Expr]:
    """What replaces a subquery in ordinary SQL: its own bound tree."""

    def replaced(node: exp.Expr) -> exp.Expr:
        inner = node.this if isinstance(node, exp.Subquery | exp.Exists) else node
        if isinstance(node, exp.In):
            inner = node.args["query"]
            inner = inner.this if isinstance(inner, exp.Subquery) else inner
        try:
            bound = ctx.query(inner, env)
        except Error as error:
            correlated = any(each.table.casefold() in outer for each in inner.find_all(exp.Column))
            if error.code != "D202" or not correlated:
                raise
            raise refuse(
                "D255" if isinstance(node, exp.Subquery | exp.Select) else "D405",
                "public rows would be chosen or filled by private ones, row by row",
                ctx.span(inner),
                help="release the groups first: SELECT ..., COUNT(*) ... GROUP BY, then join with them",
            ) from None
        if isinstance(bound, Private):
            raise refuse(
                "D405" if not isinstance(node, exp.Subquery | exp.Select) else "D402",
                "rows here would be chosen by single private rows",
                ctx.span(inner),
                help="release the keys first: SELECT ... GROUP BY, then join with the released groups",
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
