"""Relations as SQL, printed from dpsql's own tree: quoted names, total scalars, units added at the scan."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import field, replace
from functools import partial
from itertools import count
from typing import TypeAlias, assert_never

from dpsql.aggregates import shelf as aggregates
from dpsql.engines.dialect import DUCKDB, Dialect
from dpsql.engines.identifiers import quote
from dpsql.engines.join_order import Joined, chain_sql
from dpsql.engines.unit_values import equal_sql, nullable_sql, parts_of, there_sql, value_sql
from dpsql.facts.lent_units import LentUnit, compared_columns, hidden_units, is_equality, lent_unit
from dpsql.facts.lone_rows import tell_apart
from dpsql.facts.ownership import Owned, Public, fan_out, ownership_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.windows import orders_all_columns, windows
from dpsql.ir.column import Fact, Interval, Kind, Type
from dpsql.ir.relation import (
    Aggregate,
    AggregateCall,
    Columns,
    Filter,
    Join,
    JoinKind,
    Materialized,
    OrderedCall,
    Ordering,
    Owner,
    Project,
    Relation,
    Scan,
    StageInput,
    Union,
    Window,
    WindowCall,
    names_of,
    unit_types,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, conjuncts, refs
from dpsql.lazy_dataclass import dataclass

# ---- relations ---------------------------------------------------------------------------------------


_JOINED = "SELECT * FROM "
"""How a join begins that adds no column of its own."""

_LONG = 300
"""Characters of a computed column from which an engine must not write it into what reads it."""

Found: TypeAlias = Callable[[Relation, str], Interval | None]


Place: TypeAlias = tuple[str, Columns]
"""A private table, and the columns of it whose keys are read."""


def place_of(scan: Scan) -> Place:
    """Return where the keys of a scan's rows are."""
    return scan.table, first_link(scan)


@dataclass(frozen=True, slots=True)
class Reading:
    """How the tables of a relation are read.

    ``units`` is false where no unit is needed: a scan then does not join the path to its unit, so it has the
    rows of nobody too, but for those whose link is NULL. ``only`` is a scan of which some rows are read:
    those of a ``copy``, or those whose unit, or link to it, is in the SELECT ``keys``. A copy has their
    ``unit``, or the ``rank`` of it, and ``columns`` by their names in the query. Of the scans ``beside`` it
    rows of these ``keys`` are read, too; those that several scans read stand ``once``, as tables of FROM.
    Where ``several`` scans are read so, each has such a SELECT of its own. ``found`` gives the range of all
    values of a stored column.
    """

    units: bool = True
    only: Scan | None = None
    keys: str = ""
    beside: frozenset[Scan] = frozenset()
    once: Mapping[Place, str] = field(default_factory=dict)
    several: Mapping[Scan, str] = field(default_factory=dict)
    copy: str = ""
    unit: str = "u"
    ranked: bool = False
    columns: Mapping[str, str] = field(default_factory=dict)
    twice: bool = False
    found: Found | None = None
    dialect: Dialect = DUCKDB

    @property
    def reads_all(self) -> bool:
        """Whether no scan is read in part."""
        return self.only is None and not self.several and not self.beside

    def table(self, scan: Scan) -> str:
        """Print the table of a scan."""
        rows = self.dialect.table(scan.table)
        if scan is self.only and self.copy:
            rows = f"({self.copy})"
        elif scan is self.only or scan in self.beside:
            rows = self.once.get(place_of(scan)) or f"({self._rows_of_keys(scan)})"
        elif scan in self.several:
            rows = f"({replace(self, keys=self.several[scan])._rows_of_keys(scan)})"
        return self.rows(rows)

    def read_once(self) -> tuple[Reading, list[str]]:
        """Return the same reading where rows of keys that several scans read are CTEs, and these."""
        scans = [*self.beside] if self.copy or self.only is None else [self.only, *self.beside]
        read: dict[Place, list[Scan]] = {}
        for scan in scans:
            read.setdefault(place_of(scan), []).append(scan)
        several = [rows for rows in sorted(read, key=repr) if len(read[rows]) > 1]
        if self.dialect is not DUCKDB or self.once:
            several = []
        named = {rows: f"near{place}" for place, rows in enumerate(several)}
        ctes = [self.dialect.kept(name, self._rows_of_keys(*read[rows])) for rows, name in named.items()]
        return (replace(self, once=named) if named else self), ctes

    def _rows_of_keys(self, scan: Scan, *others: Scan) -> str:
        near, read = nullable_sql(first_link(scan), "t"), "t.*"
        if others:
            columns = {column.source for each in (scan, *others) for column in each.columns}
            read = ", ".join(f"t.{quote(name)}" for name in sorted(columns | {*names_of(first_link(scan))}))
        return f"SELECT {read} FROM {self.dialect.table(scan.table)} AS t WHERE {near} IN ({self.keys})"

    def rows(self, rows: str) -> str:
        """Print rows below joins."""
        return twofold(rows) if self.twice else rows

    def columns_of(self, scan: Scan) -> dict[str, str]:
        """Return the columns that are read, by their names in the query."""
        if scan is self.only and self.copy:
            return {name: f"t0.{column}" for name, column in self.columns.items()}
        return {column.name: f"t0.{quote(column.source)}" for column in scan.columns}

    def joins(self, scan: Scan) -> int:
        """Return the number of joins that a scan is printed with."""
        if scan.owner is None or (scan is self.only and self.copy):
            return 0
        looked_up = scan is self.only or scan in self.beside or scan in self.several
        return len(scan.owner.links) * self.units + looked_up


