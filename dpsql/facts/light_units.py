"""Light units: those whose contribution no clip scales, told by their rows in one private table.

    SELECT flag, SUM(price) FROM lineitem JOIN orders ... GROUP BY flag, clipped to 100 rows
    a customer with at most 100 lines is light, whatever the lines hold

Claim   a unit with at most ``most_rows`` rows in the relation has a norm of at most the planned clip, and is
        in no more groups than the threshold allows. With c_g rows in the groups g of some of the keys, so
        has a unit whose sum of c_g^2 is at most ``most_squares``.
Proof   A row adds at most ``most`` steps to a family, on coordinates of one group: a and A are the sums of
        these and of their squares, b and B the same sums over the counts of units. Then c rows have an L1
        norm of at most c (a + b), and an L2 norm of at most the root of max(c^2 A + B, c (A + B))
        (plan/unit_norms.py). Copies in n grouping sets are on n disjoint sets of coordinates: n times the L1
        norm, or the squared L2 norm. c rows are in at most n c groups.
        Groups of some of the keys are unions of groups of all keys, so they are disjoint coordinates: squared
        L2 norms add up, and each is at most c_g^2 (A + B) for c_g >= 1. The c_g rows are in at most c_g^2
        groups of all keys.
        Of rows that are alone in their unit's groups (lone_rows.py), each c_g is 1.
Claim   a unit has at most ``fan`` rows in the relation for each of its rows in ``scan``'s table; of several
        sources, its rows are no more than these sums together. Their keys, of one type, group rows alike.
Proof   by induction. Filters drop rows; projections and windows keep them; a row of a unit's aggregate stands
        for one of the rows that it is made of, at least. A join with public rows makes at most ``fan_out``
        rows of one; a join with a private table in which a row meets one row of its unit at most makes one.
        UNION ALL has the rows of both sides, and each of its columns is a column of each, as it is where both
        have its type.
Claim   each row of the relation comes from a row of the scan that meets the ``row_conditions``, so that no
        other counts; and nothing in the relation reads a row of the scan that does not meet them.
Proof   by induction. A condition of a filter is one of the scan's row where it reads columns of the scan
        alone. A row that an inner join with public rows keeps has one of their values in the column that they
        are joined on. Other rows are read by the windows and aggregates below the filter or the join: then it
        is left out.
Claim   where rows of the scan are left out, rows of a scan ``beside`` it, whose link no row that is left has,
        may be left out as well.
Proof   They stand on one side of a join, below which rows are only dropped and columns renamed, and the join
        asks for a link that is equal to that of a row of the scan, on the other side. A row that meets none
        there is in no row of an inner join, and changes no row that a left, semi or anti join keeps of the
        scan's side.
Test    tests/privacy/test_light_units.py, grammar_tests/test_corrected.py
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace

from dpsql.facts.columns_read import stored_column, stored_columns
from dpsql.facts.lone_rows import are_alone
from dpsql.facts.ownership import Owned, fan_out, meets_one, ownership_of
from dpsql.facts.schema import facts_of
from dpsql.ir.column import Kind, Type
from dpsql.ir.plan import MeasurePlan, Norm
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Project,
    Relation,
    Scan,
    ScanColumn,
    Union,
    Window,
    scans,
)
from dpsql.ir.scalar import Call, Ref, Scalar, conjuncts, refs, replace_refs
from dpsql.ir.statistic import Part
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class RowSource:
    """The private table that a relation's rows come from, at most ``fan`` of them from each of its rows."""

    scan: Scan
    fan: int = 1


def row_source(relation: Relation) -> RowSource | None:
    """Return the table that bounds the rows of a unit; None where there is no single one."""
    sources = row_sources(relation)
    return sources[0] if len(sources) == 1 else None


def row_sources(relation: Relation) -> tuple[RowSource, ...]:
    """Return the tables that together bound the rows of a unit: several below UNION ALL; or none."""
    match relation:
        case Scan(owner=owner):
            return () if owner is None else (RowSource(relation),)
        case Filter(source) | Project(source) | Window(source) | Aggregate(source):
            return row_sources(source)
        case Union(left, right):
            ours, theirs = row_sources(left), row_sources(right)
            return ours + theirs if ours and theirs else ()
        case Join(kind, left, right, condition) if kind is not JoinKind.FULL:
            owned, lent = _is_private(left), _is_private(right)
            if kind.one_sided or (owned and lent and meets_one(left, right, condition)):
                return row_sources(left) if owned else ()
            if owned and not lent:
                return _times(row_sources(left), fan_out(right, left, condition))
            if kind is JoinKind.INNER and lent and (not owned or meets_one(right, left, condition)):
                return _times(row_sources(right), 1 if owned else fan_out(left, right, condition))
            return ()
        case _:
            return ()


