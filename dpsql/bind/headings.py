"""A query that asks for no rows: its answer is the names and types of its columns, which are public.

SELECT * FROM patients WHERE 1 = 0          SELECT * FROM (SELECT ward, COUNT(*) ...) AS q LIMIT 0

SELECT CAST(NULL AS INTEGER) AS patient_id, ... WHERE FALSE

Tools ask for the columns of a table or a query this way. The query is bound like any other, so it is refused
for the same reasons; then its measures are left out, so nothing reads a private row. Only the outermost
clauses decide whether a query asks for no rows; nothing is computed for that.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.released.public_sql import identifier, without_margins
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.sources import Open, Private
from dpsql.bind.subqueries.evaluation import post_of
from dpsql.bind.syntax.stars import is_star
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions import ArgumentError, shelf
from dpsql.functions.reading import literal_of, read
from dpsql.ir.column import answered_name
from dpsql.ir.measure import Post


def asks_for_no_rows(tree: exp.Expr, bound: Private | Open) -> bool:
    """Whether the outermost clauses are LIMIT 0 or WHERE FALSE, so that the query has no rows."""
    if tree.args.get("limit") == _NONE:
        return True
    where = tree.args.get("where")
    never = isinstance(tree, exp.Select) and where is not None and where.this.unnest() in _NEVER
    return never and (isinstance(bound, Private) or _is_row_by_row(tree))


_NONE = exp.Limit(expression=exp.Literal.number(0))
_ONE = exp.Literal.number(1)
_NEVER = (exp.false(), _ONE.eq(0), exp.Literal.number(0).eq(1), _ONE.eq(2), _ONE.neq(1))


def _is_row_by_row(tree: exp.Expr) -> bool:
    """Whether all outputs are computed row by row; an aggregate over no rows would still have one row."""
    if any(tree.args.get(clause) for clause in ("group", "having", "qualify", "order")):
        return False
    return all(map(_of_a_row, tree.expressions))


def _of_a_row(node: exp.Expr) -> bool:
    """Whether an expression holds only columns, constants and scalar functions."""
    if isinstance(node, exp.Alias | exp.Paren):
        return _of_a_row(node.this)
    if is_star(node):
        return all(
            _of_a_row(replacement)
            for star in node.find_all(exp.Star)
            for replacement in star.args.get("replace") or ()
        )
    try:
        if isinstance(node, exp.Column) or literal_of(node) is not None:
            return True
        reading = read(node)
    except ArgumentError:
        return False
    return reading is not None and reading.name in shelf() and all(map(_of_a_row, reading.arguments))


def headings(ctx: Context, bound: Private | Open) -> Post:
    """Return a SELECT of these columns without rows."""
    if isinstance(bound, Private):
        facts = facts_of(bound.relation)
        names = tuple(column.name for column in bound.scope.starred)
        types = [fact_of(column.scalar, facts).type.sql for column in bound.scope.starred]
    else:
        names = bound.columns
        post = post_of(ctx, without_margins(bound, ctx.fresh), names, (None,) * len(names))
        measures = [measure for measure in ctx.measures if measure.name in post.released]
        types = ctx.describe(post.sql, post.tables, measures)
    listed = ", ".join(
        f"CAST(NULL AS {answered_name(kind)}) AS {identifier(name).sql(dialect='duckdb')}"
        for name, kind in zip(names, types, strict=True)
    )
    return Post(f"SELECT {listed} WHERE FALSE", names, (), (), (None,) * len(names))
