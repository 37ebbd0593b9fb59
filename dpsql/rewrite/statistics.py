"""Aggregates -> bounded statistics, each measured once.

    COUNT(x), SUM(x), AVG(x) over x in [0, 120]

    one family of two statistics: sum of x, and sum of 120 - x, on a grid of about 2^20 steps to 120

A row adds at most 2^20 steps in L1 to the two together; 2^24 where whole numbers or decimals have a longer
range, so that they are whole numbers of steps, which engines add up fast (engines/added_values.py). Decimals
of yet more digits are rounded first. Three separate sums would add three times as much: COUNT beside SUM
costs nothing more. A variance needs a family of three sums, which also give the count, the sum and the mean.
An aggregate of two arguments needs nine, which also give what the three give of each argument. If keys are
not public, a hidden count of units is added for the threshold.
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
from dpsql.facts.ownership import Owned, ownership_of, rows_of
from dpsql.facts.public_keys import public_keys
from dpsql.facts.released_columns import released_type
from dpsql.facts.schema import RelationFacts, fact_of, facts_of, most_rows, narrow
from dpsql.facts.unit_mass import mass_of
from dpsql.ir.bound import NeededBounds
from dpsql.ir.column import (
    Fact,
    Interval,
    Kind,
    Sized,
    Type,
    as_text,
    bounded_range,
    decimal_size,
    has_length,
    range_of,
)
from dpsql.ir.measure import Finish, Measure, Split
from dpsql.ir.relation import AggregateCall
from dpsql.ir.scalar import Call, Scalar, conjuncts
from dpsql.ir.statistic import SLACK, Axis, Family, Part, Statistic
from dpsql.policy.catalogue import Known
from dpsql.rewrite.details import Details
from dpsql.rewrite.filter_from_case import filtered
from dpsql.rewrite.linear import Lines, candidates, no_worse

GRID = 2**20
"""Most grid steps of one row."""

FINE = 2**24
"""The same where whole numbers or decimals have a longer range: most of them are multiples of a step then."""

_FINE_ROWS = 2**12
"""The most rows of a unit, times aggregates and copies, on that grid: its clip is far below the longest."""

_Argument: TypeAlias = tuple[Scalar | None, Scalar | None]
"""The argument of an aggregate, and its condition."""

_Key: TypeAlias = tuple[tuple[Scalar, ...], Scalar | None]
"""Zero, one or two arguments, and the condition."""

_Cells: TypeAlias = tuple[tuple[int, ...], ...]
"""Numbers as sums of statistics, each a tuple of their positions."""

_PAIRED = (Need.ROWS, Need.TOTAL)
"""Needs that a pair of sums fulfils."""

_WIDEST = 18
"""The most digits of a decimal of 64 bits: wider ones are divided slowly."""

_EXACT = (Kind.INTEGER, Kind.BOOLEAN, Kind.DECIMAL)

_LARGEST = 1e300
"""Largest absolute value; beyond it, floating-point arithmetic before the grid would overflow."""

_ANY = Interval(0, 1)
"""Stand-in for a missing range."""


def to_statistics(split: Split, known: Known) -> Split:
    """Give every measure its statistics and details, and the formulas of its aggregates over these."""
    needed = list(split.needed)
    try:
        stages = tuple(
            replace(stage, measures=tuple(_with_statistics(m, known, needed) for m in stage.measures))
            for stage in split.stages
        )
    except Error:
        if not needed:
            raise
        stages = ()  # an error after a missing bound may be due to the stand-in: the bound comes first
    return replace(split, stages=stages, needed=tuple(needed))


def _with_statistics(measure: Measure, known: Known, needed: list[NeededBounds]) -> Measure:
    """Give one measure its statistics; add missing bounds to ``needed`` and go on with stand-ins."""
    while True:
        statistics = _Statistics(measure, known)
        result = statistics.measure()
        if not statistics.needed:
            return _told_together(measure, known, result, statistics.candidates())
        needed += statistics.needed
        missing = NeededBounds.of_all(statistics.needed).bounds
        measure = replace(measure, relation=with_stand_ins(measure.relation, missing))
        if not uncounted(measure.relation):  # no other bound can be missing
            return measure


def _told_together(
    measure: Measure, known: Known, best: Measure, candidates: list[tuple[frozenset[int], Lines]]
) -> Measure:
    """Tell sums of lines of one argument together where that makes no aggregate less exact."""
    lines: Lines = {}
    done: frozenset[int] = frozenset()
    for places, more in candidates:
        if places & done:
            continue  # they are told together already
        together = _Statistics(measure, known, {**lines, **more}).measure()
        if no_worse(together, best):
            lines, best, done = {**lines, **more}, together, done | places
    return best


class _Statistics:
    """Builds the statistics of one measure. If there are ``needed`` bounds, the result is unusable."""

    def __init__(self, measure: Measure, known: Known, lines: Lines | None = None) -> None:
        self.needed: list[NeededBounds] = []
        self._measure, self._known = measure, known
        self._facts = facts_of(measure.relation)
        self._narrowed: dict[Scalar | None, RelationFacts] = {None: self._facts}
        owned = ownership_of(measure.relation)
        assert isinstance(owned, Owned)
        self._rows = measure.uncopied
        self._one_row = owned.at_most == measure.copies  # copies of a row are in different groups
        self._hidden_count = not public_keys(measure, known).whole
        self._statistics: list[Statistic] = []
        self._places: dict[Statistic, int] = {}
        self._families: list[Family] = []
        self._details = Details(measure, self._bounds)
        self._product_keys: set[_Key] = set()
        self._lines = lines or {}
        self._shifted: set[_Key] = set()
        self._grid = self._wanted_grid()
        for call in measure.aggregates:
            if Need.PRODUCT in shelf()[call.function].needs:
                self._product_keys |= {_key(call), _swapped(_key(call))}

    def _wanted_grid(self) -> int:
        """Return the most steps of a row: more where they hold values that are not multiples otherwise."""
        m = self._measure
        rows = most_rows(self._rows)
        if rows is None or rows * m.copies * (len(m.aggregates) + 1) > _FINE_ROWS or len(set(m.weights)) > 1:
            return GRID
        added = {Need.TOTAL, Need.SQUARE}
        summed = [
            call for call in m.aggregates if not call.others and added & {*shelf()[call.function].needs}
        ]
        ranges = [(self._fact(call), self._range(call)) for call in summed]
        units = [_most_units(fact, bounds) for fact, bounds in ranges if bounds is not None]
        return FINE if any(each > GRID for each in units) else GRID

    def measure(self) -> Measure:
        m = self._measure
        filtered_calls = [filtered(call, self._facts) for call in m.aggregates]
        calls = [self._simplified(call) for call in filtered_calls]
        for place, (argument, line) in self._lines.items():
            calls[place] = replace(calls[place], argument=argument)
            if line.offset:
                self._shifted.add(_key(calls[place]))
        units = self._own_family(self._count(Part.UNITS, (None, None))) if self._hidden_count else None
        shared = self._shared_families(calls)
        finishes = []
        for place, (call, filtered_call, simple) in enumerate(
            zip(m.aggregates, filtered_calls, calls, strict=True)
        ):
            if Need.DETAIL in shelf()[call.function].needs:
                places = self._details.places(simple)
                finishes.append(Finish(call, (), released_type(call, m), places))
            else:
                cells = self._cells_of(simple, shared)  # first: its refusal points at the argument
                read, told = filtered_call, None
                if place in self._lines:
                    argument, told = self._lines[place]
                    read = replace(filtered_call, argument=argument)
                finishes.append(Finish(read, cells, released_type(call, m), line=told))
        return replace(
            m,
            statistics=tuple(self._statistics),
            families=tuple(self._families),
            details=self._details.made(),
            finishes=tuple(finishes),
            units=units,
            counted=() if m.added_up else self._counted(shared),
        )

    def _counted(self, shared: dict[_Key, _Cells]) -> tuple[int, ...]:
        """Return the positions that add up to a count of the group, of its rows or units; empty without."""
        if cells := shared.get(((), None)):
            return tuple(sorted(position for group in cells for position in group))
        whole = (self._count(part, (None, None)) for part in (Part.ROWS, Part.UNITS))
        return next(((self._places[one],) for one in whole if one in self._places), ())

    def _simplified(self, call: AggregateCall) -> AggregateCall:
        """Drop an argument that is never NULL from a count; count rows for units if each unit has one row."""
        if call.others and _key(call) not in self._product_keys and call.function in SIDES:
            return self._of_one_side(call)
        argument = call.argument
        rule = shelf()[call.function]
        if rule.counts and argument is not None and self._always_counts(argument):
            argument = None
        function = "count" if rule.counts_units and self._one_row else call.function
        return replace(call, function=function, argument=argument)

    def _always_counts(self, argument: Scalar) -> bool:
        """Whether every row counts for COUNT(x), SUM(x) and AVG(x): no NULL, no NaN."""
        fact = fact_of(argument, self._facts)
        return not fact.nullable and fact.type.kind is not Kind.FLOAT

    def _of_one_side(self, call: AggregateCall) -> AggregateCall:
        """Turn an aggregate of one side of a pair into one of that side, under a condition."""
        sides = (call.argument, *call.others)
        read = [sides[place] for place in SIDES[call.function]]
        condition = call.condition
        for side in dict.fromkeys(sides):
            assert side is not None
            if side not in read and fact_of(side, self._facts).nullable:
                present = Call("is_not_null", (side,))
                condition = present if condition is None else Call("and", (condition, present))
        return replace(call, argument=read[0] if read else None, condition=condition, others=())

    def candidates(self) -> list[tuple[frozenset[int], Lines]]:
        """Return which sums may be told together; what has a weight is measured itself, and so are runs."""
        if self._measure.running or len(set(self._measure.weights)) > 1:
            return []
        calls = [self._simplified(filtered(call, self._facts)) for call in self._measure.aggregates]
        return candidates(calls, self._range, self._shares_rows)

    def _range(self, call: AggregateCall) -> Interval | None:
        """Return the finite range of an argument, or None where ``_bounds`` would need one or refuse it."""
        bounds = bounded_range(self._fact(call))
        return bounds if bounds is not None and max(abs(bounds.low), abs(bounds.high)) < _LARGEST else None

    # ---- which statistics --------------------------------------------------------------------------

    def _shared_families(self, calls: list[AggregateCall]) -> dict[_Key, _Cells]:
        """Build as few families of several statistics as possible, by the arguments and condition they serve.

        Aggregates with equal arguments and conditions read the same values of the same rows.
        """
        shared: dict[_Key, _Cells] = {}
        for call in calls:
            if call.others and Need.DETAIL not in shelf()[call.function].needs and _key(call) not in shared:
                self._add_product_family(call, shared)
        for call in calls:
            if Need.SQUARE in shelf()[call.function].needs and _key(call) not in shared:
                shared[_key(call)] = self._add_triple(call)
                if self._always_counts(_argument(call)):
                    shared[(), call.condition] = shared[_key(call)]
        self._add_pairs(calls, shared)
        return shared

    def _add_product_family(self, call: AggregateCall, shared: dict[_Key, _Cells]) -> None:
        """Add nine statistics of a pair; they also serve one side if the other side is never NULL."""
        (first, second), condition = _key(call)
        nine = self._product_cells(call)
        by_first = tuple(nine[3 * i : 3 * i + 3] for i in range(3))
        by_second = tuple(nine[i::3] for i in range(3))
        cells = tuple((position,) for position in nine)
        shared[(first, second), condition] = cells
        shared[(second, first), condition] = tuple(cells[3 * j + i] for i in range(3) for j in range(3))
        if first == second or self._always_counts(second):
            shared.setdefault(((first,), condition), by_first)
        if self._always_counts(first):
            shared.setdefault(((second,), condition), by_second)
        if self._always_counts(first) and self._always_counts(second):
            shared.setdefault(((), condition), (nine,))

    def _add_pairs(self, calls: list[AggregateCall], shared: dict[_Key, _Cells]) -> None:
        """Add a family of two statistics for each argument with both its rows and its total wanted."""
        counted = {_key(call) for call in calls if shelf()[call.function].counts} - shared.keys()
        if self._hidden_count and self._one_row:
            counted.discard(((), None))  # the hidden count gives it
        for call in calls:
            rule = shelf()[call.function]
            if call.argument is None or not {*_PAIRED} >= {*rule.needs} or Need.TOTAL not in rule.needs:
                continue
            if self._shares_rows(call.argument):  # a pair would count each of its rows in full
                continue
            key = _key(call)
            rows = ((), call.condition) if self._always_counts(call.argument) else key
            paired = not rule.adds_up or rows in counted or key in self._shifted
            if key not in shared and paired:
                shared[key] = self._add_pair(call)
                counted.discard(rows)
                if rows not in shared or _size(shared[rows]) > 2:  # fewer cells have less noise
                    shared[rows] = shared[key]

    def _cells_of(self, call: AggregateCall, shared: dict[_Key, _Cells]) -> _Cells:
        """Return the positions of the statistics that one aggregate is computed from."""
        key = (call.argument, call.condition)
        needs = shelf()[call.function].needs
        if Need.UNITS in needs:
            return ((self._own_family(self._count(Part.UNITS, key)),),)
        if key == (None, None) and self._hidden_count and self._one_row:
            return ((self._own_family(self._count(Part.UNITS, key)),),)
        if _key(call) in shared:
            return shared[_key(call)]
        if Need.TOTAL in needs:
            total = (self._own_family(self._total(call)),)
            if Need.ROWS not in needs:
                return (total,)
            counted = (None if self._always_counts(_argument(call)) else call.argument, call.condition)
            return ((self._own_family(self._count(Part.ROWS, counted)),), total)
        return ((self._own_family(self._count(Part.ROWS, key)),),)

    def _own_family(self, statistic: Statistic) -> int:
        """Return the position of a statistic, adding it with its own family unless an equal one exists."""
        place = self._places.get(statistic)
        return self._add_family((statistic,), statistic.most) if place is None else place

    # ---- the statistics ----------------------------------------------------------------------------

    def _count(self, part: Part, key: _Argument) -> Statistic:
        return Statistic(part, *key, step=Fraction(1, self._grid), most=self._grid)

    def _total(self, call: AggregateCall) -> Statistic:
        bounds, fact = self._bounds(call)
        most = max(abs(_exact(fact, bounds.low)), abs(_exact(fact, bounds.high)))
        # GRID**2 steps of a row fit 64 bits
        usual = max(self._usual(_argument(call)) or most, most * self._grid / GRID**2)
        step, digits = _step(fact, min(most, usual), self._grid)
        return Statistic(
            Part.VALUE,
            call.argument,
            call.condition,
            step,
            max(1, math.ceil(most / step)),
            bounds.low,
            bounds.high,
            digits=digits,
        )

    def _shares_rows(self, argument: Scalar) -> bool:
        """Whether a unit's values add up to much less than its rows times their range."""
        mass = mass_of(self._rows, argument)
        rows = None if mass is None else most_rows(self._rows)
        bounds = range_of(fact_of(argument, self._facts))
        if mass is None or rows is None or not bounds.finite:
            return False
        return 2 * mass < rows * max(abs(bounds.low), abs(bounds.high))

    def _usual(self, argument: Scalar) -> Fraction | None:
        """Return what a row of a unit adds on average, at most, where its values share a mass.

        The grid is as fine as for the rows that were summed: then the clip is as short, and a count of fewer
        rows beside it hardly lengthens it.
        """
        mass, rows = mass_of(self._rows, argument), rows_of(self._rows)
        return None if mass is None or not rows else mass / rows

    def _add_pair(self, call: AggregateCall) -> _Cells:
        value = self._value(call)
        first = self._add_family((replace(value, part=Part.REST), value), value.most)
        return (first,), (first + 1,)

    def _add_triple(self, call: AggregateCall) -> _Cells:
        value = self._value(call)
        cells = tuple(replace(value, part=Part.BERNSTEIN, cell=i) for i in range(3))
        first = self._add_family(cells, value.most + SLACK)
        return (first,), (first + 1,), (first + 2,)

    def _value(self, call: AggregateCall) -> Statistic:
        """Return the statistic of an argument on the grid of its range."""
        bounds, fact = self._widened_bounds(call)
        width = _exact(fact, bounds.high) - _exact(fact, bounds.low)
        step, digits = _step(fact, width, self._grid)
        most, low, high = math.ceil(width / step), bounds.low, bounds.high
        return Statistic(
            Part.VALUE, _argument(call), call.condition, step, most, low, high, low, digits=digits
        )

    def _product_cells(self, call: AggregateCall) -> tuple[int, ...]:
        """Add the nine products of the sides' three polynomials; return their positions."""
        sides = (_argument(call), *call.others)
        first, second = (self._widened_bounds(replace(call, argument=side))[0] for side in sides)
        axis = Axis(sides[1], second.low, second.high)
        cell = Statistic(
            Part.BERNSTEIN,
            sides[0],
            call.condition,
            Fraction(1, self._grid),
            self._grid,
            first.low,
            first.high,
            other=axis,
        )
        start = self._add_family(tuple(replace(cell, cell=i) for i in range(9)), self._grid + SLACK)
        return tuple(range(start, start + 9))

    def _add_family(self, statistics: tuple[Statistic, ...], most: int) -> int:
        """Add a family of at most ``most`` steps per row; return the position of its first statistic."""
        first = len(self._statistics)
        for place, statistic in enumerate(statistics, first):
            self._statistics.append(statistic)
            self._places.setdefault(statistic, place)
        self._families.append(Family((tuple(range(first, len(self._statistics))),), most))
        return first

    def _widened_bounds(self, call: AggregateCall) -> tuple[Interval, Fact]:
        """Return the range of an argument, widened if it is one number: any grid fits a constant."""
        bounds, fact = self._bounds(call)
        if Fraction(bounds.low) == Fraction(bounds.high):
            bounds = Interval(min(0, bounds.low), max(0, bounds.high) or 1)
        return bounds, fact

    def _bounds(self, call: AggregateCall) -> tuple[Interval, Fact]:
        """Return the finite range of an argument; without one, add a needed bound or refuse the query."""
        fact = self._fact(call)
        try:
            shelf()[call.function].result(fact, None)
            bounds = bounded_range(fact)
            if bounds is not None and max(abs(bounds.low), abs(bounds.high)) >= _LARGEST:
                raise Unbounded(
                    "these values do not fit the fixed-point grid",
                    f"divide the value by a constant, or clamp it: {_clamp_example(call, fact)}",
                    code="D305",
                )
            if bounds is None:
                raise Unbounded(
                    f"this {call.function.upper()} has no finite bound",
                    f"bound it: {_clamp_example(call, fact)}" + self._to_declare(_argument(call)),
                )
        except Unbounded as error:
            unbounded = error.code == "D301"
            refusal = refuse(
                error.code,
                error.title,
                _argument(call).span or call.span,
                label="its values can be any number" if unbounded else "",
                notes=self._declared_ranges(_argument(call)),
                help=error.help,
            )
            if not unbounded:
                raise refusal from None
            self.needed.append(
                needed_bounds(self._measure.relation, (_argument(call),), self._known, refusal)
            )
            return _ANY, Fact(fact.type, _ANY, fact.nullable)
        return bounds, fact

    def _fact(self, call: AggregateCall) -> Fact:
        """Return the fact of an argument under the condition."""
        if call.condition not in self._narrowed:
            facts = dict(self._facts)
            for part in conjuncts(call.condition) if call.condition is not None else ():
                narrow(facts, part)
            self._narrowed[call.condition] = RelationFacts(facts)
        return fact_of(_argument(call), self._narrowed[call.condition])

    def _to_declare(self, argument: Scalar) -> str:
        """Return what the policy may declare of the columns that an argument reads: a range, or a length.

        It declares nothing of what lists hold, and fields.
        """
        lacking, within = list[tuple[str, Type]](), False
        for name, column_name in sorted(origins_of(self._measure.relation, argument)):
            table = self._known.table(name)
            columns = () if table is None else table.columns
            fact = next((column.fact for column in columns if column.name == column_name), None)
            if fact is not None and bounded_range(fact) is None and not isinstance(fact.domain, Sized):
                lacking.append((column_name, fact.type))
            within = within or (fact is not None and fact.type.kind is Kind.OPAQUE)
        if lacking and all(has_length(kind) for _, kind in lacking):
            return f", or let the owner declare a length: {lacking[0][0]} = {{ length = 200 }}"
        return "" if within else ", or let the owner declare a range"

    def _declared_ranges(self, argument: Scalar) -> tuple[str, ...]:
        """Return notes with the policy's declaration of every column that the argument reads."""
        notes = []
        for table, column in sorted(origins_of(self._measure.relation, argument)):
            declared = self._known.table(table)
            if declared is None:
                continue
            fact = next(known_column.fact for known_column in declared.columns if known_column.name == column)
            line = dict(declared.lines).get(column)
            place = f" ({self._known.policy_name}:{line})" if line else ""
            bounds = bounded_range(fact)
            if bounds is None and isinstance(fact.domain, Sized):
                notes.append(f"{table}.{column} has a length of at most {fact.domain.most:,}{place}")
                continue
            if bounds is None and fact.type.kind is Kind.OPAQUE and not has_length(fact.type):
                continue
            if bounds is None:
                lacks = "length" if has_length(fact.type) else "range"
                notes.append(f"{table}.{column} has no declared {lacks}{place}")
                continue
            low, high = as_text(bounds.low, fact.type), as_text(bounds.high, fact.type)
            notes.append(f"{table}.{column} is in [{low}, {high}]{place}")
        return tuple(notes)


