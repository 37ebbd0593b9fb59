"""Conditions -> disjoint cells: each number that is asked for is the sum of some of them.

    age < 20                     cells: below 20, else       x      F, M, else
    sex = 'F'                    1  1  1  0  0  0
    sex = 'M' AND age >= 20      1  0  0  1  0  0
                                 0  0  0  0  1  0

Claim   every row is in exactly one cell, and a condition is true in a row if and only if W has a 1 for its
        cell.
Proof   A row's number in a part is that of a tree of CASE, whose leaves cover all rows. On the way to a leaf
        the same comparisons were made of the row, true or not true, as of the truth vectors at the leaf; all
        vectors that a row can have are listed (facts/truth_vectors.py), and those at one leaf do not differ
        in any number. A condition is made of comparisons by AND, OR and NOT, in three-valued logic.
        That a row is in one cell at most, which is what the sensitivity rests on, needs no truth vectors: a
        CASE has one result, and the cell is the group of these results.
Test    tests/privacy/test_joint.py, and every fixture whose numbers are measured together
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from dpsql.facts.schema import Facts
from dpsql.facts.truth_vectors import Question, TruthVectors, linked
from dpsql.ir.column import INTEGER
from dpsql.ir.scalar import Call, Literal, Scalar
from dpsql.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Bools: TypeAlias = "NDArray[np.bool_]"
Truths: TypeAlias = "NDArray[np.int8]"
"""1 is true, 0 is NULL, -1 is false."""

MOST = 1_280
"""Most cells: a strategy for 1,024 is found in some seconds, and the time grows with the cube."""

_TRIED = 65_536
"""Most combinations of truth vectors before those are merged that no number tells apart."""

_NUMBERS = 2**25
"""Most numbers times combinations."""

_Vector: TypeAlias = tuple[bool, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of some numbers: all combinations of the parts' results.

    ``parts`` are scalars that are whole numbers below their ``sizes``. ``rows`` has a row for each number and
    a column for each cell; the last part moves fastest.
    """

    parts: tuple[Scalar, ...]
    sizes: tuple[int, ...]
    rows: Bools


def cells_of(numbers: Sequence[Sequence[Scalar]], facts: Facts) -> Cells | None:
    """Return the cells of numbers, each the rows in which all its conditions are true; None if too many."""
    leaves = _Leaves(facts)
    for conditions in numbers:
        for condition in conditions:
            leaves.add(condition)
    axes = leaves.axes()
    if not axes:  # too many combinations, or no condition
        return None
    sizes = tuple(len(axis.vectors) for axis in axes)
    if math.prod(sizes) > _TRIED or math.prod(sizes) * len(numbers) > _NUMBERS:
        return None
    truths = _Truths(axes)
    rows = np.empty((len(numbers), *sizes), dtype=np.bool_)
    for row, conditions in zip(rows, numbers, strict=True):
        row[...] = True
        for condition in conditions:
            row &= truths.of(condition) == 1
    parts, merged = list[Scalar](), list[int]()
    for place, axis in enumerate(axes):
        kinds, firsts = _kinds(np.moveaxis(rows, place + 1, 0))
        rows = np.take(rows, firsts, axis=place + 1)
        if len(firsts) > 1:
            parts.append(axis.scalar(kinds))
            merged.append(len(firsts))
    if math.prod(merged) > MOST:
        return None
    return Cells(tuple(parts), tuple(merged), rows.reshape(len(numbers), -1))


def _kinds(by_vector: Bools) -> tuple[list[int], list[int]]:
    """Return which of the first axis are the same: a number for each, and the first place of each number."""
    numbers: dict[bytes, int] = {}
    kinds, firsts = [], []
    for place, each in enumerate(by_vector):
        told = np.packbits(each).tobytes()
        if told not in numbers:
            numbers[told] = len(numbers)
            firsts.append(place)
        kinds.append(numbers[told])
    return kinds, firsts


class _Leaves:
    """The comparisons that conditions are made of; equal ones are one."""

    def __init__(self, facts: Facts) -> None:
        self._truths = TruthVectors(facts)
        self._scalars: dict[str, Scalar] = {}
        self._added: set[str] = set()

    def add(self, condition: Scalar) -> None:
        if repr(condition) in self._added:
            return
        self._added.add(repr(condition))
        for leaf in _leaves(condition):
            self._scalars.setdefault(repr(leaf), leaf)

    def axes(self) -> list[_Axis] | None:
        """Return the comparisons in sets that share no value; None if there are too many combinations."""
        scalars = list(self._scalars.values())
        questions = [
            (self._truths.is_true(scalar), self._truths.is_true(Call("not", (scalar,)))) for scalar in scalars
        ]
        axes = []
        for together in linked([true.values for true, _ in questions]):
            asked: list[Question] = [question for place in together for question in questions[place]]
            vectors = self._truths.vectors(asked)
            if vectors is None:
                return None
            axes.append(_Axis(tuple(scalars[place] for place in together), sorted(vectors, reverse=True)))
        return axes


@dataclass(slots=True)
class _Axis:
    """Comparisons that share values, and the truth vectors of rows: whether each is true, is false."""

    leaves: tuple[Scalar, ...]
    vectors: list[_Vector]

    def scalar(self, kinds: Sequence[int]) -> Scalar:
        """Return the number of a row's kind as a tree of CASE; ``kinds`` has one for each vector."""

        def tree(places: list[int]) -> Scalar:
            if len({kinds[place] for place in places}) == 1:
                return Literal(kinds[places[0]], INTEGER)
            columns = zip(*(self.vectors[place] for place in places), strict=True)
            even = [min(sum(column), len(places) - sum(column)) for column in columns]
            at = even.index(max(even))
            yes = [place for place in places if self.vectors[place][at]]
            no = [place for place in places if not self.vectors[place][at]]
            leaf = self.leaves[at // 2]
            condition = Call("not", (leaf,)) if at % 2 else leaf
            return Call("case", (condition, tree(yes), tree(no)))

        return tree(list(range(len(self.vectors))))


class _Truths:
    """The truth of conditions in every combination of truth vectors."""

    def __init__(self, axes: Sequence[_Axis]) -> None:
        self._known: dict[str, Truths] = {}
        for place, axis in enumerate(axes):
            shape = [1] * len(axes)
            shape[place] = len(axis.vectors)
            columns = np.array(axis.vectors, dtype=np.int8)
            for number, leaf in enumerate(axis.leaves):
                truth = columns[:, 2 * number] - columns[:, 2 * number + 1]
                self._known[repr(leaf)] = truth.reshape(shape)

    def of(self, condition: Scalar) -> Truths:
        name = repr(condition)
        if name not in self._known:
            self._known[name] = self._computed(condition)
        return self._known[name]

    def _computed(self, condition: Scalar) -> Truths:
        assert isinstance(condition, Call)
        parts = [self.of(part) for part in condition.arguments]
        if condition.function == "not":
            return -parts[0]
        fold = np.minimum if condition.function == "and" else np.maximum
        found = parts[0]
        for part in parts[1:]:
            found = fold(found, part)
        return found


def _leaves(condition: Scalar) -> Iterator[Scalar]:
    match condition:
        case Call("and" | "or" | "not", parts):
            for part in parts:
                yield from _leaves(part)
        case _:
            yield condition
