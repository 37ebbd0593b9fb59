"""Aggregates -> bounded statistics, each measured once.

    COUNT(x), SUM(x), AVG(x) over x in [0, 120]

    one family of two statistics: sum of x, and sum of 120 - x, on a grid of about 2^20 steps to 120

A row adds at most 2^20 steps in L1 to the two together, where three separate sums would add three times
as much: COUNT beside SUM costs nothing more. A variance needs three such sums, which tell the count, the
sum and the mean too; what is asked of a pair of arguments needs nine, which tell of each what the three
would. A hidden count of units is added where keys are not public.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import TypeAlias

from dpsql.aggregates import Need, Unbounded, shelf
from dpsql.aggregates.regression import SIDES
from dpsql.errors import Error, refuse
from dpsql.facts.missing_bounds import needed_bounds, uncounted, with_stand_ins
from dpsql.facts.origin import origins_of
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.public_keys import public_keys
from dpsql.facts.released_columns import released_type
from dpsql.facts.schema import fact_of, facts_of, narrow
from dpsql.ir.bound import NeededBounds
from dpsql.ir.column import (
    ANYTHING,
    Categories,
    Fact,
    Interval,
    Kind,
    Listed,
    as_text,
    decimal_size,
    range_of,
    type_range,
)
from dpsql.ir.measure import Finish, Measure, Split
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Call, Scalar, conjuncts
from dpsql.ir.statistic import SLACK, Axis, Family, Part, Statistic
from dpsql.policy.catalogue import Known
from dpsql.rewrite.details import Details
from dpsql.rewrite.filter_from_case import filtered

GRID = 2**20
"""Grid steps of one row at its most."""

_Argument: TypeAlias = tuple[Scalar | None, Scalar | None]
"""What is aggregated, under which condition."""

_Key: TypeAlias = tuple[tuple[Scalar, ...], Scalar | None]
"""No argument, one or two, and the condition."""

_Cells: TypeAlias = tuple[tuple[int, ...], ...]
"""Numbers that are sums of statistics (their positions)."""

_PAIRED = (Need.ROWS, Need.TOTAL)
"""What a pair of sums tells."""

_LARGEST = 1e300
"""Beyond it, floating-point arithmetic on the way to the grid would overflow."""

_ANY = Interval(0, 1)
"""In the place of a range that is missing."""

_SMALL = frozenset(("TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "BOOLEAN"))


def to_statistics(split: Split, known: Known) -> Split:
    """Every measure with what it needs to know of each row, and how its aggregates are made of that."""
    needed = list(split.needed)
    try:
        stages = tuple(
            replace(stage, measures=tuple(_with_statistics(each, known, needed) for each in stage.measures))
            for stage in split.stages
        )
    except Error:
        if not needed:
            raise
        stages = ()  # what goes wrong behind a missing bound says nothing: that stands first
    return replace(split, stages=stages, needed=tuple(needed))


def _with_statistics(measure: Measure, known: Known, needed: list[NeededBounds]) -> Measure:
    """One measure; where bounds are missing they are noted, and the measure is made on stand-ins."""
    while True:
        statistics = _Statistics(measure, known)
        made = statistics.measure()
        if not statistics.needed:
            return made
        needed += statistics.needed
        missing = NeededBounds.of_all(statistics.needed).bounds
        measure = replace(measure, relation=with_stand_ins(measure.relation, missing))
        if not uncounted(measure.relation):  # then nothing else can be missing
            return measure


class _Statistics:
    """``needed`` are bounds that nobody declared: where there are some, the measure is of no use."""

    def __init__(self, measure: Measure, known: Known) -> None:
        self.needed: list[NeededBounds] = []
        self._measure, self._known = measure, known
        self._facts = facts_of(measure.relation)
        owned = ownership_of(measure.relation)
        assert isinstance(owned, Owned)
        self._single = owned.at_most == measure.copies  # a row's copies are in different groups
        self._hidden = not public_keys(measure, known).whole
        self._statistics: list[Statistic] = []
        self._families: list[Family] = []
        self._details = Details(measure, self._bounds)
        self._crossed: set[_Key] = set()
        for call in measure.aggregates:
            if Need.PRODUCT in shelf()[call.function].needs:
                self._crossed |= {_key(call), _swapped(_key(call))}

    def measure(self) -> Measure:
        m = self._measure
        picked = [filtered(call, self._facts) for call in m.aggregates]
        calls = [self._plain(call) for call in picked]
        units = self._alone(self._count(Part.UNITS, (None, None))) if self._hidden else None
        told = self._shared_families(calls)
        finishes = []
        for call, own, plain in zip(m.aggregates, picked, calls, strict=True):
            if Need.DETAIL in shelf()[call.function].needs:
                places = self._details.places(plain)
                finishes.append(Finish(call, (), released_type(call, m), places))
            else:
                used = self._used(plain, told)  # refuses first: it points at the argument
                finishes.append(Finish(own, used, released_type(call, m)))
        return replace(
            m,
            statistics=tuple(self._statistics),
            families=tuple(self._families),
            details=self._details.made(),
            finishes=tuple(finishes),
            units=units,
        )

    def _plain(self, call: AggregateCall) -> AggregateCall:
        """The call, with its argument left out where it is never NULL; units are rows where each has one."""
        if call.others and _key(call) not in self._crossed and call.function in SIDES:
            return self._one_side(call)
        argument = call.argument
        rule = shelf()[call.function]
        if rule.counts and argument is not None and self._always(argument):
            argument = None
        function = "count" if rule.counts_units and self._single else call.function
        return replace(call, function=function, argument=argument)

    def _always(self, argument: Scalar) -> bool:
        """Whether every row counts for COUNT(x), SUM(x) and AVG(x): no NULL, no NaN."""
        fact = fact_of(argument, self._facts)
        return not fact.nullable and fact.type.kind is not Kind.FLOAT

    def _one_side(self, call: AggregateCall) -> AggregateCall:
        """What reads one side of a pair, as an aggregate of that side with a condition."""
        sides = (call.argument, *call.others)
        read = [sides[place] for place in SIDES[call.function]]
        condition = call.condition
        for each in dict.fromkeys(sides):
            assert each is not None
            if each not in read and fact_of(each, self._facts).nullable:
                present = Call("is_not_null", (each,))
                condition = present if condition is None else Call("and", (condition, present))
        return replace(call, argument=read[0] if read else None, condition=condition, others=())

    # ---- which statistics --------------------------------------------------------------------------

    def _shared_families(self, calls: list[AggregateCall]) -> dict[_Key, _Cells]:
        """Families of several statistics, by what each tells: as few as can be.

        What is asked of equal arguments under equal conditions is asked of the same values of the same rows.
        """
        told: dict[_Key, _Cells] = {}
        for call in calls:
            if call.others and Need.DETAIL not in shelf()[call.function].needs and _key(call) not in told:
                self._cross(call, told)
        for call in calls:
            if Need.SQUARE in shelf()[call.function].needs and _key(call) not in told:
                told[_key(call)] = self._triple(call)
                if self._always(_argument(call)):
                    told[(), call.condition] = told[_key(call)]
        self._pairs(calls, told)
        return told

    def _cross(self, call: AggregateCall, told: dict[_Key, _Cells]) -> None:
        """Nine statistics; where the other side is never NULL, they tell all of each side."""
        (first, second), condition = _key(call)
        nine = self._nine(call)
        by_first = tuple(nine[3 * i : 3 * i + 3] for i in range(3))
        by_second = tuple(nine[i::3] for i in range(3))
        whole = tuple((position,) for position in nine)
        told[(first, second), condition] = whole
        told[(second, first), condition] = tuple(whole[3 * j + i] for i in range(3) for j in range(3))
        if first == second or self._always(second):
            told.setdefault(((first,), condition), by_first)
        if self._always(first):
            told.setdefault(((second,), condition), by_second)
        if self._always(first) and self._always(second):
            told.setdefault(((), condition), (nine,))

    def _pairs(self, calls: list[AggregateCall], told: dict[_Key, _Cells]) -> None:
        """Arguments of which rows and total are both wanted: a family of two statistics for each."""
        counted = {_key(call) for call in calls if shelf()[call.function].counts} - told.keys()
        if self._hidden and self._single:
            counted.discard(((), None))  # the hidden count tells it
        for call in calls:
            rule = shelf()[call.function]
            if call.argument is None or not {*_PAIRED} >= {*rule.needs} or Need.TOTAL not in rule.needs:
                continue
            key = _key(call)
            rows = ((), call.condition) if self._always(call.argument) else key
            if key not in told and (not rule.adds_up or rows in counted):
                told[key] = self._pair(call)
                counted.discard(rows)
                if rows not in told or _size(told[rows]) > 2:  # fewer cells tell it with less noise
                    told[rows] = told[key]

    def _used(self, call: AggregateCall, told: dict[_Key, _Cells]) -> _Cells:
        """The positions of the statistics that make one aggregate."""
        key = (call.argument, call.condition)
        needs = shelf()[call.function].needs
        if Need.UNITS in needs:
            return ((self._alone(self._count(Part.UNITS, key)),),)
        if key == (None, None) and self._hidden and self._single:
            return ((self._alone(self._count(Part.UNITS, key)),),)
        if _key(call) in told:
            return told[_key(call)]
        if Need.TOTAL in needs:
            return ((self._alone(self._total(call)),),)
        return ((self._alone(self._count(Part.ROWS, key)),),)

    def _alone(self, statistic: Statistic) -> int:
        """Its position: an equal one adds the same in every row, and is in the norm of its own family."""
        if statistic not in self._statistics:
            self._statistics.append(statistic)
            self._families.append(Family(((len(self._statistics) - 1,),), statistic.most))
        return self._statistics.index(statistic)

    # ---- the statistics ----------------------------------------------------------------------------

    def _count(self, part: Part, key: _Argument) -> Statistic:
        return Statistic(part, *key, step=Fraction(1, GRID), most=GRID)

    def _total(self, call: AggregateCall) -> Statistic:
        bounds, fact = self._bounds(call)
        most = max(abs(Fraction(bounds.low)), abs(Fraction(bounds.high)))
        step = _step(fact, most)
        return Statistic(
            Part.VALUE,
            call.argument,
            call.condition,
            step,
            max(1, math.ceil(most / step)),
            bounds.low,
            bounds.high,
        )

    def _pair(self, call: AggregateCall) -> _Cells:
        value = self._value(call)
        first = self._family((replace(value, part=Part.REST), value), value.most)
        return (first,), (first + 1,)

    def _triple(self, call: AggregateCall) -> _Cells:
        value = self._value(call)
        cells = tuple(replace(value, part=Part.BERNSTEIN, cell=i) for i in range(3))
        first = self._family(cells, value.most + SLACK)
        return (first,), (first + 1,), (first + 2,)

    def _value(self, call: AggregateCall) -> Statistic:
        """The place of an argument on the grid of its range."""
        bounds, fact = self._wide(call)
        width = Fraction(bounds.high) - Fraction(bounds.low)
        step = _step(fact, width)
        most, low, high = math.ceil(width / step), bounds.low, bounds.high
        return Statistic(Part.VALUE, _argument(call), call.condition, step, most, low, high, low)

    def _nine(self, call: AggregateCall) -> tuple[int, ...]:
        """Positions of the products of each side's three polynomials."""
        sides = (_argument(call), *call.others)
        first, second = (self._wide(replace(call, argument=side))[0] for side in sides)
        axis = Axis(sides[1], second.low, second.high)
        cell = Statistic(
            Part.BERNSTEIN,
            sides[0],
            call.condition,
            Fraction(1, GRID),
            GRID,
            first.low,
            first.high,
            other=axis,
        )
        start = self._family(tuple(replace(cell, cell=i) for i in range(9)), GRID + SLACK)
        return tuple(range(start, start + 9))

    def _family(self, statistics: tuple[Statistic, ...], most: int) -> int:
        """Add statistics of which one row adds at most ``most`` steps; the position of the first."""
        first = len(self._statistics)
        self._statistics += statistics
        self._families.append(Family((tuple(range(first, len(self._statistics))),), most))
        return first

    def _wide(self, call: AggregateCall) -> tuple[Interval, Fact]:
        """The range of an argument, made wider where it is one number: any grid will do for a constant."""
        bounds, fact = self._bounds(call)
        if Fraction(bounds.low) == Fraction(bounds.high):
            bounds = Interval(min(0, bounds.low), max(0, bounds.high) or 1)
        return bounds, fact

    def _bounds(self, call: AggregateCall) -> tuple[Interval, Fact]:
        """The range of an argument: finite, or the query is refused."""
        assert call.argument is not None
        facts = dict(self._facts)
        for part in conjuncts(call.condition) if call.condition is not None else ():
            narrow(facts, part)
        fact = fact_of(call.argument, facts)
        try:
            shelf()[call.function].result(fact, None)
            bounds = bounded_range(fact)
            if bounds is not None and max(abs(bounds.low), abs(bounds.high)) >= _LARGEST:
                raise Unbounded(
                    "these values do not fit the fixed-point grid",
                    f"divide the value by a constant, or clamp it: {_clamped(call, fact)}",
                    code="D305",
                )
            if bounds is None:
                raise Unbounded(
                    f"this {call.function.upper()} has no finite bound",
                    f"bound it: {_clamped(call, fact)}, or let the owner declare a range",
                )
        except Unbounded as finding:
            unbounded = finding.code == "D301"
            refusal = refuse(
                finding.code,
                finding.title,
                call.argument.span or call.span,
                label="its values can be any number" if unbounded else "",
                notes=self._declared(call.argument),
                help=finding.help,
            )
            if not unbounded:
                raise refusal from None
            self.needed.append(needed_bounds(self._measure.relation, (call.argument,), self._known, refusal))
            return _ANY, Fact(fact.type, _ANY, fact.nullable)
        return bounds, fact

    def _declared(self, argument: Scalar) -> tuple[str, ...]:
        """What the policy says of every column that the argument reads."""
        notes = []
        for table, column in sorted(origins_of(self._measure.relation, argument)):
            known = self._known.table(table)
            if known is None:
                continue
            fact = next(each.fact for each in known.columns if each.name == column)
            line = dict(known.lines).get(column)
            place = f" ({self._known.policy_name}:{line})" if line else ""
            bounds = bounded_range(fact)
            if bounds is None:
                notes.append(f"{table}.{column} has no declared range{place}")
                continue
            low, high = as_text(bounds.low, fact.type), as_text(bounds.high, fact.type)
            notes.append(f"{table}.{column} is in [{low}, {high}]{place}")
        return tuple(notes)


