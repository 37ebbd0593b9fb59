"""PIVOT and UNPIVOT, written as the SELECT that they stand for.

PIVOT visits ON kind IN ('checkup', 'surgery') USING SUM(cost) AS paid GROUP BY place_id

SELECT place_id, SUM(cost) FILTER (WHERE kind = 'checkup') AS checkup_paid,
                 SUM(cost) FILTER (WHERE kind = 'surgery') AS surgery_paid FROM visits GROUP BY place_id

Without IN the columns would be read from the rows, so the list is asked for. Output columns are called
as DuckDB calls them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from itertools import product
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import refuse

_MOST = 500


def pivot(ctx: Context, node: exp.Pivot, env: Mapping[str, Cte]) -> Private | Open:
    """A PIVOT or UNPIVOT as what it means over its source, which is bound once."""
    whole = exp.Select(expressions=[exp.Star()], from_=exp.From(this=node.this.copy()))
    source = ctx.query(whole, env)
    name = ctx.fresh("pivot")
    table = exp.to_table(name)
    table.set("alias", exp.TableAlias(this=exp.to_identifier(node.this.alias_or_name or name, quoted=True)))
    columns = (
        list(source.columns) if isinstance(source, Open) else [each.name for each in source.scope.columns]
    )
    if node.args.get("unpivot"):
        tree = _unpivoted(ctx, node, source, columns, table)
    else:
        tree = _pivoted(ctx, node, columns, table)
    return ctx.query(tree, {**env, name.casefold(): Cte(whole, (), env, source)})


def in_from(node: exp.Expr) -> exp.Expr:
    """``t PIVOT (SUM(x) FOR c IN (...) GROUP BY g) AS p`` as the subquery that the statement would be."""
    source = node.copy()
    joins = source.args.pop("joins", None)
    name = node.alias_or_name
    for each in source.args.pop("pivots"):
        inner = exp.Pivot(
            this=source,
            expressions=each.args.get("fields") or [],
            using=each.expressions,
            group=each.args.get("group"),
            unpivot=each.args.get("unpivot"),
            include_nulls=each.args.get("include_nulls"),
        )
        alias = each.args.get("alias") or (
            exp.TableAlias(this=exp.to_identifier(name, quoted=True)) if name else None
        )
        source = exp.Subquery(this=inner, alias=alias)
    source.set("joins", joins)
    return source


# ---- PIVOT -------------------------------------------------------------------------------------------


def _pivoted(ctx: Context, node: exp.Pivot, columns: list[str], table: exp.Table) -> exp.Select:
    ons = [_on_values(ctx, each) for each in node.expressions]
    using = list(node.args.get("using") or [exp.Count(this=exp.Star(), big_int=True)])
    for each in using:
        if not isinstance(unaliased(each), exp.AggFunc):
            raise refuse(
                "D252",
                "PIVOT is answered over plain aggregates",
                ctx.span(each),
                help="write USING SUM(x) AS s, COUNT(*), and compute with the columns in an outer SELECT",
            )
    group = node.args.get("group")
    if group is None:
        used = {
            name.name.casefold() for part in [*node.expressions, *using] for name in part.find_all(exp.Column)
        }
        groups: list[exp.Expr] = [
            exp.column(each, quoted=True) for each in columns if each.casefold() not in used
        ]
        for each in groups:  # what is wrong with them is shown at the first list
            each.this.meta.update(node.expressions[0].this.this.meta)
    else:
        groups = [each.copy() for each in group.expressions]
        if not all(isinstance(each, exp.Column) for each in groups) or any(
            value for key, value in group.args.items() if key != "expressions"
        ):
            raise refuse(
                "D252", "PIVOT is grouped by plain columns", ctx.span(group), help="GROUP BY names of columns"
            )
    written = list(groups)
    names = [output_name(each) for each in groups]
    for choice in product(*ons):
        conditions = [condition for _, condition in choice]
        for each in using:
            parts = [name for name, _ in choice]
            if isinstance(each, exp.Alias) or len(using) > 1:
                parts.append(output_name(each))
            names.append("_".join(parts))
            where = exp.Where(this=exp.and_(*conditions, copy=True))
            call = exp.Filter(this=unaliased(each).copy(), expression=where)
            written.append(exp.alias_(call, names[-1], quoted=True))
        if len(names) > _MOST:
            raise refuse(
                "D103",
                f"this PIVOT makes more than {_MOST} columns",
                ctx.span(node),
                help="list fewer values",
            )
    folded = [each.casefold() for each in names]
    twice = next((each for each, name in zip(names, folded, strict=True) if folded.count(name) > 1), None)
    if twice is not None:
        raise refuse(
            "D203",
            f"this PIVOT makes the column {twice} twice",
            ctx.span(node),
            help="list each value once, and give the aggregates aliases",
        )
    tree = exp.Select(expressions=written, from_=exp.From(this=table))
    if groups:
        tree.set("group", exp.Group(expressions=[each.copy() for each in groups]))
    return tree


def _on_values(ctx: Context, node: exp.Expr) -> list[tuple[str, exp.Expr]]:
    """Of one ON: the word for each value, and the condition that a row has it."""
    if not isinstance(node, exp.In) or not node.expressions or node.args.get("query"):
        what = next((each.name for each in node.find_all(exp.Column)), "x")
        raise refuse(
            "D252",
            "PIVOT needs the list of its values",
            ctx.span(node),
            label="without it, the rows would decide which columns there are",
            help=f"list them: ON {what} IN ('a', 'b')",
        )
    if not isinstance(node.this, exp.Column):
        raise refuse(
            "D252",
            "PIVOT is answered ON plain columns",
            ctx.span(node),
            help="compute the column first: PIVOT (SELECT *, year(d) AS y FROM ...) ON y IN (...)",
        )
    return [_value(ctx, node.this, each) for each in node.expressions]


def _value(ctx: Context, column: exp.Column, node: exp.Expr) -> tuple[str, exp.Expr]:
    value = node.this if isinstance(node, exp.PivotAlias) else node
    bare = value.this if isinstance(value, exp.Neg) else value
    if isinstance(value, exp.Column) and not value.table:  # a bare word stands for itself
        word, value = value.name, exp.Literal.string(value.name)
    elif isinstance(value, exp.Null):
        word = "NULL"
    elif isinstance(value, exp.Boolean):
        word = str(value.this).lower()
    elif isinstance(value, exp.Cast) and value.is_type("date") and isinstance(value.this, exp.Literal):
        word = value.this.name
    elif isinstance(bare, exp.Literal):
        word = f"-{bare.name}" if bare is not value else bare.name
    else:
        raise refuse(
            "D252",
            "PIVOT lists plain values",
            ctx.span(node),
            help="write constants: ON x IN ('a', 'b'), or ON y IN (2024, 2025)",
        )
    name = node.alias if isinstance(node, exp.PivotAlias) else word
    if isinstance(value, exp.Null):
        return name, exp.Is(this=column.copy(), expression=exp.Null())
    return name, exp.EQ(this=column.copy(), expression=value.copy())


# ---- UNPIVOT -----------------------------------------------------------------------------------------


def _unpivoted(
    ctx: Context, node: exp.Pivot, source: Private | Open, columns: list[str], table: exp.Table
) -> exp.Expr:
    if isinstance(source, Private):
        raise refuse(
            "D252",
            "UNPIVOT is not answered over private rows",
            ctx.span(node),
            label="one row would become several",
            help="release the columns first: FROM (SELECT SUM(a) AS a, SUM(b) AS b FROM ...) UNPIVOT (v "
            "FOR name "
            "IN (a, b))",
        )
    into = node.args.get("into")
    field = node.expressions[0] if into is None and len(node.expressions) == 1 else None
    if into is not None and len(into.expressions) == 1:
        listed, title, value = node.expressions, into.this.name, into.expressions[0].name
    elif isinstance(field, exp.In) and len(node.args["using"]) == 1:
        listed, title, value = field.expressions, field.this.name, node.args["using"][0].name
    else:
        _refuse_shape(ctx, node)
    if not all(isinstance(each, exp.Column) for each in listed):
        _refuse_shape(ctx, node)
    for each in listed:
        if each.name.casefold() not in map(str.casefold, columns):
            raise refuse(
                "D202",
                f"there is no column {each.name} here",
                ctx.span(each),
                help=f"the columns here are {', '.join(columns)}",
            )
    gone = {each.name.casefold() for each in listed}
    kept: list[exp.Expr] = [exp.column(each, quoted=True) for each in columns if each.casefold() not in gone]
    sides: list[exp.Query] = []
    for each in listed:
        written = [
            *(one.copy() for one in kept),
            exp.alias_(exp.Literal.string(each.name), title, quoted=True),
            exp.alias_(each.copy(), value, quoted=True),
        ]
        side = exp.Select(expressions=written, from_=exp.From(this=table.copy()))
        if not node.args.get("include_nulls"):
            filled = exp.Not(this=exp.Is(this=each.copy(), expression=exp.Null()))
            side.set("where", exp.Where(this=filled))
        sides.append(side)
    return reduce(lambda left, right: exp.Union(this=left, expression=right, distinct=False), sides)


def _refuse_shape(ctx: Context, node: exp.Pivot) -> NoReturn:
    raise refuse(
        "D252",
        "this UNPIVOT is not answered",
        ctx.span(node),
        help="list plain columns: UNPIVOT t ON a, b INTO NAME title VALUE value",
    )
