"""Overlapping conditions -> disjoint cells, where adding these up again is more exact.

    COUNT(*) FILTER (WHERE age < 18), COUNT(*) FILTER (WHERE age < 65), COUNT(*)

    one by one   a row counts up to three times: three numbers with the noise of an L1 of 3
    cells        below 18; from 18 to 65; all else, NULL too: a row counts once, the numbers are sums of
                 one, two and three cells with the noise of an L1 of 1

Claim   a row is in one cell of a block at most, and in one family at most of those that became one.
Proof   Two cells differ in a condition that is true in one of them and not true in the other: their own
        conditions say so, whatever the data. Families become one where no row can be active in both
        (facts/truth_vectors.py). So one row adds at most the largest ``most`` of them.
Test    tests/privacy/test_atoms.py, grammar_tests/aggregates/overlaps.sql

A cell's condition is its path in a tree that splits the truth vectors, so that it asks no more than needed.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction

from dpsql.facts.schema import facts_of
from dpsql.facts.truth_vectors import Question, TruthVectors, linked
from dpsql.ir.column import BOOLEAN
from dpsql.ir.measure import Measure
from dpsql.ir.scalar import Call, Literal, Scalar
from dpsql.ir.statistic import Family, Part, Statistic

_FAMILIES = 300
"""Of more, those of different parts count as if they could go together."""

_CONDITIONS, _CELLS = 300, 512
"""Of a block at most; what is larger is taken in parts."""

_WAYS = 64

_Vector = tuple[bool, ...]


@dataclass(frozen=True, slots=True)
class _Block:
    """Families (positions) that differ in their conditions alone, and the truth vectors of these.

    Where each condition holds the next, so many cells in a row (``width``) are counted as a run as well.
    """

    families: tuple[int, ...]
    conditions: tuple[Scalar | None, ...]
    vectors: tuple[_Vector, ...]
    width: int = 0


def candidates(measure: Measure) -> list[Measure]:
    """The most exact ways to take a measure, by what its L1 norm costs and by what its L2 norm costs."""
    if len(measure.families) < 2:
        return [measure]
    truths = TruthVectors(facts_of(measure.relation))
    overlaps = _overlaps([_active(each, measure, truths) for each in measure.families], truths)
    options = [[(), *blocks] for blocks in _options(measure, truths)]
    chosen = itertools.islice(itertools.product(*options), _WAYS)
    found = [_taken(measure, [block for blocks in each for block in blocks], overlaps) for each in chosen]
    best = [min(found, key=cost) for cost in (_cost_in_l1, _cost_in_l2)]
    return best[:1] if best[0] is best[1] else best


def load(measure: Measure) -> Fraction:
    """The variances of all numbers together, in those of a cell whose ``most`` is one step."""
    return sum(
        (
            Fraction(1, measure.statistics[cell].most ** 2)
            for finish in measure.finishes
            for number in finish.statistics
            for cell in number
        ),
        Fraction(0),
    )


def _cost_in_l1(measure: Measure) -> Fraction:
    return load(measure) * sum(each.most for each in measure.families) ** 2


def _cost_in_l2(measure: Measure) -> Fraction:
    return load(measure) * sum(each.most**2 for each in measure.families)


# ---- when a row adds to a family ---------------------------------------------------------------------


def _active(family: Family, measure: Measure, truths: TruthVectors) -> Question:
    """Whether a row can add anything to a family."""
    parts = [_adds(measure.statistics[i], len(family.statistics) == 1, truths) for i in family.statistics]
    values = frozenset(value for each in parts for value in each.values)
    cuts = frozenset(cut for each in parts for cut in each.cuts)
    return Question(lambda row: any(each.true(row) for each in parts), values, cuts)


def _overlaps(questions: list[Question], truths: TruthVectors) -> list[set[int]]:
    """For every family, which others a row can be active in at the same time; looked at in parts."""
    found: list[set[int]] = []
    every = frozenset(range(len(questions)))
    for start in range(0, len(questions), _FAMILIES):
        part = questions[start : start + _FAMILIES]
        outside = every - set(range(start, start + len(part)))
        found += [{*outside, *(start + i for i in together)} for together in truths.overlaps(part)]
    return found


def _adds(each: Statistic, alone: bool, truths: TruthVectors) -> Question:
    """NULL adds nothing to any statistic, and 0 nothing to a sum that starts there."""
    if each.argument is None:
        return truths.is_true(each.condition)
    if each.part is Part.VALUE and alone and each.offset == 0 and each.low <= 0 <= each.high:
        return truths.adds(each.condition, each.argument)
    return truths.is_given(each.condition, each.argument)


# ---- cells -------------------------------------------------------------------------------------------


def _options(measure: Measure, truths: TruthVectors) -> Iterator[list[tuple[_Block, ...]]]:
    """For families that differ in their conditions alone: one block of all, one for each part of them

    that has no value in common with the others. Statistics that are equal without their conditions add the
    same of the same row, so the cells of one family are those of the others.
    """
    alike: dict[tuple[Statistic, ...], list[int]] = {}
    for place, family in enumerate(measure.families):
        own = [measure.statistics[i] for i in family.statistics]
        if all(each.part is not Part.UNITS for each in own):
            alike.setdefault(tuple(_unconditional(each) for each in own), []).append(place)
    for places in alike.values():
        conditions = {i: _condition(measure.statistics[measure.families[i].statistics[0]]) for i in places}
        asked = {i: truths.is_true(conditions[i]) for i in places}
        parts = [[places[i] for i in part] for part in linked([asked[i].values for i in places])]
        constant = [i for i in places if not asked[i].values]
        dependent = sorted((part for part in parts if asked[part[0]].values), key=len)
        if constant and dependent:  # what is always true adds one cell at most to any block
            dependent[-1] = sorted((*dependent[-1], *constant))
        found = []
        for split in ([places], dependent) if len(dependent) > 1 else ([places],):
            blocks = tuple(one for part in split for one in _blocks(part, conditions, asked, truths))
            if blocks:
                found.append(blocks)
                in_runs = tuple(_in_runs(each) for each in blocks)
                if in_runs != blocks:
                    found.append(in_runs)
        yield found


def _blocks(
    part: list[int], conditions: dict[int, Scalar | None], asked: dict[int, Question], truths: TruthVectors
) -> list[_Block]:
    """The families as one block where it is small enough, else as the blocks of their halves."""
    if len(part) < 2:
        return []
    vectors = truths.vectors([asked[i] for i in part]) if len(part) <= _CONDITIONS else None
    if vectors is None or len(vectors) > _CELLS:
        middle = len(part) // 2
        halves = (part[:middle], part[middle:])
        return [each for half in halves for each in _blocks(half, conditions, asked, truths)]
    if all(sum(vector) <= 1 for vector in vectors):
        return []
    possible = [any(vector[i] for vector in vectors) for i in range(len(part))]
    if not all(possible):  # a number that is always 0 is measured as it is
        kept = [i for i, yes in zip(part, possible, strict=True) if yes]
        return _blocks(kept, conditions, asked, truths)
    return [_Block(tuple(part), tuple(conditions[i] for i in part), tuple(sorted(vectors, reverse=True)))]


def _in_runs(block: _Block) -> _Block:
    """The block with runs of about the root of its cells, where its conditions hold one another."""
    steps = sorted((vector for vector in block.vectors if any(vector)), key=sum)
    nested = all(sum(map(max, low, high)) == sum(high) for low, high in itertools.pairwise(steps))
    return replace(block, width=math.isqrt(len(steps))) if nested and len(steps) >= 9 else block


def _unconditional(each: Statistic) -> Statistic:
    return replace(each, condition=None, argument=None if each.part is Part.ROWS else each.argument)


def _condition(each: Statistic) -> Scalar | None:
    """When a row counts: a count asks that its argument is given, as a condition would."""
    if each.part is not Part.ROWS or each.argument is None:
        return each.condition
    return _all_of([*([each.condition] if each.condition else []), Call("is_not_null", (each.argument,))])


def _cells(block: _Block) -> Iterator[tuple[_Vector, Scalar | None]]:
    """The vectors in which some condition is true, each with the path that leads to it."""

    def split(vectors: list[_Vector], path: list[Scalar]) -> Iterator[tuple[_Vector, Scalar | None]]:
        if len(vectors) == 1:
            if any(vectors[0]):
                yield vectors[0], _all_of(path)
            return
        even = [min(sum(column), len(vectors) - sum(column)) for column in zip(*vectors, strict=True)]
        i = even.index(max(even))
        condition = block.conditions[i]
        assert condition is not None, "it is true in some vectors only"
        untrue = Call("is_distinct_from", (condition, Literal(True, BOOLEAN)))
        yield from split([each for each in vectors if each[i]], [*path, condition])
        yield from split([each for each in vectors if not each[i]], [*path, untrue])

    return split(list(block.vectors), [])


def _levels(block: _Block) -> list[list[tuple[_Vector, Scalar | None]]]:
    """Cells with their conditions, and in which numbers of the block each is added.

    With runs there are two lists: a number adds the runs that it holds whole, and the cells of one more.
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
    whole = sorted(_cells(runs), key=lambda cell: sum(cell[0]))
    rest = [
        (tuple(yes and not held for yes, held in zip(vector, starts[p // block.width], strict=True)), path)
        for p, (vector, path) in enumerate(cells)
    ]
    return [
        [(start, path) for start, (_, path) in zip(starts, whole, strict=True)],
        [(uses, path) for uses, path in rest if any(uses)],
    ]


def _all_of(parts: list[Scalar]) -> Scalar | None:
    return None if not parts else parts[0] if len(parts) == 1 else Call("and", tuple(parts))


# ---- the measure -------------------------------------------------------------------------------------


def _taken(measure: Measure, blocks: list[_Block], overlaps: list[set[int]]) -> Measure:
    """The measure with some families in cells, and what no row touches together in one family."""
    first = {each.families[0]: each for each in blocks}
    inside = {i for each in blocks for i in each.families}
    statistics: list[Statistic] = []
    moved: dict[int, tuple[int, ...]] = {}
    families: list[tuple[Family, frozenset[int]]] = []  # each with the places of the old ones
    for place, family in enumerate(measure.families):
        if place in first:
            block = first[place]
            for level in _levels(block):
                made: list[tuple[int, ...]] = []
                for uses, condition in level:
                    for i, used in zip(block.families, uses, strict=True):
                        for k, old in enumerate(measure.families[i].statistics if used else ()):
                            moved[old] = (*moved.get(old, ()), len(statistics) + k)
                    made.append(tuple(range(len(statistics), len(statistics) + len(family.statistics))))
                    bare = (_unconditional(measure.statistics[i]) for i in family.statistics)
                    statistics += [replace(each, condition=condition) for each in bare]
                families.append((Family(tuple(made), family.most), frozenset(block.families)))
        elif place not in inside:
            for old in family.statistics:
                moved[old] = (len(statistics),)
                statistics.append(measure.statistics[old])
            held = tuple(tuple(new for old in each for new in moved[old]) for each in family.alternatives)
            families.append((Family(held, family.most), frozenset((place,))))
    finishes = tuple(
        replace(
            each, statistics=tuple(tuple(n for i in number for n in moved[i]) for number in each.statistics)
        )
        for each in measure.finishes
    )
    return replace(
        measure,
        statistics=tuple(statistics),
        families=tuple(_joined(families, overlaps)),
        finishes=finishes,
        units=None if measure.units is None else moved[measure.units][0],
    )


def _joined(families: list[tuple[Family, frozenset[int]]], overlaps: list[set[int]]) -> Iterator[Family]:
    """Families of which any two in one set are apart: those that meet most others choose first.

    Two families of one block are its runs and its cells: what is in a cell is in a run.
    """
    meets = [
        {
            j
            for j, (_, theirs) in enumerate(families)
            if j != i and (theirs == origin or any(overlaps[one] & theirs for one in origin))
        }
        for i, (_, origin) in enumerate(families)
    ]
    sets: list[list[int]] = []
    for i in sorted(range(len(families)), key=lambda i: (-families[i][0].most, -len(meets[i]), i)):
        fitting = next((each for each in sets if not meets[i] & set(each)), None)
        if fitting is None:
            sets.append([i])
        else:
            fitting.append(i)
    for each in sorted(sorted(one) for one in sets):
        alternatives = sorted(one for i in each for one in families[i][0].alternatives)
        yield Family(tuple(alternatives), max(families[i][0].most for i in each))
