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
from fractions import Fraction

from sqlglot import exp, parse_one

from dpsql.bind.released.public_sql import identifier
from dpsql.bind.scope.context import Context, Cte
from dpsql.bind.scope.scope import Visible
from dpsql.bind.scope.sources import Margin, Open, Private
from dpsql.errors import Error, refuse
from dpsql.facts.identity import identifying, tells
from dpsql.facts.released_columns import high_of, low_of, margin_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Categories, Fact, Interval, Kind, Listed, Value, bounded_range
from dpsql.ir.measure import Measure
from dpsql.ir.model import INTERCEPT, Fit, Model, Term
from dpsql.ir.options import Options
from dpsql.ir.relation import Relation
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.options_clause import options_of

FITS = {"dp_linear": Fit.LINEAR, "dp_covariance": Fit.COVARIANCE}
MOST_TERMS = 30
"""Most terms of a model. Its sums grow with their square, and so does the noise of each."""

_ROOM = 1 + 2.0**-30
"""A range is widened by this much, so that the rounding of a scaled value does not leave [-1, 1]."""

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


@dataclass(frozen=True, slots=True)
class _Factor:
    """A term as SQL: the rows where it is not 0 (None: all), and its value there (None: 1)."""

    term: Term
    place: int
    condition: str | None = None
    value: str | None = None


def model(ctx: Context, node: exp.Table, env: Mapping[str, Cte]) -> Open:
    """Bind a table function that fits a model; its rows are the rows of the result."""
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
            help=_shown(called),
        )
    factors = _factors(ctx, rows, body, called, fit)
    if options is not None:
        _check_options(options, called)
    sums = _Sums()
    places = [[sums.place(first, second) for second in factors] for first in factors]
    select = _summing(query, sums.listed, rows, factors)
    if options is not None:
        select.meta["options"] = options
    opened = ctx.query(select, env)
    assert isinstance(opened, Open), "sums over all rows drop the unit"
    names = [item.unalias().name for item in opened.tree.expressions]
    fitted = Model(
        fit,
        tuple(factor.term for factor in factors),
        tuple(tuple(None if place is None else names[place] for place in row) for row in places),
    )
    measure = replace(ctx.measures[-1], model=fitted, span=ctx.span(node))
    ctx.measures[-1] = replace(measure, weights=_weights(measure, fitted))
    return _opened(ctx, measure.name, fit)


def _weights(measure: Measure, model: Model) -> tuple[Fraction, ...]:
    """Return how exact each sum is to be, beside the others.

    Noise of deviation s in the sums with what is predicted moves the solution by s, and noise of deviation t
    among the terms by t times the length of the solution, over the same matrix. Of d terms, on [-1, 1] like
    what is predicted, that length is taken for a root of 1/2: then both together are least, at one price, if
    t is the fourth root of d + 1 times s.
    """
    if model.fit is not Fit.LINEAR:
        return ()
    right = {*model.sums[-1][:-1]}
    weight = Fraction(round(100 * len(model.terms) ** 0.25), 100)
    return tuple(weight if call.name in right else Fraction(1) for call in measure.aggregates)


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
            help=_shown(called),
        )
    return body


def _check_options(options: Options, called: str) -> None:
    """Refuse what changes single sums: it means nothing of what is computed from all of them."""
    option = options.get("weights", "non_negative", "other_group", "max_values_contributed")
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


def _shown(called: str) -> str:
    return f"give it a query of private rows: {called}((SELECT y, x FROM t))"


def _opened(ctx: Context, table: str, fit: Fit) -> Open:
    """Return the SQL that reads the result; the first of its numbers has a margin."""
    names = (*fit.keys, *fit.value)
    read = [(name, name) for name in names]
    number = fit.value[0]
    ends = (margin_of(number), *((low_of(number), high_of(number)) if ctx.intervals else ()))
    hidden = tuple(ctx.fresh("margin") for _ in ends)
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


# ---- terms ---------------------------------------------------------------------------------------------


def _factors(ctx: Context, rows: Private, body: exp.Query, called: str, fit: Fit) -> list[_Factor]:
    """Return the terms of a model: 1, those of the columns, and at last what is predicted."""
    shown = rows.scope.starred
    if len(shown) < 2:
        raise refuse(
            "D252",
            f"{called} needs two columns at least",
            ctx.span(body),
            label="the first is predicted from the others" if fit is Fit.LINEAR else "",
            help=_shown(called),
        )
    _refuse_identity(ctx, rows, body)
    factors = [_Factor(Term(INTERCEPT, 1.0, 0.0), -1)]
    order = (*range(1, len(shown)), 0) if fit is Fit.LINEAR else range(len(shown))
    for place in order:
        predicted = fit is Fit.LINEAR and place == 0
        factors += _factors_of(ctx, rows.relation, shown[place], place, _item(body, place), predicted)
    if len(factors) - 1 > MOST_TERMS:
        raise refuse(
            "D252",
            f"a model has at most {MOST_TERMS} terms, and this one has {len(factors) - 1}",
            ctx.span(body),
            label="each value of a column with a list is a term, but for the first",
            help="leave columns out, or write one condition for many values: ward IN ('A', 'B') AS near",
        )
    return factors


def _refuse_identity(ctx: Context, rows: Private, body: exp.Query) -> None:
    """Refuse a column that identifies units."""
    secret = identifying(rows.relation)
    for place, column in enumerate(rows.scope.starred):
        if tells(column.scalar, rows.relation, secret):
            raise refuse(
                "D403",
                f"{column.name} identifies single {ctx.known.unit}s",
                ctx.span(_item(body, place)),
                help=f"leave it out: a model is of what many {ctx.known.unit}s share",
            )


