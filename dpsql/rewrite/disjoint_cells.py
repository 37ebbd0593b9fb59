"""Overlapping conditions -> disjoint cells, if sums of cells are more exact.

    COUNT(*) FILTER (WHERE age < 18), COUNT(*) FILTER (WHERE age < 65), COUNT(*)

    one by one   a row counts up to three times: three numbers with the noise of an L1 of 3
    cells        below 18; from 18 to 65; all else, NULL included: a row counts once, the numbers are sums of
                 one, two and three cells with the noise of an L1 of 1

Claim   a row is in at most one cell of a block, and in at most one of the families that are merged.
Proof   Two cells differ in a condition that is true in one of them and not true in the other: their own
        conditions say so, for any data. Families are merged only if no row can be active in both
        (facts/truth_vectors.py). So one row adds at most the largest ``most`` of them.
Test    tests/privacy/test_atoms.py, grammar_tests/aggregates/overlaps.sql

A cell's condition is its path in a tree that splits the truth vectors, so it tests no more than needed.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, TypeAlias

from dpsql.facts.schema import facts_of
from dpsql.facts.truth_vectors import Question, TruthVectors, linked
from dpsql.ir.column import BOOLEAN
from dpsql.ir.measure import Measure
from dpsql.ir.scalar import Call, Literal, Scalar
from dpsql.ir.statistic import Family, Part, Statistic
from dpsql.late_numpy import np
from dpsql.lazy_dataclass import dataclass
from dpsql.once_each import once_each

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

_FAMILIES = 300
"""Most families compared at a time; families of different parts count as overlapping."""

_CONDITIONS, _CELLS = 300, 512
"""Most conditions and cells of a block; a larger block is split in halves."""

_WORK = 1_000_000
"""Most answers that are tried for the blocks of one measure: what is left is measured one by one. A model has
thousands of conditions, and cells of those that tell little of each other gain a tenth at most."""

_COMBINATIONS = 64
"""Most combinations of blocks that are compared."""

_Vector = tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class _Block:
    """Families (positions) that differ only in their conditions, and the truth vectors of these.

    If the conditions are nested, every ``width`` consecutive cells are also measured as one run.
    """

    families: tuple[int, ...]
    conditions: tuple[Scalar | None, ...]
    vectors: tuple[_Vector, ...]
    width: int = 0


def candidates(measure: Measure) -> list[Measure]:
    """Return the most exact rewrites of a measure: the best under an L1 norm, and the best under L2."""
    return _rewrites(measure) if len(measure.families) > 1 else [measure]


@once_each
def _rewrites(measure: Measure) -> list[Measure]:
    truths = TruthVectors(facts_of(measure.relation))
    apart = _apart([_may_add(family, measure, truths) for family in measure.families], truths)
    options = [[(), *blocks] for blocks in _options(measure, truths)]  # alive: levels go by identity
    combinations = itertools.islice(itertools.product(*options), _COMBINATIONS)
    levels: dict[int, _Made] = {}  # of each block once: many combinations have it
    rewrites = [
        _with_cells(measure, [block for blocks in combination for block in blocks], apart, levels)
        for combination in combinations
    ]
    best = [min(rewrites, key=cost) for cost in (_cost_in_l1, _cost_in_l2)]
    return best[:1] if best[0] is best[1] else best


def load(measure: Measure) -> Fraction:
    """Add the variances of all numbers, in units of the variance of a cell with a ``most`` of one step.

    The hidden count of units is one of the numbers: it decides which groups are shown.
    """
    cells = [cell for finish in measure.finishes for number in finish.statistics for cell in number]
    if measure.units is not None and measure.units not in cells:
        cells.append(measure.units)
    times = Counter(measure.statistics[cell].most for cell in cells)
    return sum((Fraction(count, most**2) for most, count in times.items()), Fraction(0))


def _cost_in_l1(measure: Measure) -> Fraction:
    return load(measure) * sum(family.most for family in measure.families) ** 2


def _cost_in_l2(measure: Measure) -> Fraction:
    return load(measure) * sum(family.most**2 for family in measure.families)


# ---- when a row adds to a family ---------------------------------------------------------------------


def _may_add(family: Family, measure: Measure, truths: TruthVectors) -> Question:
    """Return the question whether a row can add anything to a family."""
    alone = len(family.statistics) == 1
    questions = [_statistic_may_add(measure.statistics[i], alone, truths) for i in family.statistics]
    values = frozenset(value for question in questions for value in question.values)
    cuts = frozenset(cut for question in questions for cut in question.cuts)
    return Question(lambda row: any(question.true(row) for question in questions), values, cuts)


def _apart(questions: list[Question], truths: TruthVectors) -> list[set[int]]:
    """Return for every family the others that no row is active in too; compared in parts."""
    apart: list[set[int]] = []
    for start in range(0, len(questions), _FAMILIES):
        part = questions[start : start + _FAMILIES]
        for i, together in enumerate(truths.overlaps(part)):
            apart.append({start + j for j in range(len(part)) if j != i and j not in together})
    return apart


def _statistic_may_add(statistic: Statistic, alone: bool, truths: TruthVectors) -> Question:
    """Return the question for one statistic: NULL adds nothing, nor does 0 to a sum without offset."""
    if statistic.argument is None:
        return truths.is_true(statistic.condition)
    starts_at_zero = statistic.offset == 0 and statistic.low <= 0 <= statistic.high
    if statistic.part is Part.VALUE and alone and starts_at_zero:
        return truths.adds(statistic.condition, statistic.argument)
    return truths.is_given(statistic.condition, statistic.argument)


# ---- cells -------------------------------------------------------------------------------------------


def _options(measure: Measure, truths: TruthVectors) -> Iterator[list[tuple[_Block, ...]]]:
    """Yield options for each set of families that differ only in their conditions.

    The options are one block of all families, or one block for each part that shares no value with the
    others; both also with runs. Statistics that are equal without their conditions add the same for the
    same row, so all families of a set have the same cells.
    """
    alike: dict[tuple[Statistic, ...], list[int]] = {}
    for place, family in enumerate(measure.families):
        statistics = [measure.statistics[i] for i in family.statistics]
        if all(statistic.part is not Part.UNITS for statistic in statistics):
            alike.setdefault(tuple(_unconditional(statistic) for statistic in statistics), []).append(place)
    for places in alike.values():
        conditions = {i: _condition(measure.statistics[measure.families[i].statistics[0]]) for i in places}
        questions = {i: truths.is_true(conditions[i]) for i in places}
        parts = [[places[i] for i in part] for part in linked([questions[i].values for i in places])]
        constant = [i for i in places if not questions[i].values]
        dependent = sorted((part for part in parts if questions[part[0]].values), key=len)
        if constant and dependent:  # constant conditions add at most one cell to a block
            dependent[-1] = sorted((*dependent[-1], *constant))
        options = []
        for split in ([places], dependent) if len(dependent) > 1 else ([places],):
            blocks = tuple(block for part in split for block in _blocks(part, conditions, questions, truths))
            if blocks:
                options.append(blocks)
                with_runs = tuple(_with_runs(block) for block in blocks)
                if with_runs != blocks:
                    options.append(with_runs)
        yield options


def _blocks(
    part: list[int],
    conditions: dict[int, Scalar | None],
    questions: dict[int, Question],
    truths: TruthVectors,
) -> list[_Block]:
    """Return the families as one block if it is small enough, else as the blocks of their halves."""
    if len(part) < 2 or truths.tried > _WORK:
        return []
    vectors = None
    if len(part) <= _CONDITIONS:
        vectors = truths.vectors([questions[i] for i in part], at_most=_CELLS)
    if vectors is None:
        middle = len(part) // 2
        halves = (part[:middle], part[middle:])
        return [block for half in halves for block in _blocks(half, conditions, questions, truths)]
    if all(sum(vector) <= 1 for vector in vectors):
        return []
    possible = [any(vector[i] for vector in vectors) for i in range(len(part))]
    if not all(possible):  # a number that is always 0 is measured as it is
        nonzero = [i for i, yes in zip(part, possible, strict=True) if yes]
        return _blocks(nonzero, conditions, questions, truths)
    return [_Block(tuple(part), tuple(conditions[i] for i in part), tuple(sorted(vectors, reverse=True)))]


def _with_runs(block: _Block) -> _Block:
    """Add runs of about the square root of the number of cells, if the block's conditions are nested."""
    steps = sorted((vector for vector in block.vectors if any(vector)), key=sum)
    nested = all(sum(map(max, low, high)) == sum(high) for low, high in itertools.pairwise(steps))
    return replace(block, width=math.isqrt(len(steps))) if nested and len(steps) >= 9 else block