def _clamp_example(call: AggregateCall, fact: Fact) -> str:
    """Return the aggregate over a clamped argument, for a help. NULL stays NULL, so it adds nothing."""
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


def _step(fact: Fact, most: Fraction, grid: int) -> tuple[Fraction, int | None]:
    """Return the value of a grid step: whole numbers and decimals are multiples of it, if possible.

    Decimals of too many digits are on the fine grid when they are rounded to some: return these, too.
    Otherwise a step is a power of two, so that scaling a floating-point value does not round it.
    """
    most = max(most, Fraction(1, 2**900))
    scale = _scale(fact)
    if fact.type.kind in _EXACT:
        units = most * 10**scale
        if units.denominator == 1 and units <= grid:
            return Fraction(1, 10**scale * (grid // int(units))), None
        is_fast = grid > GRID and fact.type.kind is Kind.DECIMAL and decimal_size(fact.type)[0] <= _WIDEST
        for digits in reversed(range(scale if is_fast else 0)):
            if (units := math.ceil(most * 10**digits)) <= grid:
                return Fraction(1, 10**digits * (grid // units)), digits
    exponent = math.floor(math.log2(most / grid))
    step = Fraction(2) ** exponent
    return (step if step * grid >= most else 2 * step), None


def _most_units(fact: Fact, bounds: Interval) -> Fraction:
    """Return how many of its last digits a value has at most, from 0 on or from the range's lower end."""
    if fact.type.kind not in _EXACT:
        return Fraction(0)
    low, high = _exact(fact, bounds.low), _exact(fact, bounds.high)
    units: Fraction = max(abs(low), abs(high), high - low) * 10 ** _scale(fact)
    return units


def _scale(fact: Fact) -> int:
    return decimal_size(fact.type)[1] if fact.type.kind is Kind.DECIMAL else 0


def _exact(fact: Fact, end: float | int) -> Fraction:
    """Return the end of a range: of decimals, 0.1 is a tenth, not the DOUBLE that is next to it."""
    return Fraction(repr(end)) if fact.type.kind is Kind.DECIMAL else Fraction(end)
