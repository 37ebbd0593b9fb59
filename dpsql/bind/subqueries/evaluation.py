"""Subqueries in ordinary SQL, and public or released rows that private rows are joined with."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from sqlglot import exp

from dpsql.bind.expressions.aggregates import has_aggregate, is_named_aggregate
from dpsql.bind.released.public_sql import without_margins
from dpsql.bind.released.ranges import released_domains
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.public_facts import fact_of_values, python_value
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.syntax.plain_columns import columns_of, place_of
from dpsql.errors import Error, refuse
from dpsql.facts.ownership import FAN_OUT
from dpsql.facts.released_columns import released_columns
from dpsql.functions.core.literals import as_own
from dpsql.ir.column import VARCHAR, Fact, Kind, Type, Value, type_named
from dpsql.ir.measure import Measure, Post, Stage
from dpsql.ir.relation import Materialized, ScanColumn, StageInput
from dpsql.ir.scalar import Literal, Ref
from dpsql.ir.source import Span
from dpsql.parse.allow_list import check_printed


def run_public(
    ctx: Context, bound: Open, span: Span | None, most: int = FAN_OUT
) -> tuple[list[Type], list[tuple[Value, ...]]]:
    """Run ordinary SQL over public tables; refuse more rows than a join with private rows allows.

    Up to ``most`` are allowed where each is a few whole numbers, which take little memory and text.
    """
    post = post_of(ctx, without_margins(bound, ctx.fresh), bound.columns, (None,) * len(bound.columns))
    spelled, rows = ctx.evaluate(post.sql, post.tables, most)
    if len(rows) > most or (len(rows) > FAN_OUT and not are_short([type_named(each) for each in spelled])):
        raise refuse(
            "D303",
            f"this public subquery has more than {FAN_OUT:,} rows",
            span,
            label="one private row could be joined with all of them",
            help=f"keep it under {FAN_OUT:,} rows, or join with a public table on its declared key",
        )
    types = [type_named(spelling) for spelling in spelled]
    _refuse_opaque(types, span)
    _refuse_collated(ctx, post, types, span)
    return types, rows


def are_short(types: Sequence[Type]) -> bool:
    """Whether a row of these types is a few whole numbers."""
    return len(types) <= _FEW_COLUMNS and all(each.kind is Kind.INTEGER for each in types)


_FEW_COLUMNS = 3
"""100,000 rows of three whole numbers are printed as three texts; other values take an expression each."""


def _refuse_collated(ctx: Context, post: Post, types: list[Type], span: Span | None) -> None:
    """Refuse texts that may come from a column with a collation: beside private rows they would have none."""
    read = (table for table in ctx.known.tables if table.name in post.tables)
    collated = [column for table in read for column in table.columns if " COLLATE " in column.fact.type.sql]
    named = [column for column in collated if re.search(rf"\b{re.escape(column.name)}\b", post.sql)]
    if named and any(each.kind is Kind.TEXT for each in types):
        raise refuse(
            "D205",
            f"{named[0].fact.type.sql} values cannot be joined with private rows",
            span,
            label=f"texts here may be those of {named[0].name}, whose collation says what is equal",
            help="leave the column out of the subquery, or let the owner store it without a collation",
        )


def _refuse_opaque(types: list[Type], span: Span | None) -> None:
    """Refuse values without a literal: opaque ones and intervals."""
    for column_type in types:
        if column_type.kind in (Kind.OPAQUE, Kind.INTERVAL):
            raise refuse(
                "D205",
                f"{column_type.said} values cannot be joined with private rows",
                span,
                help="leave the column out, or CAST it to text or a number",
            )


def materialized(ctx: Context, bound: Open, span: Span | None, keys: int | None = None) -> Private:
    """Return public SQL as a relation of its rows, with facts by their values.

    Its keys are the columns without duplicates, and the first ``keys`` columns together if they are unique.
    """
    types, rows = run_public(ctx, bound, span, ctx.most_listed)
    columns = tuple(
        ScanColumn(ctx.fresh(name), types[i].sql, fact_of_values(types[i], tuple(row[i] for row in rows)))
        for i, name in enumerate(bound.columns)
    )
    visible = tuple(
        Visible("", name, Ref(column.name)) for name, column in zip(bound.columns, columns, strict=True)
    )
    places = [(i,) for i in range(len(columns))] + ([tuple(range(keys))] if keys else [])
    unique = (tuple(columns[i].name for i in place) for place in places if distinct(rows, place))
    return Private(Materialized(columns, tuple(rows), tuple(unique), span), Scope(visible))


def distinct(rows: list[tuple[Value, ...]], places: tuple[int, ...]) -> bool:
    """Whether no two rows are equal on these columns; NULL equals nothing."""
    keys = [tuple(row[i] for i in places) for row in rows]
    present = [key for key in keys if None not in key]
    return len(set(present)) == len(present)


MOST_KEYED = 100_000
"""The most rows of a release that private rows are joined with on a key of it."""


def stage_input(
    ctx: Context, bound: Open, span: Span | None, keys: int | None = None, one_row: bool = False
) -> Private:
    """Return the release of an earlier stage as a relation, and add the stage to the context.

    The first ``keys`` columns are a key, where ``keys`` is not None.
    """
    tree = without_margins(bound, ctx.fresh)
    post = post_of(ctx, tree, bound.columns, (None,) * len(bound.columns))
    measures = [measure for measure in ctx.measures if measure.name in post.released]
    types = [type_named(spelling) for spelling in ctx.describe(post.sql, post.tables, measures)]
    if one_row and not gives_one_row(tree, measures):
        raise refuse(
            "D255",
            "this subquery may give several rows",
            span,
            label="a release has one row per group",
            help="leave GROUP BY out: (SELECT AVG(x) FROM ...); or take one group: WHERE key = 'text' around "
            "the release, or ORDER BY 1 DESC LIMIT 1",
        )
    _refuse_opaque(types, span)
    domains = released_domains(tree, measures, len(bound.columns))
    columns = tuple(
        ScanColumn(ctx.fresh(name), column_type.sql, Fact(column_type, domain))
        for name, column_type, domain in zip(bound.columns, types, domains, strict=True)
    )
    places = [tuple(range(keys))] if keys is not None else _keys(tree, measures)
    rows = StageInput(
        ctx.fresh("awaited"),
        columns,
        tuple(tuple(columns[i].name for i in place) for place in places),
        1 if one_row else _most_rows(tree, MOST_KEYED if places else FAN_OUT),
        span,
    )
    ctx.stages.append(Stage((), post, rows))
    visible = (
        Visible("", name, Ref(column.name)) for name, column in zip(bound.columns, columns, strict=True)
    )
    return Private(rows, Scope(tuple(visible)))


def gives_one_row(tree: exp.Expr, measures: list[Measure]) -> bool:
    """Whether ordinary SQL returns at most one row: LIMIT 1, one key, no GROUP BY, no keys below."""
    if isinstance(tree, exp.Subquery):
        return gives_one_row(tree.this, measures)
    if not isinstance(tree, exp.Select):
        named = [measure for measure in measures if measure.name == tree.name]
        return any(not measure.keys and measure.model is None for measure in named)
    if _most_rows(tree) == 1:
        return True
    source = tree.args.get("from_")
    if tree.args.get("group") or tree.args.get("joins") or source is None:
        return source is None and not tree.args.get("joins")
    if any(output.find(exp.Unnest, exp.Explode) for output in tree.expressions):
        return False
    if _held_at_one_key(tree, source.this, measures):
        return True
    return any(has_aggregate(output) for output in tree.expressions) or gives_one_row(source.this, measures)


def _held_at_one_key(tree: exp.Select, source: exp.Expr, measures: list[Measure]) -> bool:
    """Whether WHERE compares all columns of a key of the source with texts: ``term = '(intercept)'``.

    Keys are texts: a text that is no date fails beside dates, after the debit. A number may be equal to
    several texts: '1' and '01' are both 1.
    """
    where = tree.args.get("where")
    if where is None or not all(_has_text_keys(measure, tree) for measure in measures):
        return False
    names, held = columns_of(source, measures), set[int | None]()
    whole = where.this.unnest()
    for condition in whole.flatten() if isinstance(whole, exp.And) else (whole,):
        sides = (condition.this, condition.expression) if isinstance(condition, exp.EQ) else ()
        if any(isinstance(side, exp.Literal) and side.is_string for side in sides):
            held.update(place_of(side, source, names) for side in sides)
    return any(held.issuperset(key) for key in _keys(source, measures) if key)


def _has_text_keys(measure: Measure, tree: exp.Expr) -> bool:
    """Whether a measure has no keys but texts, or is not read here."""
    if all(table.name != measure.name for table in tree.find_all(exp.Table)):
        return True
    keys = len(measure.keys if measure.model is None else measure.model.keys)
    return all(kind == VARCHAR for _, kind in released_columns(measure)[:keys])


def _keys(tree: exp.Expr, measures: list[Measure]) -> list[tuple[int, ...]]:
    """Return the keys of the rows, as positions of outputs.

    They are the group keys of the measure, passed through SELECTs that only select columns and rows.
    """
    if isinstance(tree, exp.Table):
        named = (measure for measure in measures if measure.name == tree.name)
        keys = (each.keys if each.model is None else each.model.keys for each in named)
        return [tuple(range(len(key))) for key in keys]
    if isinstance(tree, exp.Subquery):
        return _keys(tree.this, measures)
    source = tree.args.get("from_") if isinstance(tree, exp.Select) else None
    if source is None or any(tree.args.get(clause) for clause in ("joins", "group", "laterals")):
        return []
    if any(output.find(exp.Unnest, exp.Explode) for output in tree.expressions):
        return []
    names = columns_of(source.this, measures)
    chosen: dict[int, int] = {}
    for place, output in enumerate(tree.expressions):
        inner = place_of(output.unalias(), source.this, names)
        if inner is not None:
            chosen.setdefault(inner, place)
    inside = _keys(source.this, measures)
    return [
        tuple(chosen[position] for position in key)
        for key in inside
        if all(position in chosen for position in key)
    ]


def _most_rows(tree: exp.Expr, otherwise: int = FAN_OUT) -> int:
    """Return the most rows of the SQL: its LIMIT, or one of its subquery; else ``otherwise``."""
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
    if any(output.find(exp.Unnest, exp.Explode) for output in tree.expressions):
        return otherwise
    return _most_rows(source.this, otherwise)


def limit_of(tree: exp.Expr) -> int | None:
    """Return the number of a LIMIT; None without one, or where it is not a literal number of rows."""
    limit = tree.args.get("limit")
    number = limit.expression if isinstance(limit, exp.Limit) else None
    if limit is None or limit.args.get("limit_options") or not isinstance(number, exp.Literal):
        return None
    return int(number.this) if not number.is_string and number.this.isdigit() else None


def _clamp_at_zero(clause: exp.Expr) -> None:
    """Clamp LIMIT (SELECT COUNT(*) ...) at 0: a negative noisy number would fail after it was paid for."""
    number = clause.expression
    if not isinstance(number, exp.Expr) or isinstance(number, exp.Literal):
        return
    negative = exp.LT(this=exp.Paren(this=number.copy()), expression=exp.Literal.number(0))
    case = exp.Case(ifs=[exp.If(this=negative, true=exp.Literal.number(0))], default=number.copy())
    clause.set("expression", case)


def post_of(ctx: Context, tree: exp.Expr, columns: tuple[str, ...], margins: tuple[int | None, ...]) -> Post:
    """Print ordinary SQL as it will run; check that its tables are bound and its functions are vetted."""
    nodes = list(tree.walk())
    _refuse_unbound_tables(ctx, nodes)
    limits = [node for node in nodes if isinstance(node, exp.Limit | exp.Offset)]
    for clause in limits:
        _clamp_at_zero(clause)
    if limits:
        nodes = list(tree.walk())
    sql = tree.sql(dialect="duckdb")
    check_printed(sql)
    named = {node.name for node in nodes if isinstance(node, exp.Table)}
    released = tuple(measure.name for measure in ctx.measures if measure.name in named)
    plain = all(isinstance(node, _PLAIN) and not _is_scalar_subquery(node) for node in nodes)
    adds_up = any(
        (isinstance(node, _ADDING) or is_named_aggregate(node)) and not _picks(node) for node in nodes
    )
    public = tuple(name for name in ctx.tables if name in named)
    return Post(sql, columns, released, public, margins, plain, adds_up=adds_up)


_ADDING = exp.AggFunc | exp.Window | exp.Group | exp.Distinct
_PICKING = (
    *(exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue, exp.NthValue),
    *(exp.RowNumber, exp.Rank, exp.DenseRank, exp.PercentRank, exp.CumeDist, exp.Ntile),
)


def _picks(node: exp.Expr) -> bool:
    """Whether this is a window function that gives a row's place or another row's value, or its window."""
    while isinstance(node, exp.Window | exp.IgnoreNulls | exp.RespectNulls):
        node = node.this
    return isinstance(node, _PICKING)


def _is_scalar_subquery(node: exp.Expr) -> bool:
    """Whether this is a scalar subquery."""
    return isinstance(node, exp.Subquery) and not isinstance(node.parent, exp.From)


_PLAIN = (
    *(exp.Select, exp.Subquery, exp.From, exp.Table, exp.TableAlias, exp.Alias, exp.Column, exp.Identifier),
    *(exp.Star, exp.Order, exp.Ordered, exp.Limit, exp.Offset, exp.Literal),
)


def constants_of(ctx: Context, env: Mapping[str, Cte]) -> Callable[[exp.Expr], tuple[Literal, ...]]:
    """Return a function that gives the values of a public subquery, and refuses any other."""

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
                label="the value for one row would depend on rows of other units",
                help="move it to WHERE: WHERE x > (SELECT MAX(x) FROM ...); for an outer join, to the WHERE "
                "of a subquery that is joined",
            )
        types, rows = run_public(ctx, bound, ctx.span(node))
        literals = tuple(Literal(python_value(row[0], types[0]), types[0]) for row in rows)
        if any(
            literal.value is not None and as_own(literal.value, literal.type) is None for literal in literals
        ):
            raise refuse(
                "D205",
                "a value of this public subquery cannot be written as a constant",
                ctx.span(node),
                help="leave out NaN, infinities and dates outside the years 1 to 9999, or cast to text",
            )
        return literals

    return constants


def subquery_binder(
    ctx: Context,
    env: Mapping[str, Cte],
    outer: frozenset[str] = frozenset(),
    correlated: Callable[[exp.Expr], exp.Expr | None] = lambda node: None,
) -> Callable[[exp.Expr], exp.Expr]:
    """Return a function that replaces a subquery in ordinary SQL by its bound tree.

    ``correlated`` binds a subquery that reads columns of the query around it, by the table names ``outer``.
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
            released = correlated(node)
            if released is not None:
                return released
            if not any(column.table.casefold() in outer for column in inner.find_all(exp.Column)):
                raise
            raise refuse(
                "D255" if isinstance(node, exp.Subquery | exp.Select) else "D405",
                "public rows would be chosen or filled in by private rows, one by one",
                ctx.span(inner),
                label=f"one {ctx.known.unit} could decide whether a public row is kept",
                help=_released_first(node),
            ) from None
        if isinstance(bound, Private):
            raise refuse(
                "D405" if not isinstance(node, exp.Subquery | exp.Select) else "D402",
                "rows would be chosen by single private rows",
                ctx.span(inner),
                label=f"each row of this subquery belongs to one {ctx.known.unit}",
                help="release it: IN (SELECT x FROM ... GROUP BY x), or a number: (SELECT AVG(x) FROM ...)",
            )
        tree = without_margins(bound, ctx.fresh)
        if isinstance(node, exp.Exists):
            return exp.Exists(this=tree)
        if isinstance(node, exp.In):
            membership = node.copy()
            membership.set("query", exp.Subquery(this=tree))
            return membership
        return exp.Subquery(this=tree)

    return replaced


def _released_first(node: exp.Expr) -> str:
    """Return how public rows are joined with released groups in place of a correlated subquery."""
    if not isinstance(node, exp.Exists):
        groups = "(SELECT x, COUNT(*) AS n FROM ... GROUP BY x)"
        return f"release the groups first, and join: ... FROM a JOIN {groups} AS b USING (x)"
    around, negated = node.parent, False
    while isinstance(around, exp.Paren | exp.Not):
        around, negated = around.parent, negated ^ isinstance(around, exp.Not)
    kind = "ANTI" if negated else "SEMI"
    return f"release the keys first: ... FROM a {kind} JOIN (SELECT x FROM ... GROUP BY x) AS b USING (x)"


def _refuse_unbound_tables(ctx: Context, nodes: list[exp.Expr]) -> None:
    """Refuse ordinary SQL that reads a table which is neither released nor public."""
    known = {measure.name for measure in ctx.measures} | set(ctx.tables) | ctx.recursive
    for table in nodes:
        if (
            isinstance(table, exp.Table)
            and isinstance(table.this, exp.Identifier)
            and (table.name not in known or table.db)
        ):
            raise refuse(
                "D105",
                "this way of reading a table is not answered",
                ctx.span(table),
                help="write only its name",
            )
