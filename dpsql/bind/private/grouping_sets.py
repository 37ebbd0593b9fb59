"""ROLLUP, CUBE and GROUPING SETS: every row once for each set, and a key that holds the set's number.

GROUP BY ward, ROLLUP (sex)      sets (ward, sex), (ward)

SELECT CASE WHEN n IN (0, 1) THEN ward END, CASE WHEN n IN (0) THEN sex END, COUNT(*)
  FROM patients, (VALUES (0), (1)) AS sets(n) GROUP BY n, 1, 2

The copies of a row fall in different groups, so the ordinary clip over all groups together is the clip
over all sets together. The number is not shown; GROUPING() is a constant for each number, and tells a
key that is NULL from a key that a set leaves out.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from sqlglot import exp

from dpsql.bind.scope.context import Context
from dpsql.errors import refuse
from dpsql.ir.column import INTEGER, Categories, Fact
from dpsql.ir.relation import Join, JoinKind, Materialized, Named, Relation, ScanColumn
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

MOST_SETS = 64
"""A row that is copied more often than this drowns in its noise."""

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


@dataclass(frozen=True, slots=True)
class Rolled:
    """Rows once for each set, the keys over them (the number first), and each set's positions in these."""

    relation: Relation
    keys: tuple[Named, ...]
    sets: tuple[tuple[int, ...], ...]


def written_sets(ctx: Context, node: exp.Group) -> list[list[exp.Expr]] | None:
    """The sets as they are written, or None for a plain list of keys."""
    if not any(isinstance(each, _SETS) for each in node.expressions):
        return None
    found: list[list[exp.Expr]] = [[]]
    for each in node.expressions:
        sets = _expanded(ctx, each)
        _bounded(ctx, each, len(found) * len(sets))
        found = [first + second for first, second in product(found, sets)]
    return found


def members(node: exp.Expr) -> list[exp.Expr]:
    """The keys of one element of the list: (a, b) is two, () is none."""
    if isinstance(node, exp.Tuple):
        return [key for each in node.expressions for key in members(each)]
    if isinstance(node, exp.Paren):
        return members(node.this)
    return [node]


def _expanded(ctx: Context, node: exp.Expr) -> list[list[exp.Expr]]:
    match node:
        case exp.Rollup():
            parts = [members(each) for each in node.expressions]
            return [_joined(parts[:length]) for length in range(len(parts), -1, -1)]
        case exp.Cube():
            parts = [members(each) for each in node.expressions]
            _bounded(ctx, node, 2 ** min(len(parts), 100))
            chosen = product((True, False), repeat=len(parts))
            return [_joined([p for p, taken in zip(parts, each, strict=True) if taken]) for each in chosen]
        case exp.GroupingSets():
            return [each for inner in node.expressions for each in _expanded(ctx, inner)]
        case _:
            return [members(node)]


def _joined(parts: list[list[exp.Expr]]) -> list[exp.Expr]:
    return [key for each in parts for key in each]


def _bounded(ctx: Context, node: exp.Expr, count: int) -> None:
    if count > MOST_SETS:
        raise refuse(
            "D103",
            f"these are more than {MOST_SETS} grouping sets",
            ctx.span(node),
            label="every row would count once in each of them, and the noise grows with them",
            help="name the sets that you need: GROUPING SETS ((a, b), (a), ())",
        )


def rolled(relation: Relation, keys: list[Named], sets: tuple[tuple[int, ...], ...], number: str) -> Rolled:
    """The rows once for each set, with the keys that stand in it; without sets they are as they were."""
    if not sets:
        return Rolled(relation, tuple(keys), ())
    every = tuple(range(len(sets)))
    fact = Fact(INTEGER, Categories(every), nullable=False)
    given = Materialized((ScanColumn(number, INTEGER.sql, fact),), tuple((each,) for each in every))
    found = [Named(number, Ref(number))]
    for position, key in enumerate(keys):
        within = [each for each in every if position in sets[each]]
        found.append(Named(key.name, _within(number, within, key.scalar, len(sets))))
    return Rolled(
        Join(JoinKind.INNER, relation, given, None),
        tuple(found),
        tuple(tuple(position + 1 for position in each) for each in sets),
    )


def _within(number: str, within: list[int], scalar: Scalar, count: int) -> Scalar:
    if len(within) == count:
        return scalar
    listed = (Literal(each, INTEGER) for each in within)
    return Call("case", (Call("in", (Ref(number), *listed)), scalar))


def grouping(number: exp.Column, sets: tuple[tuple[int, ...], ...], asked: list[int]) -> exp.Expr:
    """GROUPING(a, b): for each set a number whose bits tell which of these keys it leaves out."""
    if not sets:
        return exp.cast(exp.Literal.number(0), "BIGINT", dialect="duckdb")
    case = exp.Case()
    for each, positions in enumerate(sets):
        value = 0
        for position in asked:
            value = 2 * value + (position not in positions)
        case = case.when(
            exp.EQ(this=number.copy(), expression=exp.Literal.number(each)), exp.Literal.number(value)
        )
    return exp.cast(case, "BIGINT", dialect="duckdb")