AS_IT_IS = Reading()


def first_link(scan: Scan) -> Columns:
    """Return the columns of a private table that hold the unit, or the first link to it."""
    assert scan.owner is not None
    return scan.owner.step


def with_units(
    rows: str, scan: Scan, dialect: Dialect = DUCKDB, read: Callable[[str], str] | None = None
) -> tuple[str, str]:
    """Print rows ``r`` of links ``k``, joined along the path to their unit, if there is one; and the unit.

    Of two joins, all tables are ``read`` twofold.
    """
    assert scan.owner is not None
    links = scan.owner.links
    read = read or (twofold if len(links) > 1 and dialect is DUCKDB else str)
    joined = f"{read(rows)} AS r"
    for step, link in enumerate(links):
        far = f"t{step + 1}"
        on = equal_sql(link.column, f"t{step}", link.key, far)
        if not step:
            keys = (f"{far}.{quote(key)}" for key in names_of(link.key))
            parts = zip(parts_of("r.k", link.column), keys, strict=True)
            on = " AND ".join(f"{part} = {key}" for part, key in parts)
        joined += f" LEFT JOIN {read(dialect.table(link.table))} AS {far} ON {on}"
    return joined, nullable_sql(scan.owner.column, f"t{len(links)}", _composite_type(scan.owner))


def _composite_type(owner: Owner) -> Type | None:
    """Return the type of a unit of several columns, whose fields are cast one by one."""
    return owner.fact.type if owner.composite else None


def relation_sql(relation: Relation, reading: Reading = AS_IT_IS) -> str:
    """Return a SELECT that yields the relation's columns under their names."""
    plain = _joins(relation, reading) < 2 or joins_stored_columns(relation, reading)
    return _select(relation, replace(reading, twice=not plain and reading.dialect is DUCKDB))


def twofold(rows: str) -> str:
    """Return the same rows as a UNION of the rows and an empty relation: a workaround for DuckDB.

    If one join reads the result of another, DuckDB 2.0 stores values by their index in the dictionary of the
    first chunk. It fails on the first chunk with another dictionary, or with none: a CASE, a coalesce() or a
    cast between the two joins produces such chunks, and the rows of one unit decide whether one occurs.
    DuckDB does not do so if a join reads a UNION. So every table below two joins is read through one, written
    so that the planner does not see that its second half is empty, unless ``joins_stored_columns``.
    """
    return f"(FROM {rows} UNION ALL SELECT t.* FROM {rows} AS t, range(0))"


