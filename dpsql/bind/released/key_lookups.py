"""Look up a public value that the group keys determine: MAX(w.beds) beside GROUP BY w.ward.

MAX(w.beds)      (SELECT any_value(beds) FROM wards WHERE ward = release.ward)
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dpsql.bind.private.group_by import Groups
from dpsql.bind.released.public_sql import column, identifier
from dpsql.bind.scope.context import Context
from dpsql.errors import Error
from dpsql.facts.key_lookups import LookedUp, looked_up
from dpsql.ir.relation import Materialized, Relation, Scan
from dpsql.ir.scalar import Ref, Scalar
from dpsql.parse.parameters import node_of

MOST_WRITTEN = 1_000
"""The most rows of a public subquery that are written into the SQL."""


def lookup_of(
    ctx: Context, relation: Relation, groups: Groups, release: str
) -> Callable[[Scalar], exp.Expr | None]:
    """Return a function from a column to its lookup by the group keys, if they determine the column."""
    keys = {named.scalar.name: named.name for _, named in groups.keys if isinstance(named.scalar, Ref)}

    def lookup(scalar: Scalar) -> exp.Expr | None:
        if not isinstance(scalar, Ref):
            return None
        source_row = looked_up(relation, scalar.name, keys)
        return None if source_row is None else _tree(ctx, source_row, release)

    return lookup


def _tree(ctx: Context, source_row: LookedUp, release: str) -> exp.Expr | None:
    alias = ctx.fresh("looked_up")
    match source_row.rows:
        case Scan(table=table):
            ctx.tables[table] = None
            name = exp.TableAlias(this=identifier(alias))
            source: exp.Expr | None = exp.Table(this=identifier(table), alias=name)
            names = {scanned.name: scanned.source for scanned in source_row.rows.columns}
        case Materialized():
            source, names = (
                _values_clause(source_row.rows, alias),
                {scanned.name: scanned.name for scanned in source_row.rows.columns},
            )
    if source is None:
        return None
    equal = (
        exp.EQ(this=column(names[inner], alias), expression=column(key, release))
        for inner, key in source_row.by
    )
    value = exp.AnyValue(this=column(names[source_row.column], alias))  # the key matches one row
    where = exp.Where(this=exp.and_(*equal, copy=False))
    return exp.Subquery(this=exp.Select(expressions=[value], from_=exp.From(this=source), where=where))


def _values_clause(rows: Materialized, alias: str) -> exp.Expr | None:
    """Return a few public rows as VALUES, or None where a value has no literal."""
    if not 0 < len(rows.rows) <= MOST_WRITTEN:
        return None
    try:
        listed = [
            exp.Tuple(
                expressions=[
                    exp.cast(node_of(value), scanned.source, dialect="duckdb")
                    for value, scanned in zip(row, rows.columns, strict=True)
                ]
            )
            for row in rows.rows
        ]
    except Error:
        return None
    names = [identifier(scanned.name) for scanned in rows.columns]
    return exp.Values(expressions=listed, alias=exp.TableAlias(this=identifier(alias), columns=names))
