"""Table functions that fit a model to private rows: the rows' sums of products become a measure.

    DP_LINEAR((SELECT cost, age, sex FROM t))
    SELECT COUNT(*), SUM(z), COUNT(*) FILTER (WHERE sex = 'M'), SUM(y), SUM(z * z), ...
    FROM (SELECT sex, (age - 60) / 60 AS z, (cost - 1000) / 1000 AS y FROM ...)

where z and y are age and cost, moved and scaled from their ranges onto [-1, 1]. Rows with NULL or NaN in any
column are left out.

Claim   one row changes each sum by at most 1, and so do those of one unit by their number.
Proof   They are ordinary sums of the language: what a scalar can be, how it is clamped and how the vector of
        a unit is clipped follow from their expressions, by the same rules. Nothing here is trusted.
Test    tests/privacy/test_models.py, grammar_tests/from/models.sql

The noise of a sum of products is that of the least squares in the literature, or less: for d terms the vector
of d (d + 1) / 2 products has a norm of at most the root of their number, products of conditions that exclude
each other are left out, and those that are the same are asked once.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from sqlglot import exp

from dpsql.bind.model_sums import Sums, add_measure, rows_of_terms, weights_of
from dpsql.bind.model_terms import factors_of, shown_as
from dpsql.bind.released.public_sql import identifier
from dpsql.bind.scope.context import AskedFit, Context, Cte
from dpsql.bind.scope.sources import Margin, Open, Private
from dpsql.errors import refuse
from dpsql.facts.released_columns import high_of, low_of, margin_of
from dpsql.ir.measure import Measure
from dpsql.ir.model import Fit, Model
from dpsql.ir.options import Options
from dpsql.parse.options_clause import AUTO, options_of

FITS = {"dp_linear": Fit.LINEAR, "dp_logistic": Fit.LOGISTIC, "dp_covariance": Fit.COVARIANCE}


def model(ctx: Context, node: exp.Table, env: Mapping[str, Cte]) -> Open:
    """Bind a table function that fits a model; its rows are the rows of the result.

    The same call is one release, however often the query has it, as equal aggregates are.
    """
    options = tuple(options_of(each) for each in node.this.find_all(exp.Query))
    for fit in ctx.fits:
        same_names = fit.env.keys() == env.keys() and all(fit.env[name] is env[name] for name in env)
        if same_names and (fit.call, fit.options) == (node.this, options):
            return _opened(ctx, next(each for each in ctx.measures if each.name == fit.table))
    measure = _fitted(ctx, node, env)
    ctx.fits.append(AskedFit(node.this, options, env, measure.name))
    return _opened(ctx, measure)


def _fitted(ctx: Context, node: exp.Table, env: Mapping[str, Cte]) -> Measure:
    """Bind a fit; return the measure that its rows are computed from."""
    called, fit = node.this.name.upper(), FITS[node.this.name.casefold()]
    body = _body(ctx, node, called)
    options, query = options_of(body), body.copy()
    query.meta.pop("options", None)  # they are of the sums
    rows = ctx.query(query, env)
    if not isinstance(rows, Private):
        raise refuse(
            "D252",
            f"{called} reads rows of {ctx.known.unit}s",
            ctx.span(body),
            label="these are public or released",
            help=shown_as(called),
        )
    factors = factors_of(ctx, rows, body, called, fit)
    if options is not None:
        _check_options(options, called, fit)
    if fit is Fit.LOGISTIC:
        from dpsql.bind.logistic import logistic

        return logistic(ctx, node, body, env, rows, factors)
    if fit is Fit.LINEAR and not _is_chosen(options):
        from dpsql.bind.linear import linear

        return linear(ctx, node, body, env, rows, factors)
    sums = Sums()
    places = [[sums.place(first, second) for second in factors] for first in factors]
    values = [f'{each.value} AS "z{each.place}"' for each in factors if each.value is not None]
    bound = ctx.query(rows_of_terms(query, rows, values), env)
    assert isinstance(bound, Private)
    measure, names = add_measure(ctx, node, options, bound, sums)
    fitted = Model(
        fit,
        tuple(factor.term for factor in factors),
        tuple(tuple(None if place is None else names[place] for place in row) for row in places),
    )
    ctx.measures[-1] = replace(measure, model=fitted, weights=weights_of(measure, fitted))
    return ctx.measures[-1]


def _body(ctx: Context, node: exp.Table, called: str) -> exp.Query:
    """Return the query that a table function is given."""
    arguments = node.this.expressions
    body = arguments[0] if len(arguments) == 1 else None
    while isinstance(body, exp.Subquery) and not set(body.args) - {"this"} - _unset(body):
        body = body.this
    if not isinstance(body, exp.Select | exp.SetOperation):
        raise refuse(
            "D252",
            f"{called} takes one query",
            ctx.span(node),
            help=shown_as(called),
        )
    return body


def _is_chosen(options: Options | None) -> bool:
    """Whether the clip is chosen for the sums: then these are the only release."""
    clip = None if options is None else options.get("max_rows_contributed", "rows_per_unit")
    return clip is not None and clip.value == AUTO


def _check_options(options: Options, called: str, fit: Fit) -> None:
    """Refuse what changes single sums: it means nothing of what is computed from all of them."""
    single = "weights", "non_negative", "other_group", "max_values_contributed"
    option = options.get(*single, *(() if fit is Fit.LOGISTIC else ("steps",)))
    if option is not None:
        raise refuse(
            "D252",
            f"{option.name} means nothing here",
            option.span,
            label=f"{called} is computed from all its sums together",
            help="leave it out",
        )


def _unset(node: exp.Expr) -> set[str]:
    return {name for name, value in node.args.items() if not value}


def _fresh(ctx: Context, names: tuple[str, ...]) -> str:
    """Return a name for a hidden margin that is none of these columns, one of which is called margin."""
    return next(name for name in iter(lambda: ctx.fresh("margin"), "") if name not in names)


def _opened(ctx: Context, measure: Measure) -> Open:
    """Return the SQL that reads the result; the first of its numbers has a margin."""
    table, model = measure.name, measure.model
    assert model is not None
    names = (*model.keys, *model.numbers)
    read = [(name, name) for name in names]
    number = model.numbers[0]
    ends = (margin_of(number), *((low_of(number), high_of(number)) if ctx.intervals else ()))
    hidden = tuple(_fresh(ctx, names) for _ in ends)
    read += zip(hidden, ends, strict=True)
    tree = exp.Select(
        expressions=[
            exp.alias_(exp.column(identifier(source), identifier(table)), name, quoted=True)
            for name, source in read
        ],
        from_=exp.From(this=exp.Table(this=identifier(table))),
    )
    margins: tuple[Margin, ...] = tuple(hidden if name == number else () for name in names)
    return Open(tree, names, margins, released=True)