def joins_stored_columns(relation: Relation, reading: Reading) -> bool:
    """Whether nothing is computed below a join: then tables are read as they are (``twofold``).

    Claim   where this is true, no row decides whether DuckDB fails on a join of joins.
    Proof   A join gives each of its columns one dictionary for all chunks, and what reads it relies on that.
            An expression breaks it, where it passes one branch's column on in some chunks: CASE, coalesce(),
            a cast. So does a join without an equality of both sides' columns: it pairs chunks, and makes the
            shorter one constant, row by row. Here are inner, semi and anti joins alone, that look rows up by
            columns of one type, so that no cast is added, and below them nothing but columns, renamed or not;
            conditions drop rows, and compute no column. A path to the unit may compare two types: it is not
            here. What is computed above all joins, no join reads.
    Test    tests/privacy/test_joined_rows.py: drawn joins, and those in which something is computed fail
    """
    match relation:
        case Filter(source) | Project(source):
            return joins_stored_columns(source, reading)
        case Scan() | Join():
            return _is_stored(relation, reading)
        case _:
            return False


def _is_stored(relation: Relation, reading: Reading, borrows: bool = False) -> bool:
    """Whether all columns are a table's own; one that ``borrows`` its unit has no path to it."""
    match relation:
        case Scan(owner=owner):
            path = owner is not None and reading.units and not borrows and (owner.widened or owner.links)
            return not path and not (owner is not None and owner.composite)
        case Filter(source):
            return _is_stored(source, reading, borrows)
        case Project(source, columns):
            return all(isinstance(column.scalar, Ref) for column in columns) and _is_stored(source, reading)
        case Join(JoinKind.INNER | JoinKind.SEMI | JoinKind.ANTI, left, right, condition, unit=None):
            lent = lent_unit(relation)
            stored = _is_stored(left, reading, lent is not None and lent.left)
            stored = stored and _is_stored(right, reading, lent is not None and not lent.left)
            return stored and condition is not None and _joins_by_columns(condition, left, right)
        case _:
            return False


def _joins_by_columns(condition: Scalar, left: Relation, right: Relation) -> bool:
    """Whether a column of each side must be equal, and whatever is compared is of one type."""
    ours, theirs = facts_of(left), facts_of(right)
    compared = [compared_columns(part) for part in conjuncts(condition) if is_equality(part)]
    hashed = any(len(names & ours.keys()) == len(names & theirs.keys()) == 1 for names in compared)
    return hashed and _compares_alike(condition, {**ours, **theirs})


def _compares_alike(condition: Scalar, facts: Mapping[str, Fact]) -> bool:
    """Whether all that is compared are columns, and constants, of the same type."""
    match condition:
        case Call("and" | "or" | "not", arguments):
            return all(_compares_alike(argument, facts) for argument in arguments)
        case Call("=" | "<>" | "<" | "<=" | ">" | ">=" | "between", arguments):
            types = {_type_of(argument, facts) for argument in arguments}
            return len(types) == 1 and None not in types
        case _:
            return False


def _type_of(operand: Scalar, facts: Mapping[str, Fact]) -> Type | None:
    """Return the type of a column or a constant; None of all else."""
    match operand:
        case Ref(name):
            return facts[name].type
        case Literal(_, type):
            return type
        case _:
            return None


def _joins(relation: Relation, reading: Reading) -> int:
    match relation:
        case Scan():
            return reading.joins(relation)
        case Materialized() | StageInput():
            return 0
        case Join(_, left, right):
            return 1 + _joins(left, reading) + _joins(right, reading)
        case Union(left, right):  # what is read through one is read as it has to be (``twofold``)
            return max(_joins(left, reading), _joins(right, reading))
        case Window(source):  # DuckDB may turn it into a join
            return 1 + _joins(source, reading)
        case Filter(source) | Project(source) | Aggregate(source):
            return _joins(source, reading)
        case _:
            assert_never(relation)


@contextmanager
def read_from(table: str, relation: Relation) -> Iterator[None]:
    """Print the relation as this table in whatever is printed meanwhile, unless its scans are read in part.

    It is known by its place in the tree, never by its text: a constant of the query may spell that. Only
    this thread prints so.
    """
    before = _HELD.get()
    try:
        _HELD.set((relation, table))
        yield
    finally:
        _HELD.set(before)


_HELD: ContextVar[tuple[Relation | None, str]] = ContextVar("held", default=(None, ""))


