"""Which groups are known without looking: they always appear, and no threshold is paid for them.

GROUP BY ward, sex            all combinations, if both keys have a list
GROUP BY ROLLUP (sex, city)   the groups of (sex) and (), whatever is known of the city
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from dpsql.ir.column import Categories, Listed
from dpsql.ir.measure import KeyList, Measure
from dpsql.policy.catalogue import Known

MOST_GROUPS = 100_000
"""Beyond this many combinations the keys count as private: an answer of zeros helps nobody."""


@dataclass(frozen=True, slots=True)
class Public:
    """Each key's list, the grouping sets whose groups are listed, and whether these are ``whole``:

    all groups there are.
    """

    lists: tuple[KeyList | None, ...]
    sets: tuple[tuple[int, tuple[int, ...]], ...]
    whole: bool


def public_keys(measure: Measure, known: Known) -> Public:
    """What is public of a measure's keys: whole lists, or some of its grouping sets."""
    sizes = [None if each is None else _size(each, known) for each in measure.lists]

    def groups(positions: tuple[int, ...]) -> int | None:
        counts = [sizes[i] for i in positions]
        return None if None in counts else prod(count for count in counts if count is not None)

    if not measure.sets:
        count = groups(tuple(range(len(measure.keys))))
        return Public(measure.lists, (), count is not None and count <= MOST_GROUPS)
    listed, left = [], MOST_GROUPS
    counted = ((groups(positions), number) for number, positions in enumerate(measure.sets))
    for count, number in sorted((count, number) for count, number in counted if count is not None):
        if count <= left:  # the smallest first: the total is always among them
            left -= count
            listed.append((number, measure.sets[number]))
    return Public(measure.lists, tuple(sorted(listed)), len(listed) == len(measure.sets))


def _size(each: KeyList, known: Known) -> int:
    match each.domain:
        case Categories(values):
            return len(values) + each.null
        case Listed(table):
            holder = known.table(table)
            assert holder is not None
            return (holder.size or 0) + each.null
