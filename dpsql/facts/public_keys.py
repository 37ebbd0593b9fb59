"""Groups that are public: always shown, without a threshold.

GROUP BY ward, sex            all combinations, if both keys have a public list
GROUP BY ROLLUP (sex, city)   the groups of (sex) and (), even if cities have no list
GROUP BY age                  all ages of its declared range, unless only the keys are asked for
"""

from __future__ import annotations

from math import prod

from dpsql.ir.column import Categories, Listed
from dpsql.ir.measure import KeyList, KeyPairs, Measure
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.catalogue import Known

MOST_GROUPS = 100_000
"""With more combinations than this the keys count as private: most groups would be zeros."""

MOST_OF_RANGES = 1_000
"""The same where a key's list is the values of its range: nobody listed them to be shown."""


MOST_OF_VIEWS = 200_000
"""The same of a private view, which is asked for all its combinations."""


def combinations_of(measure: Measure, known: Known) -> int | None:
    """Return how many combinations the keys of a measure have; None where a key has no list."""
    sizes = [None if key_list is None else _size(key_list, known) for key_list in measure.lists]
    listed = [(i, size) for i, size in enumerate(sizes) if size is not None]
    return _combined_size(measure, known, listed) if len(listed) == len(sizes) else None


@dataclass(frozen=True, slots=True)
class Public:
    """The public part of a measure's keys.

    ``lists`` has each key's public values. ``sets`` are the grouping sets with public groups. ``whole`` says
    that all groups are public.
    """

    lists: tuple[KeyList | None, ...]
    sets: tuple[tuple[int, tuple[int, ...]], ...]
    whole: bool


def public_keys(measure: Measure, known: Known) -> Public:
    """Return which keys, or which grouping sets, of a measure are public."""
    sizes = [None if key_list is None else _size(key_list, known) for key_list in measure.lists]
    of_range = [key_list is not None and key_list.of_range for key_list in measure.lists]

    def groups(positions: tuple[int, ...]) -> int | None:
        counts = [sizes[i] for i in positions]
        if None in counts:
            return None
        count = _combined_size(measure, known, [(i, sizes[i] or 0) for i in positions])
        ranged = any(of_range[i] for i in positions) and measure.view is None
        return None if ranged and (count > MOST_OF_RANGES or not measure.aggregates) else count

    if not measure.sets:
        count = groups(tuple(range(len(measure.keys))))
        most = MOST_GROUPS if measure.view is None else MOST_OF_VIEWS
        unlimited = measure.view is not None and measure.view.method is not None
        return Public(measure.lists, (), count is not None and (unlimited or count <= most))
    listed, left = [], MOST_GROUPS
    counted = ((groups(positions), number) for number, positions in enumerate(measure.sets))
    for count, number in sorted((count, number) for count, number in counted if count is not None):
        if count <= left:  # smallest sets first, so the total is always included
            left -= count
            listed.append((number, measure.sets[number]))
    return Public(measure.lists, tuple(sorted(listed)), len(listed) == len(measure.sets))


def _combined_size(measure: Measure, known: Known, sizes: list[tuple[int, int]]) -> int:
    """Return the most combinations: keys of one public row have no more than its table, or list, has rows."""
    single: dict[int | None, int] = {}
    tables: dict[int | None, int] = {}
    places = {i for i, _ in sizes}
    pairs = [each for each in measure.pairs if places.issuperset(each.places) and _are_rows(measure, each)]
    together = prod(len(each.rows) for each in pairs)
    for i, size in sizes:
        if any(i in each.places for each in pairs):
            continue
        key_list = measure.lists[i]
        scan = None if key_list is None else key_list.scan
        number = None if scan is None else scan.number
        single[number] = single.get(number, 1) * size
        if scan is not None and (holder := known.table(scan.table)) is not None:
            tables[number] = (holder.size or 0) + scan.missing
    return together * prod(min(count, tables.get(number, count)) for number, count in single.items())


def _are_rows(measure: Measure, pairs: KeyPairs) -> bool:
    """Whether the keys are columns of listed rows; values of ranges, and a table's own rows, are not."""
    lists = (measure.lists[i] for i in pairs.places)
    return not any(each is None or each.of_range or each.scan is not None for each in lists)


def _size(key_list: KeyList, known: Known) -> int:
    match key_list.domain:
        case Categories(values):
            return len(values) + key_list.null
        case Listed(table):
            holder = known.table(table)
            assert holder is not None
            return (holder.size or 0) + key_list.null