def _item(body: exp.Query, place: int) -> exp.Expr:
    """Return the item of the select list with a column, or the query where a star stands for it."""
    items = body.expressions if isinstance(body, exp.Select) else []
    starred = any(each.find(exp.Star) for each in items)
    return items[place] if place < len(items) and not starred else body


def _factors_of(
    ctx: Context, relation: Relation, column: Visible, place: int, at: exp.Expr, predicted: bool
) -> list[_Factor]:
    fact, name = fact_of(column.scalar, facts_of(relation)), f'"c{place}"'
    if fact.type.kind is Kind.BOOLEAN:
        return [_Factor(Term(column.name, 0.0, 1.0), place, condition=name)]
    if fact.type.kind in _NUMBERS:
        bounds = bounded_range(fact)
        if bounds is None:
            relation = ctx.need(relation, [column.scalar], _unbounded(ctx, column, at))
            bounds = bounded_range(fact_of(column.scalar, facts_of(relation)))
        return [_number(column.name, place, name, bounds or Interval(0, 1))]
    if fact.type.kind is not Kind.TEXT or predicted:
        raise refuse(
            "D205",
            f"{column.name} is no number",
            ctx.span(at),
            label=f"it is a {fact.type.sql}",
            help=_as_number(fact, column.name),
        )
    values = _values(ctx, fact)
    if values is None:
        raise refuse(
            "D301",
            f"nothing public lists the values of {column.name}",
            ctx.span(at),
            help=f"write the conditions that count: {column.name} = 'a' AS is_a; or let the owner declare "
            "its values",
        )
    return [
        _Factor(Term(f"{column.name} = {text}", 0.0, 1.0), place, condition=f"{name} = {text}")
        for text in map(_literal, values[1:])
    ]


def _number(called: str, place: int, name: str, bounds: Interval) -> _Factor:
    """Return the term of a number: its line from its range onto [-1, 1]."""
    low, high = float(bounds.low), float(bounds.high)
    middle, half = (low / 2 + high / 2), ((high / 2 - low / 2) or 1.0) * _ROOM
    value = f"(CAST({name} AS DOUBLE) - {_double(middle)}) / {_double(half)}"
    return _Factor(Term(called, middle, half), place, value=value)


def _double(number: float) -> str:
    return f"CAST('{number!r}' AS DOUBLE)"


def _literal(value: Value) -> str:
    return exp.Literal.string(str(value)).sql(dialect="duckdb")


def _values(ctx: Context, fact: Fact) -> list[Value] | None:
    """Return the public list of a text's values, the first of which is what others are compared with."""
    match fact.domain:
        case Categories(values):
            return list(values)
        case Listed(table, column):
            named = exp.column(identifier(column), identifier(table)).sql(dialect="duckdb")
            read = f"SELECT DISTINCT {named} FROM {identifier(table).sql(dialect='duckdb')}"
            _, rows = ctx.evaluate(f"{read} WHERE {named} IS NOT NULL ORDER BY 1", (table,), 10 * MOST_TERMS)
            return [row[0] for row in rows]
        case _:
            return None


def _unbounded(ctx: Context, column: Visible, at: exp.Expr) -> Error:
    return refuse(
        "D301",
        f"{column.name} has no finite range",
        ctx.span(at),
        label="its values can be any number",
        help=f"give it ends: CASE WHEN {column.name} IS NOT NULL THEN LEAST(GREATEST({column.name}, 0), 500) "
        f"END AS {column.name}, or let the owner declare a range",
    )


def _as_number(fact: Fact, name: str) -> str:
    if fact.type.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
        return f"count its days: date_diff('day', DATE '2020-01-01', {name})"
    return f"write a condition or a number in its place: {name} = 'a' AS is_a"


# ---- sums ----------------------------------------------------------------------------------------------


class _Sums:
    """The sums of products, each once."""

    def __init__(self) -> None:
        self.listed: list[str] = []

    def place(self, first: _Factor, second: _Factor) -> int | None:
        """Return the place of the sum of products of two terms; None where all products are 0."""
        first, second = sorted((first, second), key=lambda each: (each.place, each.condition or ""))
        if first == second and first.value is None:
            factors = [first]  # a condition times itself
        elif first.place == second.place and first.condition != second.condition:
            return None  # two values of one column
        else:
            factors = [first, second]
        conditions = [each.condition for each in factors if each.condition is not None]
        values = [f'"z{each.place}"' for each in factors if each.value is not None]
        sql = f"SUM({' * '.join(values)})" if values else "COUNT(*)"
        if conditions:
            sql += f" FILTER (WHERE {' AND '.join(conditions)})"
        if sql not in self.listed:
            self.listed.append(sql)
        return self.listed.index(sql)


def _summing(body: exp.Query, sums: list[str], rows: Private, factors: list[_Factor]) -> exp.Select:
    """Return the query of these sums over the rows of another in which all columns are known."""
    shown, facts = rows.scope.starred, facts_of(rows.relation)
    known = []
    for place, column in enumerate(shown):
        fact = fact_of(column.scalar, facts)
        if fact.nullable:
            known.append(f'"c{place}" IS NOT NULL')
        if fact.type.kind is Kind.FLOAT:
            known.append(f'NOT isnan("c{place}")')
    names = ", ".join(f'"c{place}"' for place in range(len(shown)))
    values = "".join(f', {each.value} AS "z{each.place}"' for each in factors if each.value is not None)
    where = f" WHERE {' AND '.join(known)}" if known else ""
    terms = f"SELECT {names}{values} FROM (SELECT 1) AS rows({names}){where}"
    select = parse_one(f"SELECT {', '.join(sums)} FROM ({terms}) AS terms", dialect="duckdb")
    assert isinstance(select, exp.Select)
    select.args["from_"].this.this.args["from_"].this.set("this", body.copy())
    return select
