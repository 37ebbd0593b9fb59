"""Spellings of one thing, as the rest of dpsql knows it.

ANY_VALUE(x) IGNORE NULLS, as the parser reads every call      ANY_VALUE(x)
mode() WITHIN GROUP (ORDER BY x)                               MODE(x)
x = ANY([1, 2]), x = SOME([1, 2])                              x IN (1, 2)
x <> ALL([1, 2])                                               NOT x IN (1, 2)
SAFE_DIVIDE(x, y)                                              x / NULLIF(y, 0)
"""

from __future__ import annotations

from sqlglot import exp


def take_other_spellings(tree: exp.Expr) -> exp.Expr:
    """Replace other spellings below the root of a statement."""
    for call in list(tree.find_all(exp.AnyValue)):
        if isinstance(call.parent, exp.IgnoreNulls):
            call.parent.replace(call)
    for within in list(tree.find_all(exp.WithinGroup)):
        mode, ordered = within.this, within.expression.expressions
        alone = isinstance(mode, exp.Mode) and mode.this is None and len(ordered) == 1
        if alone and not ordered[0].args.get("desc"):
            mode.set("this", ordered[0].this)
            within.replace(mode)
    for ratio in list(tree.find_all(exp.SafeDivide)):
        divisor = exp.Nullif(this=ratio.expression, expression=exp.Literal.number(0))
        ratio.replace(exp.Paren(this=exp.Div(this=_alone(ratio.this), expression=divisor)))
    for equal in list(tree.find_all(exp.EQ, exp.NEQ)):
        items = _items_of(equal.expression, ("any", "some") if isinstance(equal, exp.EQ) else ("all",))
        if items:
            one_of = exp.In(this=equal.this, expressions=items)
            equal.replace(one_of if isinstance(equal, exp.EQ) else exp.Not(this=one_of))
    return tree


def _alone(node: exp.Expr) -> exp.Expr:
    plain = isinstance(node, exp.Column | exp.Literal | exp.Func) and not isinstance(node, exp.Binary)
    return node if plain else exp.Paren(this=node)


def _items_of(node: exp.Expr, words: tuple[str, ...]) -> list[exp.Expr]:
    """Return the items of a list that is spelled out after one of these words; of anything else, none."""
    listed: exp.Expr | None = None
    if isinstance(node, exp.Any) and "any" in words:
        listed = node.this.unnest()
    elif isinstance(node, exp.Anonymous) and node.name.casefold() in words and len(node.expressions) == 1:
        listed = node.expressions[0]
    return list(listed.expressions) if isinstance(listed, exp.Array) else []
