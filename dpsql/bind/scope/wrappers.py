"""A node of the text without what stands around it: its alias, its parentheses."""

from __future__ import annotations

from sqlglot import exp


def unaliased(node: exp.Expr) -> exp.Expr:
    bare: exp.Expr = node.this if isinstance(node, exp.Alias) else node
    return bare


def unwrapped(node: exp.Expr) -> exp.Expr:
    """Without parentheses either, however many."""
    return unwrapped(node.this) if isinstance(node, exp.Paren | exp.Alias) else node
