"""Rewrite a correlated subquery as an uncorrelated one that is joined.

    (SELECT AVG(v.cost) FROM visits v WHERE v.patient_id = p.patient_id AND v.urgent)

    SELECT v.patient_id, AVG(v.cost) FROM visits v WHERE v.urgent GROUP BY v.patient_id
      joined ON v.patient_id = p.patient_id

Syntax only: names are resolved when the new SELECT is bound.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from sqlglot import exp

from dpsql.bind.expressions.aggregates import has_aggregate, is_named_aggregate
from dpsql.bind.expressions.scalars import Scalars, hidden_unit
from dpsql.bind.private.conditions import parts_of
from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.subqueries.evaluation import limit_of
from dpsql.bind.subqueries.key_lists import ListedKeys
from dpsql.bind.syntax.output_names import named_by, ordered_by
from dpsql.ir.scalar import Scalar, refs

MOST_CONSTANTS = 998
"""A public list with more values is joined, not written out."""

Correlation = tuple[exp.Expr, exp.Expr]
"""An equality that correlates a subquery: its side inside the subquery, and its side around it."""


def is_grouped(inner: exp.Select) -> bool:
    """Whether it has clauses or aggregates above FROM and WHERE."""
    clauses = ("group", "having", "qualify", "limit", "offset")
    return any(inner.args.get(clause) for clause in clauses) or any(
        has_aggregate(e) for e in inner.expressions
    )


def gives_one_row(inner: exp.Select) -> bool:
    """Whether it aggregates all its rows into one, also where it has no rows."""
    aggregated = inner.args.get("having") or any(has_aggregate(output) for output in inner.expressions)
    return bool(aggregated) and not inner.args.get("group")


def having_as_case(inner: exp.Select) -> exp.Select:
    """Rewrite SELECT x ... HAVING y without GROUP BY as SELECT CASE WHEN y THEN x END ..."""
    having = inner.args.get("having")
    if having is None or not gives_one_row(inner) or len(inner.expressions) != 1:
        return inner
    condition = _without_aliases(having.this, inner.expressions)
    chosen = exp.Case(ifs=[exp.If(this=condition, true=unaliased(inner.expressions[0]).copy())])
    select = inner.copy()
    select.set("having", None)
    select.set("expressions", [chosen])
    return select


def exists_as_scalar(inner: exp.Select) -> exp.Expr:
    """Rewrite EXISTS (SELECT ... HAVING y) without GROUP BY as a scalar: whether y is true."""
    having = inner.args.get("having")
    select = inner.copy()
    select.set("having", None)
    test: exp.Expr = exp.Not(this=exp.Is(this=exp.Count(this=exp.Star()), expression=exp.Null()))
    if having is not None:
        test = _without_aliases(having.this, inner.expressions)
    select.set("expressions", [test])
    return exp.Coalesce(this=exp.Subquery(this=select), expressions=[exp.false()])


def _without_aliases(condition: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """Replace the aliases that HAVING names outside its aggregates."""
    if _is_aggregate(condition) or isinstance(condition, exp.Query):
        return condition.copy()
    aliased = named_by(condition, items) if isinstance(condition, exp.Column) else condition
    if aliased is not condition:
        return exp.Paren(this=aliased)
    rewritten = condition.copy()
    for key, value in condition.args.items():
        if isinstance(value, exp.Expr):
            rewritten.set(key, _without_aliases(value, items))
        elif isinstance(value, list):
            rewritten.set(
                key, [_without_aliases(part, items) if isinstance(part, exp.Expr) else part for part in value]
            )
    return rewritten


def correlation_of(
    node: exp.Expr, part: Scalar, within: Scalars, inner_columns: Collection[str]
) -> Correlation | None:
    """Return the sides of ``inside = around``; None for any other condition."""
    while isinstance(node, exp.Paren):
        node = node.this
    if not isinstance(node, exp.EQ):
        return None
    for inside, around in ((node.this, node.expression), (node.expression, node.this)):
        names = refs(within.bind(inside))
        if names and names <= set(inner_columns) and not refs(within.bind(around)) & set(inner_columns):
            return inside, around
    return None


def compares(inner: exp.Select) -> bool:
    """Whether WHERE has a part that is no equality, so that it may correlate the subquery otherwise."""
    where = inner.args.get("where")
    return where is not None and any(not isinstance(part, exp.EQ) for part in parts_of(where.this))


def aggregates_in(node: exp.Expr) -> list[exp.Expr]:
    """Return the aggregate calls of an expression, without duplicates."""
    if _is_aggregate(node):
        return [node]
    calls: list[exp.Expr] = []
    if not isinstance(node, exp.Query):
        for child in node.iter_expressions():
            calls += [call for call in aggregates_in(child) if call not in calls]
    return calls


def _is_aggregate(node: exp.Expr) -> bool:
    return isinstance(node, exp.AggFunc | exp.Filter) or is_named_aggregate(node)


def counts(node: exp.Expr) -> bool:
    """Whether an aggregate over no rows is 0, not NULL."""
    inner = node.this if isinstance(node, exp.Filter) else node
    return isinstance(inner, exp.Count | exp.CountIf | exp.RegrCount)


def replace_aggregates(node: exp.Expr, old: list[exp.Expr], new: Sequence[exp.Expr]) -> exp.Expr:
    """Return the expression with these aggregates replaced."""
    return node.copy().transform(
        lambda part: new[old.index(part)].copy() if _is_aggregate(part) and part in old else part
    )


def join_key_lists(
    inner: exp.Select, keys: list[exp.Expr], lists: Sequence[ListedKeys], fresh: Fresh
) -> tuple[exp.Select, list[exp.Expr]]:
    """Join the subquery with the public lists of its correlation keys, so that its groups are known."""
    joined, listed_keys = inner.copy(), [*keys]
    for listed in lists:
        alias, equal = fresh("listed"), list[exp.Expr]()
        names = [fresh(f"k{place}") for place in listed.places]  # two keys may be the same column
        for place, name in zip(listed.places, names, strict=True):
            listed_keys[place] = exp.column(name, alias, quoted=True)
            equal.append(exp.EQ(this=listed_keys[place].copy(), expression=keys[place].copy()))
        named = exp.TableAlias(
            this=exp.to_identifier(alias, quoted=True),
            columns=[exp.to_identifier(name, quoted=True) for name in names],
        )
        item = exp.Subquery(this=listed.query, alias=named)
        joined.append("joins", exp.Join(this=item, on=exp.and_(*equal)))
    return joined, listed_keys


def grouped_by_keys(
    inner: exp.Select,
    keys: list[exp.Expr],
    local: list[exp.Expr],
    values: list[exp.Expr],
    per_unit: bool,
    distinct: bool,
    fresh: Fresh,
) -> exp.Select:
    """Return the uncorrelated subquery: its keys (and the unit) first, then the values, grouped by key."""
    within = [*keys, *([hidden_unit(fresh("unit"))] if per_unit else [])]
    listed = [exp.alias_(unaliased(key).copy(), fresh(f"k{i}"), quoted=True) for i, key in enumerate(within)]
    listed += [
        exp.alias_(_with_partition(unaliased(value), keys), fresh(f"v{i}"), quoted=True)
        for i, value in enumerate(values)
    ]
    select = exp.Select(expressions=listed, from_=inner.args["from_"].copy())
    select.meta.update(inner.meta)  # its OPTIONS
    if inner.args.get("joins"):
        select.set("joins", [join.copy() for join in inner.args["joins"]])
    for key in ("having", "qualify", "windows"):
        clause = inner.args.get(key)
        if clause:
            windowed = [
                _with_partition(part, keys) for part in (clause if isinstance(clause, list) else [clause])
            ]
            select.set(key, windowed if isinstance(clause, list) else windowed[0])
    if local:
        select.set("where", exp.Where(this=exp.and_(*(condition.copy() for condition in local))))
    aggregated = any(has_aggregate(output) for output in (*inner.expressions, *values))
    if inner.args.get("group") or aggregated or inner.args.get("having"):
        group = inner.args["group"].copy() if inner.args.get("group") else exp.Group(expressions=[])
        group.set("expressions", [*(key.copy() for key in within), *group.expressions])
        if group.expressions:
            select.set("group", group)
    elif inner.args.get("limit"):
        _first_rows(select, inner, within)
    if distinct and not inner.args.get("limit"):
        select.set("distinct", exp.Distinct())
    return select


def _with_partition(node: exp.Expr, keys: list[exp.Expr]) -> exp.Expr:
    """Add the keys to the partition of each window, so that it reads the rows of one key."""
    if isinstance(node, exp.Query):
        return node.copy()
    rewritten = node.copy()
    for key, value in node.args.items():
        if isinstance(value, exp.Expr):
            rewritten.set(key, _with_partition(value, keys))
        elif isinstance(value, list):
            rewritten.set(
                key, [_with_partition(part, keys) if isinstance(part, exp.Expr) else part for part in value]
            )
    if isinstance(rewritten, exp.Window) and not rewritten.args.get("alias"):
        partition = [*(rewritten.args.get("partition_by") or ()), *(key.copy() for key in keys)]
        rewritten.set("partition_by", partition)
    return rewritten


def without_limit(inner: exp.Select) -> exp.Select:
    """Drop LIMIT and ORDER BY: EXISTS needs only one row."""
    limit = inner.args.get("limit")
    if limit is None or not has_plain_limit(inner) or int(limit.expression.this) == 0:
        return inner
    select = inner.copy()
    select.set("limit", None)
    select.set("order", None)
    return select


def _first_rows(select: exp.Select, inner: exp.Select, within: list[exp.Expr]) -> None:
    """Apply ORDER BY ... LIMIT n to the rows of each key, by a window."""
    window = exp.Window(this=exp.RowNumber(), partition_by=[key.copy() for key in within], over="OVER")
    if inner.args.get("order"):
        window.set("order", ordered_by(inner.args["order"], inner.expressions))
    limit = inner.args["limit"].expression
    select.set("qualify", exp.Qualify(this=exp.LTE(this=window, expression=limit.copy())))


def has_plain_limit(inner: exp.Select) -> bool:
    """Whether it has no OFFSET and its LIMIT, if any, is a number over rows that are not grouped."""
    if inner.args.get("limit") is None:
        return not inner.args.get("offset")
    plain = limit_of(inner) is not None
    clauses = any(inner.args.get(key) for key in ("group", "having", "qualify", "offset", "distinct"))
    return plain and not clauses and not any(has_aggregate(output) for output in inner.expressions)