def _select(relation: Relation, read: Reading) -> str:
    held, table = _HELD.get()
    if relation is held and read.reads_all:
        return f"SELECT * FROM {table}"
    match relation:
        case Scan():
            return _scan(relation, read)
        case Materialized():
            rows = read.dialect.fixed_rows(relation)
            return f"FROM {read.rows(f'({rows})')}" if read.twice else rows
        case StageInput(name, columns):  # shown to people only: its rows are known before this runs
            projected = ", ".join(f"{quote(column.name)}" for column in columns)
            return f"SELECT {projected} FROM released.{quote(name)}"
        case Filter(source, condition):
            return f"SELECT * FROM {_below(source, read)} WHERE {condition_sql(condition, source, read)}"
        case Project(source, columns):
            unread = frozenset() if read.units else hidden_units(source)
            printed = {
                column.name: scalar_sql(column.scalar, source, read)
                for column in columns
                if not refs(column.scalar) & unread
            }
            select = f"SELECT {_named(printed)} FROM {_below(source, read)}"
            long = any(len(sql) > _LONG for sql in printed.values())
            return read.dialect.computed_once(select) if long else select
        case Join():
            return _join(relation, read)
        case Aggregate(source, keys, calls):
            printed_keys = [key_sql(key.scalar, source, read.dialect) for key in keys]
            marks = _marks(printed_keys, calls, source, read.dialect)
            rows = _below(source, read)
            if marks:
                marked = ", ".join(f"{sql} AS {quote(name)}" for name, sql in marks.values())
                rows = read.dialect.subquery(f"SELECT *, {marked} FROM {rows}")
            named = [f"{sql} AS {quote(key.name)}" for sql, key in zip(printed_keys, keys, strict=True)]
            for call in calls:
                mark, _ = marks.get(call.name, ("", ""))
                named.append(f"{_per_unit(call, source, read.dialect, mark=mark)} AS {quote(call.name)}")
            places = ", ".join(str(i + 1) for i in range(len(keys)))
            return f"SELECT {', '.join(named)} FROM {rows} GROUP BY {places}"
        case Union(left, right):
            unread = frozenset() if read.units else hidden_units(relation)
            names = _comma_separated(name for name in facts_of(left) if name not in unread)
            return (
                f"SELECT {names} FROM {_below(left, read)} "
                f"UNION ALL SELECT {names} FROM {_below(right, read)}"
            )
        case Window(source, call):
            window = f"{window_sql(call, source, read.dialect)} AS {quote(call.name)}"
            return f"SELECT *, {window} FROM {_below(source, read)}"
        case _:
            assert_never(relation)


def _below(relation: Relation, read: Reading) -> str:
    return read.dialect.subquery(_select(relation, read))


def _comma_separated(names: Iterable[str]) -> str:
    return ", ".join(quote(name) for name in names)


def _join(join: Join, read: Reading) -> str:
    if read.dialect.joins_as_written and join.kind is JoinKind.INNER:
        chain, same = _chain(join, read)
        lent_units = (f", {quote(lender)} AS {quote(unit)}" for unit, lender in same.items() if read.units)
        return f"SELECT *{''.join(lent_units)} FROM {chain_sql(chain)}"
    lent = lent_unit(join)
    left = _side(join.left, lent is not None and lent.left, read)
    right = _side(join.right, lent is not None and not lent.left, read)
    same = {} if lent is None else {lent.unit: lent.same}
    printed = [_condition(part, join, same, read) for part in _asked(join, lent, read)]
    extra = ""
    if lent is not None and read.units and not join.kind.one_sided:
        extra = f", {quote(lent.same)} AS {quote(lent.unit)}"
    if join.unit is not None:
        units = ", ".join(quote(_unit(side)) for side in (join.left, join.right))
        extra = f", coalesce({units}) AS {quote(join.unit.name)}"
    below, on = read.dialect.subquery, " AND ".join(printed) or "true"
    tables = below(left)
    if isinstance(join.left, Join) and left.startswith(_JOINED) and read.dialect is DUCKDB:
        tables = left.removeprefix(_JOINED)  # a text that is half as deep is read in less time
    if join.kind.one_sided:
        return read.dialect.one_sided(tables, below(right), on, join.kind is JoinKind.ANTI)
    return f"SELECT *{extra} FROM {tables} {join.kind.value.upper()} JOIN {below(right)} ON {on}"