def _unconditional(statistic: Statistic) -> Statistic:
    argument = None if statistic.part is Part.ROWS else statistic.argument
    return replace(statistic, condition=None, argument=argument)


def _condition(statistic: Statistic) -> Scalar | None:
    """Return when a row counts: for a count, a condition that its argument is not NULL is part of it."""
    if statistic.part is not Part.ROWS or statistic.argument is None:
        return statistic.condition
    own = [statistic.condition] if statistic.condition else []
    return _all_of([*own, Call("is_not_null", (statistic.argument,))])


def _cells(block: _Block) -> Iterator[tuple[_Vector, Scalar | None]]:
    """Yield the vectors in which some condition is true, each with its path in the tree as a condition."""

    truths = np.array(block.vectors, dtype=bool)

    def split(rows: NDArray[np.int64], path: list[Scalar]) -> Iterator[tuple[_Vector, Scalar | None]]:
        if len(rows) == 1:
            vector = block.vectors[rows[0]]
            if any(vector):
                yield vector, _all_of(path)
            return
        true = truths[rows].sum(axis=0)
        i = int(np.argmax(np.minimum(true, len(rows) - true)))  # the first that splits most evenly
        condition = block.conditions[i]
        assert condition is not None, "a condition that is always true splits nothing"
        untrue = Call("is_distinct_from", (condition, Literal(True, BOOLEAN)))
        yes = truths[rows, i]
        yield from split(rows[yes], [*path, condition])
        yield from split(rows[~yes], [*path, untrue])

    return split(np.arange(len(block.vectors)), [])


