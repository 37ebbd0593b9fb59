"""DP_LOGISTIC: a logistic fit to private rows, in steps that read the weights that were released before.

    DP_LOGISTIC((SELECT smoker, age FROM t))

    1    SUM(z * z')                              how the terms move together, at the weights 0
    2    SUM(z * r), r = p - y                    the gradient at the weights w that step 1 gave
    ...                                           and so on, at better and better weights
    10   SUM(z * z' * h), h = p * (1 - p)         the curvature at the mean of the last weights

where p = 1 / (1 + exp(-(w0 + w1 * z1 + ...))) is the chance that the weights give to a row.

Claim   one row changes each sum of a step by at most 1 (the curvature's by 1/4), whatever the weights are.
Proof   They are ordinary sums of the language, of rows that are joined with one public row, the weights: what
        a scalar can be, how it is clamped and how the vector of a unit is clipped follow from their
        expressions, by the same rules. p is made of the row's own columns and of the weights, in the
        engine's exp, so no other row moves its last bit; the sums are of whole steps of the grid.
Test    tests/privacy/test_logistic.py, grammar_tests/from/logistic.sql

All steps are one query, of as many stages: their events are fixed in advance and debited as one before the
first row is read, and each release is stored before the next step reads it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction

from sqlglot import exp

from dpsql.bind.model_sums import Sums, add_measure, handing_down, rows_of_terms, selected, times
from dpsql.bind.model_terms import Factor
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Scope, Visible
from dpsql.bind.scope.sources import Private
from dpsql.errors import refuse
from dpsql.ir.column import DOUBLE, Fact, Interval
from dpsql.ir.measure import Measure, Stage
from dpsql.ir.model import LARGEST_WEIGHT, Fit, Model
from dpsql.ir.options import Options
from dpsql.ir.relation import Join, JoinKind, ScanColumn, StageInput
from dpsql.ir.scalar import Ref
from dpsql.parse.options_clause import AUTO, options_of

STEPS = 8
"""Gradients of a fit, where the query says nothing."""

MOST_STEPS = 30
FEWEST_STEPS = 4

_FAR = 30
"""A chance farther from 1/2 than at this sum is 0 or 1 to 13 digits."""

PRODUCTS, CURVATURE = Fraction(12, 100), Fraction(15, 100)
"""Shares of the price for the first step and for the last; the gradients have the rest, in equal parts."""


def logistic(
    ctx: Context,
    node: exp.Table,
    body: exp.Query,
    env: Mapping[str, Cte],
    rows: Private,
    factors: list[Factor],
) -> Measure:
    """Bind all steps; return the measure of the last one, which the fit is computed from."""
    options = options_of(body)
    steps = _steps_of(options)
    if options is not None:
        options = replace(options, listed=tuple(each for each in options.listed if each.name != "steps"))
    *terms, target = factors
    values = [
        f'LEAST(GREATEST({each.value}, -1), 1) AS "z{each.place}"' for each in terms if each.value is not None
    ]
    query = body.copy()
    query.meta.pop("options", None)  # they are of the sums
    bound = ctx.query(rows_of_terms(query, rows, values), env)
    assert isinstance(bound, Private)
    weights = _weights(ctx, node, len(terms))
    names = tuple(f"w{place}" for place in range(len(terms)))
    scope = bound.scope + Scope(tuple(map(_visible, names, weights.columns)))
    joined = Private(Join(JoinKind.INNER, bound.relation, weights, None), scope)
    fitted, select = tuple(factor.term for factor in factors), selected(_chances(terms, target))
    weighed = ctx.query(select, {"rows": Cte(select, (), {}, joined)})
    assert isinstance(weighed, Private)

    def summed(sums: Sums, pairs: list[list[tuple[Factor, Factor]]], rows: Private) -> Measure:
        places = [[sums.place(*pair) for pair in row] for row in pairs]
        _, named = add_measure(ctx, node, options, rows, sums)
        matrix = tuple(tuple(None if place is None else named[place] for place in row) for row in places)
        return replace(ctx.measures.pop(), model=Model(Fit.WEIGHTS, fitted, matrix))

    all_pairs = [[(first, second) for second in terms] for first in terms]
    products = summed(Sums(), all_pairs, bound)
    gradient = summed(Sums(weight="r"), [[(terms[0], each) for each in terms]], weighed)
    curvature = summed(Sums(weight="h"), all_pairs, weighed)
    each = (1 - PRODUCTS - CURVATURE) / steps
    before: tuple[str, ...] = (_add(ctx, products, (), PRODUCTS).name,)
    for step in range(1, steps + 1):
        ctx.stages.append(Stage((), handing_down(ctx, before[-1], names), weights))
        before = (*before, _add(ctx, gradient, before, each, mean=step == steps).name)
    ctx.stages.append(Stage((), handing_down(ctx, before[-1], names), weights))
    return _add(ctx, curvature, before, CURVATURE, fit=Fit.LOGISTIC)


def _steps_of(options: Options | None) -> int:
    """Return the number of gradients; refuse options that mean nothing in steps."""
    clip = None if options is None else options.get("max_rows_contributed", "rows_per_unit")
    if clip is not None and clip.value == AUTO:
        raise refuse(
            "D252",
            "a clip that is chosen means nothing here",
            clip.span,
            label="each step of DP_LOGISTIC has other sums",
            help=f"say a number: {clip.name} = 5",
        )
    option = None if options is None else options.get("steps")
    if option is None:
        return STEPS
    if not isinstance(option.value, int) or not FEWEST_STEPS <= option.value <= MOST_STEPS:
        raise refuse(
            "D205",
            f"steps must be a whole number from {FEWEST_STEPS} to {MOST_STEPS}",
            option.span,
            label="each step costs its part of the price",
            help=f"write steps = {STEPS}",
        )
    return option.value


def _add(
    ctx: Context,
    sums: Measure,
    before: tuple[str, ...],
    share: Fraction,
    fit: Fit = Fit.WEIGHTS,
    mean: bool = False,
) -> Measure:
    """Add a step to the query: these sums, with a noise of their own."""
    assert sums.model is not None
    model = replace(sums.model, fit=fit, before=before, share=share, mean=mean)
    measure = replace(sums, name=ctx.fresh(sums.name) if before else sums.name, model=model)
    ctx.measures.append(measure)
    return measure


def _weights(ctx: Context, node: exp.Table, number: int) -> StageInput:
    """Return the one public row that each step reads: what the step before it handed down."""
    fact = Fact(DOUBLE, Interval(-LARGEST_WEIGHT, LARGEST_WEIGHT), nullable=False)
    columns = tuple(ScanColumn(ctx.fresh(f"w{place}"), DOUBLE.sql, fact) for place in range(number))
    return StageInput(ctx.fresh("weights"), columns, ((),), 1, ctx.span(node))


def _visible(name: str, column: ScanColumn) -> Visible:
    return Visible("", name, Ref(column.name))


def _chances(terms: Sequence[Factor], target: Factor) -> str:
    """Print the rows with r and h, at the weights beside them."""
    kept = [f'"c{place}"' for place in dict.fromkeys(each.place for each in (*terms[1:], target))]
    kept += [f'"z{each.place}"' for each in terms if each.value is not None]
    weighed = " + ".join(times(each, f"w{place}") for place, each in enumerate(terms))
    chance = f"1 / (1 + exp(-LEAST(GREATEST({weighed}, -{_FAR}), {_FAR})))"
    truth, listed = f"CASE WHEN {target.condition} THEN 1 ELSE 0 END", ", ".join(kept)
    return (
        f"SELECT {listed}, p - {truth} AS r, LEAST(p * (1 - p), 0.25) AS h "
        f"FROM (SELECT {listed}, {chance} AS p FROM rows) AS chances"
    )


__all__ = ["MOST_STEPS", "STEPS", "logistic"]