@dataclass(frozen=True, slots=True)
class Among:
    """The condition that a column of a scan has a value that a column of public rows has, too."""

    column: str
    rows: Relation
    listed: str


def row_conditions(relation: Relation, scan: Scan) -> tuple[Scalar | Among, ...]:
    """Return conditions over the columns of a scan that hold for its rows in the relation."""
    found = _conditions(relation, scan)
    return () if found is None else found[0]


def _conditions(relation: Relation, scan: Scan) -> tuple[tuple[Scalar | Among, ...], bool] | None:
    """Return them, and whether rows are read one by one; None if the scan is not in the relation."""
    match relation:
        case Scan():
            return ((), True) if relation is scan else None
        case Filter(source, condition):
            found = _conditions(source, scan)
            if found is None or not found[1]:
                return found
            told = (_of_scan(part, source, scan) for part in conjuncts(condition))
            return (*found[0], *(part for part in told if part is not None)), True
        case Project(source):
            return _conditions(source, scan)
        case Window(source) | Aggregate(source):
            found = _conditions(source, scan)
            return None if found is None else (found[0], False)
        case Join(kind, left, right, condition):
            ours, theirs = _conditions(left, scan), _conditions(right, scan)
            if ours and theirs:
                return (), False  # read twice, and perhaps otherwise
            found, inner = ours or theirs, kind is JoinKind.INNER or (kind is JoinKind.SEMI and ours)
            if found is None or not found[1] or not inner or condition is None:
                return found
            side, other = (left, right) if ours else (right, left)
            among = () if _is_private(other) else _among(conjuncts(condition), side, other, scan)
            return (*found[0], *among), True
        case Union(left, right):
            ours, theirs = _conditions(left, scan), _conditions(right, scan)
            return ((), False) if ours and theirs else ours or theirs
        case _:
            return None


def _of_scan(condition: Scalar, relation: Relation, scan: Scan) -> Scalar | None:
    """Return a condition in the scan's own names; None if it reads something else, or nothing."""
    read = {name: dict(stored_columns(relation, name)).get(scan) for name in refs(condition)}
    own = {name: Ref(found.name) for name, found in read.items() if found is not None}
    return replace_refs(condition, dict(own)) if own and len(own) == len(read) else None


def _among(parts: Sequence[Scalar], side: Relation, other: Relation, scan: Scan) -> Iterator[Among]:
    """Return the conditions of a join with public rows, where whole numbers are equal."""
    ours, theirs = facts_of(side), facts_of(other)
    for part in parts:
        match part:
            case Call("=", (Ref(a), Ref(b))):
                column, listed = (a, b) if a in ours else (b, a)
                stored = stored_column(side, column) if column in ours and listed in theirs else None
                if stored is None or stored[0] is not scan:
                    continue
                if all(_of_64_bits(each.type) for each in (ours[column], theirs[listed])):
                    yield Among(stored[1].name, other, listed)


def _of_64_bits(type: Type) -> bool:
    """Whether values are compared with those of other such types without a failure: 128 bits hold both."""
    return type.kind is Kind.INTEGER and type.sql not in ("HUGEINT", "UHUGEINT")


def beside(relation: Relation, scan: Scan) -> frozenset[Scan]:
    """Return other scans of the scan's table that a join reads for their links to the unit alone."""
    read = scans(relation)
    return frozenset(each for each in _beside(relation, scan) if read.count(each) == 1)


def _beside(relation: Relation, scan: Scan) -> Iterator[Scan]:
    match relation:
        case Filter(source) | Project(source) | Window(source) | Aggregate(source):
            yield from _beside(source, scan)
        case Union(left, right):
            yield from (*_beside(left, scan), *_beside(right, scan))
        case Join(kind, left, right, condition):
            yield from (*_beside(left, scan), *_beside(right, scan))
            if kind is not JoinKind.FULL and condition is not None:
                yield from _of_same_links(conjuncts(condition), left, right, scan)
            if kind is JoinKind.INNER and condition is not None:
                yield from _of_same_links(conjuncts(condition), right, left, scan)