def _side(side: Relation, borrows: bool, read: Reading) -> str:
    """Print a side of a join; one that borrows its unit does not join the path to it."""
    return _without_path(side, read) if borrows else _select(side, read)


def _asked(join: Join, lent: LentUnit | None, read: Reading) -> list[Scalar]:
    """Return the conditions that a join asks: where a unit is lent, it is the same on both sides."""
    parts = conjuncts(join.condition) if join.condition is not None else ()
    unread = frozenset() if read.units else hidden_units(join.left) | hidden_units(join.right)
    return [part for part in parts if not ((lent and lent.says(part)) or refs(part) & unread)]


def _condition(part: Scalar, join: Join, same: Mapping[str, str], read: Reading) -> str:
    """Print a condition of a join inside its SELECT, where units that are lent are read from the lender."""
    facts = {**facts_of(join.left), **facts_of(join.right)}
    return read.dialect.scalar(part, facts.__getitem__, lambda name: quote(same.get(name, name)))


def _chain(join: Join, read: Reading) -> tuple[list[Joined], dict[str, str]]:
    """Return the tables of a chain of inner joins, and for units that are lent the units that lend them."""
    lent, below = lent_unit(join), read.dialect.subquery
    same: dict[str, str] = {}
    if isinstance(join.left, Join) and join.left.kind is JoinKind.INNER:
        chain, same = _chain(join.left, read)  # it borrows no unit: a table does (lent_unit)
    else:
        left = _side(join.left, lent is not None and lent.left, read)
        chain = [Joined(below(left), frozenset(facts_of(join.left)))]
    right = _side(join.right, lent is not None and not lent.left, read)
    if lent is not None:
        same[lent.unit] = same.get(lent.same, lent.same)
    parts, names = _asked(join, lent, read), frozenset(facts_of(join.right))
    read_there = frozenset(same.get(name, name) for part in parts for name in refs(part)) - names
    on = tuple(_condition(part, join, same, read) for part in parts)
    public = isinstance(ownership_of(join.right), Public)
    early = public and bool(read_there) and fan_out(join.right, join.left, join.condition) == 1
    return [*chain, Joined(below(right), names, on, read_there, early)], same


def _without_path(relation: Relation, read: Reading) -> str:
    """Print a scan (and the filters over it) without the joins that lead to its unit."""
    if isinstance(relation, Filter):
        inner = _without_path(relation.input, read)
        rows = read.dialect.subquery(inner)
        return f"SELECT * FROM {rows} WHERE {condition_sql(relation.condition, relation.input, read)}"
    assert isinstance(relation, Scan)
    return f"SELECT {_named(read.columns_of(relation))} FROM {read.table(relation)} AS t0"


def _scan(scan: Scan, read: Reading) -> str:
    """Print a table joined along the path to its unit; rows without a unit are left out.

    The unit has the same type in every table: operators that merge or compare units then need no cast, which
    could fail on one of them.
    """
    owner = scan.owner
    columns = read.columns_of(scan)
    tables = f"{read.table(scan)} AS t0"
    if owner is None:
        return f"SELECT {_named(columns)} FROM {tables}"
    if owner.links and not read.units:
        linked = "" if owner.links[0].filled else f" WHERE {there_sql(first_link(scan), 't0')}"
        return f"SELECT {_named(columns)} FROM {tables}{linked}"
    from_copy = bool(read.copy) and scan is read.only
    for step, link in enumerate(() if from_copy else owner.links):
        on = equal_sql(link.column, f"t{step}", link.key, f"t{step + 1}")
        tables += f" JOIN {read.rows(read.dialect.table(link.table))} AS t{step + 1} ON {on}"
    holder = f"t{len(owner.links)}"
    unit = f"t0.{read.unit}" if from_copy else value_sql(owner.column, holder, _composite_type(owner))
    columns = columns if owner.name in columns else {owner.name: unit, **columns}
    ranked = from_copy and read.ranked
    if owner.widened and not ranked and (from_copy or not owner.composite):
        columns[owner.name] = f"CAST({unit} AS {read.dialect.type(owner.fact.type)})"
    if owner.widened and owner.composite and not owner.links:
        types = dict(zip(names_of(owner.column), unit_types(owner.fact.type), strict=True))
        for column in scan.columns:
            if column.source in types and column.name in columns:
                columns[column.name] = f"CAST({columns[column.name]} AS {types[column.source].sql})"
    there = f"{unit} IS NOT NULL" if from_copy else there_sql(owner.column, holder)
    where = "" if owner.filled or ranked else f" WHERE {there}"
    return f"SELECT {_named(columns)} FROM {tables}{where}"


