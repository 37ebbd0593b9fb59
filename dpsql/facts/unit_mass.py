"""Mass: the most that a column's absolute values add up to over all rows of one unit.

    SELECT day, SUM(n) FROM (SELECT house, day, SUM(kwh) AS n FROM readings GROUP BY house, day) GROUP BY day

    rows      28 days, of up to 672 readings at 2 kwh each: 28 * 1344 = 37632
    mass      the groups share the 672 readings: 1344

Claim   Over all rows of a unit here, the absolute values of the column add up to at most its mass, if the
        unit has at most its guessed number of rows where they were summed.
Proof   Groups by the unit and more partition the unit's rows, so the sums' absolute values add up to at most
        the sum of |x| over these rows: rows * max |x|; counts to at most the rows. Filters drop rows, windows
        add columns, projections rename, a constant factor multiplies, casts keep whole numbers. A join keeps
        it if a row meets at most one row of the other side. In each row s + x, COALESCE(s, x), a CASE and
        their like are at most |s| + |x|, so their masses add up; an x without a mass adds its largest value
        in every row: s + 1 adds the rows. A LEAST of what is not negative is at most each of them. Nothing
        else has a mass: an average or a running sum repeats values.
Test    tests/unit/test_unit_mass.py, grammar_tests/per_unit/mass.sql

Like the rows it comes from, it says where clipping starts: the guarantee is the clip's.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction

from dpsql.facts.ownership import meets_one
from dpsql.facts.schema import fact_of, facts_of, most_rows
from dpsql.facts.types import type_of, types_of
from dpsql.functions.core.conditional import branches
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
        case Call("least", parts) if all(_from_zero(relation, part) for part in parts):
            masses = [mass_of(relation, part) for part in parts]
            return min((mass for mass in masses if mass is not None), default=None)
        case Call("+" | "-" | "coalesce" | "greatest" | "least", parts):
            return _of_all(relation, parts)
        case Call("case", parts):
            return _of_all(relation, [parts[i] for i in branches(len(parts))])
        case _:
            return None


def _of_all(relation: Relation, parts: Sequence[Scalar]) -> Fraction | None:
    """Return the sum of the masses; None if no part has one, or a part has neither mass nor range."""
    masses = [mass_of(relation, part) for part in parts]
    if all(mass is None for mass in masses):
        return None
    total = Fraction(0)
    for part, mass in zip(parts, masses, strict=True):
        most = _in_every_row(relation, part) if mass is None else mass
        if most is None:
            return None
        total += most
    return total


def _from_zero(relation: Relation, scalar: Scalar) -> bool:
    """Whether a scalar is never below 0 nor NULL, which LEAST would skip."""
    fact = fact_of(scalar, facts_of(relation))
    return not fact.nullable and range_of(fact).low >= 0


def _in_every_row(relation: Relation, scalar: Scalar) -> Fraction | None:
    """Return the rows times the largest absolute value; None if either is unknown."""
    fact, rows = fact_of(scalar, facts_of(relation)), most_rows(relation)
    bounds = range_of(fact)
    if isinstance(scalar, Literal) and scalar.value is None:
        return Fraction(0)
    if rows is None or not bounds.finite:
        return None
    return rows * Fraction(max(abs(bounds.low), abs(bounds.high)))


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
    if call.function == "count":
        rows = most_rows(source)
        return None if rows is None else Fraction(rows)
    if call.function != "sum" or call.argument is None:
        return None
    masses = mass_of(source, call.argument), _in_every_row(source, call.argument)
    return min((mass for mass in masses if mass is not None), default=None)
