"""A subquery that is tied to the rows around it, as one that stands alone and is joined.

    (SELECT AVG(v.cost) FROM visits v WHERE v.patient_id = p.patient_id AND v.urgent)

    SELECT v.patient_id, AVG(v.cost) FROM visits v WHERE v.urgent GROUP BY v.patient_id
      joined ON v.patient_id = p.patient_id

Syntax only: what the words mean is decided when the new SELECT is bound.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from dpsql.bind.expressions.aggregates import has_aggregate
from dpsql.bind.expressions.scalars import HiddenUnit, Scalars
from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.subqueries.evaluation import limit_of
from dpsql.bind.syntax.output_names import named_by, ordered_by
from dpsql.ir.scalar import Scalar, refs

MOST_CONSTANTS = 998
"""Beyond so many values a public list is joined, not written out."""

Tie = tuple[exp.Expr, exp.Expr]
"""An equality's side inside the subquery, and the one around it."""


def is_grouped(inner: exp.Select) -> bool:
    """Whether its rows are not simply those of FROM and WHERE."""
    clauses = ("group", "having", "qualify", "limit", "offset")
    return any(inner.args.get(each) for each in clauses) or any(has_aggregate(e) for e in inner.expressions)


def gives_one_row(inner: exp.Select) -> bool:
    """Whether it aggregates all its rows at once: there is a row even where nothing is aggregated."""
    aggregated = inner.args.get("having") or any(has_aggregate(each) for each in inner.expressions)
    return bool(aggregated) and not inner.args.get("group")


def with_having(inner: exp.Select) -> exp.Select:
    """SELECT x ... HAVING y, all rows at once, as SELECT CASE WHEN y THEN x END ...: no row is NULL."""
    having = inner.args.get("having")
    if having is None or not gives_one_row(inner) or len(inner.expressions) != 1:
        return inner
    condition = _without_aliases(having.this, inner.expressions)
    chosen = exp.Case(ifs=[exp.If(this=condition, true=unaliased(inner.expressions[0]).copy())])
    whole = inner.copy()
    whole.set("having", None)
    whole.set("expressions", [chosen])
    return whole


def is_there(inner: exp.Select) -> exp.Expr:
    """EXISTS (SELECT ... HAVING y), all rows at once, as a value: whether y is true."""
    having = inner.args.get("having")
    whole = inner.copy()
    whole.set("having", None)
    there: exp.Expr = exp.GTE(this=exp.Count(this=exp.Star()), expression=exp.Literal.number(0))
    if having is not None:
        there = _without_aliases(having.this, inner.expressions)
    whole.set("expressions", [there])
    return exp.Coalesce(this=exp.Subquery(this=whole), expressions=[exp.false()])


def _without_aliases(condition: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """HAVING names aliases outside its aggregates."""
    if isinstance(condition, exp.AggFunc | exp.Query):
        return condition.copy()
    found = named_by(condition, items) if isinstance(condition, exp.Column) else condition
    if found is not condition:
        return exp.Paren(this=found)
    written = condition.copy()
    for key, value in condition.args.items():
        if isinstance(value, exp.Expr):
            written.set(key, _without_aliases(value, items))
        elif isinstance(value, list):
            written.set(
                key, [_without_aliases(each, items) if isinstance(each, exp.Expr) else each for each in value]
            )
    return written


def tie_of(node: exp.Expr, part: Scalar, within: Scalars, own: Collection[str]) -> Tie | None:
    """The sides of ``inside = around``; None for any other condition."""
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.EQ):
        return None
    for inside, around in ((node.this, node.expression), (node.expression, node.this)):
        names = refs(within.bind(inside))
        if names and names <= set(own) and not refs(within.bind(around)) & set(own):
            return inside, around
    return None


def aggregates_in(node: exp.Expr) -> list[exp.Expr]:
    """The aggregate calls of an expression, each once."""
    if isinstance(node, exp.AggFunc | exp.Filter):
        return [node]
    found: list[exp.Expr] = []
    if not isinstance(node, exp.Query):
        for child in node.iter_expressions():
            found += [each for each in aggregates_in(child) if each not in found]
    return found


def counts(node: exp.Expr) -> bool:
    """Whether an aggregate is 0 over nothing, and not NULL."""
    inner = node.this if isinstance(node, exp.Filter) else node
    return isinstance(inner, exp.Count | exp.CountIf | exp.RegrCount)


def replaced(node: exp.Expr, old: list[exp.Expr], new: Sequence[exp.Expr]) -> exp.Expr:
    """The expression with each of these aggregates replaced by a column."""
    return node.copy().transform(
        lambda each: (
            new[old.index(each)].copy()
            if isinstance(each, exp.AggFunc | exp.Filter) and each in old
            else each
        )
    )