def _named(columns: Mapping[str, str]) -> str:
    return ", ".join(f"{sql} AS {quote(name)}" for name, sql in columns.items())


def scalar_sql(scalar: Scalar, relation: Relation, read: Reading = AS_IT_IS) -> str:
    found = None if read.found is None else partial(read.found, relation)
    return read.dialect.scalar(scalar, facts_of(relation).lookup, quote, found)


def condition_sql(scalar: Scalar, relation: Relation, read: Reading) -> str:
    """Print a condition that rows have to meet."""
    hints = read.dialect.hints(scalar, facts_of(relation).lookup, quote)
    return " AND ".join([*hints, scalar_sql(scalar, relation, read)])


def type_in(scalar: Scalar, relation: Relation) -> Fact:
    return fact_of(scalar, facts_of(relation))


def key_sql(scalar: Scalar, relation: Relation, dialect: Dialect = DUCKDB) -> str:
    """Print a group key so that equal keys are identical: one NaN, one zero, microseconds at most."""
    sql = dialect.scalar(scalar, facts_of(relation).lookup, quote)
    return dialect.key(sql, type_in(scalar, relation).type)


def _unit(side: Relation) -> str:
    owned = ownership_of(side)
    assert isinstance(owned, Owned)
    return owned.unit


def window_sql(call: WindowCall, source: Relation, dialect: Dialect = DUCKDB) -> str:
    """Print a window over one unit's rows; all columns break ties if the order picks among tied rows.

    Where a row key tells the rows apart, none tie, and the order is as it is written: that sorts faster.
    """
    function = windows().get(call.function)
    order = [f"{key_sql(ordering.scalar, source, dialect)}{_direction(ordering)}" for ordering in call.order]
    written = [*call.partition, *(ordering.scalar for ordering in call.order)]
    if orders_all_columns(call) and not tell_apart(written, source):
        order += _all_columns(source, dialect)
    partition = ", ".join(key_sql(key, source, dialect) for key in call.partition)
    parts = [f"PARTITION BY {partition}"]
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
        return _per_unit(aggregate, source, dialect, over=over)
    arguments = [_value_sql(argument, source, dialect) for argument in call.arguments]
    return f"{dialect.window(call.function, arguments, call.ignore_nulls)}{over}"


def _value_sql(scalar: Scalar, source: Relation, dialect: Dialect) -> str:
    """Print a scalar so that values that compare as equal are identical: one NaN, one zero."""
    if type_in(scalar, source).type.kind is Kind.FLOAT:
        return key_sql(scalar, source, dialect)
    return scalar_sql(scalar, source, Reading(dialect=dialect))


def _end(rows: int | None, direction: str) -> str:
    """Print one end of a frame; ``rows`` counts outwards from the current row."""
    if rows is None:
        return f"UNBOUNDED {direction}"
    inwards = "FOLLOWING" if direction == "PRECEDING" else "PRECEDING"
    return f"{abs(rows)} {direction if rows >= 0 else inwards}"


def _direction(ordering: Ordering) -> str:
    direction = " DESC" if ordering.descending else " ASC"
    return f"{direction} NULLS {'FIRST' if ordering.nulls_first else 'LAST'}"


def _all_columns(source: Relation, dialect: Dialect) -> list[str]:
    """Return all columns as sort keys: rows that still tie are equal in everything a query can see."""
    nulls = "" if dialect is DUCKDB else " ASC NULLS LAST"
    return [
        f"{key}{nulls}"
        for name, fact in facts_of(source).items()
        for key in dialect.sort_keys(quote(name), fact.type)
    ]


