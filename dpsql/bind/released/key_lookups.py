"""MAX(w.beds) beside GROUP BY w.ward: the public value that the group's keys determine, as ordinary SQL.

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
"""Rows of a public subquery that are written into the SQL."""


def lookup_of(
    ctx: Context, relation: Relation, groups: Groups, release: str
) -> Callable[[Scalar], exp.Expr | None]:
    """What stands for a column above the release, where the group's keys determine it."""
    keys = {named.scalar.name: named.name for _, named in groups.keys if isinstance(named.scalar, Ref)}

    def lookup(scalar: Scalar) -> exp.Expr | None:
        if not isinstance(scalar, Ref):
            return None
        found = looked_up(relation, scalar.name, keys)
        return None if found is None else _tree(ctx, found, release)

    return lookup


def _tree(ctx: Context, found: LookedUp, release: str) -> exp.Expr | None:
    alias = ctx.fresh("looked_up")
    match found.rows:
        case Scan(table=table):
            ctx.tables[table] = None
            name = exp.TableAlias(this=identifier(alias))
            source: exp.Expr | None = exp.Table(this=identifier(table), alias=name)
            names = {each.name: each.source for each in found.rows.columns}
        case Materialized():
            source, names = _written(found.rows, alias), {each.name: each.name for each in found.rows.columns}
    if source is None:
        return None
    equal = (exp.EQ(this=column(names[own], alias), expression=column(key, release)) for own, key in found.by)
    value = exp.AnyValue(this=column(names[found.column], alias))  # one row has it: the key's
    where = exp.Where(this=exp.and_(*equal, copy=False))
    return exp.Subquery(this=exp.Select(expressions=[value], from_=exp.From(this=source), where=where))


def _written(rows: Materialized, alias: str) -> exp.Expr | None:
    """A few public rows as VALUES; nothing where a value has no literal."""
    if not 0 < len(rows.rows) <= MOST_WRITTEN:
        return None
    try:
        listed = [
            exp.Tuple(
                expressions=[
                    exp.cast(node_of(value), each.source, dialect="duckdb")
                    for value, each in zip(row, rows.columns, strict=True)
                ]
            )
            for row in rows.rows
        ]
    except Error:
        return None
    names = [identifier(each.name) for each in rows.columns]
    return exp.Values(expressions=listed, alias=exp.TableAlias(this=identifier(alias), columns=names))
