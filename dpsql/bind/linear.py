"""DP_LINEAR: least squares on private rows, in three releases of which each makes the next more exact.

    DP_LINEAR((SELECT cost, age FROM t))

    1    SUM(z * z'), SUM(z * y)      a first fit, w
    2    COUNT(*) by |z| |r|          how long the rows' vectors z r are, r = y - w z
    3    SUM(z * q)                   z r, scaled by a length that few rows exceed, and cut to it

z and y are on [-1, 1]. The vector of a row in the third is no longer than 1, whatever the row is: a unit's is
clipped to the length of its rows (``short``), and has the noise of this length, not of the range of y.

Claim   one row changes each sum by at most 1, and no unit moves the vector of the third beyond its clip.
Proof   They are ordinary sums of the language, of rows that are joined with one public row, what was released
        before: what a scalar can be, how it is clamped and how the vector of a unit is clipped follow from
        their expressions, by the same rules. That a row's vector is short is trusted nowhere: the engine
        clips each unit by its exact integer norm (plan/clips.py).
Test    tests/privacy/test_linear_fits.py, tests/privacy/test_models.py

All three are one query: their events are fixed in advance and debited as one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

from sqlglot import exp

from dpsql.bind.model_sums import (
    Summand,
    Sums,
    add_measure,
    handing_down,
    rows_of_terms,
    selected,
    times,
    weights_of,
)
from dpsql.bind.model_terms import Factor
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.bind.scope.sources import Private
from dpsql.ir.column import DOUBLE, Fact, Interval
from dpsql.ir.measure import Measure, Stage
from dpsql.ir.model import LARGEST_WEIGHT, Fit, Model, lengths_of
from dpsql.ir.relation import Join, JoinKind, ScanColumn, StageInput
from dpsql.ir.scalar import Ref
from dpsql.parse.options_clause import options_of

FIRST, LENGTHS = Fraction(20, 100), Fraction(6, 100)
"""Shares of the price for the first fit and for the lengths; the last release has the rest."""


def linear(
    ctx: Context,
    node: exp.Table,
    body: exp.Query,
    env: Mapping[str, Cte],
    rows: Private,
    factors: list[Factor],
) -> Measure:
    """Bind all three releases; return the measure of the last one, which the fit is computed from."""
    options, (*terms, target) = options_of(body), factors
    values = [
        f'LEAST(GREATEST({each.value}, -1), 1) AS "z{each.place}"'
        for each in factors
        if each.value is not None
    ]
    query = body.copy()
    query.meta.pop("options", None)  # they are of the sums
    bound = ctx.query(rows_of_terms(query, rows, values), env)
    assert isinstance(bound, Private)
    names = (*(f"w{place}" for place in range(len(terms))), "scale")
    begun = _one_row(ctx, node, len(terms))
    scope = bound.scope + Scope(
        tuple(Visible("", name, Ref(column.name)) for name, column in zip(names, begun.columns, strict=True))
    )
    joined = Private(Join(JoinKind.INNER, bound.relation, begun, None), scope)
    fitted, select = tuple(factor.term for factor in factors), selected(_residuals(terms, target))
    residuals = ctx.query(select, {"rows": Cte(select, (), {}, joined)})
    assert isinstance(residuals, Private)

    def summed(sums: Sums, matrix: list[list[int | None]], rows: Private, model: Model) -> Measure:
        measure, named = add_measure(ctx, node, options, rows, sums)
        found = tuple(tuple(None if place is None else named[place] for place in row) for row in matrix)
        model = replace(model, sums=found)
        ctx.measures[-1] = replace(measure, model=model, weights=weights_of(measure, model))
        return ctx.measures[-1]

    products = Sums()
    pairs = [[products.place(first, second) for second in factors] for first in factors]
    first = summed(products, pairs, bound, Model(Fit.BEGUN, fitted, (), share=FIRST))
    ctx.stages.append(Stage((), handing_down(ctx, first.name, names), begun))
    cells = Sums()
    row: list[int | None] = [cells.add(each) for each in _cells(len(terms))]
    lengths = Model(Fit.LENGTH, fitted, (), (first.name,), LENGTHS)
    counts = summed(cells, [row], residuals, lengths)
    ctx.stages.append(Stage((), handing_down(ctx, counts.name, names), begun))
    ends = Sums(weight="q")
    row = [ends.place(terms[0], each) for each in terms]
    rest = Model(Fit.LINEAR, fitted, (), (first.name, counts.name), 1 - FIRST - LENGTHS, short=True)
    return summed(ends, [row], residuals, rest)


def _one_row(ctx: Context, node: exp.Table, terms: int) -> StageInput:
    """Return the one public row that is handed down: the weights of the first fit, and 1 / length."""
    weight = Fact(DOUBLE, Interval(-LARGEST_WEIGHT, LARGEST_WEIGHT), nullable=False)
    scale = Fact(DOUBLE, Interval(0, 2.0**20), nullable=False)
    columns = [ScanColumn(ctx.fresh(f"w{place}"), DOUBLE.sql, weight) for place in range(terms)]
    columns.append(ScanColumn(ctx.fresh("scale"), DOUBLE.sql, scale))
    return StageInput(ctx.fresh("begun"), tuple(columns), ((),), 1, ctx.span(node))


def _residuals(terms: list[Factor], target: Factor) -> str:
    """Print the rows with u, the square of |z| |r|, and q, the residual that is scaled and cut."""
    kept = [f'"c{place}"' for place in dict.fromkeys(each.place for each in terms[1:])]
    kept += [f'"z{each.place}"' for each in terms if each.value is not None]
    weighed = " + ".join(times(each, f"w{place}") for place, each in enumerate(terms))
    squares = " + ".join(times(each, _its_own(each)) for each in terms)
    truth = times(target, "1")
    listed = "".join(f"{each}, " for each in kept)
    residual = f"{truth} - ({weighed})"  # not cut: the last step is exact only where r is linear in w
    cut = "CASE WHEN u * scale * scale > 1 THEN r / sqrt(GREATEST(u, 1e-15)) ELSE r * scale END"
    return (
        f"SELECT {listed}u, LEAST(GREATEST({cut}, -1), 1) AS q FROM "
        f"(SELECT {listed}scale, r, r * r * n AS u FROM "
        f"(SELECT {listed}scale, {residual} AS r, {squares} AS n FROM rows) AS predicted) AS lengths"
    )


def _its_own(factor: Factor) -> str:
    return "1" if factor.value is None else f'"z{factor.place}"'


def _cells(terms: int) -> Iterator[Summand]:
    """Yield counts of rows by their length, the longest first; shorter ones than all are not counted."""
    first, *others = (f"{length * length:.16e}" for length in lengths_of(terms))
    yield Summand((), (f"u > {first}",))
    for upper, lower in pairwise((first, *others)):
        yield Summand((), (f"u > {lower}", f"u <= {upper}"))
