"""Measures of one table, each with its own WHERE -> the same rows for all, and each WHERE as a condition.

    SELECT COUNT(*) FROM people WHERE age < 20       Filter(Scan(people), age_2 < 20)
    SELECT sex, COUNT(*) FROM people GROUP BY sex    Scan(people)

    the rows of people, columns named as in the table; condition age < 20; no condition

Claim   the rows in which all conditions are true are those of the measure.
Proof   A filter keeps the rows in which its condition is true, and a table has the same rows whatever its
        columns are called. Where a column is compared with what another statement calls differently, its name
        is the table's own in both.
Test    tests/privacy/test_joint_files.py
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from dpsql.ir.measure import Measure
from dpsql.ir.relation import Filter, Scan
from dpsql.ir.scalar import Ref, Scalar, replace_refs


@dataclass(frozen=True, slots=True, eq=False)
class Renamed:
    """A measure of a table's own columns, over all its rows; ``conditions`` are its filters."""

    measure: Measure
    scan: Scan
    conditions: tuple[Scalar, ...]


def renamed(measure: Measure) -> Renamed | None:
    """Return a measure of one table with the table's own names; None where it reads anything else."""
    conditions, relation = list[Scalar](), measure.uncopied
    while isinstance(relation, Filter):
        conditions.append(relation.condition)
        relation = relation.input
    if not isinstance(relation, Scan) or relation.owner is None:
        return None
    names = {column.name: column.source for column in relation.columns}
    if len(set(names.values())) < len(names) or relation.owner.name not in names:
        return None
    refs: dict[str, Scalar] = {name: Ref(source) for name, source in names.items()}
    return Renamed(
        _over(measure, refs), _scan(relation, names), tuple(replace_refs(each, refs) for each in conditions)
    )


def _scan(scan: Scan, names: dict[str, str]) -> Scan:
    assert scan.owner is not None
    return replace(
        scan,
        columns=tuple(
            sorted(
                (replace(column, name=column.source) for column in scan.columns), key=lambda each: each.name
            )
        ),
        keys=tuple(tuple(names.get(name, name) for name in key) for key in scan.keys),
        owner=replace(scan.owner, name=names[scan.owner.name]),
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
