"""Expressions over values that can be listed: the parts of a key, each with SQL for its values.

    age // 10                             over the whole numbers of age
    date_trunc('month', seen_at)          over the midnights of all its days
    upper(city || ' ' || country)         over the texts of both

An expression is cut at its columns. One with too many values (a DOUBLE) is no atom; an expression of it may
be, if it has few whole values or a list.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence

from dpsql.bind.keys.public_values import quoted, values_sql
from dpsql.bind.keys.whole_days import day_argument
from dpsql.errors import Error
from dpsql.facts.conditions_met import conditions_below
from dpsql.facts.row_guesses import guessed, narrowed_by_guess
from dpsql.facts.schema import fact_of, facts_of
from dpsql.functions.core.literals import as_own
from dpsql.functions.core.printing import sql_of
from dpsql.functions.core.ranges import DAY
from dpsql.ir.column import Categories, Fact, Interval, Kind, Listed, Type, Value, decimal_size, range_of
from dpsql.ir.relation import (
    Aggregate,
    Filter,
    Join,
    JoinKind,
    Materialized,
    Project,
    Relation,
    Scan,
    Window,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar
from dpsql.lazy_dataclass import dataclass

MOST_VALUES = 1_000
"""An expression with more values has no list."""

MOST_COMBINATIONS = 200_000
"""The most combinations of the values of atoms that are tried."""


@dataclass(frozen=True, slots=True)
class Atom:
    """An enumerated subexpression; ``name`` stands for it.

    Its distinct values are ``constants``, printed when they are asked for, or what ``select`` returns.
    """

    name: str
    fact: Fact
    size: int
    null: bool
    constants: tuple[Value, ...] = ()
    select: str = ""
    table: str | None = None

    @property
    def sql(self) -> str:
        """SQL for its values, and NULL if it may be."""
        sql = self.select or _constants_sql(self.constants, self.fact.type)
        return f"{sql} UNION ALL SELECT NULL" if self.null else sql


@dataclass(frozen=True, slots=True)
class Cut:
    """An expression over atoms; ``atoms`` maps the subexpressions, over any relation, to their atoms."""

    scalar: Scalar
    atoms: dict[Scalar, Atom]

    @property
    def size(self) -> int:
        return combinations(self.atoms)


class Cutter:
    """Splits an expression into atoms that can be enumerated: of the fewest values, or the ``least`` ones."""

    def __init__(self, numbers: Iterator[int], least: bool = False) -> None:
        self._numbers, self._least = numbers, least

    def cut(self, relation: Relation, scalar: Scalar) -> Cut | None:
        if isinstance(scalar, Literal):
            return Cut(scalar, {})
        atom = self._atom(relation, scalar, _tight_fact(relation, scalar))
        if isinstance(scalar, Ref):
            deeper = None if atom else input_column(relation, scalar)
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
        atoms = atoms_of(parts)
        named = tuple(_renamed(part, atoms) for part in parts)
        cut = Cut(Call(call.function, named, call.type), atoms)
        return cut if cut.size <= MOST_COMBINATIONS else None

    def _atom(self, relation: Relation, scalar: Scalar, fact: Fact) -> Cut | None:
        """Return an atom with the values of a subexpression by its fact, or None."""
        table: str | None = None
        match fact.domain:
            case Categories(values):
                return self._named(scalar, fact, len(values), constants=values)
            case Listed():
                table, column = (
                    fact.domain.table,
                    f"TRY_CAST({quoted(fact.domain.column)} AS {fact.type.sql})",
                )
                size, sql = 0, f"SELECT DISTINCT {column} FROM {quoted(table)} WHERE {column} IS NOT NULL"
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
                    size, sql = size + 1, f"{sql} UNION ALL SELECT CAST('-0.0' AS {fact.type.sql})"
                if may_be_nan(relation, scalar):  # in no range
                    size, sql = size + 1, f"{sql} UNION ALL SELECT CAST('NaN' AS {fact.type.sql})"
            case _:
                return None
        return self._named(scalar, fact, size, sql, table=table)

    def dates(self, scalar: Scalar, fact: Fact) -> Cut | None:
        """Return an atom with the days in the range of a DATE, or None."""
        ends = fact.domain
        if not isinstance(ends, Interval) or not ends.finite:
            return None
        first, last = math.ceil(ends.low), math.floor(ends.high)
        if not 0 <= last - first < MOST_COMBINATIONS or max(-first, last) > 3_000_000:
            return None
        sql = f"SELECT {_cast_number('range', fact.type)} FROM range({first}, {last + 1})"
        return self._named(scalar, fact, last - first + 1, sql)

    def midnights(self, scalar: Scalar, fact: Fact) -> Cut | None:
        """Return an atom with the midnights of all days in the range of a TIMESTAMP, or None."""
        if fact.type.sql != "TIMESTAMP" or not isinstance(fact.domain, Interval) or not fact.domain.finite:
            return None
        first, last = int(fact.domain.low // DAY), int(fact.domain.high // DAY)
        if last - first >= MOST_COMBINATIONS or max(-first, last) > 3_000_000:
            return None
        sql = f"SELECT CAST(DATE '1970-01-01' + range::INTEGER AS TIMESTAMP) FROM range({first}, {last + 1})"
        midnight = Call("midnight", (scalar,))  # another atom than the moments, where few are listed
        return self._named(midnight, fact, last - first + 1, sql)

    def _named(
        self,
        scalar: Scalar,
        fact: Fact,
        size: int,
        select: str = "",
        *,
        constants: tuple[Value, ...] = (),
        table: str | None = None,
    ) -> Cut:
        name, own = f"v{next(self._numbers)}", Fact(fact.type, nullable=True)
        atom = Atom(name, own, size + 1, fact.nullable, constants, select, table)
        return Cut(Ref(atom.name), {scalar: atom})


def _constants_sql(values: Sequence[Value], type: Type) -> str:
    own = (as_own(value, type) for value in values)
    return values_sql(tuple(constant for constant in own if constant is not None), type)


def atoms_of(cuts: Iterable[Cut]) -> dict[Scalar, Atom]:
    """Return the atoms of several expressions, once each."""
    atoms: dict[Scalar, Atom] = {}
    for cut in cuts:
        atoms |= {scalar: atoms.get(scalar, atom) for scalar, atom in cut.atoms.items()}
    return atoms


def combinations(atoms: Mapping[Scalar, Atom]) -> int:
    """Return how many combinations of values they have."""
    return math.prod(atom.size for atom in atoms.values())


def query_over(cuts: Sequence[Cut], conditions: Sequence[Cut] = ()) -> tuple[str, tuple[str, ...]] | None:
    """Return SQL for what the expressions are together where conditions hold, and the tables that it reads.

    The conditions are over the same atoms. None where one of them has no SQL.
    """
    atoms = atoms_of(cuts)
    facts = {atom.name: atom.fact for atom in atoms.values()}

    def printed(parts: Sequence[Cut], between: str) -> str:
        return between.join(sql_of(_renamed(part, atoms), facts.__getitem__, str) for part in parts)

    try:
        listed, where = printed(cuts, ", "), printed(conditions, " AND ")
    except Error:
        return None
    sources = ", ".join(f"({atom.sql}) AS s{atom.name}({atom.name})" for atom in atoms.values())
    tables = tuple(atom.table for atom in atoms.values() if atom.table is not None)
    query = f"SELECT DISTINCT {listed}" + (f" FROM {sources}" if sources else "")
    return (f"{query} WHERE {where}" if where else query), tables


def conditions_over(relation: Relation, cutter: Cutter, atoms: Mapping[Scalar, Atom]) -> list[Cut]:
    """Return the conditions that all rows of a relation satisfy and that read these atoms alone."""
    cuts = (cutter.cut(source, condition) for source, condition in conditions_below(relation))
    return [cut for cut in cuts if cut is not None and cut.atoms and cut.atoms.keys() <= atoms.keys()]


def _renamed(part: Cut, atoms: dict[Scalar, Atom]) -> Scalar:
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


def definition_of(relation: Relation, scalar: Scalar) -> tuple[Relation, Scalar]:
    """Return the expression that defines a key, and the relation that it reads; or its source column."""
    while isinstance(scalar, Ref):
        below = input_column(relation, scalar)
        if below is None:
            break
        relation, scalar = below
    return relation, scalar


def input_column(relation: Relation, scalar: Scalar) -> tuple[Relation, Scalar] | None:
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


_KEEPS_NUMBERS = frozenset(
    "floor ceil round trunc abs negate sign coalesce greatest least case cast try_cast exp".split()
)
"""Functions of FLOATs that are NaN only where an argument is."""

_NAN_OF_INFINITIES = frozenset("+ - *".split())

_NAN_OF_ZERO = frozenset("/ // %".split())

_NAN_BELOW_ZERO = frozenset("sqrt ln log log2 log10 power".split())


def may_be_nan(relation: Relation, scalar: Scalar) -> bool:
    """Whether a scalar may be NaN where the columns that it reads are as declared."""
    fact = fact_of(scalar, facts_of(relation))
    if fact.type.kind is not Kind.FLOAT:
        return False
    match scalar:
        case Ref():
            if isinstance(fact.domain, Interval) and fact.domain.finite and _is_stored(relation, scalar):
                return False
            deeper = input_column(relation, scalar)
            return deeper is None or may_be_nan(*deeper)
        case Literal(value):
            return not isinstance(value, float) or math.isnan(value)
        case Call(function, arguments):
            facts = [fact_of(argument, facts_of(relation)) for argument in arguments]
            return not _is_defined(function, facts) or any(may_be_nan(relation, each) for each in arguments)


def _is_defined(function: str, facts: Sequence[Fact]) -> bool:
    """Whether a function of FLOATs is no NaN of arguments that are none."""
    if function in _KEEPS_NUMBERS:
        return "cast" not in function or all(fact.type.kind is not Kind.TEXT for fact in facts)
    ranges = [range_of(fact) for fact in facts]
    if not all(ends.finite for ends in ranges):
        return False
    if function in _NAN_OF_ZERO:
        return ranges[1].low > 0 or ranges[1].high < 0
    return function in _NAN_OF_INFINITIES or (function in _NAN_BELOW_ZERO and ranges[0].low >= 0)


def _is_stored(relation: Relation, column: Ref) -> bool:
    """Whether a column comes as it is from a table, so that its declaration keeps NaN out."""
    match relation:
        case Scan() | Materialized():
            return True
        case Filter(source, _) | Window(source, _):
            return column.name in facts_of(source) and _is_stored(source, column)
        case Project(source, columns):
            named = next((each.scalar for each in columns if each.name == column.name), None)
            return isinstance(named, Ref) and _is_stored(source, named)
        case Join(_, left, right):
            return any(column.name in facts_of(side) and _is_stored(side, column) for side in (left, right))
        case _:
            return False
