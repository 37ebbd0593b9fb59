"""The columns of tables that a measure reads, and those that columns of a relation are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from dpsql.ir.measure import Measure
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    Materialized,
    Project,
    Relation,
    Scan,
    ScanColumn,
    StageInput,
    Union,
    Window,
)
from dpsql.ir.scalar import Ref, Scalar, conjuncts, refs


def stored_column(relation: Relation, name: str) -> tuple[Scan, ScanColumn] | None:
    """Return the column of a table that a column of the relation is, renamed or not; else None.

    Its values in the relation are some of those in the table, and NULL.
    """
    found = stored_columns(relation, name)
    return found[0] if len(found) == 1 else None


def stored_columns(relation: Relation, name: str) -> list[tuple[Scan, ScanColumn]]:
    """Return the columns of tables that a column of the relation is: several below UNION ALL; or none."""
    match relation:
        case Scan(columns=columns):
            return [(relation, column) for column in columns if column.name == name][:1]
        case Filter(source) | Window(source):
            return stored_columns(source, name)
        case Project(source, columns):
            below = next((column.scalar for column in columns if column.name == name), None)
            return stored_columns(source, below.name) if isinstance(below, Ref) else []
        case Join(left=left, right=right):
            return stored_columns(left, name) or stored_columns(right, name)
        case Union(left, right):
            ours, theirs = stored_columns(left, name), stored_columns(right, name)
            return ours + theirs if ours and theirs else []
        case _:
            return []


def conditions_met(relation: Relation, name: str) -> Iterator[tuple[str, Scalar]]:
    """Return conditions on a stored column alone that each of its values meets, with its name there.

    Conditions of filters hold in all rows above; a join adds NULL at most.
    """
    match relation:
        case Filter(source, condition):
            yield from ((name, part) for part in conjuncts(condition) if refs(part) == {name})
            yield from conditions_met(source, name)
        case Window(source):
            yield from conditions_met(source, name)
        case Project(source, columns):
            below = next((column.scalar for column in columns if column.name == name), None)
            if isinstance(below, Ref):
                yield from conditions_met(source, below.name)
        case Join(left=left, right=right):
            side = right if stored_column(left, name) is None else left
            yield from conditions_met(side, name)


def defined(relation: Relation, name: str) -> tuple[Relation, Scalar] | None:
    """Return the rows and the scalar over them that a column of the relation is, or NULL; else None."""
    match relation:
        case Filter(source) | Window(source):
            return defined(source, name)
        case Project(source, columns):
            below = next((column.scalar for column in columns if column.name == name), None)
            if isinstance(below, Ref):
                return defined(source, below.name)
            return None if below is None else (source, below)
        case Join(left=left, right=right):
            return defined(left, name) or defined(right, name)
        case _:
            return None


def origin(relation: Relation, name: str) -> tuple[Scan, str] | None:
    """Return the scan that a column comes from as it is, its unit too, and the name there; else None."""
    match relation:
        case Scan(columns=columns, owner=owner):
            names = {column.name for column in columns} | (set() if owner is None else {owner.name})
            return (relation, name) if name in names else None
        case Filter(source) | Window(source):
            return origin(source, name)
        case Project(source, columns):
            below = next((column.scalar for column in columns if column.name == name), None)
            return origin(source, below.name) if isinstance(below, Ref) else None
        case Join(left=left, right=right):
            return origin(left, name) or origin(right, name)
        case _:
            return None


def values_read(measure: Measure, scan: Scan) -> frozenset[str] | None:
    """Return the columns of a scan whose values a scalar reads, by their names in it; None if not known.

    Keys and the unit are not read as values where they are columns as they are.
    """
    if _reads_rows(measure.relation):
        return None
    read = [(measure.relation, scalar) for scalar in _cells(measure)]
    read += [(measure.relation, key.scalar) for key in measure.keys if not isinstance(key.scalar, Ref)]
    read += _computed(measure.relation)
    found = (origin(relation, name) for relation, scalar in read for name in refs(scalar))
    return frozenset(each[1] for each in found if each is not None and each[0] is scan)


def _computed(relation: Relation) -> Iterable[tuple[Relation, Scalar]]:
    """Yield the scalars of a relation but for columns as they are, each with the rows that it reads."""
    match relation:
        case Filter(source, condition):
            yield source, condition
            yield from _computed(source)
        case Project(source, columns):
            yield from ((source, column.scalar) for column in columns if not isinstance(column.scalar, Ref))
            yield from _computed(source)
        case Join(_, left, right, condition):
            if condition is not None:
                yield relation, condition
            yield from _computed(left)
            yield from _computed(right)
        case _:
            return


def private_scans(measure: Measure) -> int:
    """Return how many scans of private tables a measure reads."""
    return _private_scans(measure.relation)


def _private_scans(relation: Relation) -> int:
    match relation:
        case Scan(owner=owner):
            return owner is not None
        case Filter(source) | Project(source) | Window(source) | Aggregate(source):
            return _private_scans(source)
        case Join(left=left, right=right) | Union(left, right):
            return _private_scans(left) + _private_scans(right)
        case Materialized() | StageInput():
            return 0
        case _:
            assert_never(relation)


def columns_read(measure: Measure, scan: Scan) -> tuple[ScanColumn, ...]:
    """Return the columns of a scan that a measure reads, or more."""
    read = {name for scalar in _scalars(measure) for name in refs(scalar)}
    everything = _reads_rows(measure.relation)
    return tuple(column for column in scan.columns if everything or column.name in read)


def _scalars(measure: Measure) -> Iterable[Scalar]:
    yield from computed(measure)
    yield from _scalars_of(measure.relation)


def computed(measure: Measure) -> Iterable[Scalar]:
    """Return what a measure computes of the rows of its relation."""
    yield from (key.scalar for key in measure.keys)
    yield from _cells(measure)


def _cells(measure: Measure) -> Iterable[Scalar]:
    for statistic in measure.statistics:
        if statistic.argument is not None:
            yield statistic.argument
        if statistic.condition is not None:
            yield statistic.condition
        if statistic.other is not None:
            yield statistic.other.argument


def _scalars_of(relation: Relation) -> Iterable[Scalar]:
    match relation:
        case Filter(source, condition):
            yield condition
            yield from _scalars_of(source)
        case Project(source, columns):
            yield from (column.scalar for column in columns)
            yield from _scalars_of(source)
        case Join(_, left, right, condition):
            if condition is not None:
                yield condition
            yield from _scalars_of(left)
            yield from _scalars_of(right)
        case _:
            return


def _reads_rows(relation: Relation) -> bool:
    """Whether the relation may read more than its scalars name: orders are completed by all columns."""
    match relation:
        case Scan() | Materialized() | StageInput():
            return False
        case Filter(source) | Project(source):
            return _reads_rows(source)
        case Join(left=left, right=right):
            return _reads_rows(left) or _reads_rows(right)
        case _:
            return True
