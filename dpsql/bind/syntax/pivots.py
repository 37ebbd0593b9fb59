"""PIVOT and UNPIVOT, rewritten as SELECT.

PIVOT visits ON kind IN ('checkup', 'surgery') USING SUM(cost) AS paid GROUP BY place_id

SELECT place_id, SUM(cost) FILTER (WHERE kind = 'checkup') AS checkup_paid,
                 SUM(cost) FILTER (WHERE kind = 'surgery') AS surgery_paid FROM visits GROUP BY place_id

Without IN, a column with declared values has one for each of them, in DuckDB's order; of any other the data
would decide the columns, so the list is required. Output columns are named as in DuckDB.
"""

from __future__ import annotations

import datetime
from collections.abc import Mapping
from functools import reduce
from itertools import product
from typing import NoReturn

from sqlglot import exp

from dpsql.aggregates import by_name
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import refuse
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Categories, Value

_MOST = 500


def pivot(ctx: Context, node: exp.Pivot, env: Mapping[str, Cte]) -> Private | Open:
    """Bind a PIVOT or UNPIVOT over its source, which is bound once."""
    source_query = exp.Select(expressions=[exp.Star()], from_=exp.From(this=node.this.copy()))
    source = ctx.query(source_query, env)
    name = ctx.fresh("pivot")
    table = exp.to_table(name)
    table.set("alias", exp.TableAlias(this=exp.to_identifier(node.this.alias_or_name or name, quoted=True)))
    columns = (
        list(source.columns) if isinstance(source, Open) else [column.name for column in source.scope.columns]
    )
    if node.args.get("unpivot"):
        tree = _unpivoted(ctx, node, source, columns, table)
    else:
        tree = _pivoted(ctx, _with_lists(node, source), columns, table)
    return ctx.query(tree, {**env, name.casefold(): Cte(source_query, (), env, source)})


def in_from(node: exp.Expr) -> exp.Expr:
    """Rewrite ``t PIVOT (SUM(x) FOR c IN (...) GROUP BY g) AS p`` in FROM as a subquery."""
    source = node.copy()
    joins = source.args.pop("joins", None)
    name = node.alias_or_name
    for pivot_node in source.args.pop("pivots"):
        inner = exp.Pivot(
            this=source,
            expressions=pivot_node.args.get("fields") or [],
            using=pivot_node.expressions,
            group=pivot_node.args.get("group"),
            unpivot=pivot_node.args.get("unpivot"),
            include_nulls=pivot_node.args.get("include_nulls"),
        )
        alias = pivot_node.args.get("alias") or (
            exp.TableAlias(this=exp.to_identifier(name, quoted=True)) if name else None
        )
        source = exp.Subquery(this=inner, alias=alias)
    source.set("joins", joins)
    return source


# ---- PIVOT -------------------------------------------------------------------------------------------


def _is_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.AggFunc) or (
        isinstance(node, exp.Anonymous) and node.name.casefold() in by_name()
    )


def _pivoted(ctx: Context, node: exp.Pivot, columns: list[str], table: exp.Table) -> exp.Select:
    """Rewrite PIVOT as an aggregate with a FILTER per value."""
    ons = [_on_values(ctx, part) for part in node.expressions]
    using = list(node.args.get("using") or [exp.Count(this=exp.Star(), big_int=True)])
    for item in using:
        if not _is_aggregate(unaliased(item)):
            raise refuse(
                "D252",
                "PIVOT is answered with plain aggregates only",
                ctx.span(item),
                help="write USING SUM(x) AS s, COUNT(*), and compute from the columns in an outer SELECT",
            )
    group = node.args.get("group")
    if group is None:
        used = {
            name.name.casefold() for part in [*node.expressions, *using] for name in part.find_all(exp.Column)
        }
        groups: list[exp.Expr] = [
            exp.column(column, quoted=True) for column in columns if column.casefold() not in used
        ]
        for item in groups:  # errors point at the first list of values
            item.this.meta.update(node.expressions[0].this.this.meta)
    else:
        groups = [key.copy() for key in group.expressions]
        if not all(isinstance(key, exp.Column) for key in groups) or any(
            value for key, value in group.args.items() if key != "expressions"
        ):
            raise refuse(
                "D252",
                "PIVOT is grouped by plain columns only",
                ctx.span(group),
                help="GROUP BY column names",
            )
    outputs = list(groups)
    names = [output_name(key) for key in groups]
    for choice in product(*ons):
        conditions = [condition for _, condition in choice]
        for item in using:
            parts = [name for name, _ in choice]
            if isinstance(item, exp.Alias) or len(using) > 1:
                parts.append(output_name(item))
            names.append("_".join(parts))
            where = exp.Where(this=exp.and_(*conditions, copy=True))
            call = exp.Filter(this=unaliased(item).copy(), expression=where)
            outputs.append(exp.alias_(call, names[-1], quoted=True))
        if len(names) > _MOST:
            raise refuse(
                "D103",
                f"this PIVOT has more than {_MOST} columns",
                ctx.span(node),
                help="list fewer values",
            )
    folded = [name.casefold() for name in names]
    twice = next(
        (
            duplicate
            for duplicate, folded_name in zip(names, folded, strict=True)
            if folded.count(folded_name) > 1
        ),
        None,
    )
    if twice is not None:
        raise refuse(
            "D203",
            f"this PIVOT has two columns named {twice}",
            ctx.span(node),
            help="list each value once, and give the aggregates aliases",
        )
    tree = exp.Select(expressions=outputs, from_=exp.From(this=table))
    if groups:
        tree.set("group", exp.Group(expressions=[key.copy() for key in groups]))
    return tree


