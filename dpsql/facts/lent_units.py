"""Units that one side of a join has from the other, so that the path to them is not joined again.

    treatments (unit: visit_id -> visits.patient_id) JOIN visits USING (visit_id)
    treatments AS a WHERE EXISTS (FROM treatments AS b WHERE b.visit_id = a.visit_id)

Claim   where this is found, the two units are equal in all rows that meet.
Proof   The lender has the table that the path starts with, joined on the path's own key, which is unique;
        or a table whose path begins with the same key and goes on alike, and links of one value are at
        the same key. Links are compared as the path compares them: whole numbers, or one column with
        itself, for which being equal is transitive.
Test    tests/privacy/test_lent_units.py
"""

from __future__ import annotations

from dpsql.facts.columns_read import computed
from dpsql.facts.light_units import row_source
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.ir.column import Kind
from dpsql.ir.measure import Measure
from dpsql.ir.relation import (
    Filter,
    Join,
    JoinKind,
    Materialized,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
)
from dpsql.ir.scalar import Call, Ref, Scalar, conjuncts, refs
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class LentUnit:
    """A join in which one table takes its unit from the other.

    The unit ``unit`` of one side equals ``same`` of the other in every row that is left, so the joins to
    reach it are left out. ``left`` says whether the scan without its own path is the left side, ``one``
    whether each of its rows meets one row of the lender at most; ``units`` are all columns of the lender that
    hold the unit.
    """

    left: bool
    unit: str
    same: str
    one: bool
    units: frozenset[str]

    def says(self, part: Scalar) -> bool:
        """Whether a condition says no more than that the two units are equal."""
        compared = compared_columns(part) if is_equality(part) else frozenset()
        return self.unit in compared and bool(compared & self.units)


def lent_unit(join: Join) -> LentUnit | None:
    """Return the unit that one side has from the other, if there is one."""
    if join.condition is None or not (join.kind is JoinKind.INNER or join.kind.one_sided):
        return None
    compared = {compared_columns(part) for part in conjuncts(join.condition) if is_equality(part)}
    sides = ((False, join.right, join.left), (True, join.left, join.right))
    for left, borrower, lender in sides[:1] if join.kind.one_sided else sides[::-1]:
        inner = borrower
        touched: frozenset[str] = frozenset()
        while isinstance(inner, Filter):
            touched |= refs(inner.condition)
            inner = inner.input
        if not isinstance(inner, Scan) or inner.owner is None or not inner.owner.links:
            continue
        owner, step = inner.owner, inner.owner.links[0]
        if owner.name in touched or any(column.name == owner.name for column in inner.columns):
            continue
        if not isinstance(step.column, str):
            continue
        links = {column.name for column in inner.columns if column.source == step.column}
        for columns_of, one in ((_step_keys, True), (_same_links, False)):
            for scan in _plain_scans(lender):
                if scan.owner is not None and compared & _pairs(links, columns_of(scan, inner)):
                    owned = ownership_of(lender)
                    assert isinstance(owned, Owned)
                    return LentUnit(left, owner.name, scan.owner.name, one, owned.units | {scan.owner.name})
    return None


def _step_keys(lender: Scan, scan: Scan) -> set[str]:
    """Return the columns of the lender that a scan's path starts at, if it starts at that table."""
    assert lender.owner is not None
    assert scan.owner is not None
    step, *further = scan.owner.links
    if lender.table != step.table or lender.owner.column != scan.owner.column:
        return set()
    alike = lender.owner.links == tuple(further)
    return {column.name for column in lender.columns if column.source == step.key} if alike else set()


def _same_links(lender: Scan, scan: Scan) -> set[str]:
    """Return the columns of the lender that start the path of the other scan, if both have one path."""
    ours, theirs = scan.owner, lender.owner
    assert ours is not None
    assert theirs is not None
    if not theirs.links or theirs.column != ours.column or theirs.links[1:] != ours.links[1:]:
        return set()
    step, other = ours.links[0], theirs.links[0]
    if (step.table, step.key) != (other.table, other.key):
        return set()
    found = {column.name for column in lender.columns if column.source == other.column}
    if (lender.table, other.column) == (scan.table, step.column):
        return found
    kinds = {
        column.fact.type.kind
        for read, name in ((scan, step.column), (lender, other.column))
        for column in read.columns
        if column.source == name
    }
    return found if kinds == {Kind.INTEGER} else set()


