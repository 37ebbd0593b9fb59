"""The terms of a model: 1, and what the columns of a query over private rows are made of.

age in [18, 90]              z = (age - 54) / 36, on [-1, 1]
born in [1920, 2010]         the same of its days since 1970: a coefficient is for each day
smoker                       1 where it is true
ward in ('A', 'B', 'C')      ward = 'B' and ward = 'C': one for each value but the first
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.bind.released.public_sql import identifier
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.scope import Visible
from dpsql.bind.scope.sources import Private
from dpsql.bind.scope.wrappers import unaliased
from dpsql.errors import Error, refuse
from dpsql.facts.identity import identifying, tells
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Categories, Fact, Interval, Kind, Listed, Value, bounded_range
from dpsql.ir.model import INTERCEPT, Fit, Term
from dpsql.ir.relation import Relation
from dpsql.lazy_dataclass import dataclass

MOST_TERMS = 100
"""Most terms of a model. Its sums grow with their square, and so does the noise of each."""

_ROOM = 1 + 2.0**-30
"""A range is widened by this much, so that the rounding of a scaled value does not leave [-1, 1]."""

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)

_IN_DAYS = {
    Kind.DATE: ("date_diff('day', DATE '1970-01-01', {})", 1.0),
    Kind.TIMESTAMP: ("epoch_us({})", 86_400e6),
    Kind.TIMESTAMPTZ: ("epoch_us({})", 86_400e6),
}
"""A moment as a number on the scale of its range, and how many of these are a day."""


@dataclass(frozen=True, slots=True)
class Factor:
    """A term as SQL: the rows where it is not 0 (None: all), and its value there (None: 1)."""

    term: Term
    place: int
    condition: str | None = None
    value: str | None = None


def factors_of(ctx: Context, rows: Private, body: exp.Query, called: str, fit: Fit) -> list[Factor]:
    """Return the terms of a model: 1, those of the columns, and at last what is predicted."""
    shown = rows.scope.starred
    if len(shown) < 2:
        raise refuse(
            "D252",
            f"{called} needs two columns at least",
            ctx.span(body),
            label="" if fit is Fit.COVARIANCE else "the first is predicted from the others",
            help=shown_as(called),
        )
    _refuse_identity(ctx, rows, body)
    factors = [Factor(Term(INTERCEPT, 1.0, 0.0), -1)]
    predicts = fit is not Fit.COVARIANCE
    for place in (*range(1, len(shown)), 0) if predicts else range(len(shown)):
        column, at, predicted = shown[place], _item(body, place), predicts and place == 0
        if predicted and fit is Fit.LOGISTIC:
            factors.append(_truth(ctx, rows.relation, column, at))
        else:
            factors += _factors_of(ctx, rows.relation, column, place, at, predicted)
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
) -> list[Factor]:
    fact, name = fact_of(column.scalar, facts_of(relation)), f'"c{place}"'
    if fact.type.kind is Kind.BOOLEAN:
        return [Factor(Term(column.name, 0.0, 1.0), place, condition=name)]
    if fact.type.kind in _NUMBERS or (fact.type.kind in _IN_DAYS and not predicted):
        bounds = bounded_range(fact)
        if bounds is None:
            relation = ctx.need(relation, [column.scalar], _unbounded(ctx, relation, column, at))
            bounds = bounded_range(fact_of(column.scalar, facts_of(relation)))
        number, day = _IN_DAYS.get(fact.type.kind, ("{}", 1.0))
        return [_number(column.name, place, number.format(name), bounds or Interval(0, 1), day)]
    if fact.type.kind is not Kind.TEXT or predicted:
        raise refuse(
            "D205",
            f"{column.name} is no number",
            ctx.span(at),
            label=f"it is a {fact.type.sql}",
            help=_as_number(fact, _written(ctx, column, at)),
        )
    values = _values(ctx, fact)
    if values is None:
        raise refuse(
            "D301",
            f"nothing public lists the values of {column.name}",
            ctx.span(at),
            help=f"write the conditions that count: {_written(ctx, column, at)} = 'a' AS is_a; "
            "or let the owner declare its values",
        )
    return [
        Factor(Term(f"{column.name} = {text}", 0.0, 1.0), place, condition=f"{name} = {text}")
        for text in map(_literal, values[1:])
    ]


def _truth(ctx: Context, relation: Relation, column: Visible, at: exp.Expr) -> Factor:
    """Return what a logistic fit predicts: whether a boolean is true, or a whole number in [0, 1] is 1."""
    fact = fact_of(column.scalar, facts_of(relation))
    condition = '"c0"'
    if fact.type.kind is not Kind.BOOLEAN:
        bounds = bounded_range(fact) if fact.type.kind is Kind.INTEGER else None
        if bounds is None or (bounds.low, bounds.high) != (0, 1):
            raise refuse(
                "D205",
                f"{column.name} is neither true nor false",
                ctx.span(at),
                label=f"it is a {fact.type.sql}; what is predicted is a BOOLEAN, or a number that is 0 or 1",
                help="write the condition that is predicted: "
                f"{_written(ctx, column, at)} {_compared(fact)} AS is_so; DP_LINEAR predicts numbers",
            )
        condition = '"c0" > 0'
    return Factor(Term(column.name, 0.0, 1.0), 0, condition=condition)


def _compared(fact: Fact) -> str:
    return "= 'a'" if fact.type.kind is Kind.TEXT else "> 10" if fact.type.numeric else "IS NOT NULL"


def _number(called: str, place: int, number: str, bounds: Interval, one: float) -> Factor:
    """Return the term of a number: its line from its range onto [-1, 1], and its unit for coefficients."""
    low, high = float(bounds.low), float(bounds.high)
    middle, half = (low / 2 + high / 2), ((high / 2 - low / 2) or 1.0) * _ROOM
    value = f"(CAST({number} AS DOUBLE) - {_double(middle)}) / {_double(half)}"
    return Factor(Term(called, middle / one, half / one), place, value=value)


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


def _unbounded(ctx: Context, relation: Relation, column: Visible, at: exp.Expr) -> Error:
    moment = fact_of(column.scalar, facts_of(relation)).type.kind in _IN_DAYS
    low, high = ("DATE '2020-01-01'", "DATE '2029-12-31'") if moment else ("0", "500")
    written, named = _written(ctx, column, at), column.name if _is_named(at) else "x"
    return refuse(
        "D301",
        f"{column.name} has no finite range",
        ctx.span(at),
        label=f"its values can be any {'moment' if moment else 'number'}",
        help=f"give it ends: CASE WHEN {written} IS NOT NULL THEN LEAST(GREATEST({written}, {low}), "
        f"{high}) END AS {named}, or let the owner declare a range",
    )


def _is_named(at: exp.Expr) -> bool:
    """Whether a column of the rows has a name that can be written: its own, an alias, or one of a star."""
    return isinstance(at, exp.Alias | exp.Column | exp.Select | exp.SetOperation)


def _written(ctx: Context, column: Visible, at: exp.Expr) -> str:
    """Return a column as the query writes it, without its alias; its name where a star stands for it."""
    item = unaliased(at)
    span = None if isinstance(item, exp.Select | exp.SetOperation) else ctx.span(item)
    if span is None:
        return column.name
    text = ctx.text[span.start : span.end]
    return text if isinstance(item, exp.Column | exp.Func) else f"({text})"


def _as_number(fact: Fact, name: str) -> str:
    if fact.type.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
        return f"count its days: date_diff('day', DATE '2020-01-01', {name})"
    return f"write a condition or a number in its place: {name} = 'a' AS is_a"


def shown_as(called: str) -> str:
    """Return an example of a table function that fits a model."""
    return f"give it a query of private rows: {called}((SELECT y, x FROM t))"
