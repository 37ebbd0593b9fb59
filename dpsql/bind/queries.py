"""Bind a query to Private or Open: SELECT, set operations, VALUES, CTEs, tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.private.projection import refuse_order_and_limit, refuse_order_or_limit
from dpsql.bind.private.set_operations import set_of_rows
from dpsql.bind.private_views import private_view
from dpsql.bind.released.public_sql import (
    identifier,
    open_set_operation,
    open_table,
    replace_queries,
    with_clauses,
    with_names,
    without_margins,
)
from dpsql.bind.released.unions import open_union
from dpsql.bind.scope.context import MOST_NODES, Context, Cte
from dpsql.bind.scope.sources import Margin, Open, Private, scan
from dpsql.bind.select import select
from dpsql.bind.subqueries.evaluation import subquery_binder
from dpsql.bind.syntax.output_names import refuse_places
from dpsql.bind.syntax.pivots import in_from, pivot
from dpsql.bind.views import moved_to
from dpsql.errors import Error, refuse
from dpsql.functions.reading import literal_of
from dpsql.parse.allow_list import MODELS, unknown_function
from dpsql.policy.names import nearest


def query(ctx: Context, node: exp.Expr, env: Mapping[str, Cte]) -> Private | Open:
    """Bind any query; ``env`` holds the CTEs and views in scope."""
    env = with_ctes(ctx, node, env)
    match node:
        case exp.Select():
            return select(ctx, node, env)
        case exp.SetOperation():
            return set_operation(ctx, node, env)
        case exp.Subquery():
            return parenthesised(ctx, node, env)
        case exp.Values():
            return values(ctx, node, env)
        case exp.Unnest():
            return unnested(ctx, node)
        case exp.Pivot():
            return pivot(ctx, node, env)
        case exp.Table():
            return table(ctx, node, env)
    raise refuse("D105", "this kind of query is not answered", ctx.span(node), help="write a SELECT")


def values(ctx: Context, node: exp.Values, env: Mapping[str, Cte]) -> Open:
    """Bind VALUES as a subquery with columns col0, col1..."""
    rows = [replace_queries(row, subquery_binder(ctx, env)) for row in node.expressions]
    width = len(node.expressions[0].expressions)
    columns = tuple(f"col{i}" for i in range(width))
    alias = exp.TableAlias(this=identifier(ctx.fresh("v")), columns=[identifier(c) for c in columns])
    tree = exp.select("*").from_(exp.Values(expressions=rows, alias=alias))
    return Open(tree, columns, ((),) * width)


def with_ctes(ctx: Context, node: exp.Expr, env: Mapping[str, Cte]) -> Mapping[str, Cte]:
    """Return the environment extended by the WITH clause of a query."""
    clause = node.args.get("with_")
    if clause is None:
        return env
    inner = dict(env)
    for cte in clause.expressions:
        names = tuple(column.name for column in cte.args["alias"].columns)
        entry = Cte(cte.this, names, dict(inner))
        if clause.args.get("recursive") and reads(cte.this, cte.alias):
            entry.opened = recursive(ctx, cte, names, inner)
        inner[cte.alias.casefold()] = entry
    return inner


def recursive(ctx: Context, cte: exp.CTE, names: tuple[str, ...], env: Mapping[str, Cte]) -> Open:
    """Bind a recursive CTE over public rows; its SQL stays as written."""
    body = cte.this
    if not isinstance(body, exp.Union):
        raise refuse("D252", "this recursion is not answered", ctx.span(cte), help="write a UNION ALL")
    first = ctx.query(body.left, env)
    if isinstance(first, Private) or first.released:
        raise refuse(
            "D252",
            "a recursion over private or released rows is not answered",
            ctx.span(cte),
            label="each step would read them again",
            help="recursion is for public tables and constants: WITH RECURSIVE t AS (SELECT 1 AS i UNION ALL "
            "SELECT i + 1 FROM t WHERE i < 10)",
        )
    name = ctx.fresh(cte.alias)
    ctx.recursive.add(name)
    columns = names + first.columns[len(names) :]
    nothing: tuple[Margin, ...] = ((),) * len(columns)
    itself = Cte(body, (), env, Open(exp.Table(this=identifier(name)), columns, nothing))
    bound = ctx.query(body, {**env, cte.alias.casefold(): itself})
    if isinstance(bound, Private) or bound.released:
        raise refuse(
            "D252",
            "a recursion over private or released rows is not answered",
            ctx.span(cte),
            label="each step would read them again",
            help="recursion is for public tables and constants: WITH RECURSIVE t AS (SELECT 1 AS i UNION ALL "
            "SELECT i + 1 FROM t WHERE i < 10)",
        )
    alias = exp.TableAlias(this=identifier(name), columns=[identifier(column) for column in columns])
    tree = exp.select("*").from_(exp.Table(this=identifier(name)))
    tree.set(
        "with_",
        exp.With(recursive=True, expressions=[exp.CTE(this=without_margins(bound, ctx.fresh), alias=alias)]),
    )
    return Open(tree, columns, nothing)


def parenthesised(ctx: Context, node: exp.Subquery, env: Mapping[str, Cte]) -> Private | Open:
    """Bind a query in parentheses, with the ORDER BY and LIMIT behind them."""
    if node.args.get("pivots"):
        return ctx.query(in_from(node), env)
    bound = ctx.query(node.this, env)
    extra = [key for key in ("order", "limit", "offset") if node.args.get(key)]
    if not extra:
        return bound
    if isinstance(bound, Private):
        refuse_order_or_limit(ctx, node.args[extra[0]])
    refuse_places(node, len(bound.columns), ctx.text)
    return with_clauses(bound, {key: node.args[key].copy() for key in extra}, ctx.fresh)


def table(ctx: Context, node: exp.Table, env: Mapping[str, Cte]) -> Private | Open:
    """Bind a name in FROM: a CTE, a view, or a table of the policy."""
    if isinstance(node.this, exp.Func):
        refuse_extras(ctx, node, ("this", "alias", "joins"), "write only its call, and an alias")
        if isinstance(node.this, exp.Anonymous) and node.this.name.casefold() in MODELS:
            from dpsql.bind.models import model

            return model(ctx, node, env)
        return series(ctx, node)
    plain_table(ctx, node)
    cte = env.get(node.name.casefold())
    if cte is not None and (not node.db or (cte.view and node.db.casefold() == "main")):
        ctx.count_scan(ctx.span(node))
        if cte.view is None:
            return cte_source(ctx, cte, cte.node)
        moved = cte.node if cte.view.created else moved_to(cte.node, node)
        if cte.view.private is None:
            return cte_source(ctx, cte, moved)
        try:
            cte.opened = cte.opened or private_view(ctx, cte.view.private, moved, cte.env)
        except Error:
            if not cte.view.lent:
                raise
            cte.opened = None  # it reads what does not exist for this analyst
        if cte.opened is not None:
            return cte.opened
    ctx.count_scan(ctx.span(node))
    name = node.name if node.db.casefold() in ("", "main") else f"{node.db}.{node.name}"
    known = ctx.known.table(name)
    if known is None or not known.seen:
        raise refuse(
            "D201",
            f"there is no table {name}",
            ctx.span(node),
            help=nearest_table(ctx, name, env),
        )
    bound = scan(known, ctx.known, known.name, ctx.fresh, ctx.span(node))
    if not known.public:
        return bound
    ctx.tables[known.name] = None
    return open_table(known, bound)


def series(ctx: Context, node: exp.Table) -> Open:
    """Bind range(...) and generate_series(...) over constants."""
    call = node.this
    name = call.name if isinstance(call, exp.Anonymous) else type(call).sql_name()
    name = "range" if call.args.get("is_end_exclusive") else name.casefold()
    if name not in ("range", "generate_series"):
        raise unknown_function(name, ctx.span(node))
    arguments = [argument for argument in call.iter_expressions() if not isinstance(argument, exp.Identifier)]
    if not arguments or any(literal_of(argument) is None for argument in arguments):
        raise refuse(
            "D252",
            f"{name} is answered over constants only",
            ctx.span(node),
            label="the number of rows would depend on data",
            help="write constants, and filter: FROM range(100) AS r(i) WHERE i < ...",
        )
    table = exp.Anonymous(this=name, expressions=[argument.copy() for argument in arguments])
    alias = exp.TableAlias(this=identifier(ctx.fresh("series")), columns=[identifier(name)])
    tree = exp.select("*").from_(exp.Table(this=table, alias=alias))
    return Open(tree, (name,), ((),))


def unnested(ctx: Context, node: exp.Unnest) -> Open:
    """Bind unnest(...) in FROM, of a list or of released rows to its left."""
    if len(node.expressions) != 1 or node.args.get("offset") or node.find(exp.Query):
        raise refuse(
            "D252", "this unnest is not answered", ctx.span(node), help="unnest one list: unnest([1, 2, 3])"
        )
    call = exp.Anonymous(this="unnest", expressions=[node.expressions[0].copy()])
    alias = exp.TableAlias(this=identifier(ctx.fresh("list")), columns=[identifier("unnest")])
    tree = exp.select("*").from_(exp.Table(this=call, alias=alias))
    return Open(tree, ("unnest",), ((),))


def plain_table(ctx: Context, node: exp.Table) -> None:
    """Refuse a table with a catalog, a sample, a pivot or the like."""
    if not isinstance(node.this, exp.Identifier) or node.catalog:
        shown = ".".join(part.name for part in node.parts)
        raise refuse(
            "D201",
            f"there is no table {shown}",
            ctx.span(node),
            help="name a table of the policy, with its schema at most",
        )
    refuse_extras(ctx, node, ("this", "alias", "db", "joins"), "write only its name")


def refuse_extras(ctx: Context, node: exp.Table, known: tuple[str, ...], instead: str) -> None:
    """Refuse whatever else stands beside a table or a table function."""
    if any(value and key not in known for key, value in node.args.items()):
        raise refuse("D105", "this way of reading a table is not answered", ctx.span(node), help=instead)


def nearest_table(ctx: Context, name: str, env: Mapping[str, Cte]) -> str:
    """Return a help text with the nearest name of a table, or all names."""
    names = sorted(
        {
            *(table.name for table in ctx.known.seen),
            *(view.name for view in ctx.known.views if not view.created),
            *env,
        }
    )
    close = nearest(name, names)
    return f"did you mean {close}?" if close else f"the tables here are {', '.join(names)}"


def cte_source(ctx: Context, cte: Cte, node: exp.Expr) -> Private | Open:
    """Bind a use of a CTE: rows of tables anew at each use, a release only once."""
    if cte.opened is None:
        bound = ctx.query(node, cte.env)
        if isinstance(bound, Private):
            return Private(bound.relation, bound.scope.under("", cte.names)) if cte.names else bound
        if sum(1 for _ in bound.tree.walk()) > MOST_NODES:
            raise refuse(
                "D103",
                "the query is too large with its CTEs expanded",
                ctx.span(node),
                help="use each CTE once or twice, and split the query",
            )
        if len(cte.names) > len(bound.columns):
            raise refuse(
                "D202",
                "the column list has more names than the query has columns",
                ctx.span(node),
                help="give at most one name for each column",
            )
        named = with_names(bound, cte.names, ctx.fresh) if cte.names else bound
        if bound.rows is not None:  # a scan of its own at each use: two of them may meet in a join
            return named
        cte.opened = named
    return cte.opened


def set_operation(ctx: Context, node: exp.SetOperation, env: Mapping[str, Cte]) -> Private | Open:
    """Bind UNION, INTERSECT or EXCEPT; both sides must be private, or neither."""
    left, right = ctx.query(node.left, env), ctx.query(node.right, env)
    if isinstance(left, Open) and isinstance(right, Open):
        subqueries = subquery_binder(ctx, env)
        union = open_union(node, left, right, subqueries, ctx.fresh)
        either = union or open_set_operation(node, left, right, subqueries, ctx.fresh)
        refuse_places(node, len(either.columns), ctx.text)
        if left.counts is None and right.counts is None:
            return either
        place = left.columns.index(left.counts) if left.counts else -1
        same = place >= 0 and right.counts == right.columns[place]
        return replace(either, counts=either.columns[place] if same else "")
    if isinstance(left, Open) or isinstance(right, Open):
        raise refuse(
            "D406",
            f"{type(node).__name__.upper()} does not mix private rows with public or released ones",
            ctx.span(node.right if isinstance(right, Open) else node.left),
            label=f"these rows belong to no {ctx.known.unit}, those of the other side do",
            help="release the private side first: SELECT x FROM ... GROUP BY x "
            f"{type(node).__name__.upper()} SELECT x FROM ...",
        )
    refuse_order_and_limit(ctx, node)
    return set_of_rows(ctx, node, left, right)


def reads(node: exp.Expr, name: str) -> bool:
    """Whether a CTE's body names the CTE itself."""
    return any(table.name.casefold() == name.casefold() for table in node.find_all(exp.Table))