def _with_lists(node: exp.Pivot, source: Private | Open) -> exp.Pivot:
    """Return the PIVOT with the declared values of its columns where it lists none."""
    if isinstance(source, Open) or all(isinstance(part, exp.In) for part in node.expressions):
        return node
    listed = node.copy()
    for part in listed.expressions:
        values = _declared(source, part)
        if values:
            part.replace(exp.In(this=part.copy(), expressions=values))
    return listed


def _declared(source: Private, node: exp.Expr) -> list[exp.Expr]:
    """Return the declared values of a column, but NULL, in the order of their texts; none if it has none."""
    if not isinstance(node, exp.Column):
        return []
    found = [each for each in source.scope.columns if each.name.casefold() == node.name.casefold()]
    if len(found) != 1:
        return []
    domain = fact_of(found[0].scalar, facts_of(source.relation)).domain
    values = domain.values if isinstance(domain, Categories) else ()
    words = {_word(value): value for value in values if value is not None}
    if any(not isinstance(value, str | int | datetime.date) for value in words.values()):
        return []
    return [_constant(word, words[word]) for word in sorted(words)]


def _word(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _constant(word: str, value: Value) -> exp.Expr:
    match value:
        case bool():
            return exp.Boolean(this=value)
        case int():
            return exp.Neg(this=exp.Literal.number(-value)) if value < 0 else exp.Literal.number(value)
        case datetime.date():
            return exp.cast(exp.Literal.string(word), "date")
        case _:
            return exp.Literal.string(word)


def _on_values(ctx: Context, node: exp.Expr) -> list[tuple[str, exp.Expr]]:
    """Return, for each value of one ON, its part of the column name and the condition that a row has it."""
    if not isinstance(node, exp.In) or not node.expressions or node.args.get("query"):
        example = next((column.name for column in node.find_all(exp.Column)), "x")
        raise refuse(
            "D252",
            "PIVOT needs the list of its values",
            ctx.span(node),
            label="without it or declared values, private data would decide the columns",
            help=f"list them: ON {example} IN ('a', 'b')",
        )
    if not isinstance(node.this, exp.Column):
        raise refuse(
            "D252",
            "PIVOT is answered ON plain columns only",
            ctx.span(node),
            help="compute the column first: PIVOT (SELECT *, year(d) AS y FROM ...) ON y IN (...)",
        )
    return [_value(ctx, node.this, value) for value in node.expressions]


def _value(ctx: Context, column: exp.Column, node: exp.Expr) -> tuple[str, exp.Expr]:
    """Return the column name part of a value, and the condition that a row has it."""
    value = node.this if isinstance(node, exp.PivotAlias) else node
    magnitude = value.this if isinstance(value, exp.Neg) else value
    if isinstance(value, exp.Column) and not value.table:  # a bare word is a text
        word, value = value.name, exp.Literal.string(value.name)
    elif isinstance(value, exp.Null):
        word = "NULL"
    elif isinstance(value, exp.Boolean):
        word = str(value.this).lower()
    elif isinstance(value, exp.Cast) and value.is_type("date") and isinstance(value.this, exp.Literal):
        word = value.this.name
    elif isinstance(magnitude, exp.Literal):
        word = f"-{magnitude.name}" if magnitude is not value else magnitude.name
    else:
        raise refuse(
            "D252",
            "the values of PIVOT must be constants",
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
    """Rewrite UNPIVOT as a UNION ALL of one SELECT per column."""
    if isinstance(source, Private):
        raise refuse(
            "D252",
            "UNPIVOT is not answered over private rows",
            ctx.span(node),
            label="one private row would become several",
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
    if not all(isinstance(item, exp.Column) for item in listed):
        _refuse_shape(ctx, node)
    for column in listed:
        if column.name.casefold() not in map(str.casefold, columns):
            raise refuse(
                "D202",
                f"there is no column {column.name} here",
                ctx.span(column),
                help=f"the columns here are {', '.join(columns)}",
            )
    unpivoted = {item.name.casefold() for item in listed}
    kept: list[exp.Expr] = [
        exp.column(column, quoted=True) for column in columns if column.casefold() not in unpivoted
    ]
    sides: list[exp.Query] = []
    for column in listed:
        outputs = [
            *(column.copy() for column in kept),
            exp.alias_(exp.Literal.string(column.name), title, quoted=True),
            exp.alias_(column.copy(), value, quoted=True),
        ]
        side = exp.Select(expressions=outputs, from_=exp.From(this=table.copy()))
        if not node.args.get("include_nulls"):
            filled = exp.Not(this=exp.Is(this=column.copy(), expression=exp.Null()))
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
