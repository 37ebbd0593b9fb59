"""Which blocks of units the rows of a relation can be in.

    FROM patients WHERE cohort = 2025                                  2025
    FROM visits JOIN patients USING (patient_id) WHERE cohort > 2023   2024, 2025 and the rest
    FROM visits WHERE day >= DATE '2025-01-01'                         all: a row's attribute says nothing

Claim   no unit of a block that ``blocks_of`` leaves out has a row in the relation, whatever the data is; so
        the relation, and all that is computed from it, is the same without any of these units.
Proof   Every row of a private relation belongs to one unit and is made of that unit's rows and public ones
        (bind/private/joins.py), so a relation is the union of what each unit alone would give. It is enough
        that a unit u of a block b gives no row. By induction over relations, for two statements:
        (1) a unit with a row is in a block of ``blocks``;
        (2) in each row, a column of ``columns`` has the value that the blocks' column has in the one row of
            that unit in its own table; a key keeps a second row out, enforced or verified on this data;
        (3) in each row, a column of ``sparse`` has that value or NULL.
        Scan     (1) all blocks; (2) the blocks' column, read from the unit's own table and nowhere else.
        Filter   a row that stays has the condition true, so each of its conjuncts; by (2) the value is one
                 of those that some row with the conjuncts true can have (facts/truth_vectors.py), and by (3)
                 too, if it cannot be NULL there.
        Join     on the unit of two private sides: a row needs a row of that unit on both sides of an INNER
                 or SEMI join, on the left one of a LEFT or ANTI join, on either one of a FULL join. What the
                 other side of an outer join adds may be NULL, so that (2) becomes (3).
        Union    a row is one of either side: (1) the blocks of both, (2, 3) the columns of both alike.
        Others   a row of a Project, a Window or an Aggregate within units needs a row of its unit below;
                 (2, 3) a column is kept as it is, under its new name.
        Whatever is not understood keeps all blocks.
Test    tests/privacy/test_unit_blocks.py: drawn queries on drawn rows, and a planted error that is found
"""

from __future__ import annotations

from dataclasses import replace
from typing import assert_never

from dpsql.facts.ownership import Owned, ownership_of, writes_units
from dpsql.facts.schema import Facts, facts_of
from dpsql.facts.truth_vectors import TruthVectors
from dpsql.facts.value_cells import constants_of
from dpsql.functions.core.literals import as_own
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Materialized,
    Named,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, conjuncts, refs
from dpsql.ir.unit_blocks import REST, UnitBlocks
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class _Placed:
    """The blocks that rows can be in; the columns with the value of the unit's own row, or it or NULL."""

    blocks: frozenset[int]
    columns: frozenset[str] = frozenset()
    sparse: frozenset[str] = frozenset()

    @property
    def either(self) -> frozenset[str]:
        return self.columns | self.sparse


def blocks_of(relation: Relation, blocks: UnitBlocks) -> frozenset[int]:
    """Return the blocks of units that can have a row in a relation; none of a public one."""
    if not isinstance(ownership_of(relation), Owned):
        return frozenset()
    return _placed(relation, blocks).blocks


def _placed(relation: Relation, blocks: UnitBlocks) -> _Placed:
    everywhere = _Placed(frozenset(blocks.numbers))
    match relation:
        case Scan(table, columns, owner=owner):
            if owner is None or owner.links or owner.at_most != 1 or table != blocks.table:
                return everywhere
            names = (column.name for column in columns if column.source == blocks.column)
            return replace(everywhere, columns=frozenset(names))
        case Materialized() | StageInput():
            return everywhere
        case Filter(source, condition):
            return _where(_placed(source, blocks), condition, facts_of(source), blocks)
        case Project(source, columns):
            return _renamed(_placed(source, blocks), columns)
        case Aggregate(source, keys, _):
            return _renamed(_placed(source, blocks), keys)
        case Window(source, _):
            return _placed(source, blocks)
        case Union(left, right):
            ours, theirs = _placed(left, blocks), _placed(right, blocks)
            both = ours.columns & theirs.columns
            return _Placed(ours.blocks | theirs.blocks, both, ours.either & theirs.either)
        case Join():
            return _joined(relation, blocks)
        case _:
            assert_never(relation)


