"""ROLLUP, CUBE and GROUPING SETS: a copy of each row per set, and a key with the number of the set.

GROUP BY ward, ROLLUP (sex)      sets (ward, sex), (ward)

SELECT CASE WHEN n IN (0, 1) THEN ward END, CASE WHEN n IN (0) THEN sex END, COUNT(*)
  FROM patients, (VALUES (0), (1)) AS sets(n) GROUP BY n, 1, 2

The copies of a row are in different groups, so the ordinary clip over all groups together is the clip
over all sets together. The number is not an output. GROUPING() is a constant for each number; it
distinguishes a key that is NULL from a key that the set does not have.
"""

from __future__ import annotations

from itertools import product

from sqlglot import exp

from dpsql.bind.scope.context import Context
from dpsql.errors import refuse
from dpsql.ir.column import INTEGER, Categories, Fact
from dpsql.ir.relation import Join, JoinKind, Materialized, Named, Relation, ScanColumn
from dpsql.ir.scalar import Call, Literal, Ref, Scalar
from dpsql.lazy_dataclass import dataclass

MOST_SETS = 64
"""The most grouping sets: noise grows with the copies of a row."""

_SETS = (exp.Rollup, exp.Cube, exp.GroupingSets)


@dataclass(frozen=True, slots=True)
class ExpandedSets:
    """A copy of the rows per set, the keys over them (the number first), and the key positions per set."""

    relation: Relation
    keys: tuple[Named, ...]
    sets: tuple[tuple[int, ...], ...]


def written_sets(ctx: Context, node: exp.Group) -> list[list[exp.Expr]] | None:
    """Return the grouping sets as written, or None for a plain list of keys."""
    if not any(isinstance(part, _SETS) for part in node.expressions):
        return None
    sets: list[list[exp.Expr]] = [[]]
    for part in node.expressions:
        part_sets = _sets_of(ctx, part)
        _refuse_many(ctx, part, len(sets) * len(part_sets))
        sets = [first + second for first, second in product(sets, part_sets)]
    return sets


def keys_of(node: exp.Expr) -> list[exp.Expr]:
    """Return the keys of one element of GROUP BY: two for (a, b), none for ()."""
    if isinstance(node, exp.Tuple):
        return [key for part in node.expressions for key in keys_of(part)]
    if isinstance(node, exp.Paren):
        return keys_of(node.this)
    return [node]


def _sets_of(ctx: Context, node: exp.Expr) -> list[list[exp.Expr]]:
    """Return the grouping sets of one element of GROUP BY."""
    match node:
        case exp.Rollup():
            parts = [keys_of(part) for part in node.expressions]
            return [_flat(parts[:length]) for length in range(len(parts), -1, -1)]
        case exp.Cube():
            parts = [keys_of(part) for part in node.expressions]
            _refuse_many(ctx, node, 2 ** min(len(parts), 100))
            chosen = product((True, False), repeat=len(parts))
            return [_flat([p for p, taken in zip(parts, choice, strict=True) if taken]) for choice in chosen]
        case exp.GroupingSets():
            return [keys for inner in node.expressions for keys in _sets_of(ctx, inner)]
        case _:
            return [keys_of(node)]


def _flat(parts: list[list[exp.Expr]]) -> list[exp.Expr]:
    return [key for part in parts for key in part]


def _refuse_many(ctx: Context, node: exp.Expr, count: int) -> None:
    if count > MOST_SETS:
        raise refuse(
            "D103",
            f"this is more than {MOST_SETS} grouping sets",
            ctx.span(node),
            label="every row counts once in each set, and the noise grows with their number",
            help="name the sets that you need: GROUPING SETS ((a, b), (a), ())",
        )


def expand_sets(
    relation: Relation, keys: list[Named], sets: tuple[tuple[int, ...], ...], number: str
) -> ExpandedSets:
    """Copy the rows per set, with the keys of the set; without sets, return them unchanged."""
    if not sets:
        return ExpandedSets(relation, tuple(keys), ())
    every = tuple(range(len(sets)))
    fact = Fact(INTEGER, Categories(every), nullable=False)
    numbers = Materialized((ScanColumn(number, INTEGER.sql, fact),), tuple((index,) for index in every))
    rolled_keys = [Named(number, Ref(number))]
    for position, key in enumerate(keys):
        within = [index for index in every if position in sets[index]]
        rolled_keys.append(Named(key.name, _within(number, within, key.scalar, len(sets))))
    return ExpandedSets(
        Join(JoinKind.INNER, relation, numbers, None),
        tuple(rolled_keys),
        tuple(tuple(position + 1 for position in positions) for positions in sets),
    )


def _within(number: str, within: list[int], scalar: Scalar, count: int) -> Scalar:
    if len(within) == count:
        return scalar
    listed = (Literal(index, INTEGER) for index in within)
    return Call("case", (Call("in", (Ref(number), *listed)), scalar))


def grouping(number: exp.Column, sets: tuple[tuple[int, ...], ...], asked: list[int]) -> exp.Expr:
    """Return GROUPING(a, b): per set, a number with a bit for each of these keys that the set lacks."""
    if not sets:
        return exp.cast(exp.Literal.number(0), "BIGINT", dialect="duckdb")
    case = exp.Case()
    for index, positions in enumerate(sets):
        value = 0
        for position in asked:
            value = 2 * value + (position not in positions)
        case = case.when(
            exp.EQ(this=number.copy(), expression=exp.Literal.number(index)), exp.Literal.number(value)
        )
    return exp.cast(case, "BIGINT", dialect="duckdb")