def listed(
    inner: exp.Select, keys: list[exp.Expr], sources: Sequence[exp.Column | None], fresh: Fresh
) -> tuple[exp.Select, list[exp.Expr]]:
    """The subquery joined with the public lists of what its keys are compared with: their groups are known.

    ``sources`` names a column of a public table for each key that has such a list.
    """
    joined, found = inner.copy(), []
    for key, source in zip(keys, sources, strict=True):
        if source is None:
            found.append(key)
            continue
        alias, name = fresh("listed"), exp.to_identifier(source.name, quoted=True)
        values = exp.select(exp.Column(this=name)).distinct().from_(exp.to_table(source.table))
        values = values.where(exp.Not(this=exp.Is(this=exp.Column(this=name.copy()), expression=exp.Null())))
        found.append(exp.column(source.name, alias, quoted=True))
        on = exp.EQ(this=found[-1].copy(), expression=key.copy())
        item = exp.Subquery(this=values, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))
        joined.append("joins", exp.Join(this=item, on=on))
    return joined, found


def keyed(
    inner: exp.Select,
    keys: list[exp.Expr],
    local: list[exp.Expr],
    values: list[exp.Expr],
    per_unit: bool,
    distinct: bool,
    fresh: Fresh,
) -> exp.Select:
    """The subquery alone: its keys (and the unit) first, then the values, a row or group for each key."""
    within = [*keys, *([HiddenUnit(this=exp.to_identifier(fresh("unit"), quoted=True))] if per_unit else [])]
    listed = [
        exp.alias_(unaliased(each).copy(), fresh(f"k{i}"), quoted=True) for i, each in enumerate(within)
    ]
    listed += [
        exp.alias_(_windowed(unaliased(each), keys), fresh(f"v{i}"), quoted=True)
        for i, each in enumerate(values)
    ]
    select = exp.Select(expressions=listed, from_=inner.args["from_"].copy())
    select.meta.update(inner.meta)  # its OPTIONS
    if inner.args.get("joins"):
        select.set("joins", [each.copy() for each in inner.args["joins"]])
    for key in ("having", "qualify", "windows"):
        clause = inner.args.get(key)
        if clause:
            windowed = [_windowed(each, keys) for each in (clause if isinstance(clause, list) else [clause])]
            select.set(key, windowed if isinstance(clause, list) else windowed[0])
    if local:
        select.set("where", exp.Where(this=exp.and_(*(each.copy() for each in local))))
    aggregated = any(has_aggregate(each) for each in (*inner.expressions, *values))
    if inner.args.get("group") or aggregated or inner.args.get("having"):
        group = inner.args["group"].copy() if inner.args.get("group") else exp.Group(expressions=[])
        group.set("expressions", [*(each.copy() for each in within), *group.expressions])
        if group.expressions:
            select.set("group", group)
    elif inner.args.get("limit"):
        _first_rows(select, inner, within)
    if distinct and not inner.args.get("limit"):
        select.set("distinct", exp.Distinct())
    return select


def _windowed(node: exp.Expr, keys: list[exp.Expr]) -> exp.Expr:
    """The same with windows that look at the rows of one key, as they do for one row around."""
    if isinstance(node, exp.Query):
        return node.copy()
    written = node.copy()
    for key, value in node.args.items():
        if isinstance(value, exp.Expr):
            written.set(key, _windowed(value, keys))
        elif isinstance(value, list):
            written.set(
                key, [_windowed(each, keys) if isinstance(each, exp.Expr) else each for each in value]
            )
    if isinstance(written, exp.Window) and not written.args.get("alias"):
        partition = [*(written.args.get("partition_by") or ()), *(each.copy() for each in keys)]
        written.set("partition_by", partition)
    return written


def without_limit(inner: exp.Select) -> exp.Select:
    """For EXISTS, to which one row is as good as many."""
    limit = inner.args.get("limit")
    if limit is None or not limits_plainly(inner) or int(limit.expression.this) == 0:
        return inner
    whole = inner.copy()
    whole.set("limit", None)
    whole.set("order", None)
    return whole


def _first_rows(select: exp.Select, inner: exp.Select, within: list[exp.Expr]) -> None:
    """ORDER BY ... LIMIT n of each key's rows, as a window."""
    window = exp.Window(this=exp.RowNumber(), partition_by=[each.copy() for each in within], over="OVER")
    if inner.args.get("order"):
        window.set("order", ordered_by(inner.args["order"], inner.expressions))
    limit = inner.args["limit"].expression
    select.set("qualify", exp.Qualify(this=exp.LTE(this=window, expression=limit.copy())))


def limits_plainly(inner: exp.Select) -> bool:
    """Whether its LIMIT is a plain number, alone, over rows that are not grouped."""
    if inner.args.get("limit") is None:
        return not inner.args.get("offset")
    plain = limit_of(inner) is not None
    others = any(inner.args.get(each) for each in ("group", "having", "qualify", "offset", "distinct"))
    return plain and not others and not any(has_aggregate(each) for each in inner.expressions)
