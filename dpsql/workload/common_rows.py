"""Measures of the same tables, each with its own WHERE -> the same rows for all, and conditions.

    SELECT COUNT(*) FROM people WHERE age < 20       Filter(Scan(people), age_2 < 20)
    SELECT sex, COUNT(*) FROM people GROUP BY sex    Scan(people)

    the rows of people, columns named as in the table; condition age < 20; no condition

Claim   the rows in which all conditions are true are those of the measure.
Proof   A filter keeps the rows in which its condition is true, below an inner join too: a row of the join is
        made of one row of each side, and is there if both are. A table has the same rows whatever its columns
        are called. Where a column is compared with what another statement calls differently, its name is the
        table's own in both; in a join, with the table's name before it.
Test    tests/privacy/test_joint_files.py
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dpsql.ir.measure import Measure
from dpsql.ir.relation import Filter, Join, JoinKind, Relation, Scan
from dpsql.ir.scalar import Call, Ref, Scalar, conjuncts, replace_refs
from dpsql.lazy_dataclass import dataclass

_Names = Mapping[str, str]
"""The names of columns in a statement, and in the rows of all."""


@dataclass(frozen=True, slots=True, eq=False)
class Renamed:
    """A measure over the rows of its tables, under the tables' names; ``conditions`` are its filters."""

    measure: Measure
    rows: Relation
    conditions: tuple[Scalar, ...]


def renamed(measure: Measure) -> Renamed | None:
    """Return a measure of one table, or of inner joins of several; None where it reads anything else."""
    relation = measure.uncopied
    scans = _scans(relation)
    if scans is None or len({scan.table for scan in scans}) < len(scans):
        return None
    if all(scan.owner is None for scan in scans):
        return None
    names: _Names = {name: common for scan in scans for name, common in _names(scan, len(scans) == 1).items()}
    if len(set(names.values())) < len(names):
        return None
    refs: dict[str, Scalar] = {name: Ref(common) for name, common in names.items()}
    conditions = tuple(replace_refs(each, refs) for each in _conditions(relation))
    return Renamed(_over(measure, refs), _rows(relation, names, refs), conditions)


def _scans(relation: Relation) -> list[Scan] | None:
    """Return the tables of a relation; None if it is made of more than filters and inner joins of tables."""
    match relation:
        case Filter(source):
            return _scans(source)
        case Join(JoinKind.INNER, left, right, unit=None):
            ours, theirs = _scans(left), _scans(right)
            return None if ours is None or theirs is None else [*ours, *theirs]
        case Scan():
            return [relation]
        case _:
            return None


def _names(scan: Scan, alone: bool) -> _Names:
    before = "" if alone else f"{scan.table}."
    hidden = {} if scan.owner is None else {scan.owner.name: f"{before}its unit"}
    return hidden | {column.name: f"{before}{column.source}" for column in scan.columns}


def _conditions(relation: Relation) -> Iterator[Scalar]:
    match relation:
        case Filter(source, condition):
            yield condition
            yield from _conditions(source)
        case Join(_, left, right):
            yield from _conditions(left)
            yield from _conditions(right)
        case _:
            return


def _rows(relation: Relation, names: _Names, refs: dict[str, Scalar]) -> Relation:
    """Return the relation without its filters, under the common names."""
    match relation:
        case Filter(source):
            return _rows(source, names, refs)
        case Join(_, left, right, condition):
            on = None if condition is None else _on(replace_refs(condition, refs))
            sides = _rows(left, names, refs), _rows(right, names, refs)
            return replace(relation, left=sides[0], right=sides[1], condition=on)
        case _:
            assert isinstance(relation, Scan)
            return _scan(relation, names)


def _on(condition: Scalar) -> Scalar:
    """Return a join's condition with its parts, and the sides of its equalities, in one order."""
    parts = sorted((_in_order(part) for part in conjuncts(condition)), key=repr)
    return parts[0] if len(parts) == 1 else Call("and", tuple(parts))


def _in_order(part: Scalar) -> Scalar:
    match part:
        case Call("=", (_, _) as sides):
            return replace(part, arguments=tuple(sorted(sides, key=repr)))
        case _:
            return part


def _scan(scan: Scan, names: _Names) -> Scan:
    columns = (replace(column, name=names[column.name]) for column in scan.columns)
    return replace(
        scan,
        columns=tuple(sorted(columns, key=lambda each: each.name)),
        keys=tuple(tuple(names.get(name, name) for name in key) for key in scan.keys),
        owner=None if scan.owner is None else replace(scan.owner, name=names[scan.owner.name]),
        checks=tuple((names.get(less, less), names.get(more, more)) for less, more in scan.checks),
        tied=tuple(names.get(name, name) for name in scan.tied),
    )


def _over(measure: Measure, refs: dict[str, Scalar]) -> Measure:
    """Rename the columns in keys and statistics; the relation stays what it was."""

    def own(scalar: Scalar | None) -> Scalar | None:
        return None if scalar is None else replace_refs(scalar, refs)

    return replace(
        measure,
        keys=tuple(replace(key, scalar=replace_refs(key.scalar, refs)) for key in measure.keys),
        statistics=tuple(
            replace(each, argument=own(each.argument), condition=own(each.condition))
            for each in measure.statistics
        ),
    )
