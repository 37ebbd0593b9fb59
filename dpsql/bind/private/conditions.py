"""Conditions of joins and WHERE: ON, USING and NATURAL as one condition, WHERE in its parts.

a JOIN b USING (x)      a.x = b.x; x alone is a.x (b.x in a RIGHT join, their COALESCE in a FULL one)
"""

from __future__ import annotations

from dataclasses import replace

from sqlglot import exp

from dpsql.bind.expressions.scalars import Constants, Scalars
from dpsql.bind.private.joins import all_of
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.errors import refuse
from dpsql.facts.schema import Facts
from dpsql.functions import ArgumentError
from dpsql.functions.core.meaning import call
from dpsql.ir.column import Column
from dpsql.ir.scalar import Ref, Scalar, refs
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.spans import span_of


@dataclass(frozen=True, slots=True)
class On:
    """The two sides of a join, and its condition once it is bound.

    ``unit`` holds, for a FULL join, the unit columns of both sides and the new unit column of its rows.
    """

    text: str
    left: Scope
    right: Scope
    facts: Facts
    zone: str
    unit: tuple[frozenset[str], Column] | None = None
    condition: Scalar | None = None


def on_condition(node: exp.Join, on: On, constants: Constants) -> On:
    """Bind the condition of a join; return it with the scopes that both sides have after the join."""
    names = _using_columns(node, on)
    if names:
        return _using(node, on, names)
    if node.args.get("on") is None:
        return on
    scalars = Scalars(on.text, on.left + on.right, on.facts, constants, on.zone)
    return replace(on, condition=scalars.condition(node.args["on"]))


def _using_columns(node: exp.Join, on: On) -> list[exp.Expr]:
    """Return the columns of USING, or for NATURAL those that both sides have."""
    if node.method != "NATURAL":
        return list(node.args.get("using") or ())
    right_names = {column.name.casefold() for column in on.right.starred}
    left_names = {v.name.casefold(): exp.to_identifier(v.name, quoted=True) for v in on.left.starred}
    names: list[exp.Expr] = [identifier for name, identifier in left_names.items() if name in right_names]
    if not names:
        raise refuse(
            "D202",
            "a NATURAL JOIN of tables without a common column",
            span_of(node, on.text),
            help="write JOIN ... ON a.x = b.y",
        )
    return names


def _using(node: exp.Join, on: On, names: list[exp.Expr]) -> On:
    """Bind USING as equalities, and merge its columns in the scopes."""
    parts: list[Scalar] = []
    left, right = on.left, on.right
    for column in names:
        span = span_of(column, on.text) or span_of(node, on.text)
        ours, theirs = left.resolve(column.name, "", span), right.resolve(column.name, "", span)
        try:
            parts.append(call("=", (ours, theirs), on.facts.__getitem__, None, span))
            either = (
                ours
                if on.unit is None
                else call("coalesce", (ours, theirs), on.facts.__getitem__, None, span)
            )
        except ArgumentError as reason:
            raise refuse(reason.code, reason.title, span, help=reason.help or "CAST one side") from None
        if node.side == "RIGHT":
            left = _merged(left, column.name)
        elif on.unit is None:
            right = _merged(right, column.name)
        else:
            if isinstance(ours, Ref) and refs(either) <= on.unit[0]:
                either = Ref(on.unit[1].name)
            place = next(i for i, v in enumerate(left.columns) if v.scalar == ours)
            left, right = _merged(left, column.name), _merged(right, column.name)
            columns = (*left.columns[:place], Visible("", column.name, either), *left.columns[place:])
            left = Scope(columns, left.hints, left.outer)
    return replace(on, left=left, right=right, condition=all_of(parts))


def _merged(scope: Scope, name: str) -> Scope:
    """Return the scope with a column visible by its qualified name only."""
    columns = (
        Visible(v.qualifier, v.name, v.scalar, v.merged or v.name.casefold() == name.casefold())
        for v in scope.columns
    )
    return Scope(tuple(columns), scope.hints, scope.outer)


# ---- WHERE -----------------------------------------------------------------------------------------


def parts_of(condition: exp.Expr) -> list[exp.Expr]:
    """Return the conjuncts of a condition."""
    parts: list[exp.Expr] = []
    left = [condition]
    while left:
        node = left.pop()
        if isinstance(node, exp.And):
            left += [node.expression, node.this]
        elif isinstance(node, exp.Paren) and isinstance(node.this, exp.And | exp.Paren):
            left.append(node.this)
        else:
            parts.append(node)
    return parts


def has_query(node: exp.Expr) -> bool:
    """Whether an expression holds a subquery."""
    return node.find(exp.Query, exp.Exists) is not None
