"""The sums of products of a model's terms, over the rows in which all columns are known.

    age, sex        COUNT(*), SUM(z0), COUNT(*) FILTER (WHERE sex = 'M'), SUM(z0 * z0), ...

There are thousands of them where there are a hundred terms: their calls are made of the bound terms, and mean
what the SELECT of them would. Each product is checked as any other call.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace
from fractions import Fraction
from functools import cache, reduce

from sqlglot import exp, parse_one

from dpsql.bind.expressions.scalars import Scalars
from dpsql.bind.model_terms import Factor
from dpsql.bind.private.query_options import clip_of, fitted_of
from dpsql.bind.private.row_builder import RowBuilder
from dpsql.bind.released.public_sql import identifier
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.sources import Private
from dpsql.bind.subqueries.evaluation import constants_of, post_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.meaning import Remembering, call
from dpsql.ir.column import Kind
from dpsql.ir.measure import Measure, Post
from dpsql.ir.model import Fit, Model
from dpsql.ir.options import Options
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Scalar
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Summand:
    """What a row adds where all conditions are true: the product of these columns, or 1 without any."""

    columns: tuple[str, ...] = ()
    conditions: tuple[str, ...] = ()


@dataclass(slots=True)
class Sums:
    """The sums of products, each once; each row counts as much as its ``weight`` says, a column (None: 1)."""

    weight: str | None = None
    listed: dict[Summand, int] = field(default_factory=dict)
    """The sums, each with its place."""

    def place(self, first: Factor, second: Factor) -> int | None:
        """Return the place of the sum of products of two terms; None where all products are 0."""
        first, second = sorted((first, second), key=lambda each: (each.place, each.condition or ""))
        if first == second and first.value is None:
            factors = [first]  # a condition times itself
        elif first.place == second.place and first.condition != second.condition:
            return None  # two values of one column
        else:
            factors = [first, second]
        conditions = tuple(each.condition for each in factors if each.condition is not None)
        columns: tuple[str, ...] = () if self.weight is None else (self.weight,)
        columns += tuple(f"z{each.place}" for each in factors if each.value is not None)
        return self.add(Summand(columns, conditions))

    def add(self, summand: Summand) -> int:
        """Return the place of a sum, which is added unless it is there."""
        return self.listed.setdefault(summand, len(self.listed))


def add_measure(
    ctx: Context, node: exp.Table, options: Options | None, rows: Private, sums: Sums
) -> tuple[Measure, list[str]]:
    """Add the measure of these sums to the query, and return it with the name of each sum."""
    select, source = exp.Select(), RowBuilder(ctx, {}, rows.relation, rows.scope)
    if options is not None:
        select.meta["options"] = options
    scalars = Scalars(ctx.text, rows.scope, source.facts, constants_of(ctx, {}), ctx.known.timezone)
    condition = cache(lambda sql: scalars.condition(parse_one(sql, dialect="duckdb")))
    lookup = Remembering(source.facts.__getitem__)
    columns = {column.name: column.scalar for column in rows.scope.columns}
    name, span, called = ctx.fresh("release"), ctx.span(node), dict[AggregateCall, str]()

    def joined(function: str, parts: list[Scalar]) -> Scalar | None:
        if not parts:
            return None
        return reduce(lambda left, right: call(function, (left, right), lookup), parts)

    names = list[str]()
    for summand in sums.listed:
        product = joined("*", [columns[each] for each in summand.columns])
        true = joined("and", [condition(each) for each in summand.conditions])
        made = AggregateCall("", "count" if product is None else "sum", product, False, true, span)
        if made not in called:  # equal calls are released once
            called[made] = ctx.fresh(made.function)
        names.append(called[made])
    measure = Measure(
        name,
        rows.relation,
        (),
        tuple(replace(made, name=each) for made, each in called.items()),
        span,
        clip=clip_of(ctx, select, source),
        fitted=fitted_of(ctx, select, source),
        intervals=ctx.intervals,
    )
    ctx.measures.append(measure)
    return measure, names


def weights_of(measure: Measure, model: Model) -> tuple[Fraction, ...]:
    """Return how exact each sum is to be, beside the others.

    Noise of deviation s in the sums with what is predicted moves the solution by s, and noise of deviation t
    among the terms by t times the length of the solution, over the same matrix. Of d terms, on [-1, 1] like
    what is predicted, that length is taken for a root of 1/2: then both together are least, at one price, if
    t is the fourth root of d + 1 times s.
    """
    if model.short or model.fit not in (Fit.LINEAR, Fit.BEGUN):
        return ()
    right = {*model.sums[-1][:-1]}
    weight = Fraction(round(100 * len(model.terms) ** 0.25), 100)
    return tuple(weight if call.name in right else Fraction(1) for call in measure.aggregates)


def rows_of_terms(body: exp.Query, rows: Private, values: Sequence[str]) -> exp.Select:
    """Return the query of a model's rows: those of ``body`` in which all columns are known.

    Its columns are c0, c1 and so on, and then ``values``, which read them.
    """
    shown, facts = rows.scope.starred, facts_of(rows.relation)
    known = []
    for place, column in enumerate(shown):
        fact = fact_of(column.scalar, facts)
        if fact.nullable:
            known.append(f'"c{place}" IS NOT NULL')
        if fact.type.kind is Kind.FLOAT:
            known.append(f'NOT isnan("c{place}")')
        elif fact.type.kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ):
            known.append(f'isfinite("c{place}")')
    names = ", ".join(f'"c{place}"' for place in range(len(shown)))
    where = f" WHERE {' AND '.join(known)}" if known else ""
    select = selected(f"SELECT {', '.join((names, *values))} FROM (SELECT 1) AS rows({names}){where}")
    select.args["from_"].this.set("this", body.copy())
    return select


def selected(sql: str) -> exp.Select:
    """Parse a SELECT of our own."""
    select = parse_one(sql, dialect="duckdb")
    assert isinstance(select, exp.Select)
    return select


def handing_down(ctx: Context, table: str, names: tuple[str, ...]) -> Post:
    """Return the SQL of what a step hands down to the next: columns of its released table."""
    shown = [exp.alias_(exp.column(identifier(name), identifier(table)), name, quoted=True) for name in names]
    tree = exp.Select(expressions=shown, from_=exp.From(this=exp.Table(this=identifier(table))))
    return post_of(ctx, tree, names, (None,) * len(names))


def times(factor: Factor, weight: str) -> str:
    """Print a weight times the value of its term in a row."""
    value = weight if factor.value is None else f'{weight} * "z{factor.place}"'
    return value if factor.condition is None else f"CASE WHEN {factor.condition} THEN {value} ELSE 0 END"
