"""Names of output columns."""

from __future__ import annotations

from sqlglot import exp


def unaliased(node: exp.Expr) -> exp.Expr:
    bare: exp.Expr = node.this if isinstance(node, exp.Alias) else node
    return bare


def output_name(node: exp.Expr) -> str:
    """The name of an output column: its alias, its column's name, or the words as DuckDB names them."""
    if isinstance(node, exp.Alias):
        return node.alias
    if isinstance(node, exp.Column):
        return node.name
    if isinstance(node, exp.Count) and isinstance(node.this, exp.Star):
        return "count_star()"
    if isinstance(node, exp.Literal):
        return f"'{node.this}'" if node.is_string else str(node.this)
    return str(node.sql(dialect="duckdb", normalize_functions="lower"))
