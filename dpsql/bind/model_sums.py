"""The sums of products of a model's terms, as SQL over the rows in which all columns are known."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from fractions import Fraction

from sqlglot import exp, parse_one

from dpsql.bind.model_terms import Factor
from dpsql.bind.released.public_sql import identifier
from dpsql.bind.scope.context import Context
from dpsql.bind.scope.sources import Private
from dpsql.bind.subqueries.evaluation import post_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Kind
from dpsql.ir.measure import Measure, Post
from dpsql.ir.model import Fit, Model
from dpsql.lazy_dataclass import dataclass


@dataclass(slots=True)
class Sums:
    """The sums of products, each once; each row counts as much as its ``weight`` says, a column (None: 1)."""

    weight: str | None = None
    listed: dict[str, int] = field(default_factory=dict)
    """The sums, each with its place."""

    @property
    def sql(self) -> str:
        """Print the select list; a name saves the binder from printing each sum to find one."""
        return ", ".join(f"{each} AS s{place}" for each, place in self.listed.items())

    def place(self, first: Factor, second: Factor) -> int | None:
        """Return the place of the sum of products of two terms; None where all products are 0."""
        first, second = sorted((first, second), key=lambda each: (each.place, each.condition or ""))
        if first == second and first.value is None:
            factors = [first]  # a condition times itself
        elif first.place == second.place and first.condition != second.condition:
            return None  # two values of one column
        else:
            factors = [first, second]
        conditions = [each.condition for each in factors if each.condition is not None]
        values = [] if self.weight is None else [self.weight]
        values += [f'"z{each.place}"' for each in factors if each.value is not None]
        sql = f"SUM({' * '.join(values)})" if values else "COUNT(*)"
        if conditions:
            sql += f" FILTER (WHERE {' AND '.join(conditions)})"
        return self.listed.setdefault(sql, len(self.listed))


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
