"""ANY_VALUE as the parser should read it: it wraps every call into IGNORE NULLS, which changes nothing."""

from __future__ import annotations

from sqlglot import exp


def take_any_values(tree: exp.Expr) -> exp.Expr:
    """Replace every IGNORE NULLS around ANY_VALUE by the call itself."""
    for call in list(tree.find_all(exp.AnyValue)):
        if isinstance(call.parent, exp.IgnoreNulls):
            call.parent.replace(call)
    return tree