def _of_same_links(parts: Sequence[Scalar], side: Relation, other: Relation, scan: Scan) -> Iterator[Scan]:
    """Return the scan on the other side of a join, if its link is that of a row of the scan."""
    ours, theirs = facts_of(side), facts_of(other)
    rows = other
    while isinstance(rows, Filter | Project):
        rows = rows.input
    if not isinstance(rows, Scan) or rows is scan or rows.table != scan.table or rows.owner is None:
        return
    for part in parts:
        match part:
            case Call("=", (Ref(a), Ref(b))):
                near, far = (a, b) if a in ours else (b, a)
                links = [_link_of(side, near), _link_of(other, far)] if near in ours and far in theirs else []
                if links == [scan, rows]:
                    yield rows


def _link_of(relation: Relation, name: str) -> Scan | None:
    """Return the scan of which a column is the link to the unit, a whole number; None if it is none."""
    stored = stored_column(relation, name)
    if stored is None or stored[0].owner is None or stored[1].source != stored[0].owner.step:
        return None
    return stored[0] if facts_of(relation)[name].type.kind is Kind.INTEGER else None


def _is_private(relation: Relation) -> bool:
    return isinstance(ownership_of(relation), Owned)


def _times(sources: tuple[RowSource, ...], times: int) -> tuple[RowSource, ...]:
    return tuple(replace(source, fan=source.fan * times) for source in sources)


def plain_keys(planned: MeasurePlan, scan: Scan) -> tuple[ScanColumn, ...]:
    """Return the columns of a scan that are group keys as they are; none where rows are copied."""
    measure = planned.measure
    if measure.sets:
        return ()
    names = (key.scalar.name for key in measure.keys if isinstance(key.scalar, Ref))
    found = (stored_column(measure.relation, name) for name in names)
    return tuple(dict.fromkeys(column[1] for column in found if column is not None and column[0] is scan))


def keys_of_several(planned: MeasurePlan, several: Sequence[Scan]) -> dict[Scan, tuple[ScanColumn, ...]]:
    """Return columns of each scan below UNION ALL that are the same group keys as they are, of one type."""
    measure = planned.measure
    if measure.sets or len({*several}) < len(several):
        return {}
    keys: dict[Scan, tuple[ScanColumn, ...]] = dict.fromkeys(several, ())
    for key in measure.keys:
        if not isinstance(key.scalar, Ref):
            continue
        columns = dict(stored_columns(measure.relation, key.scalar.name))
        if columns.keys() == keys.keys() and len({column.fact.type for column in columns.values()}) == 1:
            for scan, column in columns.items():
                keys[scan] += (column,)
    return keys if keys[several[0]] else {}


def most_rows(planned: MeasurePlan) -> int:
    """Return the number of rows, before any copies, up to which a unit is light."""
    measure, (norm, clip) = planned.measure, planned.bound
    of_row, of_unit = _weights(planned)
    copies = measure.copies
    limits = [] if planned.groups is None else [planned.groups // copies]
    if norm is Norm.L1:
        limits.append(clip // (copies * (sum(of_row) + sum(of_unit))))
        return max(0, min(limits))
    square, row, unit = clip**2 // copies, _squares(of_row), _squares(of_unit)
    limits.append(square // (row + unit))
    if row and not are_alone(measure):
        limits.append(math.isqrt(max(0, square - unit) // row))
    return max(0, min(limits))


def most_squares(planned: MeasurePlan) -> int | None:
    """Return the sum of squared rows of a unit in groups of some keys up to which it is light.

    None if they say little: the clip is in L1, a unit may be in fewer groups, or half as many rows are light.
    """
    norm, clip = planned.bound
    if norm is Norm.L1 or planned.measure.sets:
        return None
    of_row, of_unit = _weights(planned)
    most = clip**2 // (_squares(of_row) + _squares(of_unit))
    within = planned.groups is None or most <= planned.groups
    return most if within and 2 * most_rows(planned) < most else None


def _weights(planned: MeasurePlan) -> tuple[list[int], list[int]]:
    """Return the most that a row adds to each family, and that a unit adds to each count of units."""
    measure = planned.measure
    of_row, of_unit = [], []
    for family in measure.families:
        parts = [measure.statistics[first] for first, *_ in family.alternatives]
        of_row.append(max((part.together for part in parts if part.part is not Part.UNITS), default=0))
        of_unit += [part.most for part in parts if part.part is Part.UNITS]
    return of_row, of_unit


def _squares(steps: list[int]) -> int:
    return sum(most * most for most in steps)
