"""Tuples that are compared, as comparisons of their parts. As in DuckDB, parts that are both NULL are equal.

(sex, ward) = ('F', 'A')                       sex IS NOT DISTINCT FROM 'F' AND ward IS NOT DISTINCT ...
(sex, ward) IN (('F', 'A'), ('M', 'B'))        the same of each, joined by OR
"""

from __future__ import annotations

from sqlglot import exp


def compared(node: exp.Expr) -> exp.Expr | None:
    """Return what a comparison of tuples means; None for what is none, or orders them."""
    match node:
        case exp.EQ():
            return _equal(node.this, node.expression)
        case exp.NEQ():
            equal = _equal(node.this, node.expression)
            return None if equal is None else exp.Not(this=equal)
        case exp.In() if node.expressions:
            each = [_equal(node.this, listed) for listed in node.expressions]
            equals = [equal for equal in each if equal is not None]
            return _joined(exp.Or, equals) if len(equals) == len(each) else None
        case _:
            return None


def places_of(node: exp.Expr) -> list[list[exp.Expr]]:
    """Return what is compared at each place of the tuples of a comparison, the left side first."""
    others = node.expressions if isinstance(node, exp.In) else [node.expression]
    return [[*each] for each in zip(*(side.expressions for side in (node.this, *others)), strict=True)]


def _equal(left: exp.Expr, right: exp.Expr) -> exp.Expr | None:
    if not isinstance(left, exp.Tuple) or not isinstance(right, exp.Tuple):
        return None
    if len(left.expressions) != len(right.expressions) or not left.expressions:
        return None
    pairs = zip(left.expressions, right.expressions, strict=True)
    return _joined(exp.And, [exp.NullSafeEQ(this=a.copy(), expression=b.copy()) for a, b in pairs])


def _joined(word: type[exp.Connector], parts: list[exp.Expr]) -> exp.Expr:
    """Return conditions joined in pairs of pairs, so that many of them are not nested deep."""
    if len(parts) == 1:
        return parts[0]
    half = len(parts) // 2
    return exp.Paren(this=word(this=_joined(word, parts[:half]), expression=_joined(word, parts[half:])))
