"""The least and the largest value of private columns: values in range need no clamp, no guard.

    extendedprice * (1 - discount)    [901, 104950] * (1 - [0, 0.1]), within [0, 105000]: no clamp is printed,
                                      and no CASE for products that a DECIMAL(18,4) does not hold
    cost in [0, 500], of [0, 200]     no value is below 0: the upper limit alone is printed
    ... WHERE cost BETWEEN 10 AND 90  no value that is left is beyond 10 and 90, whatever the others are

Claim   a statistic has no argument in this version of the table beyond the ends that ``of_argument`` gives,
        and none that is NaN. No column has values beyond its ``interval``.
Proof   A column's own values, as DOUBLEs, are between the two that were read. The largest is NaN if one is,
        since DuckDB orders it last; then nothing is said. +, - and * of DOUBLEs are monotone in each
        argument, rounding too, so that the ends of a result are at ends of its arguments, computed in the
        same arithmetic. Whole numbers and decimals are computed exactly, and here as DOUBLEs: their ends are
        widened by more than that is off by, and are then the next multiples of the last digit inside. What is
        rounded to digits has the ends next to these, told only where DOUBLEs hold the digits: then a DOUBLE
        is off by less than a quarter of the last one, and takes no value past another multiple. NULL is never
        clamped. Values in a relation are some of those in the table (``stored_column``). Where a condition
        compares a column alone with constants, whole numbers and decimals of at most 15 digits on both sides,
        its values are in the range to which it narrows that of the table (functions/core/narrowing.py),
        whatever type compares them: of such numbers, DOUBLEs have the same order. An interval is told only
        where DOUBLEs hold the digits of its ends; of sums, differences and products of such columns
        functions/numbers/arithmetic.py computes the corners exactly, and keeps a guard but where they stay a
        billionth below what the type holds.
Test    tests/privacy/test_light_units.py: one stray of each kind among many rows; test_narrowed_ends.py

Extremes are exact private facts: they stay in this object, and decide nothing but which of two statements
with the same result is run.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field
from decimal import Decimal
from fractions import Fraction

from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.identifiers import quote
from dpsql.engines.row_cells import Ends
from dpsql.facts.columns_read import conditions_met, defined, stored_columns
from dpsql.facts.schema import fact_of, facts_of, narrow
from dpsql.ir.column import Fact, Interval, Kind, Type, decimal_size, range_of
from dpsql.ir.not_shown import NotShown
from dpsql.ir.relation import Relation
from dpsql.ir.scalar import Call, Literal, Ref, Scalar
from dpsql.ir.statistic import Part, Statistic
from dpsql.lazy_dataclass import dataclass

_DIGITS = 1e15
"""DOUBLEs hold all whole numbers up to this one, and as many digits of a decimal."""

_NUMBERS = (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)


@dataclass(slots=True, repr=False)
class Extremes(NotShown):
    """The extremes of one engine's columns, read when needed. ``run`` fetches the rows of a statement."""

    run: Callable[[str], list[tuple[object, ...]]]
    dialect: Dialect = DUCKDB
    _known: dict[tuple[str, str], Ends | None] = field(default_factory=dict)

    def of_argument(self, statistic: Statistic, relation: Relation) -> Ends | None:
        """Return the ends of the argument of a sum; None if they are not known."""
        if statistic.argument is None or statistic.part not in (Part.VALUE, Part.REST):
            return None
        ends = self.ends(statistic.argument, relation, narrowed=True)
        if ends is None or statistic.digits is None:
            return ends
        units = 10**statistic.digits
        if max(map(abs, ends)) * units >= _DIGITS:
            return None
        return math.floor(Fraction(ends[0]) * units) / units, math.ceil(Fraction(ends[1]) * units) / units

    def interval(self, relation: Relation, name: str) -> Interval | None:
        """Return the range of all values of a column of whole numbers or decimals; None if not known."""
        of_type = facts_of(relation)[name].type
        if of_type.kind not in (Kind.INTEGER, Kind.DECIMAL):
            return None
        ends = self._stored(relation, name)
        if ends is None or not _are_held(ends, of_type):
            return None
        return Interval(*map(int, ends)) if of_type.kind is Kind.INTEGER else Interval(*ends)

    def forget(self) -> None:
        """Forget all extremes."""
        self._known = {}

    def ends(self, scalar: Scalar, relation: Relation, narrowed: bool = False) -> Ends | None:
        """Return numbers that no value of a scalar is below or above; None if they are not known.

        They are those of all rows of the tables, or ``narrowed`` to rows of the relation by its conditions.
        """
        match scalar:
            case Ref(name):
                below, of_type = defined(relation, name), facts_of(relation)[name].type
                if below is not None:
                    return self.ends(below[1], below[0], narrowed)
                ends = self._stored(relation, name) if of_type.kind in _NUMBERS else None
                return _narrowed(ends, relation, name, of_type) if ends and narrowed else ends
            case Literal(value) if isinstance(value, int | float | Decimal) and _is_held(value):
                return float(value), float(value)
            case Call("+" | "-" | "*" as operator, (first, second)):
                ours, theirs = (self.ends(each, relation, narrowed) for each in (first, second))
                if ours is None or theirs is None:
                    return None
                return _widened(_combined(operator, ours, theirs), fact_of(scalar, facts_of(relation)).type)
            case _:
                return None

    def _stored(self, relation: Relation, name: str) -> Ends | None:
        """Return the ends of a column that tables store, all in its type; None if they are not known."""
        columns = stored_columns(relation, name)
        if not columns or {column.fact.type for _, column in columns} != {facts_of(relation)[name].type}:
            return None
        found = [self._of_column(scan.table, column.source) for scan, column in columns]
        known = [ends for ends in found if ends is not None]
        if len(known) < len(found):
            return None
        return min(low for low, _ in known), max(high for _, high in known)

    def _of_column(self, table: str, column: str) -> Ends | None:
        place = (table, column)
        if place not in self._known:
            least, most = (self.dialect.double(f"{end}({quote(column)})") for end in ("min", "max"))
            [ends] = self.run(f"SELECT {least}, {most} FROM {self.dialect.table(table)} AS t")
            numbers = [end for end in ends if isinstance(end, float)]
            finite = len(numbers) == 2 and all(map(math.isfinite, numbers))
            self._known[place] = (numbers[0], numbers[1]) if finite else None
        return self._known[place]


