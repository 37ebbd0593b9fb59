"""Which conditions can be true of one row together.

    age < 30, age < 60      11, 01 and 00, but never 10
    sex = 'F', sex = 'M'    10, 01 and 00, but never 11

Claim   every row of whatever data has one of the truth vectors that ``vectors`` lists.
Proof   Constants cut the values of an ordered type into places: below the first, at it, between it and the
        next... A comparison with constants, made in a type that keeps every value of the column apart and in
        order, depends on the place alone. Whatever else a condition reads is a value of its own with places
        true, false and NULL. All combinations of places are tried; a row has one of them.
Test    tests/unit/test_truths.py: DuckDB's own truth vectors of random rows

Declared ranges and lists have no say here, types and NOT NULL have: rows may break what is declared.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import TypeAlias, assert_never

from dpsql.facts.schema import Facts, fact_of
from dpsql.facts.value_cells import NAN, Constant, Place, Truth, constants_of, one_compared
from dpsql.functions import Argument
from dpsql.functions.core.conversion import sure
from dpsql.ir.column import BOOLEAN, Fact, Kind, Type, decimal_size
from dpsql.ir.scalar import Call, Literal, Ref, Scalar

_Row: TypeAlias = Sequence[Place]
_TruthOf: TypeAlias = Callable[[_Row], Truth]

_TRIED = 150_000
"""Combinations of places times questions that are tried at most."""

_PAIRED, _TRIED_OF_TWO = 64, 1_000
"""Questions of which any two are tried, where all together are too many; and how much of these."""


@dataclass(slots=True)
class _Value:
    """What is told apart of one value of a row.

    Constants have numbers, in the order in which they are met; ``at`` is the place of each among those that
    the questions at hand ask about.
    """

    type: Type
    nullable: bool
    numbers: dict[Constant, int] = field(default_factory=dict)
    at: list[Place] = field(default_factory=list)

    def number(self, constant: Constant) -> int:
        return self.numbers.setdefault(constant, len(self.numbers))

    def places(self, cuts: Iterable[Constant]) -> list[Place]:
        """Where it can lie among these constants, each of which gets its place."""
        ordered = sorted(cuts)  # numbers or texts, never both
        self.at = [None] * len(self.numbers)
        for i, each in enumerate(ordered):
            self.at[self.numbers[each]] = 2 * i + 1
        held = self._occupied(ordered)
        return [*held, None] if self.nullable else [*held]

    def _occupied(self, ordered: list[Constant]) -> list[int]:
        """The places where there are values: whole numbers, decimals of so many digits, false and true."""
        found = list(range(2 * len(ordered) + 1))
        match self.type.kind:
            case Kind.BOOLEAN:
                return found[1::2]
            case Kind.INTEGER | Kind.DATE | Kind.TIMESTAMP:
                per_one = 1
            case Kind.DECIMAL:
                per_one = 10 ** decimal_size(self.type)[1]
            case _:
                return found
        ends = [each * per_one for each in ordered if isinstance(each, Fraction)]
        inside = [end.denominator == 1 for end in ends]
        between = [math.floor(low) + 1 < high for low, high in itertools.pairwise(ends)]
        open_ = [True, *between, True] if ends else [True]
        return [each for each in found if (inside[each // 2] if each % 2 else open_[each // 2])]


@dataclass(frozen=True, slots=True)
class Question:
    """A question that every row answers with yes or no.

    It depends on the ``values`` alone, and on these by whether they are below, at or above the ``cuts``.
    """

    true: Callable[[_Row], bool]
    values: frozenset[int]
    cuts: frozenset[tuple[int, Constant]]


class TruthVectors:
    """Conditions over the columns of one relation, taken apart."""

    def __init__(self, facts: Facts) -> None:
        self._facts = facts
        self._values: list[_Value] = []
        self._known: dict[str, int] = {}
        self._read: set[int] = set()
        self._cuts: set[tuple[int, Constant]] = set()

    # ---- questions ---------------------------------------------------------------------------------

    def is_true(self, condition: Scalar | None) -> Question:
        """Whether a condition is true, not false or NULL; no condition always is."""
        return self._test([] if condition is None else [(condition, self._condition)])

    def is_given(self, condition: Scalar | None, argument: Scalar) -> Question:
        """Whether the condition is true and the argument is not NULL."""
        parts = [] if condition is None else [(condition, self._condition)]
        return self._test([*parts, (argument, self._given)])

    def adds(self, condition: Scalar | None, argument: Scalar) -> Question:
        """Whether the condition is true and the argument can be another number than 0."""
        parts = [] if condition is None else [(condition, self._condition)]
        return self._test([*parts, (argument, self._nonzero)])

    def _test(self, parts: list[tuple[Scalar, Callable[[Scalar], _TruthOf]]]) -> Question:
        self._read, self._cuts = set(), set()
        told = [how(scalar) for scalar, how in parts]

        def true(row: _Row) -> bool:
            return all(each(row) is True for each in told)

        return Question(true, frozenset(self._read), frozenset(self._cuts))

    # ---- answers -----------------------------------------------------------------------------------

    def vectors(self, tests: Sequence[Question], most: int = _TRIED) -> frozenset[tuple[bool, ...]] | None:
        """All answers that one row can give; None where they are too many to try."""
        used = sorted(frozenset[int]().union(*(each.values for each in tests)))
        cuts: dict[int, set[Constant]] = {i: set() for i in used}
        for i, cut in frozenset[tuple[int, Constant]]().union(*(each.cuts for each in tests)):
            cuts[i].add(cut)
        choices = [self._values[i].places(cuts[i]) for i in used]
        if math.prod(len(each) for each in choices) * len(tests) > most:
            return None
        row: list[Place] = [None] * len(self._values)
        found = set()
        for places in itertools.product(*choices):
            for i, place in zip(used, places, strict=True):
                row[i] = place
            found.add(tuple(each.true(row) for each in tests))
        return frozenset(found)

    def overlaps(self, tests: Sequence[Question]) -> list[set[int]]:
        """For every test, which others can be true with it (all of which nothing better is known)."""
        parts = linked([each.values for each in tests])
        found = [0] * len(tests)  # bits
        for part in parts:
            others = sum(1 << i for i in range(len(tests))) - sum(1 << i for i in part)
            for i in part:
                found[i] |= others
            vectors = self.vectors([tests[i] for i in part])
            if vectors is None:
                for i, j in itertools.combinations(part, 2):
                    if self._meet(tests[i], tests[j], len(part)):
                        found[i] |= 1 << j
                        found[j] |= 1 << i
                continue
            for vector in vectors:
                true = [i for i, yes in zip(part, vector, strict=True) if yes]
                together = sum(1 << i for i in true)
                for i in true:
                    found[i] |= together
        return [{j for j in range(len(tests)) if j != i and bits >> j & 1} for i, bits in enumerate(found)]

    def _meet(self, one: Question, other: Question, among: int) -> bool:
        both = self.vectors((one, other), _TRIED_OF_TWO) if among <= _PAIRED else None
        return both is None or (True, True) in both

    # ---- conditions, three-valued --------------------------------------------------------------------

    def _condition(self, scalar: Scalar) -> _TruthOf:
        match scalar:
            case Literal(value=None):
                return _constantly(None)
            case Literal(value=bool() as value):
                return _constantly(value)
            case Call("and", parts):
                return _all([self._condition(each) for each in parts])
            case Call("or", parts):
                negated = _all([_not(self._condition(each)) for each in parts])
                return _not(negated)
            case Call("not", (inner,)):
                return _not(self._condition(inner))
            case Call("is_null" | "is_not_null" as word, (inner,)):
                given = self._given(inner)
                return given if word == "is_not_null" else _not(given)
            case Call("is_not_distinct_from" | "is_distinct_from" as word, (inner, Literal(value=value))) if (
                isinstance(value, bool) and self._is_logical(inner)
            ):
                told = self._condition(inner)
                same = word == "is_not_distinct_from"
                return lambda row: (told(row) is value) == same
            case Call("case", parts) if self._is_logical(scalar):
                return self._chosen(parts, self._condition, missing=None)
            case Call("coalesce", parts) if self._is_logical(scalar):
                return _first([self._condition(each) for each in parts])
            case Call("isnan", (inner,)) if fact_of(inner, self._facts).type.kind is Kind.FLOAT:
                return self._against(inner, ">=", [NAN])
            case Call("=" | "<>" | "<" | "<=" | ">" | ">=" | "between" | "in", _):
                return self._comparison(scalar) or self._apart(scalar)
            case Call("is_not_distinct_from" | "is_distinct_from", _):
                return self._comparison(scalar) or self._apart(scalar)
            case Ref() | Literal() | Call():
                return self._apart(scalar)
            case _:
                assert_never(scalar)

    def _is_logical(self, scalar: Scalar) -> bool:
        return fact_of(scalar, self._facts).type == BOOLEAN

    def _apart(self, scalar: Scalar) -> _TruthOf:
        """A condition of which nothing is known but that it is true, false or NULL."""
        i = self._value(scalar)
        value = self._values[i]
        if value.type != BOOLEAN:  # NULL as a condition
            return lambda row: None
        true = value.number(Fraction(1))
        return lambda row: None if row[i] is None else row[i] == value.at[true]

    def _chosen(self, parts: Sequence[Scalar], how: Callable[[Scalar], _TruthOf], missing: Truth) -> _TruthOf:
        """What a CASE says: the branch of the first condition that is true."""
        whens = [self._condition(each) for each in parts[: len(parts) // 2 * 2 : 2]]
        thens = [how(each) for each in parts[1::2]]
        otherwise = how(parts[-1]) if len(parts) % 2 else None

        def told(row: _Row) -> Truth:
            for when, then in zip(whens, thens, strict=True):
                if when(row) is True:
                    return then(row)
            return missing if otherwise is None else otherwise(row)

        return told

    def _given(self, scalar: Scalar) -> _TruthOf:
        """Whether a value is not NULL: true or false."""
        match scalar:
            case Literal(value=value):
                return lambda row: value is not None
            case Call("case", parts) if self._unconverted(scalar, [*parts[1::2], parts[-1]]):
                return self._chosen(parts, self._given, missing=False)
            case Call("coalesce", parts) if self._unconverted(scalar, parts):
                any_given = [self._given(each) for each in parts]
                return lambda row: any(each(row) is True for each in any_given)
            case _ if self._is_logical(scalar):
                told = self._condition(scalar)
                return lambda row: told(row) is not None
            case _:
                i = self._value(scalar)
                return lambda row: row[i] is not None

    def _unconverted(self, whole: Scalar, parts: Sequence[Scalar]) -> bool:
        """Whether no part becomes NULL on the way to the type of the whole."""
        target = fact_of(whole, self._facts).type
        return all(sure(Argument(Fact(fact_of(each, self._facts).type)), target) for each in parts)

    def _nonzero(self, scalar: Scalar) -> _TruthOf:
        """Whether a number is given and is not surely 0."""
        match scalar:
            case Literal(value=bool() | int() | float() | Decimal() as value):
                return lambda row: value != 0
            case Call("case", parts):
                return self._chosen(parts, self._nonzero, missing=False)
            case Call("*", parts):
                factors = [self._nonzero(each) for each in parts]
                return lambda row: all(each(row) is True for each in factors)
            case Call("cast", (inner,)) if self._is_logical(inner):
                told = self._condition(inner)
                return lambda row: told(row) is True
            case _ if self._is_logical(scalar):
                told = self._condition(scalar)
                return lambda row: told(row) is True
            case _:
                return self._given(scalar)

    # ---- comparisons with constants ------------------------------------------------------------------

    def _comparison(self, call: Call) -> _TruthOf | None:
        """A comparison as a function of the value's place; None where it depends on more."""
        (first, *others), sign = call.arguments, call.function
        if isinstance(first, Literal) and len(others) == 1:
            first, others, sign = others[0], [first], _TURNED[sign]
        literals = [each for each in others if isinstance(each, Literal)]
        if isinstance(first, Literal) or len(literals) < len(others):
            return None
        fact = fact_of(first, self._facts)
        constants = constants_of(fact.type, literals)
        if constants is None:
            return None
        return self._against(first, sign, constants)

    def _against(self, scalar: Scalar, sign: str, constants: Sequence[Constant | None]) -> _TruthOf:
        i = self._value(scalar)
        value = self._values[i]
        self._cuts |= {(i, each) for each in constants if each is not None}
        numbers = [None if each is None else value.number(each) for each in constants]

        def told(row: _Row) -> Truth:
            return _compared(sign, row[i], [None if n is None else value.at[n] for n in numbers])

        return told

    def _value(self, scalar: Scalar) -> int:
        """Equal texts of scalars are one value of a row."""
        name = repr(scalar)
        if name not in self._known:
            fact = fact_of(scalar, self._facts)
            self._known[name] = len(self._values)
            self._values.append(_Value(fact.type, fact.nullable))
        i = self._known[name]
        self._read.add(i)
        if self._values[i].type == BOOLEAN:
            for each in (Fraction(0), Fraction(1)):
                self._values[i].number(each)
                self._cuts.add((i, each))
        return i


