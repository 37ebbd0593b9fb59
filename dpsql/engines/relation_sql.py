"""Relations as SQL, printed from our own tree: names quoted, scalars total, units at the scan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import assert_never

from dpsql.aggregates import shelf as aggregates
from dpsql.engines.identifiers import quote, table_sql
from dpsql.facts.ownership import Owned, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.literals import literal_sql
from dpsql.functions.core.printing import sql_of
from dpsql.functions.core.windows import windows
from dpsql.ir.column import VARCHAR, Fact, Kind, Value
from dpsql.ir.relation import (
    Aggregate,
    AggregateCall,
    Filter,
    Join,
    JoinKind,
    Materialized,
    Ordering,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
    WindowCall,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, conjuncts, refs

# ---- relations ---------------------------------------------------------------------------------------


def relation_sql(relation: Relation) -> str:
    """A SELECT that yields the relation's columns under their names."""
    return _select(relation, twofold if _joins(relation) > 1 else str)


def twofold(rows: str) -> str:
    """The same rows out of two sources, one of which never has any.

    DuckDB 2.0 stores what joins a join by its place in "the" dictionary of the first chunk, and fails on
    the first chunk that has another one, or none: a CASE, a coalesce() or a cast between the two joins
    makes such chunks, and one unit's rows decide whether there is one. It refrains where a join reads a
    UNION. So every table below two joins is one, of which the planner must not see that it adds nothing.
    """
    return f"(FROM {rows} UNION ALL SELECT t.* FROM {rows} AS t, range(0))"


def _joins(relation: Relation) -> int:
    match relation:
        case Scan(owner=owner):
            return 0 if owner is None else len(owner.links)
        case Materialized() | StageInput():
            return 0
        case Join(_, left, right):
            return 1 + _joins(left) + _joins(right)
        case Union(left, right):
            return _joins(left) + _joins(right)
        case Window(source):  # DuckDB may make a join of it
            return 1 + _joins(source)
        case Filter(source) | Project(source) | Aggregate(source):
            return _joins(source)
        case _:
            assert_never(relation)


def _select(relation: Relation, read: Callable[[str], str]) -> str:
    match relation:
        case Scan():
            return _scan(relation, read)
        case Materialized():
            rows = _given(relation)
            return rows if read is str else f"FROM {read(f'({rows})')}"
        case StageInput(name, columns):  # for people to read: its rows stand there before anything runs
            listed = ", ".join(f"{quote(each.name)}" for each in columns)
            return f"SELECT {listed} FROM released.{quote(name)}"
        case Filter(source, condition):
            return f"SELECT * FROM ({_select(source, read)}) WHERE {scalar_sql(condition, source)}"
        case Project(source, columns):
            listed = ", ".join(f"{scalar_sql(each.scalar, source)} AS {quote(each.name)}" for each in columns)
            return f"SELECT {listed} FROM ({_select(source, read)})"
        case Join():
            return _join(relation, read)
        case Aggregate(source, keys, calls):
            named = [f"{key_sql(each.scalar, source)} AS {quote(each.name)}" for each in keys]
            named += [f"{_per_unit(each, source)} AS {quote(each.name)}" for each in calls]
            places = ", ".join(str(i + 1) for i in range(len(keys)))
            return f"SELECT {', '.join(named)} FROM ({_select(source, read)}) GROUP BY {places}"
        case Union(left, right):
            names = _comma_separated(facts_of(left))
            return (
                f"SELECT {names} FROM ({_select(left, read)}) "
                f"UNION ALL SELECT {names} FROM ({_select(right, read)})"
            )
        case Window(source, call):
            own = f"{window_sql(call, source)} AS {quote(call.name)}"
            return f"SELECT *, {own} FROM ({_select(source, read)})"
        case _:
            assert_never(relation)


def _comma_separated(names: Iterable[str]) -> str:
    return ", ".join(quote(name) for name in names)


def _join(join: Join, read: Callable[[str], str]) -> str:
    lent = _lent(join)
    left, right = (
        _without_path(side, read) if lent is not None and lent.left is borrows else _select(side, read)
        for side, borrows in ((join.left, True), (join.right, False))
    )
    facts = {**facts_of(join.left), **facts_of(join.right)}
    parts = conjuncts(join.condition) if join.condition is not None else ()
    if lent is not None:  # the units are one value here
        equal = frozenset((lent.unit, lent.same))
        parts = tuple(each for each in parts if not (_is_equality(each) and _names(each) == equal))

    def spelled(name: str) -> str:  # below this SELECT, the lent unit is the lender's
        return quote(lent.same if lent is not None and name == lent.unit else name)

    printed = [sql_of(part, facts.__getitem__, spelled) for part in parts]
    extra = ""
    if lent is not None and not join.kind.one_sided:
        extra = f", {quote(lent.same)} AS {quote(lent.unit)}"
    if join.unit is not None:
        units = ", ".join(quote(_unit(side)) for side in (join.left, join.right))
        extra = f", coalesce({units}) AS {quote(join.unit.name)}"
    sides = f"({left}) {join.kind.value.upper()} JOIN ({right})"
    return f"SELECT *{extra} FROM {sides} ON {' AND '.join(printed) or 'true'}"