def is_equality(part: Scalar) -> bool:
    return isinstance(part, Call) and part.function == "="


def compared_columns(part: Scalar) -> frozenset[str]:
    """Return the two columns that an equality compares; empty if a side is not a column."""
    sides = part.arguments if isinstance(part, Call) else ()
    names = frozenset(side.name for side in sides if isinstance(side, Ref))
    return names if len(names) == 2 else frozenset()


def _pairs(left: set[str], right: set[str]) -> set[frozenset[str]]:
    return {frozenset((a, b)) for a in left for b in right}


def reads_units(measure: Measure) -> bool:
    """Whether a measure computes with hidden units, or its rows would be others without them."""
    hidden = hidden_units(measure.relation)
    return any(refs(scalar) & hidden for scalar in computed(measure)) or needs_units(measure.relation)


def needs_units(relation: Relation) -> bool:
    """Whether rows without their units would be others, but for rows of nobody of ``row_sources``' tables.

    Claim   read without units, a relation for which this is false has the same rows for each row of a
            source's table that belongs to a unit, and for one of nobody at most as many as for one of a unit.
    Proof   Only conditions that name hidden units are left out. Of those there is the equality of a lent unit
            alone (``LentUnit``): it holds wherever the joined keys are equal. The source is on the borrowing
            side, of which a row meets one row of the lender, since the key is unique. Where no side has
            hidden units, nothing is left out.
    """
    match relation:
        case Scan() | Materialized() | StageInput():
            return False
        case Filter(source, condition):
            return bool(refs(condition) & hidden_units(source)) or needs_units(source)
        case Project(source, columns):
            hidden = hidden_units(source)
            read = (column.scalar for column in columns if not isinstance(column.scalar, Ref))
            return any(refs(scalar) & hidden for scalar in read) or needs_units(source)
        case Join(left=left, right=right):
            return needs_units(left) or needs_units(right) or _joins_hidden_units(relation)
        case Union(left, right):
            return needs_units(left) or needs_units(right)
        case _:
            return True


def _joins_hidden_units(join: Join) -> bool:
    """Whether a join reads hidden units but for the equality of a lent one."""
    hidden = hidden_units(join.left) | hidden_units(join.right)
    lent = lent_unit(join)
    parts = conjuncts(join.condition) if join.condition is not None else ()
    read = [part for part in parts if refs(part) & hidden]
    if not read:
        return False
    if lent is None or not all(lent.says(part) for part in read):
        return True
    if join.kind.one_sided:  # no row is made of several
        return False
    if not lent.one:
        return True
    source = row_source(join)
    borrower = join.left if lent.left else join.right
    return source is None or not _holds(borrower, source.scan)


def _holds(relation: Relation, scan: Scan) -> bool:
    while isinstance(relation, Filter):
        relation = relation.input
    return relation is scan


def hidden_units(relation: Relation) -> frozenset[str]:
    """Return the columns that hold units and are read from other tables than the query names."""
    match relation:
        case Scan(columns=columns, owner=owner):
            listed = {column.name for column in columns}
            linked = owner is not None and bool(owner.links) and owner.name not in listed
            return frozenset((owner.name,)) if owner is not None and linked else frozenset()
        case Filter(source) | Window(source):
            return hidden_units(source)
        case Project(source, columns):
            below = hidden_units(source)
            return frozenset(column.name for column in columns if refs(column.scalar) & below)
        case Join(kind, left, right):
            return hidden_units(left) | (frozenset() if kind.one_sided else hidden_units(right))
        case Union(left, right):
            return hidden_units(left) | hidden_units(right)
        case _:
            return frozenset()


def _plain_scans(relation: Relation) -> list[Scan]:
    """Return the scans that reach this relation with unchanged columns; no join adds NULLs to them."""
    match relation:
        case Scan():
            return [relation]
        case Filter(source, _):
            return _plain_scans(source)
        case Join(kind, left, right):
            return _plain_scans(left) + (_plain_scans(right) if kind is JoinKind.INNER else [])
        case _:
            return []
