"""Mass: the most that a column's absolute values add up to over all rows of one unit.

    SELECT day, SUM(n) FROM (SELECT house, day, SUM(kwh) AS n FROM readings GROUP BY house, day) GROUP BY day

    rows      28 days, of up to 672 readings at 2 kwh each: 28 * 1344 = 37632
    mass      the groups share the 672 readings: 1344

Claim   Over all rows of a unit here, the absolute values of the column add up to at most its mass, if the
        unit has at most its guessed number of rows where they were summed.
Proof   Groups by the unit and more partition the unit's rows, so the sums' absolute values add up to at most
        the sum of |x| over these rows: rows * max |x|; counts to at most the rows. Filters drop rows, windows
        add columns, projections rename, a constant factor multiplies, casts keep whole numbers. A join keeps
        it if a row meets at most one row of the other side. Nothing else does: s + 1 adds 1 to each row, an
        average or a running sum repeats values, COALESCE(s, x) adds what was not there.
Test    tests/unit/test_unit_mass.py, grammar_tests/per_unit/mass.sql

Like the rows it comes from, it says where clipping starts: the guarantee is the clip's.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction

from dpsql.facts.ownership import meets_one, rows_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.facts.types import type_of, types_of
from dpsql.ir.column import Kind, range_of
from dpsql.ir.relation import Aggregate, AggregateCall, Filter, Join, JoinKind, Project, Relation, Window
from dpsql.ir.scalar import Call, Literal, Ref, Scalar


def mass_of(relation: Relation, scalar: Scalar) -> Fraction | None:
    """Return the mass of a scalar over this relation; None if only its range and the rows bound it."""
    match scalar:
        case Ref(name):
            return _of_column(relation, name)
        case Call("*", (inner, Literal(int() | float() | Decimal() as factor))) | Call(
            "*", (Literal(int() | float() | Decimal() as factor), inner)
        ):
            mass = mass_of(relation, inner)
            return None if mass is None else mass * abs(Fraction(factor))
        case Call("negate", (inner,)):
            return mass_of(relation, inner)
        case Call("cast", (inner,), target) if target is not None and target.kind is not Kind.INTEGER:
            return mass_of(relation, inner) if target.numeric else None
        case Call("cast", (inner,)) if type_of(inner, types_of(relation)).kind is Kind.INTEGER:
            return mass_of(relation, inner)  # nothing is rounded
        case _:
            return None


def _of_column(relation: Relation, name: str) -> Fraction | None:
    match relation:
        case Filter(source, _):
            return _of_column(source, name)
        case Window(source, call):
            return None if name == call.name else _of_column(source, name)
        case Project(source, columns):
            return next((mass_of(source, column.scalar) for column in columns if column.name == name), None)
        case Join(kind, left, right, condition):
            if kind is JoinKind.FULL:
                return None
            if name in types_of(left):
                kept = kind.one_sided or meets_one(left, right, condition)
                return _of_column(left, name) if kept else None
            kept = kind is JoinKind.INNER and meets_one(right, left, condition)
            return _of_column(right, name) if kept else None
        case Aggregate(source, _, calls):
            summed = next((summed for summed in calls if summed.name == name), None)
            return None if summed is None else _of_call(source, summed)
        case _:
            return None


def _of_call(source: Relation, call: AggregateCall) -> Fraction | None:
    """Return the mass of a sum or a count, over all groups of the unit."""
    rows = rows_of(source)
    if call.function == "count":
        return None if rows is None else Fraction(rows)
    if call.function != "sum" or call.argument is None:
        return None
    below = mass_of(source, call.argument)
    bounds = range_of(fact_of(call.argument, facts_of(source)))
    if rows is None or not bounds.finite:
        return below
    most = rows * Fraction(max(abs(bounds.low), abs(bounds.high)))
    return most if below is None else min(most, below)
