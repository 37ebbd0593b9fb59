"""The number of distinct values, when each unit may claim only a few of them.

    units   1 1 1 2 2 3          each unit, in order, claims up to ``most`` of its values that no unit
    values  a b c a b a          before it has claimed: most = 1 gives 3-a, 1-b, and 2 nothing

Units that have ``most`` values or fewer are light and come first: they claim all that they have. What the
others claim is then among the values that no light unit has.

Claim   one unit changes the claimed values by at most ``most`` in L1, over all groups of values together,
        and so by at most ``most`` in L2 too (all of them may be in one group).
Proof   Let S and S' be the values claimed so far without and with unit u. S is a subset of S', and S' has at
        most ``most`` values more. Before u they are equal, and u adds at most ``most``. A later unit v
        claims the first of F = V - S and of F' = V - S', where F' is a subset of F: it claims
        min(most, |F'|) <= min(most, |F|) values. A value that it claims of F and that is free in F' comes
        no later in F', so it is claimed there too. So S stays within S', and S' grows by no more than S.
        This needs an order of units, and for each unit an order of its values, that are functions of the
        unit and its own pairs, and of the value: here light units are first, and then both follow the input
        numbers.
        (Knop and Steinke 2023 have the bound for the largest matching; this one needs no search.)
        In ``_claim_in_rounds`` all units claim at once their first ``most`` values that do not refuse them,
        and a value refuses all but the first unit that claimed it. The result is the same: if it is so for
        the first k units, the next is refused by exactly the values that one of these keeps.
Test    tests/privacy/test_matching.py
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dpsql.late_numpy import np

if TYPE_CHECKING:
    from numpy.typing import NDArray  # numpy loads its typing apart, and slowly

_UNCLAIMED = 2**31 - 1
"""The largest number of 32 bits."""

_ROUNDS = 12


def claimed(
    units: NDArray[Any], values: NDArray[Any], groups: NDArray[Any], most: int, heavy: bool = False
) -> NDArray[np.int64]:
    """Return the positions, in these pairs, of one pair for each claimed value.

    All are 64-bit integers. Light units claim first, then the others, and each unit's values, in the order of
    their numbers. The same value in another group is another value. No pair is repeated. Of ``heavy`` units
    alone, these are the pairs of values that no light unit has, and may be few.
    """
    if not len(units):
        return np.empty(0, dtype=np.int64)
    value, places = _ranks(values, np.argsort(values))
    if not np.array_equal(groups, groups[places][value]):  # a value in two groups
        value, places = _ranks(values, np.lexsort((groups, values)), groups)
    pairs = _small_numbers(units) << 32
    pairs |= value
    pairs.sort()
    unit, value = (pairs >> 32).astype(np.int32), pairs.astype(np.int32)
    found = np.zeros(len(places), dtype=np.bool_)
    if not heavy:
        light = _are_light(unit, most)
        found[value[light]] = True
        rest = ~(light | found[value])
        unit, value = unit[rest], value[rest]
    if len(unit):
        keepers = np.full(len(places), _UNCLAIMED, dtype=np.int32)
        found |= _claim_in_rounds(unit, value, keepers, most)
    taken: NDArray[np.int64] = places[found]
    return taken


def _are_light(units: NDArray[np.int32], most: int) -> NDArray[np.bool_]:
    """Mark the pairs of units that have ``most`` of them or fewer; units are in order."""
    sizes = np.diff(np.append(np.flatnonzero(_changes(units)), len(units)))
    return np.repeat(sizes <= most, sizes)


def _small_numbers(units: NDArray[Any]) -> NDArray[np.int64]:
    """Map units to small numbers in the same order: their distance from the first, or else their rank."""
    first = int(units.min())
    if int(units.max()) - first < _UNCLAIMED:
        return units - first
    return _ranks(units, np.argsort(units))[0].astype(np.int64)


def _ranks(
    numbers: NDArray[Any], order: NDArray[np.int64], second_key: NDArray[Any] | None = None
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return each number's rank among the distinct ones, and the position of each of these."""
    first = _changes(numbers[order])
    if second_key is not None:
        first |= _changes(second_key[order])
    ranks = np.empty(len(numbers), dtype=np.int32)
    ranks[order] = np.cumsum(first, dtype=np.int32) - 1
    return ranks, order[first]


def _changes(ordered: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark the numbers that differ from the one before."""
    return np.concatenate(([True], ordered[1:] != ordered[:-1]))


def _claim_in_rounds(
    unit: NDArray[np.int32], value: NDArray[np.int32], keepers: NDArray[np.int32], most: int
) -> NDArray[np.bool_]:
    """Return whether each value is claimed: all units claim at once, if that ends soon."""
    for _ in range(_ROUNDS):
        offers = np.ones(len(unit), dtype=np.bool_)  # False where the unit has ``most`` before it
        offers[most:] = unit[most:] != unit[:-most]
        np.minimum.at(keepers, value[offers], unit[offers])
        kept = unit <= keepers[value]
        if kept.all():
            return keepers < _UNCLAIMED
        unit, value = unit[kept], value[kept]
    return _one_by_one(unit, value, len(keepers), most)


def _one_by_one(unit: NDArray[np.int32], value: NDArray[np.int32], size: int, most: int) -> NDArray[np.bool_]:
    """Return the same, one unit after the other."""
    taken = bytearray(size)
    last, left = -1, 0
    for owner, wanted in zip(unit.tolist(), value.tolist(), strict=True):
        if owner != last:
            last, left = owner, most
        if left and not taken[wanted]:
            taken[wanted] = 1
            left -= 1
    return np.frombuffer(taken, dtype=np.bool_)
