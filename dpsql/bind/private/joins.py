"""Joins of private rows: which are allowed, and in which order they run.

Rule 2: every join of two private relations carries the equality of their hidden unit columns. Where
the text joins on a declared key or tie that tells the unit, the equality is added here:

    treatments JOIN visits USING (visit_id)      becomes
    treatments JOIN visits ON t.visit_id = v.visit_id AND t.unit = v.unit

Claim   a row of a join of two private relations has one unit.
Proof   The condition has the equality of the two unit columns, so a pair of two units' rows is not joined.
        That the columns of the text tell the unit makes the query answerable and is used for nothing else: if
        a declaration is wrong, pairs are missing, and no row of one unit decides about a row of another.
Test    grammar_tests/joins/ties.sql, on rows that break the declaration; facts/ties.py says what was added
"""

from __future__ import annotations

from dataclasses import replace

from dpsql.bind.private.meant_keys import is_meant
from dpsql.bind.private.unmatched import unmatched
from dpsql.errors import refuse
from dpsql.facts.ownership import (
    FAN_OUT,
    ROWS,
    Owned,
    Public,
    equal_columns,
    fan_out,
    ownership_of,
    pinned_columns,
    writes_units,
)
from dpsql.facts.schema import facts_of
from dpsql.facts.sharing import Count, with_counts
from dpsql.ir.column import Column
from dpsql.ir.relation import Filter, Join, JoinKind, Relation
from dpsql.ir.scalar import Call, Ref, Scalar, conjuncts, refs
from dpsql.ir.source import Span


def all_of(parts: list[Scalar]) -> Scalar | None:
    """Return the conjunction of conditions, or None for none."""
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else Call("and", tuple(parts))


def filtered(relation: Relation, parts: list[Scalar]) -> Relation:
    """Return the relation filtered by all conditions."""
    condition = all_of(parts)
    return relation if condition is None else Filter(unmatched(relation, parts), condition)


def join(
    kind: JoinKind,
    left: Relation,
    right: Relation,
    condition: Scalar | None,
    span: Span | None,
    unit: str,
    column: Column | None = None,
    count: Count | None = None,
) -> Relation:
    """Join two relations: two private sides on the unit, a public side within the fan-out limit.

    ``column`` holds the unit of the rows of a FULL join. ``count`` counts rows of public tables that share a
    value.
    """
    if count is not None:
        left, right = _counted(left, right, condition, count), _counted(right, left, condition, count)
    ours, theirs = ownership_of(left), ownership_of(right)
    private_first = kind is JoinKind.INNER or isinstance(ours, Owned) or isinstance(theirs, Public)
    assert private_first, "the kept side of an outer join is private"
    assert kind is not JoinKind.FULL or isinstance(theirs, Owned), "both sides of a FULL join are private"
    added = False
    if isinstance(ours, Owned) and isinstance(theirs, Owned):
        added = not (_writes_equal_units(condition, ours, theirs) or writes_units(condition, ours, theirs))
        condition = _with_equal_units(left, ours, right, theirs, condition, span, unit)
        if not kind.one_sided:
            _check_copies(ours.fan * theirs.fan, span)
    elif isinstance(ours, Owned) != isinstance(theirs, Owned) and not kind.one_sided:
        owned = ours if isinstance(ours, Owned) else theirs
        assert isinstance(owned, Owned)
        public, private = (right, left) if owned is ours else (left, right)
        _check_fan_out(owned.fan * fan_out(public, private, condition), span)
    joined = Join(kind, left, right, condition, span, column, added)
    both = isinstance(ours, Owned) and isinstance(theirs, Owned)
    check_rows(replace(joined, kind=JoinKind.INNER) if both and kind.one_sided else joined, span, unit)
    return joined


def _counted(side: Relation, opposite: Relation, condition: Scalar | None, count: Count) -> Relation:
    """Return a public side with the rows counted that a join matches at once, unless it matches a key."""
    owned = ownership_of(side)
    if not isinstance(owned, Public) or isinstance(ownership_of(opposite), Public):
        return side
    pinned = equal_columns(side, opposite, condition)
    return side if any(key <= pinned for key in owned.keys) else with_counts(side, pinned, count)


def _with_equal_units(
    left: Relation,
    ours: Owned,
    right: Relation,
    theirs: Owned,
    condition: Scalar | None,
    span: Span | None,
    unit: str,
) -> Scalar:
    """Return the join condition with the equality of the unit columns; refuse a join not on the unit."""
    parts = list(conjuncts(condition)) if condition is not None else []
    if _writes_equal_units(condition, ours, theirs):
        return all_of(parts) or parts[0]
    if not on_the_unit(left, right, parts):
        raise refuse(
            "D401",
            f"these private tables are not joined on the {unit}",
            span,
            label=f"a row of this join would belong to two {unit}s",
            help=f"join them on the column that holds the {unit}, ON a.id = b.id AND ..., or along "
            "a declared foreign key (or tells_unit); to compare groups, aggregate both sides first and join "
            "the released groups",
        )
    equal = Call("=", (Ref(ours.unit), Ref(theirs.unit)))
    return all_of([*parts, equal]) or equal


