"""The values that a group key can have, where they follow from declarations alone.

    age // 10                     0 to 12          age is declared in [0, 120]
    date_trunc('month', seen_at)  72 months        its values over all declared days
    floor(income / 100000)        0.0 to 5.0       whole numbers in a finite range
    age                           0 to 120         used while the groups of all keys are few
    upper(city)                   two texts        WHERE upper(city) IN ('OSLO', 'BERGEN')
    city                          no list          a private key

The sealed engine computes an expression, printed as for private rows, over all combinations of the values of
its columns. A subexpression over a column with too many values (a DOUBLE) is enumerated itself, if it has few
whole values or a list. The list has no values of rows outside of their declarations; such a row is in no
group. The count of a unit's rows is not declared: ``rows_per_unit`` is a guess, so an expression of it is a
private key.
"""

from __future__ import annotations

import datetime
import math
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal
from itertools import count

from dpsql.bind.expressions.whole_days import day_argument
from dpsql.bind.scope.public_facts import Evaluate, python_value
from dpsql.errors import Error
from dpsql.facts.conditions_met import fact_where_met
from dpsql.facts.public_origin import public_origin
from dpsql.facts.row_guesses import guessed, narrowed_by_guess
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.literals import as_own, literal_sql
from dpsql.functions.core.printing import sql_of
from dpsql.functions.core.ranges import DAY, ordinal
from dpsql.ir.column import DATE, Categories, Fact, Interval, Kind, Listed, Type, Value, decimal_size, unique
from dpsql.ir.measure import KeyList, PublicColumn
from dpsql.ir.relation import Aggregate, Filter, Join, JoinKind, Project, Relation, Window
from dpsql.ir.scalar import Call, Literal, Ref, Scalar
from dpsql.lazy_dataclass import dataclass

MOST_VALUES = 1_000
"""A key with more values is private."""

MOST_COMBINATIONS = 200_000
"""The most combinations of column values that an expression is computed over."""

MOST_TOGETHER = 10_000
"""The most combinations of several keys' values."""

_FIRST_DAY = datetime.date(1970, 1, 1).toordinal()
"""The day from which DATEs count, in Python's count."""

_WHOLE = (Kind.INTEGER, Kind.DATE)

_RANGED = (*_WHOLE, Kind.DECIMAL, Kind.FLOAT, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)

_CONSECUTIVE = frozenset(
    "// length date_diff year quarter month week isoyear isodow dayofweek dayofyear day hour minute".split()
)
"""Functions whose values are all whole numbers between two of them."""

_SHIFTING = frozenset("+ - negate cast coalesce greatest least".split())
"""Functions that keep that of their arguments."""

_WITHIN_DAYS = ("hour", "minute", "second", "millisecond", "microsecond")
"""Periods that are not whole days."""

_CACHE: dict[str, KeyList | None] = {}
_ROWS: dict[str, Sequence[tuple[Value, ...]]] = {}
_LOCK = threading.RLock()
_CACHE_SIZE = 500
"""The size of the caches: lists, and values of several keys, by their SQL, where it reads no table."""

_CACHED = 100_000
"""Characters of the longest SQL in it: the cache is the process's, and lasts."""


def _replace_lock() -> None:
    """Replace the lock in a forked child, where the thread that holds it does not exist."""
    global _LOCK
    _LOCK = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_replace_lock)


@dataclass(frozen=True, slots=True)
class _Atom:
    """An enumerated subexpression: ``sql`` returns its distinct values, ``name`` stands for it."""

    name: str
    fact: Fact
    size: int
    sql: str
    table: str | None = None


@dataclass(frozen=True, slots=True)
class Cut:
    """An expression over atoms; ``atoms`` maps the subexpressions, over any relation, to their atoms."""

    scalar: Scalar
    atoms: dict[Scalar, _Atom]

    @property
    def size(self) -> int:
        size = 1
        for atom in self.atoms.values():
            size *= atom.size
        return size


