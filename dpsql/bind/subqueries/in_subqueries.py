"""IN, = ANY and <> ALL: the values compared, and the subquery.

x NOT IN (SELECT ...)    (x, y) IN (SELECT ...)    x = ANY (SELECT ...)    x <> ALL (SELECT ...)
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.private.conditions import has_query
from dpsql.ir.column import BOOLEAN
from dpsql.ir.scalar import Call, Literal, Scalar
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Membership:
    """A membership test: ``subjects`` are compared with the columns of ``query``."""

    node: exp.Expr
    subjects: list[exp.Expr]
    query: exp.Expr
    negated: bool


def membership(node: exp.Expr, negated: bool) -> Membership | None:
    """Return a condition as a membership test over a subquery, or None if it is no such test."""
    match node:
        case exp.In() if node.args.get("query") is not None:
            query = node.args["query"]
        case exp.EQ(expression=exp.Any(this=exp.Query() as query)):
            pass
        case exp.NEQ(expression=exp.All(this=exp.Query() as query)):
            negated = not negated
        case _:
            return None
    subject = node.this
    while isinstance(subject, exp.Paren):
        subject = subject.this
    subjects = subject.expressions if isinstance(subject, exp.Tuple) else [subject]
    if any(has_query(subject) for subject in subjects):
        return None
    return Membership(node, subjects, query, negated)


def positive(node: exp.Expr) -> tuple[exp.Expr, bool]:
    """Return the condition without the NOTs and parentheses around it, and whether the NOTs negate it."""
    negated = False
    while isinstance(node, exp.Paren | exp.Not):
        negated ^= isinstance(node, exp.Not)
        node = node.this
    return node, negated


def not_false(part: Scalar) -> Scalar:
    """Return the condition that a comparison is true or NULL; then NOT IN is not true."""
    return Call("is_distinct_from", (part, Literal(False, BOOLEAN)))