def on_the_unit(left: Relation, right: Relation, parts: list[Scalar]) -> bool:
    """Whether these conditions join two private relations on the unit, or on a key that determines it."""
    ours, theirs = ownership_of(left), ownership_of(right)
    if not isinstance(ours, Owned) or not isinstance(theirs, Owned):
        return False
    condition = all_of(parts)
    if any(_equates(part, ours, theirs) for part in parts) or writes_units(condition, ours, theirs):
        return True
    return any(
        key <= pinned_columns(side, opposite, condition)
        and not _is_unit(key, owned)
        and is_meant(key, side, parts, opposite, other)
        for side, opposite, owned, other in ((left, right, ours, theirs), (right, left, theirs, ours))
        for key in owned.keys
    )


def _is_unit(key: frozenset[str], owned: Owned) -> bool:
    """Whether a key is the unit itself: what equals it need not be the unit of the other side."""
    return key <= owned.units or any(key == frozenset(names) for names in owned.spelled)


def _writes_equal_units(condition: Scalar | None, ours: Owned, theirs: Owned) -> bool:
    parts = conjuncts(condition) if condition is not None else ()
    return any(_equates(part, ours, theirs) for part in parts)


def _equates(part: Scalar, ours: Owned, theirs: Owned) -> bool:
    """Whether a condition is the equality of a unit column of each side."""
    match part:
        case Call("=", (Ref(a), Ref(b))):
            return (a in ours.units and b in theirs.units) or (b in ours.units and a in theirs.units)
        case _:
            return False


def _check_fan_out(times: int, span: Span | None) -> None:
    """Refuse joins that together may multiply one private row more often than the limit."""
    if times > FAN_OUT:
        raise refuse(
            "D303",
            f"this join may multiply one private row up to {times:,} times",
            span,
            label="no declared key of the public side is matched",
            help="join on the public side's key; or aggregate first, and join what is released: "
            "SELECT SUM(s) FROM (SELECT x, SUM(y) AS s FROM ... GROUP BY x) JOIN ...",
        )


def _check_copies(times: int, span: Span | None) -> None:
    """Refuse a join of sides that both have one private row several times, together too often."""
    if times > FAN_OUT:
        raise refuse(
            "D303",
            f"this join may make {times:,} copies of one private row",
            span,
            label="UNION ALL, lists or public tables have made several rows of it on both sides",
            help=f"aggregate one side first: {_AGGREGATED}",
        )


def check_rows(relation: Relation, span: Span | None, unit: str, what: str = "this join") -> None:
    """Refuse very many rows of one unit, by the number that it is taken to have: their time would tell of it.

    Of a SEMI or ANTI join these are the pairs that are looked at.
    """
    owned = ownership_of(relation)
    if isinstance(owned, Owned) and owned.rows is not None and owned.rows > ROWS:
        raise refuse(
            "D303",
            f"{what} may make {owned.rows:,} rows of one {unit}",
            span,
            label="by rows_per_unit, times as many as each row meets",
            help="compare a key of one side, too, so that a row meets one; or aggregate one side first: "
            f"{_AGGREGATED}",
        )


_AGGREGATED = "JOIN (SELECT id, COUNT(*) AS n FROM ... GROUP BY id) AS b USING (id)"


def arrange(
    items: list[tuple[Relation, Span | None]], parts: list[Scalar], unit: str, count: Count | None = None
) -> Relation:
    """Arrange inner joins and WHERE: private relations first, each condition as early as possible."""
    conditions = list(parts)
    relations = []
    for relation, span in items:
        local = [part for part in conditions if refs(part) and refs(part) <= facts_of(relation).keys()]
        conditions = [part for part in conditions if part not in local]
        relations.append((filtered(relation, local), span))
    placed, _ = relations.pop(_first_private(relations))
    while relations:
        names = facts_of(placed).keys()
        index = _next(relations, frozenset(names), conditions)
        relation, span = relations.pop(index)
        both = names | facts_of(relation).keys()
        here = [part for part in conditions if refs(part) and refs(part) <= both]
        conditions = [part for part in conditions if part not in here]
        placed = join(JoinKind.INNER, placed, relation, all_of(here), span, unit, count=count)
    return filtered(placed, conditions)


def _first_private(relations: list[tuple[Relation, Span | None]]) -> int:
    owned = [i for i, (relation, _) in enumerate(relations) if isinstance(ownership_of(relation), Owned)]
    return owned[0] if owned else 0


def _next(
    relations: list[tuple[Relation, Span | None]], placed: frozenset[str], conditions: list[Scalar]
) -> int:
    """Return the index of the next relation: linked by a condition and private, linked, private, any."""

    def rank(index: int) -> tuple[int, int]:
        relation = relations[index][0]
        names = facts_of(relation).keys()
        linked = any(
            refs(part) & placed and refs(part) & names and refs(part) <= placed | names for part in conditions
        )
        private = isinstance(ownership_of(relation), Owned)
        return (0 if linked and private else 1 if linked else 2 if private else 3, index)

    return min(range(len(relations)), key=rank)