def _clamped(call: AggregateCall, fact: Fact) -> str:
    """The aggregate with limits of the analyst's own: NULL stays NULL, so that it counts for nothing."""
    if fact.type.kind in (Kind.DATE, Kind.TIMESTAMP):
        ends = (f"{fact.type.sql} '{day}'" for day in ("2020-01-01", "2029-12-31"))
        clamp = "CASE WHEN x IS NOT NULL THEN LEAST(GREATEST(x, {}), {}) END".format(*ends)
    else:
        clamp = "x CLAMPED BETWEEN 0 AND 500"
    if call.others and shelf()[call.function].arguments == 1:
        clamp = f"{clamp}, 0.5"
    elif call.others:
        clamp = f"y, {clamp}" if call.argument in call.others else f"{clamp}, y"
    return f"{call.function.upper()}({clamp})"


def _argument(call: AggregateCall) -> Scalar:
    assert call.argument is not None
    return call.argument


def _key(call: AggregateCall) -> _Key:
    arguments = () if call.argument is None else (call.argument, *call.others)
    return arguments, call.condition


def _swapped(key: _Key) -> _Key:
    return key[0][::-1], key[1]


def _size(cells: _Cells) -> int:
    return sum(len(group) for group in cells)


def bounded_range(fact: Fact) -> Interval | None:
    """The finite range of a number, from its domain or a small type; None when there is none."""
    if isinstance(fact.domain, Interval | Categories) or (
        isinstance(fact.domain, Listed) and fact.domain.bounds is not None
    ):
        bounds = range_of(fact)
    elif fact.domain == ANYTHING and fact.type.sql in _SMALL:
        bounds = type_range(fact.type)
    else:
        return None
    return bounds if bounds.finite else None


def _step(fact: Fact, most: Fraction) -> Fraction:
    """The value of a grid step: whole numbers and decimals fall on the grid exactly where they can.

    Else it is a power of two, so that scaling a floating-point value does not round it.
    """
    most = max(most, Fraction(1, 2**900))
    scale = decimal_size(fact.type)[1] if fact.type.kind is Kind.DECIMAL else 0
    if fact.type.kind in (Kind.INTEGER, Kind.BOOLEAN, Kind.DECIMAL):
        units = most * 10**scale
        if units.denominator == 1 and units <= GRID:
            return Fraction(1, 10**scale * (GRID // int(units)))
    exponent = math.floor(math.log2(most)) - 20
    while Fraction(2) ** exponent * GRID < most:
        exponent += 1
    return Fraction(2) ** exponent