def in_order(call: AggregateCall, source: Relation, dialect: Dialect = DUCKDB, mark: str = "") -> str:
    """Print an aggregate of one unit's rows in an order; the value itself breaks ties, the least one first.

    With a ``mark`` it is the one row of the group where that column is true.

    Claim   the result is a function of the multiset of the unit's rows.
    Proof   rows that tie in what is written and in the value's sort keys have the same value: so the sequence
            of values that the aggregate is given is the same for every order of the rows.
    Test    tests/privacy/test_picked_rows.py
    """
    argument, by, kept = _picked(call, source, dialect)
    if mark:
        by, kept = "", [quote(mark)]
    filtered = f" FILTER (WHERE {' AND '.join(kept)})" if kept else ""
    read = Reading(dialect=dialect)
    others = [scalar_sql(scalar, source, read) for scalar in call.others]
    return dialect.in_order(call.function, argument, by, filtered, others)


def _picked(call: AggregateCall, source: Relation, dialect: Dialect) -> tuple[str, str, list[str]]:
    """Print the value of an aggregate in an order, its ORDER BY if it has one, and what its rows meet."""
    assert call.argument is not None
    rule, argument = aggregates()[call.function], _value_sql(call.argument, source, dialect)
    read = Reading(dialect=dialect)
    written = call.order if isinstance(call, OrderedCall) else ()
    keys = [_value_sql(ordering.scalar, source, dialect) for ordering in written]
    order = [
        f"{key}{_direction(ordering)}"
        for key, ordering in zip(keys, written, strict=True)
        if refs(ordering.scalar) and refs(call.argument)  # DuckDB refuses constants, or takes them for places
    ]
    order += value_order(call, source, dialect) if refs(call.argument) else []
    by = f" ORDER BY {', '.join(order)}" if order else ""
    kept = [scalar_sql(call.condition, source, read)] if call.condition is not None else []
    skipped = zip((argument, *keys[:1]), rule.skips, strict=False)
    kept += [f"({sql}) IS NOT NULL" for sql, skips in skipped if skips]
    return argument, by, kept


def _marks(
    keys: Sequence[str], calls: Sequence[AggregateCall], source: Relation, dialect: Dialect
) -> dict[str, tuple[str, str]]:
    """Return name and SQL of a column for each call that picks a row: it is true in that row alone."""
    marks: dict[str, tuple[str, str]] = {}
    names = (name for number in count() if (name := f"picked{number}") not in facts_of(source))
    for call in calls:
        if aggregates()[call.function].in_order:
            sql = dialect.mark(call.function, *_picked(call, source, dialect), keys)
            if sql is not None:
                marks[call.name] = (next(names), sql)
    return marks


def value_order(call: AggregateCall, source: Relation, dialect: Dialect) -> list[str]:
    """Return the value of an aggregate as its last sort keys: of rows that tie, the least value is picked."""
    assert call.argument is not None
    direction = " DESC NULLS FIRST" if aggregates()[call.function].in_order == "last" else " ASC NULLS LAST"
    keys = dialect.sort_keys(_value_sql(call.argument, source, dialect), type_in(call.argument, source).type)
    return [f"{key}{direction}" for key in keys]


def _per_unit(
    call: AggregateCall, source: Relation, dialect: Dialect = DUCKDB, over: str = "", mark: str = ""
) -> str:
    if aggregates()[call.function].in_order:
        return in_order(call, source, dialect, mark)
    read = Reading(dialect=dialect)
    if call.argument is None:
        argument, fact = "*", None
    else:
        fact = type_in(call.argument, source)
        argument = (
            key_sql(call.argument, source, dialect)
            if call.distinct
            else scalar_sql(call.argument, source, read)
        )
    if call.condition is not None:
        condition = scalar_sql(call.condition, source, read)
        argument = f"CASE WHEN {condition} THEN {'1' if call.argument is None else argument} END"
    others = [(scalar_sql(scalar, source, read), type_in(scalar, source)) for scalar in call.others]
    return dialect.per_unit(call.function, argument, fact, call.distinct, over, others)
