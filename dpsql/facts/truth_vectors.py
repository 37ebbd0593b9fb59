"""Which conditions can be true of one row together.

    age < 30, age < 60      11, 01 and 00, but never 10
    sex = 'F', sex = 'M'    10, 01 and 00, but never 11

Claim   for any data, the truth vector of every row is one of those that ``vectors`` lists.
Proof   Constants cut the values of an ordered type into places: below the first, at it, between it and the
        next... A comparison with constants depends on the place alone, if it is made in a type that keeps all
        values of the column distinct and in order. Anything else that a condition reads is a value of its own
        with the places true, false and NULL. All combinations of places are tried; a row has one of them.
Test    tests/unit/test_truths.py: DuckDB's own truth vectors of random rows

Declared ranges and lists are not used, since rows may break them. Types and NOT NULL are used.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias, assert_never

from dpsql.facts.schema import Facts, fact_of
from dpsql.facts.value_cells import NAN, Constant, Place, Truth, constants_of, one_compared
from dpsql.functions import Argument
from dpsql.functions.core.conversion import sure
from dpsql.ir.column import BOOLEAN, Fact, Kind, Type, decimal_size
from dpsql.ir.scalar import Call, Literal, Ref, Scalar
from dpsql.lazy_dataclass import dataclass

_Row: TypeAlias = Sequence[Place]
_TruthOf: TypeAlias = Callable[[_Row], Truth]

_TRIED = 150_000
"""Most combinations of places times questions that are tried."""

_TRIED_CONSTANTS = 2_000_000
"""Most combinations of places times constants that are tried for the values that a condition leaves."""

_PAIRED, _TRIED_OF_TWO = 64, 1_000
"""Where questions are too many together: how many may be compared in pairs, and the limit of one pair."""


@dataclass(slots=True)
class _Value:
    """One value of a row, by its place among constants.

    Constants are numbered in the order of their appearance. ``at`` is the place of each among the constants
    of the current questions.
    """

    type: Type
    nullable: bool
    numbers: dict[Constant, int] = field(default_factory=dict)
    at: list[Place] = field(default_factory=list)

    def number(self, constant: Constant) -> int:
        return self.numbers.setdefault(constant, len(self.numbers))

    def places(self, cuts: Iterable[Constant]) -> list[Place]:
        """Return the places that the value can have among these constants, and set ``at``."""
        ordered = sorted(cuts)  # numbers or texts, never both
        self.at = [None] * len(self.numbers)
        for i, constant in enumerate(ordered):
            self.at[self.numbers[constant]] = 2 * i + 1
        occupied = self._occupied(ordered)
        return [*occupied, None] if self.nullable else [*occupied]

    def _occupied(self, ordered: list[Constant]) -> list[int]:
        """Return the non-empty places: an integer, a decimal of fixed scale or a boolean skips some."""
        places = list(range(2 * len(ordered) + 1))
        match self.type.kind:
            case Kind.BOOLEAN:
                return places[1::2]
            case Kind.INTEGER | Kind.DATE | Kind.TIMESTAMP | Kind.TIMESTAMPTZ:
                per_one = 1
            case Kind.DECIMAL:
                per_one = 10 ** decimal_size(self.type)[1]
            case _:
                return places
        ends = [constant * per_one for constant in ordered if isinstance(constant, Fraction)]
        inside = [end.denominator == 1 for end in ends]
        between = [math.floor(low) + 1 < high for low, high in itertools.pairwise(ends)]
        open_ = [True, *between, True] if ends else [True]
        return [place for place in places if (inside[place // 2] if place % 2 else open_[place // 2])]


@dataclass(frozen=True, slots=True)
class Question:
    """A question that every row answers with yes or no.

    The answer depends on the ``values`` alone: on whether they are below, at or above the ``cuts``.
    """

    true: Callable[[_Row], bool]
    values: frozenset[int]
    cuts: frozenset[tuple[int, Constant]]


class TruthVectors:
    """Conditions over the columns of one relation, reduced to comparisons of places."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._values: list[_Value] = []
        self._known: dict[str, int] = {}
        self._read: set[int] = set()
        self._cuts: set[tuple[int, Constant]] = set()
        self.tried = 0
        """How many answers have been tried for vectors so far."""

    # ---- questions ---------------------------------------------------------------------------------

    def is_true(self, condition: Scalar | None) -> Question:
        """Ask whether a condition is true (not false or NULL); no condition is always true."""
        return self._test([] if condition is None else [(condition, self._condition)])

    def is_given(self, condition: Scalar | None, argument: Scalar) -> Question:
        """Ask whether the condition is true and the argument is not NULL."""
        parts = [] if condition is None else [(condition, self._condition)]
        return self._test([*parts, (argument, self._not_null)])

    def adds(self, condition: Scalar | None, argument: Scalar) -> Question:
        """Ask whether the condition is true and the argument can be a number other than 0."""
        parts = [] if condition is None else [(condition, self._condition)]
        return self._test([*parts, (argument, self._nonzero)])

    def _test(self, parts: list[tuple[Scalar, Callable[[Scalar], _TruthOf]]]) -> Question:
        self._read, self._cuts = set(), set()
        truths = [how(scalar) for scalar, how in parts]

        def true(row: _Row) -> bool:
            return all(truth_of(row) is True for truth_of in truths)

        return Question(true, frozenset(self._read), frozenset(self._cuts))

    # ---- answers -----------------------------------------------------------------------------------

    def vectors(
        self, tests: Sequence[Question], most: int = _TRIED, at_most: int | None = None
    ) -> frozenset[tuple[bool, ...]] | None:
        """Return all answers that one row can give; None where there are too many combinations to try.

        None too where there are more than ``at_most`` answers.
        """
        used = sorted(frozenset[int]().union(*(test.values for test in tests)))
        cuts: dict[int, set[Constant]] = {i: set() for i in used}
        for i, cut in frozenset[tuple[int, Constant]]().union(*(test.cuts for test in tests)):
            cuts[i].add(cut)
        choices = [self._values[i].places(cuts[i]) for i in used]
        if math.prod(len(places) for places in choices) * len(tests) > most:
            return None
        found = set[tuple[bool, ...]]()
        true = [test.true for test in tests]
        for row in self._combinations(used, choices):
            found.add(tuple([each(row) for each in true]))
            self.tried += len(true)
            if at_most is not None and len(found) > at_most:
                return None
        return frozenset(found)

    def values_left(
        self, condition: Scalar, of: Scalar, constants: Sequence[Constant]
    ) -> frozenset[int | None] | None:
        """Return which constants a value may equal where a condition is true; None in it is another, or NULL.

        None where the condition says nothing of the value, or has too many combinations to try.
        """
        test = self.is_true(condition)
        i = self._value(of)
        if i not in test.values:
            return None
        value = self._values[i]
        numbers = [value.number(constant) for constant in constants]
        cuts: dict[int, set[Constant]] = {place: set() for place in sorted(test.values)}
        for place, cut in {*test.cuts, *self._cuts, *((i, constant) for constant in constants)}:
            if place in cuts:
                cuts[place].add(cut)
        choices = [self._values[place].places(cuts[place]) for place in cuts]
        constants_tried = max(1, sum(map(len, cuts.values())))
        if math.prod(map(len, choices)) * constants_tried > _TRIED_CONSTANTS:
            return None
        at = {value.at[number]: which for which, number in enumerate(numbers)}
        return frozenset(at.get(row[i]) for row in self._combinations([*cuts], choices) if test.true(row))

    def _combinations(self, used: Sequence[int], choices: Sequence[Sequence[Place]]) -> Iterator[_Row]:
        """Yield every combination of places, always in the same list."""
        row: list[Place] = [None] * len(self._values)
        for places in itertools.product(*choices):
            for i, place in zip(used, places, strict=True):
                row[i] = place
            yield row

    def overlaps(self, tests: Sequence[Question]) -> list[set[int]]:
        """Return for every question those that can be true with it: all of them where nothing is known."""
        parts = linked([test.values for test in tests])
        overlaps = [0] * len(tests)  # bits
        for part in parts:
            unrelated = sum(1 << i for i in range(len(tests))) - sum(1 << i for i in part)
            for i in part:
                overlaps[i] |= unrelated
            vectors = self.vectors([tests[i] for i in part])
            if vectors is None:
                for i, j in itertools.combinations(part, 2):
                    if self._can_both_hold(tests[i], tests[j], len(part)):
                        overlaps[i] |= 1 << j
                        overlaps[j] |= 1 << i
                continue
            for vector in vectors:
                true = [i for i, yes in zip(part, vector, strict=True) if yes]
                together = sum(1 << i for i in true)
                for i in true:
                    overlaps[i] |= together
        return [{j for j in range(len(tests)) if j != i and bits >> j & 1} for i, bits in enumerate(overlaps)]

    def _can_both_hold(self, first: Question, second: Question, among: int) -> bool:
        both = self.vectors((first, second), _TRIED_OF_TWO) if among <= _PAIRED else None
        return both is None or (True, True) in both

    # ---- conditions, three-valued --------------------------------------------------------------------

    def _condition(self, scalar: Scalar) -> _TruthOf:
        match scalar:
            case Literal(value=None):
                return _constant(None)
            case Literal(value=bool() as value):
                return _constant(value)
            case Call("and", parts):
                return _all([self._condition(part) for part in parts])
            case Call("or", parts):
                negated = _all([_not(self._condition(part)) for part in parts])
                return _not(negated)
            case Call("not", (inner,)):
                return _not(self._condition(inner))
            case Call("is_null" | "is_not_null" as word, (inner,)):
                not_null = self._not_null(inner)
                return not_null if word == "is_not_null" else _not(not_null)
            case Call("is_not_distinct_from" | "is_distinct_from" as word, (inner, Literal(value=value))) if (
                isinstance(value, bool) and self._is_logical(inner)
            ):
                truth_of = self._condition(inner)
                same = word == "is_not_distinct_from"
                return lambda row: (truth_of(row) is value) == same
            case Call("case", parts) if self._is_logical(scalar):
                return self._case(parts, self._condition, missing=None)
            case Call("coalesce", parts) if self._is_logical(scalar):
                return _first([self._condition(part) for part in parts])
            case Call("isnan", (inner,)) if fact_of(inner, self._facts).type.kind is Kind.FLOAT:
                return self._against(inner, ">=", [NAN])
            case Call("=" | "<>" | "<" | "<=" | ">" | ">=" | "between" | "in", _):
                return self._comparison(scalar) or self._opaque(scalar)
            case Call("is_not_distinct_from" | "is_distinct_from", _):
                return self._comparison(scalar) or self._opaque(scalar)
            case Ref() | Literal() | Call():
                return self._opaque(scalar)
            case _:
                assert_never(scalar)

    def _is_logical(self, scalar: Scalar) -> bool:
        return fact_of(scalar, self._facts).type == BOOLEAN

    def _opaque(self, scalar: Scalar) -> _TruthOf:
        """Return a condition that is known only to be true, false or NULL."""
        i = self._value(scalar)
        value = self._values[i]
        if value.type != BOOLEAN:  # NULL as a condition
            return lambda row: None
        true = value.number(Fraction(1))
        return lambda row: None if row[i] is None else row[i] == value.at[true]

    def _case(self, parts: Sequence[Scalar], how: Callable[[Scalar], _TruthOf], missing: Truth) -> _TruthOf:
        """Return the truth of a CASE: that of the first branch with a true condition."""
        whens = [self._condition(part) for part in parts[: len(parts) // 2 * 2 : 2]]
        thens = [how(part) for part in parts[1::2]]
        otherwise = how(parts[-1]) if len(parts) % 2 else None

        def truth_of(row: _Row) -> Truth:
            for when, then in zip(whens, thens, strict=True):
                if when(row) is True:
                    return then(row)
            return missing if otherwise is None else otherwise(row)

        return truth_of

    def _not_null(self, scalar: Scalar) -> _TruthOf:
        """Whether a value is not NULL: true or false."""
        match scalar:
            case Literal(value=value):
                return lambda row: value is not None
            case Call("case", parts) if self._unconverted(scalar, [*parts[1::2], parts[-1]]):
                return self._case(parts, self._not_null, missing=False)
            case Call("coalesce", parts) if self._unconverted(scalar, parts):
                any_not_null = [self._not_null(part) for part in parts]
                return lambda row: any(truth_of(row) is True for truth_of in any_not_null)
            case _ if self._is_logical(scalar):
                truth_of = self._condition(scalar)
                return lambda row: truth_of(row) is not None
            case _:
                i = self._value(scalar)
                return lambda row: row[i] is not None

    def _unconverted(self, scalar: Scalar, parts: Sequence[Scalar]) -> bool:
        """Whether no part becomes NULL when it is converted to the type of the scalar."""
        target = fact_of(scalar, self._facts).type
        return all(sure(Argument(Fact(fact_of(part, self._facts).type)), target) for part in parts)

    def _nonzero(self, scalar: Scalar) -> _TruthOf:
        """Whether a number is not NULL and not certainly 0."""
        match scalar:
            case Literal(value=bool() | int() | float() | Decimal() as value):
                return lambda row: value != 0
            case Call("case", parts):
                return self._case(parts, self._nonzero, missing=False)
            case Call("*", parts):
                factors = [self._nonzero(part) for part in parts]
                return lambda row: all(factor(row) is True for factor in factors)
            case Call("cast", (inner,)) if self._is_logical(inner):
                truth_of = self._condition(inner)
                return lambda row: truth_of(row) is True
            case _ if self._is_logical(scalar):
                truth_of = self._condition(scalar)
                return lambda row: truth_of(row) is True
            case _:
                return self._not_null(scalar)

    # ---- comparisons with constants ------------------------------------------------------------------

    def _comparison(self, call: Call) -> _TruthOf | None:
        """Return a comparison as a function of the value's place; None where it depends on more."""
        (first, *bounds), sign = call.arguments, call.function
        if isinstance(first, Literal) and len(bounds) == 1:
            first, bounds, sign = bounds[0], [first], _MIRRORED[sign]
        literals = [bound for bound in bounds if isinstance(bound, Literal)]
        if isinstance(first, Literal) or len(literals) < len(bounds):
            return None
        fact = fact_of(first, self._facts)
        constants = constants_of(fact.type, literals)
        if constants is None:
            return None
        return self._against(first, sign, constants)

    def _against(self, scalar: Scalar, sign: str, constants: Sequence[Constant | None]) -> _TruthOf:
        i = self._value(scalar)
        value = self._values[i]
        self._cuts |= {(i, constant) for constant in constants if constant is not None}
        numbers = [None if constant is None else value.number(constant) for constant in constants]

        known: dict[Place, Truth] = {}  # of the present places of the constants
        at = value.at

        def truth_of(row: _Row) -> Truth:
            nonlocal at
            if value.at is not at:
                at = value.at
                known.clear()
            place = row[i]
            if place not in known:
                known[place] = _compare(sign, place, [None if n is None else at[n] for n in numbers])
            return known[place]

        return truth_of

    def _value(self, scalar: Scalar) -> int:
        """Return the position of this value in a row; scalars with equal text share one."""
        name = repr(scalar)
        if name not in self._known:
            fact = fact_of(scalar, self._facts)
            self._known[name] = len(self._values)
            self._values.append(_Value(fact.type, fact.nullable))
        i = self._known[name]
        self._read.add(i)
        if self._values[i].type == BOOLEAN:
            for constant in (Fraction(0), Fraction(1)):
                self._values[i].number(constant)
                self._cuts.add((i, constant))
        return i


_MIRRORED = {
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
    **{word: word for word in ("=", "<>", "in", "is_distinct_from", "is_not_distinct_from")},
}


def _compare(sign: str, place: Place, bounds: Sequence[Place]) -> Truth:
    """Compare places as SQL compares values."""
    if sign in ("is_distinct_from", "is_not_distinct_from"):
        return (place == bounds[0]) == (sign == "is_not_distinct_from")
    if sign == "between":
        low, high = bounds
        return _and(one_compared(">=", place, low), one_compared("<=", place, high))
    if sign == "in":
        some = _not(_all([_constant(one_compared("<>", place, bound)) for bound in bounds]))
        return some(())
    return one_compared(sign, place, bounds[0])


def _and(first: Truth, second: Truth) -> Truth:
    if first is False or second is False:
        return False
    return None if first is None or second is None else True


def _constant(truth: Truth) -> _TruthOf:
    return lambda row: truth


def _all(parts: Sequence[_TruthOf]) -> _TruthOf:
    def truth_of(row: _Row) -> Truth:
        result: Truth = True
        for part in parts:
            truth = part(row)
            if truth is False:
                return False
            if truth is None:
                result = None
        return result

    return truth_of


def _not(part: _TruthOf) -> _TruthOf:
    def truth_of(row: _Row) -> Truth:
        truth = part(row)
        return None if truth is None else not truth

    return truth_of


def _first(parts: Sequence[_TruthOf]) -> _TruthOf:
    return lambda row: next((truth for part in parts if (truth := part(row)) is not None), None)


def linked(sets: Iterable[frozenset[int]]) -> list[list[int]]:
    """Group the positions of sets into connected components, ordered by their first position."""
    parts: list[tuple[list[int], set[int]]] = []
    for position, members in enumerate(sets):
        touching = [part for part in parts if part[1] & members]
        parts = [part for part in parts if not part[1] & members]
        positions = sorted(position for part in touching for position in part[0])
        parts.append(([*positions, position], set(members).union(*(part[1] for part in touching))))
    return sorted(positions for positions, _ in parts)