@dataclass(frozen=True, slots=True)
class _Lent:
    """A joined table lends its unit to the table whose path to the unit leads through it.

        treatments (unit: visit_id -> visits.patient_id) JOIN visits USING (visit_id)

    Reading the unit of treatments joins visits inside the scan already. Where the query joins that very
    table on that very unique key, the scan's unit ``unit`` equals the other side's ``same`` in every row,
    so the join inside the scan is left out. ``left`` tells on which side the borrowing scan stands.
    """

    left: bool
    unit: str
    same: str


def _lent(join: Join) -> _Lent | None:
    if join.condition is None or not (join.kind is JoinKind.INNER or join.kind.one_sided):
        return None
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
        if owner.name in touched or any(each.name == owner.name for each in inner.columns):
            continue
        own = {each.name for each in inner.columns if each.source == step.column}
        for scan in _plain_scans(lender):
            theirs = scan.owner
            if scan.table != step.table or theirs is None:
                continue
            if (theirs.links, theirs.column) != (owner.links[1:], owner.column):
                continue
            keys = {each.name for each in scan.columns if each.source == step.key}
            if any(
                _is_equality(part) and _names(part) in _pairs(own, keys) for part in conjuncts(join.condition)
            ):
                return _Lent(left, owner.name, theirs.name)
    return None


def _is_equality(part: Scalar) -> bool:
    return isinstance(part, Call) and part.function == "="


def _names(part: Scalar) -> frozenset[str]:
    """The two columns that an equality compares; nothing where a side is something else."""
    both = part.arguments if isinstance(part, Call) else ()
    found = frozenset(each.name for each in both if isinstance(each, Ref))
    return found if len(found) == 2 else frozenset()


def _pairs(own: set[str], keys: set[str]) -> set[frozenset[str]]:
    return {frozenset((a, b)) for a in own for b in keys}


def _plain_scans(relation: Relation) -> list[Scan]:
    """Scans whose columns come through unchanged and never NULL where they were not."""
    match relation:
        case Scan():
            return [relation]
        case Filter(source, _):
            return _plain_scans(source)
        case Join(kind, left, right):
            return _plain_scans(left) + (_plain_scans(right) if kind is JoinKind.INNER else [])
        case _:
            return []


def _without_path(relation: Relation, read: Callable[[str], str]) -> str:
    """A scan (and the filters over it) without its path to the unit, which a join lends."""
    if isinstance(relation, Filter):
        inner = _without_path(relation.input, read)
        return f"SELECT * FROM ({inner}) WHERE {scalar_sql(relation.condition, relation.input)}"
    assert isinstance(relation, Scan)
    columns = ", ".join(f"t0.{quote(each.source)} AS {quote(each.name)}" for each in relation.columns)
    return f"SELECT {columns} FROM {read(table_sql(relation.table))} AS t0"


def _given(given: Materialized) -> str:
    """Public rows that were computed before, as constants of their types.

    A last moment that was rounded to microseconds may lie behind those of its own type: NULL, not a failure.
    """
    names = [f"v{i}" for i in range(len(given.columns))]
    listed = ", ".join(
        f"TRY_CAST({name} AS {column.source}) AS {quote(column.name)}"
        for name, column in zip(names, given.columns, strict=True)
    )
    rows = given.rows or ((None,) * len(names),)
    values = ", ".join(f"({', '.join(_plain_constant(value) for value in row)})" for row in rows)
    tail = "" if given.rows else " WHERE false"
    return f"SELECT {listed} FROM (VALUES {values}) AS v({', '.join(names)}){tail}"


