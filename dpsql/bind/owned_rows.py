"""Rows of private tables that leave the engine as they are: what an export and a vote are about.

    SELECT age // 10, ward FROM patients WHERE age > 17      each row is computed from the rows of one unit

The clauses below the select list are bound as in any query: joins, WHERE, aggregates of one unit's rows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.keys.atoms import MOST_VALUES
from dpsql.bind.keys.lists import enumerate_key
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Visible
from dpsql.bind.scope.sources import Open
from dpsql.bind.scope.wrappers import unaliased
from dpsql.bind.syntax.output_names import output_name
from dpsql.errors import Error, refuse
from dpsql.facts.identity import identifying, tells
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions import ArgumentError
from dpsql.ir.column import Categories, Fact, Interval, Kind
from dpsql.ir.measure import KeyList
from dpsql.ir.relation import Relation, stage_inputs
from dpsql.ir.scalar import Ref, Scalar
from dpsql.ir.source import Source
from dpsql.lazy_dataclass import dataclass

_CLAUSES = {
    "distinct": "DISTINCT",
    "group": "GROUP BY",
    "having": "HAVING",
    "qualify": "QUALIFY",
    "order": "ORDER BY",
    "limit": "LIMIT",
    "offset": "OFFSET",
}


@dataclass(frozen=True, slots=True)
class Use:
    """What rows are read for: its name, what it does with them, and an example, in words for refusals."""

    name: str
    does: str
    rows: str
    example: str


@contextmanager
def pointing_into(source: Source) -> Iterator[None]:
    """Let refusals point into the text of a query."""
    try:
        yield
    except Error as error:
        raise error.within(source.text, source.name) from None
    except ArgumentError as reason:  # a constant that is read outside any expression
        remedy = reason.help or "write a plain constant"
        raise refuse(reason.code, reason.title, reason.span, help=remedy).within(
            source.text, source.name
        ) from None


def check_clauses(ctx: Context, tree: exp.Expr, use: Use) -> exp.Select:
    """Return the query if it is one SELECT without clauses that read rows of several units."""
    if not isinstance(tree, exp.Select):
        raise refuse(
            "D252",
            f"{use.name} must be one SELECT",
            ctx.span(tree),
            help=f"put this query into FROM: {use.example}",
        )
    for key, words in _CLAUSES.items():
        clause = tree.args.get(key)
        if clause is not None:
            raise refuse(
                "D252",
                f"{use.name} has no {words}",
                ctx.span(clause),
                label=use.rows,
                help=f"put it into a subquery over the rows of one {ctx.known.unit}, or leave it out",
            )
    return tree


def owned_rows(
    ctx: Context, tree: exp.Select, views: Mapping[str, Cte], said: exp.Expr, use: Use
) -> tuple[Relation, list[Visible]]:
    """Return the rows of a query, which belong to units, and its columns by their titles.

    ``said`` is the query as it was written.
    """
    bound = ctx.query(tree, views)
    if ctx.needed:
        raise ctx.needed[0].refusal
    if isinstance(bound, Open):
        raise refuse(
            "D252",
            f"{use.name} {use.does} single private rows",
            ctx.span(said),
            label="these rows are public, or aggregates",
            help=f"select columns of a private table: {use.example}",
        )
    if stage_inputs(bound.relation):
        raise refuse(
            "D252",
            f"{use.name} does not read a release",
            ctx.span(said),
            label="a subquery in it aggregates over all rows",
            help="run that query first, and write its result as a number",
        )
    names = [output_name(item) for item in tree.expressions]
    columns = [replace(column, name=name) for column, name in zip(bound.scope.columns, names, strict=True)]
    return bound.relation, columns


def check_tells_nobody(ctx: Context, scalar: Scalar, relation: Relation, node: exp.Expr, help: str) -> None:
    """Refuse a column that identifies single units."""
    if tells(scalar, relation, identifying(relation)):
        raise refuse(
            "D403",
            f"this column identifies single {ctx.known.unit}s",
            ctx.span(unaliased(node)),
            help=help,
        )


def listed_values(ctx: Context, scalar: Ref, relation: Relation) -> KeyList | None:
    """Return the public list of values that a column can have, if it has one."""
    fact = fact_of(scalar, facts_of(relation))
    return enumerate_key(relation, scalar, ctx.evaluate) or _short_list(fact)


def _short_list(fact: Fact) -> KeyList | None:
    """Return the values of a boolean, or of an integer with a short range; else None."""
    if fact.type.kind is Kind.BOOLEAN:
        return KeyList(Categories((False, True)), fact.nullable)
    bounds = fact.domain
    if fact.type.kind is not Kind.INTEGER or not isinstance(bounds, Interval) or not bounds.finite:
        return None
    if bounds.high - bounds.low >= MOST_VALUES:
        return None
    return KeyList(Categories(tuple(range(int(bounds.low), int(bounds.high) + 1))), fact.nullable)
