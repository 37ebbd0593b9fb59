"""Names of output columns: an alias, a column name, or the expression as DuckDB prints it.

SELECT COUNT(*) / 2, sum(a * b), a::TEXT     "(count_star() / 2)", "sum((a * b))", "CAST(a AS VARCHAR)"
"""

from __future__ import annotations

import re
from typing import NoReturn

from sqlglot import exp

from dpsql.bind.scope.wrappers import unaliased, unwrapped
from dpsql.errors import refuse
from dpsql.parse.bigquery_aggregates import CLAMPED
from dpsql.parse.samples import NAME, Sample
from dpsql.parse.spans import span_of

_BRACKETED = (
    *(exp.Add, exp.Sub, exp.Mul, exp.Div, exp.IntDiv, exp.Mod, exp.DPipe, exp.And, exp.Or, exp.Not),
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.In, exp.Between),
)
_SPELLINGS = (
    (re.compile(r"\bAS TEXT\)"), "AS VARCHAR)"),
    (re.compile(r"\bAS INT\)"), "AS INTEGER)"),
    (re.compile(r"\bAS REAL\)"), "AS FLOAT)"),
    (re.compile(r"\bAS INT128\)"), "AS HUGEINT)"),
    (re.compile(r"\blistagg\("), "string_agg("),
    (re.compile(r"\bFILTER\(WHERE"), "FILTER (WHERE"),
    (re.compile(r"\bcoalesce\("), "COALESCE("),
    (re.compile(r"\bgrouping\("), "GROUPING("),
    (re.compile(r" <> "), " != "),
)


def named_by(node: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """Replace a position or an alias in ORDER BY or DISTINCT ON by the expression that it names."""
    if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
        place = int(node.this) - 1
        return unaliased(items[place]).copy() if 0 <= place < len(items) else node
    if isinstance(node, exp.Column) and not node.table:
        for item in items:
            if isinstance(item, exp.Alias) and item.alias.casefold() == node.name.casefold():
                return unaliased(item).copy()
    return node


def ordered_by(order: exp.Expr, items: list[exp.Expr]) -> exp.Expr:
    """Replace positions and aliases in ORDER BY, for use outside the SELECT."""
    rewritten = order.copy()
    for item in rewritten.expressions:
        if isinstance(item, exp.Ordered):
            item.set("this", named_by(item.this, items))
    return rewritten


def refuse_places(query: exp.Expr, size: int, text: str) -> None:
    """Refuse a position that no output has: behind the last one stand hidden half-widths."""
    order, distinct = query.args.get("order"), query.args.get("distinct")
    on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
    places = [("ORDER BY", part.this) for part in (() if order is None else order.expressions)]
    places += [("DISTINCT ON", part) for part in (() if on is None else on.expressions)]
    for clause, part in places:
        place = unwrapped(part)
        whole = isinstance(place, exp.Literal) and not place.is_string and place.this.isdigit()
        if whole and not 1 <= int(place.this) <= size:
            refuse_place(clause, place, size, text)


def refuse_place(clause: str, place: exp.Expr, size: int, text: str) -> NoReturn:
    """Refuse a position that is none of the select list's."""
    raise refuse(
        "D202",
        f"{clause} {place.name} is not a position of the select list",
        span_of(place, text),
        help=f"the select list has {size} {'column' if size == 1 else 'columns'}",
    )


def output_name(node: exp.Expr) -> str:
    """Return the name of an output column."""
    if isinstance(node, exp.Alias):
        return node.alias
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.Literal):
        return f"'{node.this}'" if node.is_string else str(node.this)
    if isinstance(node, exp.Boolean):
        return str(node.this).lower()
    shown: str = _bracketed(node).sql(dialect="duckdb", normalize_functions="lower")
    for pattern, spelling in _SPELLINGS:
        shown = pattern.sub(spelling, shown)
    return shown


def _bracketed(node: exp.Expr) -> exp.Expr:
    """Return the expression with brackets around every operation, as DuckDB prints it."""
    if isinstance(node, exp.Paren):
        return _bracketed(node.this)
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
        return exp.Anonymous(this="count" if isinstance(node.parent, exp.Window) else "count_star")
    if CLAMPED in node.meta:
        least = node.args["ifs"][0].args["true"]
        inner, ends = least.this.this, (least.this.expressions[0], least.expressions[0])
        within, low, high = (output_name(part) for part in (inner, *ends))
        return exp.Var(this=f"{within} CLAMPED BETWEEN {low} AND {high}")
    if isinstance(node, Sample):
        return _bracketed(exp.Anonymous(this=NAME, expressions=[node.this, *node.expressions]))
    shown = type(node)(**{key: _each_bracketed(value) for key, value in node.args.items()})
    return exp.Paren(this=shown) if isinstance(node, _BRACKETED) else shown


def _each_bracketed(value: object) -> object:
    if isinstance(value, list):
        return [_each_bracketed(part) for part in value]
    return _bracketed(value) if isinstance(value, exp.Expr) else value