def _renamed(below: _Placed, columns: tuple[Named, ...]) -> _Placed:
    """Return the same under new names, of columns that are kept as they are."""
    kept = [(each.name, each.scalar.name) for each in columns if isinstance(each.scalar, Ref)]
    own, sparse = (
        frozenset(name for name, before in kept if before in names) for names in (below.columns, below.sparse)
    )
    return _Placed(below.blocks, own, sparse)


def _joined(join: Join, blocks: UnitBlocks) -> _Placed:
    ours, theirs = ownership_of(join.left), ownership_of(join.right)
    facts = {**facts_of(join.left), **facts_of(join.right)}
    if not isinstance(ours, Owned) or not isinstance(theirs, Owned):
        private = join.left if isinstance(ours, Owned) else join.right
        placed = _placed(private, blocks)
        if join.kind in (JoinKind.INNER, JoinKind.SEMI) and join.condition is not None:
            return _where(placed, join.condition, facts, blocks)
        return placed
    left, right = _placed(join.left, blocks), _placed(join.right, blocks)
    if not _on_the_unit(join.condition, ours, theirs):  # every join is; what is not understood is everywhere
        return _Placed(frozenset(blocks.numbers))
    match join.kind:
        case JoinKind.INNER | JoinKind.SEMI:
            columns, sparse = left.columns | right.columns, left.sparse | right.sparse
            both = _Placed(left.blocks & right.blocks, columns, sparse)
            assert join.condition is not None
            within = _where(both, join.condition, facts, blocks)
            return within if join.kind is JoinKind.INNER else replace(left, blocks=within.blocks)
        case JoinKind.LEFT:
            return replace(left, sparse=left.sparse | right.either)
        case JoinKind.ANTI:
            return left
        case JoinKind.FULL:
            return _Placed(left.blocks | right.blocks, sparse=left.either | right.either)
        case _:
            assert_never(join.kind)


def _on_the_unit(condition: Scalar | None, left: Owned, right: Owned) -> bool:
    """Whether the units of both sides are equal wherever a condition is true."""
    parts = conjuncts(condition) if condition is not None else ()
    pairs = (part.arguments for part in parts if isinstance(part, Call) and part.function == "=")
    equal = any(
        isinstance(one, Ref) and isinstance(other, Ref) and _are_units(one.name, other.name, left, right)
        for one, other in pairs
    )
    return equal or writes_units(condition, left, right)


def _are_units(one: str, other: str, left: Owned, right: Owned) -> bool:
    sides = ((one, other), (other, one))
    return any(ours in left.units and theirs in right.units for ours, theirs in sides)


def _where(placed: _Placed, condition: Scalar, facts: Facts, blocks: UnitBlocks) -> _Placed:
    """Return what is left where a condition is true."""
    left, parts = placed.blocks, conjuncts(condition)
    for name in sorted(placed.either):
        alone = tuple(part for part in parts if refs(part) == {name})
        mixed = (part for part in parts if name in refs(part) and refs(part) != {name})
        for part in (*((Call("and", alone),) if len(alone) > 1 else ()), *alone, *mixed):
            left &= _left_by(part, name, facts, blocks, name in placed.columns)
    return replace(placed, blocks=left)


def _left_by(condition: Scalar, column: str, facts: Facts, blocks: UnitBlocks, own: bool) -> frozenset[int]:
    """Return the blocks of the values that a column, if it is not NULL, can have where a condition is true.

    The ``own`` value is never missing: NULL is the rest then.
    """
    everywhere, of = frozenset(blocks.numbers), facts[column].type
    constants = constants_of(of, [Literal(as_own(value, of), of) for value in blocks.values])
    known = [] if constants is None else [constant for constant in constants if constant is not None]
    if len(set(known)) < len(blocks.values):
        return everywhere
    values = TruthVectors(facts).values_left(condition, Ref(column), known)
    if values is None or (None in values and not own):
        return everywhere
    return frozenset(REST if value is None else value + 1 for value in values)