_Levels: TypeAlias = list[list[tuple[_Vector, Scalar | None]]]

_Made: TypeAlias = list[list[tuple[_Vector, tuple[Statistic, ...]]]]
"""The same, with each cell's statistics."""


def _levels(block: _Block) -> _Levels:
    """Return the cells, each with the families that add it and its condition.

    With runs there are two lists, runs and cells: a family adds the runs that it contains, and the cells of
    one more run.
    """
    if not block.width:
        return [list(_cells(block))]
    cells = sorted(_cells(block), key=lambda cell: sum(cell[0]))
    vectors = [vector for vector, _ in cells]
    starts = vectors[:: block.width]
    opening = [  # the condition that is true from here on
        next(i for i, yes in enumerate(vector) if yes and not (before and before[i]))
        for before, vector in zip([(), *vectors[block.width - 1 :: block.width]], starts, strict=False)
    ]
    runs = _Block(
        block.families,
        tuple(block.conditions[i] for i in opening),
        tuple(sorted({tuple(vector[i] for i in opening) for vector in block.vectors}, reverse=True)),
    )
    run_cells = sorted(_cells(runs), key=lambda cell: sum(cell[0]))
    rest = [
        (tuple(yes and not run for yes, run in zip(vector, starts[p // block.width], strict=True)), path)
        for p, (vector, path) in enumerate(cells)
    ]
    return [
        [(start, path) for start, (_, path) in zip(starts, run_cells, strict=True)],
        [(uses, path) for uses, path in rest if any(uses)],
    ]


def _made(block: _Block, measure: Measure) -> _Made:
    """Return the statistics of the block's cells."""
    family = measure.families[block.families[0]]
    bare = [_unconditional(measure.statistics[i]) for i in family.statistics]
    return [
        [(uses, tuple(replace(each, condition=condition) for each in bare)) for uses, condition in level]
        for level in _levels(block)
    ]


def _all_of(parts: list[Scalar]) -> Scalar | None:
    return None if not parts else parts[0] if len(parts) == 1 else Call("and", tuple(parts))


# ---- the measure -------------------------------------------------------------------------------------


def _with_cells(
    measure: Measure, blocks: list[_Block], apart: list[set[int]], levels: dict[int, _Made]
) -> Measure:
    """Replace the blocks' families by cells, and merge families that no row is active in together."""
    first = {block.families[0]: block for block in blocks}
    inside = {i for block in blocks for i in block.families}
    statistics: list[Statistic] = []
    moved: dict[int, list[int]] = {}
    families: list[tuple[Family, frozenset[int]]] = []  # each with the positions of the old ones
    for place, family in enumerate(measure.families):
        if place in first:
            block = first[place]
            if id(block) not in levels:
                levels[id(block)] = _made(block, measure)
            for level in levels[id(block)]:
                cells: list[tuple[int, ...]] = []
                for uses, made in level:
                    for i in itertools.compress(block.families, uses):
                        for k, old in enumerate(measure.families[i].statistics):
                            moved.setdefault(old, []).append(len(statistics) + k)
                    cells.append(tuple(range(len(statistics), len(statistics) + len(made))))
                    statistics += made
                families.append((Family(tuple(cells), family.most), frozenset(block.families)))
        elif place not in inside:
            for old in family.statistics:
                moved[old] = [len(statistics)]
                statistics.append(measure.statistics[old])
            kept = tuple(tuple(new for i in old_ones for new in moved[i]) for old_ones in family.alternatives)
            families.append((Family(kept, family.most), frozenset((place,))))
    finishes = tuple(
        replace(
            finish,
            statistics=tuple(tuple(n for i in number for n in moved[i]) for number in finish.statistics),
        )
        for finish in measure.finishes
    )
    return replace(
        measure,
        statistics=tuple(statistics),
        families=tuple(_merge_disjoint(families, apart)),
        finishes=finishes,
        units=None if measure.units is None else moved[measure.units][0],
        counted=tuple(new for old in measure.counted for new in moved[old]),
    )


def _merge_disjoint(families: list[tuple[Family, frozenset[int]]], apart: list[set[int]]) -> Iterator[Family]:
    """Merge families that no row is active in together, greedily, those apart from fewest others first.

    Two families of one block are its runs and its cells; they overlap, since every cell is in a run.
    """
    of_place: dict[int, list[int]] = {}
    for i, (_, origin) in enumerate(families):
        for place in origin:
            of_place.setdefault(place, []).append(i)
    free = []
    for _, origin in families:
        common = set.intersection(*(apart[place] for place in origin))
        near = {j for place in common for j in of_place[place]}
        free.append({j for j in near if families[j][1] <= common})
    sets: list[list[int]] = []
    for i in sorted(range(len(families)), key=lambda i: (-families[i][0].most, len(free[i]), i)):
        others = sets if free[i] else ()
        fitting = next((members for members in others if free[i].issuperset(members)), None)
        if fitting is None:
            sets.append([i])
        else:
            fitting.append(i)
    for members in sorted(sorted(unsorted) for unsorted in sets):
        alternatives = sorted(positions for i in members for positions in families[i][0].alternatives)
        yield Family(tuple(alternatives), max(families[i][0].most for i in members))