_TURNED = {
    "<": ">",
    "<=": ">=",
    ">": "<",
    ">=": "<=",
    **{word: word for word in ("=", "<>", "in", "is_distinct_from", "is_not_distinct_from")},
}


def _compared(sign: str, place: Place, others: Sequence[Place]) -> Truth:
    """SQL's comparison, of places."""
    if sign in ("is_distinct_from", "is_not_distinct_from"):
        return (place == others[0]) == (sign == "is_not_distinct_from")
    if sign == "between":
        low, high = others
        return _both(one_compared(">=", place, low), one_compared("<=", place, high))
    if sign == "in":
        some = _not(_all([_constantly(one_compared("<>", place, each)) for each in others]))
        return some(())
    return one_compared(sign, place, others[0])


def _both(one: Truth, other: Truth) -> Truth:
    return False if one is False or other is False else None if one is None or other is None else True


def _constantly(truth: Truth) -> _TruthOf:
    return lambda row: truth


def _all(parts: Sequence[_TruthOf]) -> _TruthOf:
    def told(row: _Row) -> Truth:
        found: Truth = True
        for each in parts:
            truth = each(row)
            if truth is False:
                return False
            if truth is None:
                found = None
        return found

    return told


def _not(part: _TruthOf) -> _TruthOf:
    def told(row: _Row) -> Truth:
        truth = part(row)
        return None if truth is None else not truth

    return told


def _first(parts: Sequence[_TruthOf]) -> _TruthOf:
    return lambda row: next((truth for each in parts if (truth := each(row)) is not None), None)


def linked(sets: Iterable[frozenset[int]]) -> list[list[int]]:
    """Positions of sets, in parts that have nothing in common; the parts by their first position."""
    parts: list[tuple[list[int], set[int]]] = []
    for position, each in enumerate(sets):
        touching = [part for part in parts if part[1] & each]
        parts = [part for part in parts if not part[1] & each]
        positions = sorted(position for part in touching for position in part[0])
        parts.append(([*positions, position], set(each).union(*(part[1] for part in touching))))
    return sorted(positions for positions, _ in parts)