def _narrowed(ends: Ends, relation: Relation, name: str, of_type: Type) -> Ends:
    """Return the ends of the values that meet the relation's conditions on a column alone."""
    if of_type.kind not in (Kind.INTEGER, Kind.DECIMAL) or not _are_held(ends, of_type):
        return ends
    for own, condition in conditions_met(relation, name):
        if not _is_exact(condition):
            continue
        facts = {own: Fact(of_type, Interval(*ends))}
        narrow(facts, condition)
        left = range_of(facts[own])
        least, most = max(ends[0], float(left.low)), min(ends[1], float(left.high))
        ends = (least, most) if least <= most else ends  # else there is no row
    return ends


def _are_held(ends: Ends, of_type: Type) -> bool:
    """Whether DOUBLEs hold all digits of the values of a column."""
    return max(map(abs, ends)) * 10.0 ** _scale(of_type) < _DIGITS


def _is_exact(condition: Scalar) -> bool:
    """Whether all its constants are whole numbers, and decimals that DOUBLEs hold."""
    match condition:
        case Literal(value):
            return isinstance(value, int | Decimal) and _is_held(value)
        case Call(_, arguments):
            return all(map(_is_exact, arguments))
        case Ref():
            return True


def _is_held(value: float | Decimal) -> bool:
    """Whether a number of a query is the same as a DOUBLE, however it is read."""
    if isinstance(value, Decimal):
        return len(value.as_tuple().digits) <= 15 and abs(value) < _DIGITS
    return abs(value) < 2**53


def _scale(type: Type) -> int:
    return decimal_size(type)[1] if type.kind is Kind.DECIMAL else 0


def _combined(operator: str, first: Ends, second: Ends) -> Ends:
    match operator:
        case "+":
            return first[0] + second[0], first[1] + second[1]
        case "-":
            return first[0] - second[1], first[1] - second[0]
        case _:
            ends = [x * y for x in first for y in second]
            return min(ends), max(ends)


def _widened(ends: Ends, result: Type) -> Ends | None:
    """Return the ends of a result of this type; None if they are no numbers, or of another kind."""
    if not all(map(math.isfinite, ends)) or result.kind not in _NUMBERS or result.sql == "FLOAT":
        return None
    if result.sql == "DOUBLE":
        return ends
    more, units = max(map(abs, ends)) * 2.0**-40, 10 ** _scale(result)
    low, high = ends[0] - more, ends[1] + more
    if not _are_held((low, high), result):
        return low, high
    least, most = math.ceil(Fraction(low) * units), math.floor(Fraction(high) * units)
    return (least / units, most / units) if least <= most else (low, high)
