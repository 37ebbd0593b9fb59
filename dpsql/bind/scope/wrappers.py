"""Strip a syntax node of its alias and its parentheses."""

from __future__ import annotations

from sqlglot import exp


def unaliased(node: exp.Expr) -> exp.Expr:
    """Return the node without its alias."""
    inner: exp.Expr = node.this if isinstance(node, exp.Alias) else node
    return inner


def unwrapped(node: exp.Expr) -> exp.Expr:
    """Return the node without its alias and all parentheses around it."""
    return unwrapped(node.this) if isinstance(node, exp.Paren | exp.Alias) else node
