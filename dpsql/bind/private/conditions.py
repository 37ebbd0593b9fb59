"""What joins and WHERE compare: ON, USING and NATURAL as one condition, WHERE in its parts.

a JOIN b USING (x)      a.x = b.x; x alone is a's (b's in a RIGHT join, either's in a FULL one)
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from sqlglot import exp

from dpsql.bind.expressions.aggregates import has_aggregate
from dpsql.bind.expressions.scalars import Constants, Scalars
from dpsql.bind.private.joins import all_of
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.errors import refuse
from dpsql.facts.schema import Facts
from dpsql.functions import ArgumentError
from dpsql.functions.core.meaning import call
from dpsql.ir.column import Column
from dpsql.ir.scalar import Ref, Scalar, refs
from dpsql.parse.spans import span_of


@dataclass(frozen=True, slots=True)
class On:
    """Two sides of a join, and their condition once it is read.

    ``unit`` are the columns that hold the unit on either side of a FULL join, and the one that will.
    """

    text: str
    left: Scope
    right: Scope
    facts: Facts
    unit: tuple[frozenset[str], Column] | None = None
    condition: Scalar | None = None


def on_condition(node: exp.Join, on: On, constants: Constants) -> On:
    """The condition of a join, and what its two sides' columns are called behind it."""
    names = _shared(node, on)
    if names:
        return _using(node, on, names)
    if node.args.get("on") is None:
        return on
    scalars = Scalars(on.text, on.left + on.right, on.facts, constants)
    return replace(on, condition=scalars.condition(node.args["on"]))


def _shared(node: exp.Join, on: On) -> list[exp.Expr]:
    """The columns that USING names, or that NATURAL finds on both sides."""
    if node.method != "NATURAL":
        return list(node.args.get("using") or ())
    theirs = {each.name.casefold() for each in on.right.starred}
    found = {v.name.casefold(): exp.to_identifier(v.name, quoted=True) for v in on.left.starred}
    names: list[exp.Expr] = [each for name, each in found.items() if name in theirs]
    if not names:
        raise refuse(
            "D202",
            "a NATURAL JOIN of tables that share no column",
            span_of(node, on.text),
            help="write JOIN ... ON the columns that are to be equal",
        )
    return names


def _using(node: exp.Join, on: On, names: list[exp.Expr]) -> On:
    parts: list[Scalar] = []
    left, right = on.left, on.right
    for each in names:
        span = span_of(each, on.text) or span_of(node, on.text)
        ours, theirs = left.resolve(each.name, "", span), right.resolve(each.name, "", span)
        try:
            parts.append(call("=", (ours, theirs), on.facts.__getitem__, None, span))
            either = (
                ours
                if on.unit is None
                else call("coalesce", (ours, theirs), on.facts.__getitem__, None, span)
            )
        except ArgumentError as unfit:
            raise refuse(unfit.code, unfit.title, span, help=unfit.help or "CAST one side") from None
        if node.side == "RIGHT":
            left = _merged(left, each.name)
        elif on.unit is None:
            right = _merged(right, each.name)
        else:
            if isinstance(ours, Ref) and refs(either) <= on.unit[0]:
                either = Ref(on.unit[1].name)
            place = next(i for i, v in enumerate(left.columns) if v.scalar == ours)
            left, right = _merged(left, each.name), _merged(right, each.name)
            columns = (*left.columns[:place], Visible("", each.name, either), *left.columns[place:])
            left = Scope(columns, left.hints, left.outer)
    return replace(on, left=left, right=right, condition=all_of(parts))


def _merged(scope: Scope, name: str) -> Scope:
    """The scope in which a column answers to its qualified name only."""
    columns = (
        Visible(v.qualifier, v.name, v.scalar, v.merged or v.name.casefold() == name.casefold())
        for v in scope.columns
    )
    return Scope(tuple(columns), scope.hints, scope.outer)


# ---- WHERE -----------------------------------------------------------------------------------------


def parts_of(condition: exp.Expr) -> list[exp.Expr]:
    """The parts that AND joins together."""
    found: list[exp.Expr] = []
    left = [condition]
    while left:
        each = left.pop()
        if isinstance(each, exp.And):
            left += [each.expression, each.this]
        elif isinstance(each, exp.Paren) and isinstance(each.this, exp.And | exp.Paren):
            left.append(each.this)
        else:
            found.append(each)
    return found


def has_query(node: exp.Expr) -> bool:
    """Whether a subquery stands in an expression."""
    return node.find(exp.Query, exp.Exists) is not None


def with_aliases(condition: exp.Expr, node: exp.Select, scope: Scope, aggregates: bool = False) -> exp.Expr:
    """WHERE, HAVING and QUALIFY may use an alias of the select list where no column has that name, as in

    DuckDB; WHERE none that stands for an aggregate.
    """
    aliases = {each.alias.casefold(): each.this for each in node.expressions if isinstance(each, exp.Alias)}

    def written_out(each: exp.Expr) -> exp.Expr:
        if isinstance(each, exp.Query):
            return each
        if isinstance(each, exp.Column) and not each.table and not scope.find(each.name):
            meant = aliases.get(each.name.casefold())
            if meant is not None and (aggregates or not has_aggregate(meant)) and not has_query(meant):
                return exp.Paren(this=meant.copy())
        for key, value in list(each.args.items()):
            if isinstance(value, exp.Expr):
                each.set(key, written_out(value))
            elif isinstance(value, list):
                each.set(key, [written_out(one) if isinstance(one, exp.Expr) else one for one in value])
        return each

    return written_out(condition.copy()) if aliases else condition
