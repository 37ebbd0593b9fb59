"""UNION of released and public rows that keeps the half-widths of its sides.

SELECT n, margin FROM a UNION ALL SELECT m, NULL FROM b

By position: NULL for rows of a side without a half-width there. Without ALL, equal rows become one, with
the largest of their half-widths:

SELECT n, max(margin) FROM (... UNION ALL ...) GROUP BY n
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.released.public_sql import Subqueries, aliased, clauses_of, column, identifier
from dpsql.bind.scope.scope import Fresh
from dpsql.bind.scope.sources import Margin, Open
from dpsql.bind.syntax.interval_functions import WIDEST


def open_union(
    node: exp.SetOperation, left: Open, right: Open, subqueries: Subqueries, fresh: Fresh
) -> Open | None:
    """Return the union; None where no side has half-widths, or where columns are matched by name."""
    if (
        not isinstance(node, exp.Union)
        or node.args.get("by_name")
        or len(left.columns) != len(right.columns)
        or not (left.hidden or right.hidden)
    ):
        return None
    widths = [max(len(ours), len(theirs)) for ours, theirs in zip(left.margins, right.margins, strict=True)]
    margins: tuple[Margin, ...] = tuple(tuple(fresh("margin") for _ in range(width)) for width in widths)
    names = (*left.columns, *(name for margin in margins for name in margin))
    union = exp.Union(
        this=_side(left, widths, names, fresh), expression=_side(right, widths, names, fresh), distinct=False
    )
    tree: exp.Query = union
    if node.args.get("distinct"):
        tree = _distinct(union, names, widths, fresh)
    for key, clause in clauses_of(node, subqueries).items():
        tree.set(key, clause)
    return Open(tree, left.columns, margins, None, left.released or right.released)


def _side(bound: Open, widths: list[int], names: tuple[str, ...], fresh: Fresh) -> exp.Select:
    """Return the columns of one side, then a half-width or NULL for each half-width of either side."""
    alias = fresh("sub")
    places = tuple(f"c{i}" for i in range(len(bound.columns)))
    hidden = tuple(f"h{i}" for i in range(len(bound.hidden)))
    kept = iter(hidden)
    listed: list[exp.Expr] = [column(name, alias) for name in places]
    for width, margin in zip(widths, bound.margins, strict=True):
        for _ in range(width):
            null = exp.cast(exp.Null(), "DOUBLE", dialect="duckdb")
            listed.append(column(next(kept), alias) if margin else null)
    return exp.Select(
        expressions=[
            exp.alias_(output, name, quoted=True) for output, name in zip(listed, names, strict=True)
        ],
        from_=exp.From(this=aliased(bound.tree, alias, (*places, *hidden))),
    )


def _distinct(union: exp.Union, names: tuple[str, ...], widths: list[int], fresh: Fresh) -> exp.Select:
    """Merge equal rows, with the largest of their half-widths."""
    alias = fresh("sub")
    places = tuple(f"c{i}" for i in range(len(names)))
    keys = [column(place, alias) for place in places[: len(widths)]]
    aggregates = [aggregate for width in widths for aggregate in WIDEST[:width]]
    hidden = [
        aggregate(this=column(p, alias))
        for aggregate, p in zip(aggregates, places[len(widths) :], strict=True)
    ]
    listed = [
        exp.alias_(output, name, quoted=True) for output, name in zip([*keys, *hidden], names, strict=True)
    ]
    table = exp.TableAlias(this=identifier(alias), columns=[identifier(place) for place in places])
    source = exp.Subquery(this=union, alias=table)
    group = exp.Group(expressions=[key.copy() for key in keys])
    return exp.Select(expressions=listed, from_=exp.From(this=source), group=group)