def _plain_constant(value: Value) -> str:
    """A constant that a CAST gives its type; text for everything that is not a plain number."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return f"'{value}'"
    return literal_sql(Literal(str(value) if isinstance(value, float) else value, VARCHAR))


def _scan(scan: Scan, read: Callable[[str], str]) -> str:
    """The table with the path to its unit; a row whose unit is NULL, or is not reached, is not there.

    The unit is read in one type from every table: what merges or compares units then makes no cast that
    could fail on one of them.
    """
    owner = scan.owner
    columns = {each.name: f"t0.{quote(each.source)}" for each in scan.columns}
    tables = f"{read(table_sql(scan.table))} AS t0"
    if owner is None:
        return f"SELECT {_named(columns)} FROM {tables}"
    for step, link in enumerate(owner.links):
        on = f"t{step}.{quote(link.column)} = t{step + 1}.{quote(link.key)}"
        tables += f" JOIN {read(table_sql(link.table))} AS t{step + 1} ON {on}"
    unit = f"t{len(owner.links)}.{quote(owner.column)}"
    columns = columns if owner.name in columns else {owner.name: unit, **columns}
    if owner.widened:
        columns[owner.name] = f"CAST({unit} AS {owner.fact.type.sql})"
    where = "" if owner.filled else f" WHERE {unit} IS NOT NULL"
    return f"SELECT {_named(columns)} FROM {tables}{where}"


def _named(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{sql} AS {quote(name)}" for name, sql in columns.items())


def scalar_sql(scalar: Scalar, relation: Relation) -> str:
    return sql_of(scalar, facts_of(relation).__getitem__, quote)


def type_in(scalar: Scalar, relation: Relation) -> Fact:
    return fact_of(scalar, facts_of(relation))


def key_sql(scalar: Scalar, relation: Relation) -> str:
    """A group key as a function of its equality class: one NaN, one zero, microseconds at most."""
    sql = scalar_sql(scalar, relation)
    key = type_in(scalar, relation).type
    if key.kind is Kind.FLOAT:
        return f"CASE WHEN isnan({sql}) THEN 'nan'::{key.sql} ELSE ({sql}) + 0::{key.sql} END"
    if key.kind is Kind.TIMESTAMP and key.sql != "TIMESTAMP":
        return f"TRY_CAST({sql} AS TIMESTAMP)"
    return sql


def _unit(side: Relation) -> str:
    owned = ownership_of(side)
    assert isinstance(owned, Owned)
    return owned.unit


def window_sql(call: WindowCall, source: Relation) -> str:
    """A window over one unit's rows. An order that picks among tied rows is completed by all columns."""
    function = windows().get(call.function)
    order = [f"{key_sql(each.scalar, source)}{_way(each)}" for each in call.order]
    if call.rows is not None or (function is not None and function.picks):
        order += _complete(source)
    parts = [f"PARTITION BY {', '.join(key_sql(each, source) for each in call.partition)}"]
    if order:
        parts.append(f"ORDER BY {', '.join(order)}")
    if call.rows is not None:
        first, last = call.rows
        parts.append(f"ROWS BETWEEN {_end(first, 'PRECEDING')} AND {_end(last, 'FOLLOWING')}")
    over = f" OVER ({' '.join(parts)})"
    if function is None:
        aggregate = AggregateCall(
            call.name,
            call.function,
            call.arguments[0] if call.arguments else None,
            condition=call.condition,
            others=call.arguments[1:],
        )
        return _per_unit(aggregate, source, over)
    spelled = [
        key_sql if type_in(each, source).type.kind is Kind.FLOAT else scalar_sql for each in call.arguments
    ]
    arguments = ", ".join(one(each, source) for one, each in zip(spelled, call.arguments, strict=True))
    return f"{call.function}({arguments}{' IGNORE NULLS' if call.ignore_nulls else ''}){over}"


def _end(rows: int | None, way: str) -> str:
    """How far a frame reaches, counted outwards from the current row."""
    if rows is None:
        return f"UNBOUNDED {way}"
    inwards = "FOLLOWING" if way == "PRECEDING" else "PRECEDING"
    return f"{abs(rows)} {way if rows >= 0 else inwards}"


def _way(each: Ordering) -> str:
    way = " DESC" if each.descending else " ASC"
    return f"{way} NULLS {'FIRST' if each.nulls_first else 'LAST'}"


def _complete(source: Relation) -> list[str]:
    """All columns, so that rows which still tie are alike in everything that a query can see."""
    parts = []
    for name, fact in facts_of(source).items():
        column = quote(name)
        match fact.type.kind:
            case Kind.OPAQUE:
                parts.append(f"({column} IS NULL)")
            case Kind.FLOAT:
                parts += [column, f"signbit({column})"]
            case Kind.INTERVAL | Kind.TEXT:
                parts.append(f"CAST({column} AS VARCHAR)")
            case _:
                parts.append(column)
    return parts


def _per_unit(call: AggregateCall, source: Relation, over: str = "") -> str:
    if call.argument is None:
        argument, fact = "*", None
    else:
        spelled = key_sql if call.distinct else scalar_sql
        argument, fact = spelled(call.argument, source), type_in(call.argument, source)
    if call.condition is not None:
        condition = scalar_sql(call.condition, source)
        argument = f"CASE WHEN {condition} THEN {'1' if call.argument is None else argument} END"
    if call.distinct:
        argument = f"DISTINCT {argument}"
    others = ((scalar_sql(each, source), type_in(each, source)) for each in call.others)
    return aggregates()[call.function].per_unit(argument, fact, over, *others)