def key_lists(relation: Relation, keys: Sequence[Scalar], evaluate: Evaluate) -> tuple[KeyList | None, ...]:
    """Return the lists of all keys; those of one public row are marked (``public_origin``)."""
    scans: dict[int, int] = {}
    lists: list[KeyList | None] = []
    for key in keys:
        listed, origin = enumerate_key(relation, key, evaluate), public_origin(relation, key)
        if listed is not None and origin is not None:
            number = scans.setdefault(id(origin.scan), len(scans))
            held = PublicColumn(number, origin.scan.table, origin.column, origin.missing)
            listed = replace(listed, scan=held)
        lists.append(listed)
    return tuple(lists)


def enumerate_key(relation: Relation, scalar: Scalar, evaluate: Evaluate) -> KeyList | None:
    """Return the list of values of a key over this relation, or None for a private key."""
    fact = fact_where_met(relation, scalar)
    if isinstance(fact.domain, Categories | Listed):
        return KeyList(fact.domain, fact.nullable)
    if narrowed_by_guess(relation, scalar):
        return None
    computed = definition_of(relation, scalar)
    cut = None if isinstance(computed[1], Ref) else Cutter(count()).cut(*computed)
    image = None if cut is None else _values_over(cut, fact.type, evaluate)
    if image is None and (periods := _periods(computed[1], fact)) is not None:
        image = _values_over(periods, fact.type, evaluate)
    if image is not None:
        return KeyList(_within(image.domain, fact), image.null and fact.nullable)
    if not _is_consecutive(computed[1]):  # within a condition's range, most numbers are no value
        fact = fact_of(computed[1], facts_of(computed[0]))
    return None if guessed(relation, scalar) else _of_range(fact)


def _is_consecutive(scalar: Scalar) -> bool:
    """Whether all whole numbers between two values of an expression may be values too."""
    if not isinstance(scalar, Call):
        return True
    return scalar.function in _CONSECUTIVE or (
        scalar.function in _SHIFTING and all(map(_is_consecutive, scalar.arguments))
    )


def _within(values: Categories | Listed, fact: Fact) -> Categories | Listed:
    """Return the values that are in the range of a key, which conditions may have narrowed."""
    ends = fact.domain
    if not isinstance(ends, Interval) or not isinstance(values, Categories) or fact.type.kind not in _RANGED:
        return values
    return Categories(tuple(value for value in values.values if ends.low <= ordinal(value) <= ends.high))


def _of_range(fact: Fact) -> KeyList | None:
    """Return the whole numbers or days of a finite range, if they are few."""
    domain = fact.domain
    if not isinstance(domain, Interval) or not domain.finite or fact.type.kind not in _WHOLE:
        return None
    low, high = math.ceil(domain.low), math.floor(domain.high)
    if not 0 <= high - low < MOST_VALUES:
        return None
    values: tuple[Value, ...] = tuple(range(low, high + 1))
    if fact.type.kind is Kind.DATE:
        if not 1 <= low + _FIRST_DAY <= high + _FIRST_DAY <= datetime.date.max.toordinal():
            return None
        values = tuple(datetime.date.fromordinal(day + _FIRST_DAY) for day in range(low, high + 1))
    return KeyList(Categories(values), fact.nullable, of_range=True)


def _periods(scalar: Scalar, fact: Fact) -> Cut | None:
    """Return the truncation of all days in the range of a truncated date, whose own range may be unknown."""
    match scalar:
        case Call("date_trunc", (Literal(value=period) as unit, _), type) if period not in _WITHIN_DAYS:
            cutter, day = Cutter(count()), Ref("day")
            part = cutter.dates(day, fact) if fact.type == DATE else cutter.midnights(day, fact)
            return part and replace(part, scalar=Call("date_trunc", (unit, part.scalar), type))
        case _:
            return None


def definition_of(relation: Relation, scalar: Scalar) -> tuple[Relation, Scalar]:
    """Return the expression that defines a key, and the relation that it reads; or its source column."""
    while isinstance(scalar, Ref):
        below = _input_column(relation, scalar)
        if below is None:
            break
        relation, scalar = below
    return relation, scalar


