"""Relations as SQL, printed from dpsql's own tree: quoted names, total scalars, units added at the scan."""

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
from dpsql.ir.column import VARCHAR, Fact, Kind, Value, can_be_opened
from dpsql.ir.relation import (
    Aggregate,
    AggregateCall,
    Filter,
    Join,
    JoinKind,
    Materialized,
    OrderedCall,
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
    """Return a SELECT that yields the relation's columns under their names."""
    return _select(relation, twofold if _joins(relation) > 1 else str)


def twofold(rows: str) -> str:
    """Return the same rows as a UNION of the rows and an empty relation: a workaround for DuckDB.

    If one join reads the result of another, DuckDB 2.0 stores values by their index in the dictionary of the
    first chunk. It fails on the first chunk with another dictionary, or with none: a CASE, a coalesce() or a
    cast between the two joins produces such chunks, and the rows of one unit decide whether one occurs.
    DuckDB does not do so if a join reads a UNION. So every table below two joins is read through one, written
    so that the planner does not see that its second half is empty.
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
        case Window(source):  # DuckDB may turn it into a join
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
            rows = _materialized(relation)
            return rows if read is str else f"FROM {read(f'({rows})')}"
        case StageInput(name, columns):  # shown to people only: its rows are known before this runs
            projected = ", ".join(f"{quote(column.name)}" for column in columns)
            return f"SELECT {projected} FROM released.{quote(name)}"
        case Filter(source, condition):
            return f"SELECT * FROM ({_select(source, read)}) WHERE {scalar_sql(condition, source)}"
        case Project(source, columns):
            projected = ", ".join(
                f"{scalar_sql(column.scalar, source)} AS {quote(column.name)}" for column in columns
            )
            return f"SELECT {projected} FROM ({_select(source, read)})"
        case Join():
            return _join(relation, read)
        case Aggregate(source, keys, calls):
            named = [f"{key_sql(key.scalar, source)} AS {quote(key.name)}" for key in keys]
            named += [f"{_per_unit(call, source)} AS {quote(call.name)}" for call in calls]
            places = ", ".join(str(i + 1) for i in range(len(keys)))
            return f"SELECT {', '.join(named)} FROM ({_select(source, read)}) GROUP BY {places}"
        case Union(left, right):
            names = _comma_separated(facts_of(left))
            return (
                f"SELECT {names} FROM ({_select(left, read)}) "
                f"UNION ALL SELECT {names} FROM ({_select(right, read)})"
            )
        case Window(source, call):
            window = f"{window_sql(call, source)} AS {quote(call.name)}"
            return f"SELECT *, {window} FROM ({_select(source, read)})"
        case _:
            assert_never(relation)


def _comma_separated(names: Iterable[str]) -> str:
    return ", ".join(quote(name) for name in names)


def _join(join: Join, read: Callable[[str], str]) -> str:
    lent = _lent_unit(join)
    left, right = (
        _without_path(side, read) if lent is not None and lent.left is borrows else _select(side, read)
        for side, borrows in ((join.left, True), (join.right, False))
    )
    facts = {**facts_of(join.left), **facts_of(join.right)}
    parts = conjuncts(join.condition) if join.condition is not None else ()
    if lent is not None:  # both units are the same value here
        equal = frozenset((lent.unit, lent.same))
        parts = tuple(part for part in parts if not (_is_equality(part) and _compared_columns(part) == equal))

    def spelled(name: str) -> str:  # inside this SELECT, the unit is read from the lending table
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
class _LentUnit:
    """A join in which one table takes its unit from the other instead of joining it again in its scan.

        treatments (unit: visit_id -> visits.patient_id) JOIN visits USING (visit_id)

    The scan of treatments joins visits to read the unit. If the query joins the same table on the same unique
    key, the scan's unit ``unit`` equals the other side's unit ``same`` in every row, so the join inside the
    scan is left out. ``left`` says whether the scan without its own path is the left side.
    """

    left: bool
    unit: str
    same: str


def _lent_unit(join: Join) -> _LentUnit | None:
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
        if owner.name in touched or any(column.name == owner.name for column in inner.columns):
            continue
        link_columns = {column.name for column in inner.columns if column.source == step.column}
        for scan in _plain_scans(lender):
            other = scan.owner
            if scan.table != step.table or other is None:
                continue
            if (other.links, other.column) != (owner.links[1:], owner.column):
                continue
            keys = {column.name for column in scan.columns if column.source == step.key}
            if any(
                _is_equality(part) and _compared_columns(part) in _pairs(link_columns, keys)
                for part in conjuncts(join.condition)
            ):
                return _LentUnit(left, owner.name, other.name)
    return None


def _is_equality(part: Scalar) -> bool:
    return isinstance(part, Call) and part.function == "="


def _compared_columns(part: Scalar) -> frozenset[str]:
    """Return the two columns that an equality compares; empty if a side is not a column."""
    sides = part.arguments if isinstance(part, Call) else ()
    names = frozenset(side.name for side in sides if isinstance(side, Ref))
    return names if len(names) == 2 else frozenset()


def _pairs(left: set[str], right: set[str]) -> set[frozenset[str]]:
    return {frozenset((a, b)) for a in left for b in right}


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


def _without_path(relation: Relation, read: Callable[[str], str]) -> str:
    """Print a scan (and the filters over it) without the joins that lead to its unit."""
    if isinstance(relation, Filter):
        inner = _without_path(relation.input, read)
        return f"SELECT * FROM ({inner}) WHERE {scalar_sql(relation.condition, relation.input)}"
    assert isinstance(relation, Scan)
    columns = ", ".join(f"t0.{quote(column.source)} AS {quote(column.name)}" for column in relation.columns)
    return f"SELECT {columns} FROM {read(table_sql(relation.table))} AS t0"


def _materialized(materialized: Materialized) -> str:
    """Print rows that were computed before as constants of their types.

    A timestamp rounded to microseconds may lie beyond the last one of its own type: NULL, not a failure.
    """
    names = [f"v{i}" for i in range(len(materialized.columns))]
    listed = ", ".join(
        f"TRY_CAST({name} AS {column.source}) AS {quote(column.name)}"
        for name, column in zip(names, materialized.columns, strict=True)
    )
    rows = materialized.rows or ((None,) * len(names),)
    values = ", ".join(f"({', '.join(_plain_constant(value) for value in row)})" for row in rows)
    tail = "" if materialized.rows else " WHERE false"
    return f"SELECT {listed} FROM (VALUES {values}) AS v({', '.join(names)}){tail}"


def _plain_constant(value: Value) -> str:
    """Print a value as a constant for a CAST: text for everything that is not NULL or BOOLEAN."""
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | Decimal):
        return f"'{value}'"
    return literal_sql(Literal(str(value) if isinstance(value, float) else value, VARCHAR))


def _scan(scan: Scan, read: Callable[[str], str]) -> str:
    """Print a table joined along the path to its unit; rows without a unit are left out.

    The unit has the same type in every table: operators that merge or compare units then need no cast, which
    could fail on one of them.
    """
    owner = scan.owner
    columns = {column.name: f"t0.{quote(column.source)}" for column in scan.columns}
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
    return sql_of(scalar, facts_of(relation).lookup, quote)


def type_in(scalar: Scalar, relation: Relation) -> Fact:
    return fact_of(scalar, facts_of(relation))


def key_sql(scalar: Scalar, relation: Relation) -> str:
    """Print a group key so that equal keys are identical: one NaN, one zero, microseconds at most."""
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
    """Print a window over one unit's rows; all columns break ties if the order picks among tied rows."""
    function = windows().get(call.function)
    order = [f"{key_sql(ordering.scalar, source)}{_direction(ordering)}" for ordering in call.order]
    if call.rows is not None or (function is not None and function.picks):
        order += _all_columns(source)
    parts = [f"PARTITION BY {', '.join(key_sql(key, source) for key in call.partition)}"]
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
    arguments = ", ".join(_value_sql(argument, source) for argument in call.arguments)
    return f"{call.function}({arguments}{' IGNORE NULLS' if call.ignore_nulls else ''}){over}"


def _value_sql(scalar: Scalar, source: Relation) -> str:
    """Print a scalar so that values that compare as equal are identical: one NaN, one zero."""
    return (key_sql if type_in(scalar, source).type.kind is Kind.FLOAT else scalar_sql)(scalar, source)


def _end(rows: int | None, direction: str) -> str:
    """Print one end of a frame; ``rows`` counts outwards from the current row."""
    if rows is None:
        return f"UNBOUNDED {direction}"
    inwards = "FOLLOWING" if direction == "PRECEDING" else "PRECEDING"
    return f"{abs(rows)} {direction if rows >= 0 else inwards}"


def _direction(ordering: Ordering) -> str:
    direction = " DESC" if ordering.descending else " ASC"
    return f"{direction} NULLS {'FIRST' if ordering.nulls_first else 'LAST'}"


def _all_columns(source: Relation) -> list[str]:
    """Return all columns as sort keys: rows that still tie are equal in everything a query can see."""
    return [key for name, fact in facts_of(source).items() for key in _sort_keys(quote(name), fact)]


def _sort_keys(sql: str, fact: Fact) -> list[str]:
    """Return sort keys of a value: values that still tie are equal in everything a query can see.

    Of a list, a struct, a map or JSON a query can see the parts. DuckDB compares them part by part, and their
    texts tell apart what compares as equal: 0.0 and -0.0, 30 days and a month. Of other nested values a query
    sees only whether there is one.
    """
    match fact.type.kind:
        case Kind.OPAQUE if can_be_opened(fact.type):
            return [sql, f"CAST({sql} AS VARCHAR)"]
        case Kind.OPAQUE:
            return [f"({sql} IS NULL)"]
        case Kind.FLOAT:
            return [sql, f"signbit({sql})"]
        case Kind.INTERVAL | Kind.TEXT:
            return [f"CAST({sql} AS VARCHAR)"]
        case _:
            return [sql]


def in_order(call: AggregateCall, source: Relation) -> str:
    """Print an aggregate of one unit's rows in an order; the value itself breaks ties, the least one first.

    Claim   the result is a function of the multiset of the unit's rows.
    Proof   rows that tie in what is written and in the value's sort keys have the same value: so the sequence
            of values that the aggregate is given is the same for every order of the rows.
    Test    tests/privacy/test_picked_rows.py
    """
    assert call.argument is not None
    rule, argument = aggregates()[call.function], _value_sql(call.argument, source)
    written = call.order if isinstance(call, OrderedCall) else ()
    keys = [_value_sql(ordering.scalar, source) for ordering in written]
    order = [
        f"{key}{_direction(ordering)}"
        for key, ordering in zip(keys, written, strict=True)
        if refs(ordering.scalar) and refs(call.argument)  # DuckDB refuses constants, or takes them for places
    ]
    order += value_order(call, source) if refs(call.argument) else []
    by = f" ORDER BY {', '.join(order)}" if order else ""
    kept = [scalar_sql(call.condition, source)] if call.condition is not None else []
    skipped = zip((argument, *keys[:1]), rule.skips, strict=False)
    kept += [f"({sql}) IS NOT NULL" for sql, skips in skipped if skips]
    filtered = f" FILTER (WHERE {' AND '.join(kept)})" if kept else ""
    others = (scalar_sql(scalar, source) for scalar in call.others)
    return rule.ordered_sql(argument, by, filtered, *others)


def value_order(call: AggregateCall, source: Relation) -> list[str]:
    """Return the value of an aggregate as its last sort keys: of rows that tie, the least value is picked."""
    assert call.argument is not None
    direction = " DESC NULLS FIRST" if aggregates()[call.function].in_order == "last" else " ASC NULLS LAST"
    keys = _sort_keys(_value_sql(call.argument, source), type_in(call.argument, source))
    return [f"{key}{direction}" for key in keys]


def _per_unit(call: AggregateCall, source: Relation, over: str = "") -> str:
    if aggregates()[call.function].in_order:
        return in_order(call, source)
    if call.argument is None:
        argument, fact = "*", None
    else:
        printer = key_sql if call.distinct else scalar_sql
        argument, fact = printer(call.argument, source), type_in(call.argument, source)
    if call.condition is not None:
        condition = scalar_sql(call.condition, source)
        argument = f"CASE WHEN {condition} THEN {'1' if call.argument is None else argument} END"
    if call.distinct:
        argument = f"DISTINCT {argument}"
    arguments = ((scalar_sql(scalar, source), type_in(scalar, source)) for scalar in call.others)
    return aggregates()[call.function].per_unit(argument, fact, over, *arguments)
