"""UNION of released and public rows, with the half-widths that its sides bring along.

SELECT n, margin FROM a UNION ALL SELECT m, NULL FROM b

By position: rows of a side that has no half-width there get NULL. Without ALL, rows that are alike become
one, with the largest of their half-widths:

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
    """The union; None where there is nothing to bring along, or where columns are matched by name."""
    if (
        not isinstance(node, exp.Union)
        or node.args.get("by_name")
        or len(left.columns) != len(right.columns)
        or not (left.hidden or right.hidden)
    ):
        return None
    widths = [max(len(ours), len(theirs)) for ours, theirs in zip(left.margins, right.margins, strict=True)]
    margins: tuple[Margin, ...] = tuple(tuple(fresh("margin") for _ in range(width)) for width in widths)
    names = (*left.columns, *(name for each in margins for name in each))
    whole = exp.Union(
        this=_side(left, widths, names, fresh), expression=_side(right, widths, names, fresh), distinct=False
    )
    tree: exp.Query = whole
    if node.args.get("distinct"):
        tree = _each_once(whole, names, widths, fresh)
    for key, clause in clauses_of(node, subqueries).items():
        tree.set(key, clause)
    return Open(tree, left.columns, margins, None, left.released or right.released)


def _side(bound: Open, widths: list[int], names: tuple[str, ...], fresh: Fresh) -> exp.Select:
    """The columns of one side, and something for each half-width of either."""
    alias = fresh("sub")
    places = tuple(f"c{i}" for i in range(len(bound.columns)))
    hidden = tuple(f"h{i}" for i in range(len(bound.hidden)))
    kept = iter(hidden)
    listed: list[exp.Expr] = [column(each, alias) for each in places]
    for width, own in zip(widths, bound.margins, strict=True):
        for _ in range(width):
            null = exp.cast(exp.Null(), "DOUBLE", dialect="duckdb")
            listed.append(column(next(kept), alias) if own else null)
    return exp.Select(
        expressions=[exp.alias_(each, name, quoted=True) for each, name in zip(listed, names, strict=True)],
        from_=exp.From(this=aliased(bound.tree, alias, (*places, *hidden))),
    )


def _each_once(whole: exp.Union, names: tuple[str, ...], widths: list[int], fresh: Fresh) -> exp.Select:
    alias = fresh("sub")
    places = tuple(f"c{i}" for i in range(len(names)))
    keys = [column(each, alias) for each in places[: len(widths)]]
    ways = [way for width in widths for way in WIDEST[:width]]
    hidden = [way(this=column(p, alias)) for way, p in zip(ways, places[len(widths) :], strict=True)]
    listed = [exp.alias_(each, name, quoted=True) for each, name in zip([*keys, *hidden], names, strict=True)]
    table = exp.TableAlias(this=identifier(alias), columns=[identifier(each) for each in places])
    source = exp.Subquery(this=whole, alias=table)
    group = exp.Group(expressions=[each.copy() for each in keys])
    return exp.Select(expressions=listed, from_=exp.From(this=source), group=group)