def _input_column(relation: Relation, scalar: Scalar) -> tuple[Relation, Scalar] | None:
    """Return a column one relation further down; None at its source, or where a join may make it NULL."""
    assert isinstance(scalar, Ref)
    match relation:
        case Filter(source, _):
            return source, scalar
        case Window(source, call):
            return None if scalar.name == call.name else (source, scalar)
        case Project(source, columns) | Aggregate(source, columns):
            named = next((column.scalar for column in columns if column.name == scalar.name), None)
            return None if named is None else (source, named)
        case Join(kind, left, right):
            if scalar.name in facts_of(left):
                return None if kind is JoinKind.FULL else (left, scalar)
            return (right, scalar) if kind is JoinKind.INNER else None
        case _:
            return None


def _is_guess(relation: Relation, scalar: Scalar) -> bool:
    return guessed(relation, scalar) or narrowed_by_guess(relation, scalar)


class Cutter:
    """Splits an expression into atoms that can be enumerated: of the fewest values, or the ``least`` ones."""

    def __init__(self, numbers: Iterator[int], least: bool = False) -> None:
        self._numbers, self._least = numbers, least

    def cut(self, relation: Relation, scalar: Scalar) -> Cut | None:
        if isinstance(scalar, Literal):
            return Cut(scalar, {})
        atom = self._atom(relation, scalar, _tight_fact(relation, scalar))
        if isinstance(scalar, Ref):
            deeper = None if atom else _input_column(relation, scalar)
            return self.cut(*deeper) if deeper else atom
        inside = self._over_arguments(relation, scalar)
        if inside is not None and self._least:
            return inside
        if inside is None or (atom and atom.size < inside.size and _is_list(scalar, relation)):
            return atom
        return inside

    def _over_arguments(self, relation: Relation, call: Call) -> Cut | None:
        """Return the call over the atoms of its arguments, if there are not too many combinations."""
        days = day_argument(call)
        parts = []
        for argument in call.arguments:
            fact = fact_of(argument, facts_of(relation))
            nested = isinstance(argument, Call) and day_argument(argument) is not None  # fewer than all days
            midnights = self.midnights(argument, fact) if argument == days and not nested else None
            part = midnights or self.cut(relation, argument)
            if part is None:
                return None
            parts.append(part)
        atoms: dict[Scalar, _Atom] = {}
        for part in parts:
            atoms |= {scalar: atoms.get(scalar, atom) for scalar, atom in part.atoms.items()}
        named = tuple(_renamed(part, atoms) for part in parts)
        cut = Cut(Call(call.function, named, call.type), atoms)
        return cut if cut.size <= MOST_COMBINATIONS else None

    def _atom(self, relation: Relation, scalar: Scalar, fact: Fact) -> Cut | None:
        """Return an atom with the values of a subexpression by its fact, or None."""
        table: str | None = None
        match fact.domain:
            case Categories(values):
                constants = tuple(
                    constant for value in values if (constant := as_own(value, fact.type)) is not None
                )
                size, sql = len(constants), values_sql(constants, fact.type)
            case Listed():
                table = fact.domain.table
                size, sql = 0, f"SELECT DISTINCT {_quoted(fact.domain.column)} FROM {_quoted(table)}"
            case Interval(low, high) as interval if interval.finite and not _is_guess(relation, scalar):
                step = _step(scalar, fact.type)
                if not step:
                    return None
                first, last = -int(-low // step), int(high // step)
                size = last - first + 1
                if not 0 < size <= (MOST_COMBINATIONS if isinstance(scalar, Ref) else MOST_VALUES):
                    return None
                if fact.type.kind is Kind.FLOAT and max(abs(low), abs(high)) > 2**24:
                    return None
                number = f"range * {step}" if step != 1 else "range"
                sql = f"SELECT {_cast_number(number, fact.type)} FROM range({first}, {last + 1})"
                if fact.type.kind is Kind.FLOAT and first <= 0 <= last:  # its sign, and its text, are others
                    size, sql = size + 1, f"{sql} UNION ALL SELECT CAST('-0.0' AS DOUBLE)"
            case _:
                return None
        return self._named(scalar, fact, size, sql, table)

    def dates(self, scalar: Scalar, fact: Fact) -> Cut | None:
        """Return an atom with the days in the range of a DATE, or None."""
        ends = fact.domain
        if not isinstance(ends, Interval) or not ends.finite:
            return None
        first, last = math.ceil(ends.low), math.floor(ends.high)
        if not 0 <= last - first < MOST_COMBINATIONS or max(-first, last) > 3_000_000:
            return None
        sql = f"SELECT {_cast_number('range', fact.type)} FROM range({first}, {last + 1})"
        return self._named(scalar, fact, last - first + 1, sql, None)

    def midnights(self, scalar: Scalar, fact: Fact) -> Cut | None:
        """Return an atom with the midnights of all days in the range of a TIMESTAMP, or None."""
        if fact.type.sql != "TIMESTAMP" or not isinstance(fact.domain, Interval) or not fact.domain.finite:
            return None
        first, last = int(fact.domain.low // DAY), int(fact.domain.high // DAY)
        if last - first >= MOST_COMBINATIONS or max(-first, last) > 3_000_000:
            return None
        sql = f"SELECT CAST(DATE '1970-01-01' + range::INTEGER AS TIMESTAMP) FROM range({first}, {last + 1})"
        return self._named(scalar, fact, last - first + 1, sql, None)

    def _named(self, scalar: Scalar, fact: Fact, size: int, sql: str, table: str | None) -> Cut:
        sql = f"{sql} UNION ALL SELECT NULL" if fact.nullable else sql
        atom = _Atom(f"v{next(self._numbers)}", Fact(fact.type, nullable=True), size + 1, sql, table)
        return Cut(Ref(atom.name), {scalar: atom})


def _renamed(part: Cut, atoms: dict[Scalar, _Atom]) -> Scalar:
    """Return an argument with the names that its atoms have in the call."""
    names = {atom.name: Ref(atoms[scalar].name) for scalar, atom in part.atoms.items()}

    def renamed(scalar: Scalar) -> Scalar:
        match scalar:
            case Ref(name):
                return names[name]
            case Call(function, arguments, type):
                return Call(function, tuple(renamed(argument) for argument in arguments), type)
            case _:
                return scalar

    return renamed(part.scalar)


def _is_list(scalar: Scalar, relation: Relation) -> bool:
    return isinstance(fact_of(scalar, facts_of(relation)).domain, Categories)


_ROUNDINGS = frozenset(("floor", "ceil", "trunc", "round"))


def _step(scalar: Scalar, type: Type) -> int:
    """Return the step that all values of a subexpression are multiples of; 0 without one."""
    match type.kind:
        case Kind.INTEGER | Kind.DATE:
            return 1
        case Kind.DECIMAL:
            return int(decimal_size(type)[1] == 0)
        case Kind.FLOAT:
            return _rounding_step(scalar)
        case _:
            return 0


def _rounding_step(scalar: Scalar) -> int:
    match scalar:
        case Call(function, (_,)) if function in _ROUNDINGS:
            return 1
        case Call("round" | "trunc", (_, Literal(int(digits)))) if -15 <= digits <= 0:
            return int(10**-digits)
        case _:
            return 0


def _tight_fact(relation: Relation, scalar: Scalar) -> Fact:
    """Return the fact of a subexpression, with the tightest range."""
    facts = facts_of(relation)
    fact = fact_of(scalar, facts)
    if not isinstance(fact.domain, Interval) or not isinstance(scalar, Call) or not scalar.arguments:
        return fact
    argument = fact_of(scalar.arguments[0], facts)
    low, high = fact.domain.low, fact.domain.high
    step = _rounding_step(scalar)
    if scalar.function == "hour" and argument.type.kind is not Kind.TIME:
        high = min(high, 23)  # only a TIME has an hour of 24
    elif step and isinstance(argument.domain, Interval) and argument.domain.finite:
        low = max(low, argument.domain.low // step * step)
        high = min(high, -(-argument.domain.high // step) * step)
    return Fact(fact.type, Interval(low, high), fact.nullable) if low <= high else fact


def _cast_number(number: str, type: Type) -> str:
    if type.kind is Kind.DATE:
        return f"DATE '1970-01-01' + ({number})::INTEGER"
    return f"CAST({number} AS {type.sql})"


def values_sql(values: tuple[Value, ...], type: Type) -> str:
    """Return SQL for the values as rows."""
    listed = ", ".join(f"({literal_sql(Literal(value, type))})" for value in values)
    empty = f"SELECT CAST(NULL AS {type.sql}) WHERE false"
    return f"SELECT * FROM (VALUES {listed})" if values else empty


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


# ---- the values --------------------------------------------------------------------------------------


def together(cuts: Sequence[Cut], most: int) -> str | None:
    """Return SQL for the values of several expressions; None if their atoms have too many, or tables."""
    atoms: dict[Scalar, _Atom] = {}
    for cut in cuts:
        atoms |= {scalar: atoms.get(scalar, atom) for scalar, atom in cut.atoms.items()}
    if Cut(cuts[0].scalar, atoms).size > most or any(atom.table is not None for atom in atoms.values()):
        return None
    facts = {atom.name: atom.fact for atom in atoms.values()}
    try:
        listed = ", ".join(sql_of(_renamed(cut, atoms), facts.__getitem__, str) for cut in cuts)
    except Error:
        return None
    sources = ", ".join(f"({atom.sql}) AS s{atom.name}({atom.name})" for atom in atoms.values())
    return f"SELECT DISTINCT {listed} FROM {sources}"


def remembered_rows(query: str, evaluate: Evaluate) -> Sequence[tuple[Value, ...]] | None:
    """Return the rows of SQL that reads no table; None if it fails, or has too many."""
    with _LOCK:
        if query in _ROWS:
            return _ROWS[query]
    try:
        _, rows = evaluate(query, (), MOST_TOGETHER)
    except Error as error:
        if error.code.startswith("D6") and error.code != "D604":  # interrupted: they may still exist
            raise
        return None
    if len(rows) > MOST_TOGETHER:
        return None
    with _LOCK:
        if len(query) <= _CACHED and len(rows) <= MOST_VALUES:
            _ROWS[query] = rows
        if len(_ROWS) > _CACHE_SIZE:
            del _ROWS[next(iter(_ROWS))]
    return rows


def _values_over(cut: Cut, type: Type, evaluate: Evaluate) -> KeyList | None:
    """Return the values of the expression over all combinations of its atoms, or None."""
    facts = {atom.name: atom.fact for atom in cut.atoms.values()}
    try:
        sql = sql_of(cut.scalar, facts.__getitem__, str)
    except Error:
        return None
    tables = tuple(atom.table for atom in cut.atoms.values() if atom.table is not None)
    sources = ", ".join(f"({atom.sql}) AS s{atom.name}({atom.name})" for atom in cut.atoms.values())
    query = f"SELECT DISTINCT {sql}" + (f" FROM {sources}" if sources else "")
    kept = f"{type.sql} {query}"
    with _LOCK:
        if not tables and kept in _CACHE:
            return _CACHE[kept]
    try:
        _, rows = evaluate(query, tables, MOST_VALUES)
    except Error as error:
        if error.code.startswith("D6") and error.code != "D604":  # interrupted: a list may still exist
            raise
        return None
    keys = None
    if len(rows) <= MOST_VALUES:
        values = [python_key(row[0], type) for row in rows if row[0] is not None]
        if None not in values:  # NaN, infinity or a date that Python does not have
            keys = KeyList(Categories(unique(tuple(values))), len(values) < len(rows))
    with _LOCK:
        if not tables and len(kept) <= _CACHED:
            _CACHE[kept] = keys
        if len(_CACHE) > _CACHE_SIZE:
            del _CACHE[next(iter(_CACHE))]
    return keys


def python_key(value: Value, type: Type) -> Value:
    """Return a value of the engine as that of a group key; None for NULL and for what is no constant."""
    return None if value is None else as_own(_without_negative_zero(python_value(value, type)), type)


def _without_negative_zero(value: Value) -> Value:
    """Replace -0 by 0, as in a group key."""
    return value + 0 if isinstance(value, float | Decimal) else value
