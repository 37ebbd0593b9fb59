"""Conditions -> disjoint cells: each number that is asked for is the sum of some of them.

    age < 20                     cells: below 20, else       x      F, M, else
    sex = 'F'                    1  1  1  0  0  0
    sex = 'M' AND age >= 20      1  0  0  1  0  0
                                 0  0  0  0  1  0

Claim   every row is in exactly one cell, and a condition is true in a row if and only if W has a 1 for its
        cell.
Proof   A number counts where the pattern of each column says so, as all of its conditions are to be true.
        A row's number in a part is that of a tree of CASE, whose leaves cover all rows. On the way to a leaf
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

from dpsql.facts.schema import Facts
from dpsql.facts.truth_vectors import Question, TruthVectors, linked
from dpsql.ir.column import INTEGER
from dpsql.ir.scalar import Call, Literal, Scalar, conjuncts
from dpsql.ir.strategy import Integers
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.mechanisms.strategies.rows import Crossed

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

Bools: TypeAlias = "NDArray[np.bool_]"
Truths: TypeAlias = "NDArray[np.int8]"
"""1 is true, 0 is NULL, -1 is false."""

MOST = 1_280
"""Most cells of one matrix: a strategy for 1,024 is found in some seconds, and time grows with the cube."""

MOST_ENTRIES = 2**24
"""Most numbers times cells of one matrix."""

MOST_CROSSED = 2**16
"""Most cells in all; strategies for more than ``MOST`` have closed forms, or are products."""

_TRIED = 65_536
"""Most combinations of truth vectors of columns that one condition reads."""

_PATTERNS = 2**25
"""Most patterns times combinations."""

_LONG = 200
"""Conditions and results in a CASE from which on it is one."""

_Vector: TypeAlias = tuple[bool, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """The cells of some numbers: all combinations of the parts' results.

    ``parts`` are scalars that are whole numbers below their ``sizes``; the last part moves fastest. ``rows``
    say which cells each number is the sum of; parts that one condition reads are one column of theirs.
    """

    parts: tuple[Scalar, ...]
    sizes: tuple[int, ...]
    rows: Crossed

    @property
    def fit_one_matrix(self) -> bool:
        cells = math.prod(self.sizes)
        return cells <= MOST and cells * len(self.rows) <= MOST_ENTRIES


def cells_of(numbers: Sequence[Sequence[Scalar]], facts: Facts) -> Cells | None:
    """Return the cells of numbers, each the rows in which all its conditions are true; None if too many."""
    leaves, conditions = _Leaves(facts), _Conjuncts()
    asked = [conditions.numbered(each) for each in numbers]
    for condition in conditions.scalars:
        leaves.add(condition)
    axes = leaves.axes()
    if not axes:  # too many combinations, or no condition
        return None
    truths = _Truths(axes)
    read = [truths.read_by(condition) for condition in conditions.scalars]
    links, patterns = _links(read, len(axes)), list[tuple[Bools, Integers]]()
    for link in links:
        found = _patterns(link, read, asked, conditions.scalars, truths)
        if found is None:
            return None
        patterns.append(found)
    never: Bools = np.zeros(len(numbers), dtype=np.bool_)
    for rows, chosen in patterns:
        counts = np.array([row.any() for row in rows], dtype=np.bool_)
        never = never | ~counts[chosen]
    parts, sizes, columns = list[Scalar](), list[int](), list[tuple[Integers, Integers]]()
    for link, (rows, chosen) in zip(links, patterns, strict=True):
        rows, chosen = _without(rows, chosen, never)
        before = len(parts)
        for place, axis in enumerate(link):
            kinds, firsts = _kinds(np.moveaxis(rows, place + 1, 0))
            rows = np.take(rows, firsts, axis=place + 1)
            if len(firsts) > 1:
                parts.append(axes[axis].scalar(kinds))
                sizes.append(len(firsts))
        if len(parts) > before:
            columns.append((rows.reshape(len(rows), -1).astype(np.int64), chosen))
    if not parts or math.prod(sizes) > MOST_CROSSED:
        return None
    chosen = np.stack([chosen for _, chosen in columns], axis=1)
    return Cells(tuple(parts), tuple(sizes), Crossed(tuple(rows for rows, _ in columns), chosen))


class _Conjuncts:
    """The parts of conditions that are all to be true, each kept once."""

    def __init__(self) -> None:
        self.scalars: list[Scalar] = []
        self._numbers: dict[str, int] = {}
        self._known: dict[int, tuple[Scalar, frozenset[int]]] = {}

    def numbered(self, conditions: Sequence[Scalar]) -> frozenset[int]:
        """Return the numbers of the parts of all these conditions."""
        return frozenset().union(*(self._of(condition) for condition in conditions))

    def _of(self, condition: Scalar) -> frozenset[int]:
        known = self._known.get(id(condition))
        if known is None:  # the condition is kept, so that no other has its id
            numbers = frozenset(self._number(part) for part in conjuncts(condition))
            known = self._known[id(condition)] = (condition, numbers)
        return known[1]

    def _number(self, scalar: Scalar) -> int:
        name = repr(scalar)
        if name not in self._numbers:
            self._numbers[name] = len(self.scalars)
            self.scalars.append(scalar)
        return self._numbers[name]


def _links(read: Sequence[frozenset[int]], axes: int) -> list[list[int]]:
    """Group axes that conditions read together."""
    alone = [frozenset((axis,)) for axis in range(axes)]
    return [[place for place in link if place < axes] for link in linked([*alone, *read])]


def _patterns(
    link: Sequence[int],
    read: Sequence[frozenset[int]],
    asked: Sequence[frozenset[int]],
    conditions: Sequence[Scalar],
    truths: _Truths,
) -> tuple[Bools, Integers] | None:
    """Return the patterns of columns, each all over their vectors, and that of each number."""
    own = frozenset(place for place, axes in enumerate(read) if not axes.isdisjoint(link))
    numbers = dict[frozenset[int], int]()
    chosen = [numbers.setdefault(each & own, len(numbers)) for each in asked]
    shape = tuple(len(truths.axes[axis].vectors) for axis in link)
    if math.prod(shape) > _TRIED or math.prod(shape) * len(numbers) > _PATTERNS:
        return None
    rows = np.ones((len(numbers), *shape), dtype=np.bool_)
    for row, each in zip(rows, numbers, strict=True):
        for place in each:
            row &= truths.along(link, conditions[place]) == 1
    return rows, np.array(chosen, dtype=np.int64)


def _without(rows: Bools, chosen: Integers, never: Bools) -> tuple[Bools, Integers]:
    """Return the patterns of numbers that may count something; of the others, one that never does."""
    used, numbers = np.unique(chosen[~never], return_inverse=True)
    again = np.full(len(chosen), len(used), dtype=np.int64)
    again[~never] = numbers.ravel()
    kept = rows[used]
    return (np.concatenate((kept, np.zeros_like(rows[:1]))) if never.any() else kept), again


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
        """Return the number of a row's kind as a tree of CASE; ``kinds`` has one for each vector.

        A long list of values is one CASE: Python does not read what is nested hundreds deep. A short one is
        nested, as it is written in ledgers.
        """
        vectors = np.array(self.vectors, dtype=bool)

        def tree(places: list[int]) -> Scalar:
            parts: list[Scalar] = []
            while len({kinds[place] for place in places}) > 1:
                true = vectors[places].sum(axis=0)
                at = int(np.minimum(true, len(places) - true).argmax())  # the most even one
                leaf = self.leaves[at // 2]
                parts.append(Call("not", (leaf,)) if at % 2 else leaf)
                parts.append(tree([place for place in places if self.vectors[place][at]]))
                places = [place for place in places if not self.vectors[place][at]]
            last: Scalar = Literal(kinds[places[0]], INTEGER)
            if len(parts) > _LONG:
                return Call("case", (*parts, last))
            while parts:
                *parts, condition, yes = parts
                last = Call("case", (condition, yes, last))
            return last

        return tree(list(range(len(self.vectors))))


class _Truths:
    """The truth of conditions in every combination of truth vectors."""

    def __init__(self, axes: Sequence[_Axis]) -> None:
        self.axes = axes
        self._known: dict[str, Truths] = {}
        self._axis_of: dict[str, int] = {}
        for place, axis in enumerate(axes):
            shape = [1] * len(axes)
            shape[place] = len(axis.vectors)
            columns = np.array(axis.vectors, dtype=np.int8)
            for number, leaf in enumerate(axis.leaves):
                truth = columns[:, 2 * number] - columns[:, 2 * number + 1]
                self._known[repr(leaf)] = truth.reshape(shape)
                self._axis_of[repr(leaf)] = place

    def read_by(self, condition: Scalar) -> frozenset[int]:
        return frozenset(self._axis_of[repr(leaf)] for leaf in _leaves(condition))

    def along(self, link: Sequence[int], condition: Scalar) -> Truths:
        """Return the truth of a condition along the axes of its link alone."""
        truth = self.of(condition)
        return truth.reshape([truth.shape[axis] for axis in link])

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
