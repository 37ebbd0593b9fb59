"""Facts of a column: its type, the values it can have, whether it can be NULL.

Column("age", INTEGER, Interval(0, 120), nullable=True)
"""

from __future__ import annotations

import datetime
import math
import re
from collections.abc import Sequence
from dataclasses import field
from decimal import Decimal
from enum import Enum
from typing import TypeAlias

from dpsql.lazy_dataclass import dataclass

Value: TypeAlias = bool | int | float | Decimal | str | datetime.date | datetime.datetime | None
"""A Python value of a literal, a parameter or a listed domain."""

Number: TypeAlias = int | float
"""An end of a range. Dates count days, timestamps microseconds, since 1970-01-01."""


class Kind(Enum):
    """Families of SQL types; columns are comparable only within a family (all numbers count as one)."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    DECIMAL = "decimal"
    FLOAT = "float"
    TEXT = "text"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMPTZ = "timestamp with time zone"
    TIME = "time"
    INTERVAL = "interval"
    UUID = "uuid"
    NULL = "null"
    COMPOSITE = "composite"  # a unit of several columns: compared as it is, and hidden from queries
    OPAQUE = "opaque"  # JSON, LIST, STRUCT, MAP, BLOB...: only for functions that take them apart


@dataclass(frozen=True, slots=True)
class Type:
    """A SQL type: its family and DuckDB's spelling of it (``DECIMAL(15,2)``)."""

    kind: Kind
    sql: str

    @property
    def numeric(self) -> bool:
        return self.kind in (Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT)

    @property
    def said(self) -> str:
        """The type as shown to people: an ENUM without its members, which are often built from the data."""
        return without_members(self.sql)


_MEMBERS = re.compile(r"ENUM\((?:'(?:[^']|'')*'(?:, )?)*(?:\)|'(?:[^']|'')*\Z|\Z)")

BOOLEAN = Type(Kind.BOOLEAN, "BOOLEAN")
INTEGER = Type(Kind.INTEGER, "INTEGER")
BIGINT = Type(Kind.INTEGER, "BIGINT")
HUGEINT = Type(Kind.INTEGER, "HUGEINT")
DOUBLE = Type(Kind.FLOAT, "DOUBLE")
VARCHAR = Type(Kind.TEXT, "VARCHAR")
DATE = Type(Kind.DATE, "DATE")
TIMESTAMP = Type(Kind.TIMESTAMP, "TIMESTAMP")
TIMESTAMPTZ = Type(Kind.TIMESTAMPTZ, "TIMESTAMP WITH TIME ZONE")
TIME = Type(Kind.TIME, "TIME")
INTERVAL = Type(Kind.INTERVAL, "INTERVAL")
UUID = Type(Kind.UUID, "UUID")
NULL = Type(Kind.NULL, '"NULL"')

_INTEGERS = {
    "TINYINT": (-(2**7), 2**7 - 1),
    "SMALLINT": (-(2**15), 2**15 - 1),
    "INTEGER": (-(2**31), 2**31 - 1),
    "BIGINT": (-(2**63), 2**63 - 1),
    "HUGEINT": (-(2**127), 2**127 - 1),
    "UTINYINT": (0, 2**8 - 1),
    "USMALLINT": (0, 2**16 - 1),
    "UINTEGER": (0, 2**32 - 1),
    "UBIGINT": (0, 2**64 - 1),
    "UHUGEINT": (0, 2**128 - 1),
}
INTEGERS = tuple(_INTEGERS)
"""The integer types."""

_PLAIN = {
    "BOOLEAN": Kind.BOOLEAN,
    "DOUBLE": Kind.FLOAT,
    "FLOAT": Kind.FLOAT,
    "VARCHAR": Kind.TEXT,
    "DATE": Kind.DATE,
    "TIMESTAMP": Kind.TIMESTAMP,
    "TIMESTAMP_S": Kind.TIMESTAMP,
    "TIMESTAMP_MS": Kind.TIMESTAMP,
    "TIMESTAMP_NS": Kind.TIMESTAMP,
    "TIMESTAMP WITH TIME ZONE": Kind.TIMESTAMPTZ,
    "TIME": Kind.TIME,
    "INTERVAL": Kind.INTERVAL,
    "UUID": Kind.UUID,
    '"NULL"': Kind.NULL,
}


def without_members(text: str) -> str:
    """Return a text that names types, which may be cut short, without the members of ENUMs."""
    return _MEMBERS.sub("ENUM", text)


def type_named(sql: str) -> Type:
    """Parse DuckDB's spelling of a type; an ENUM is text, an unknown type is OPAQUE."""
    if sql in _INTEGERS:
        return Type(Kind.INTEGER, sql)
    if sql in _PLAIN:
        return Type(_PLAIN[sql], sql)
    if sql.startswith("DECIMAL(") and sql.endswith(")"):
        return Type(Kind.DECIMAL, sql)
    if sql.startswith("ENUM(") and sql.endswith(")"):  # ENUM('a')[] is a list
        return Type(Kind.TEXT, sql)
    return Type(Kind.OPAQUE, sql)


def can_be_opened(type: Type) -> bool:
    """Whether functions take values of this type apart: lists, structs, maps and JSON."""
    return type.kind is Kind.OPAQUE and (
        type.sql == "JSON" or type.sql.endswith("[]") or type.sql.startswith(("STRUCT(", "MAP("))
    )


PARTS = (
    "use a part of it: an item, FROM t, unnest(x) AS u(item); a field, x.name; or a length, len(x), epoch(x)"
)
"""How values without equality or order are read instead: lists, structs, intervals."""


def item_type(type: Type) -> Type | None:
    """Return the type of a list's items; None for what is no list."""
    is_list = type.kind is Kind.OPAQUE and type.sql.endswith("[]")
    return type_named(type.sql.removesuffix("[]")) if is_list else None


def has_length(type: Type) -> bool:
    """Whether the policy may declare the length of these values: of texts and lists."""
    return type.kind is Kind.TEXT or item_type(type) is not None


def entry_types(type: Type) -> tuple[Type, Type] | None:
    """Return the types of a map's keys and values; None for what is no map."""
    parts = _parts(type, "MAP(")
    return None if len(parts) != 2 else (type_named(parts[0]), type_named(parts[1]))


def field_types(type: Type) -> dict[str, Type]:
    """Return the types of a struct's fields by name; none for what is no struct."""
    fields: dict[str, Type] = {}
    for part in _parts(type, "STRUCT("):
        found = _FIELD.fullmatch(part)
        if found is None:
            return {}
        fields[(found[1] or "").replace('""', '"') or found[2]] = type_named(found[3])
    return fields


_FIELD = re.compile(r'(?:"((?:[^"]|"")*)"|([^\s"]+)) (.+)', re.DOTALL)
_PIECE = re.compile(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|.""", re.DOTALL)


def _parts(type: Type, opening: str) -> list[str]:
    """Return the parts between the outer parentheses of a nested type, split at its own commas."""
    if type.kind is not Kind.OPAQUE or not (type.sql.startswith(opening) and type.sql.endswith(")")):
        return []
    parts, depth = [""], 0
    for piece in _PIECE.findall(type.sql[len(opening) : -1]):
        depth += {"(": 1, ")": -1}.get(piece, 0)
        if piece == "," and not depth:
            parts.append("")
        else:
            parts[-1] += piece
    return [part.strip() for part in parts]


def list_of(item: Type) -> Type:
    """Return the type of lists of these items."""
    return Type(Kind.OPAQUE, f"{item.sql}[]")


@dataclass(frozen=True, slots=True)
class Interval:
    """Every value lies between ``low`` and ``high``, both included; an infinite end is no bound."""

    low: Number
    high: Number

    def __post_init__(self) -> None:
        if not self.low <= self.high:  # written so that NaN fails too
            raise ValueError(f"no interval from {self.low} to {self.high}")

    @property
    def finite(self) -> bool:
        return math.isfinite(self.low) and math.isfinite(self.high)


@dataclass(frozen=True, slots=True)
class Categories:
    """Every value is one of these. NULL is not listed; ``nullable`` says whether it can occur."""

    values: tuple[Value, ...]


@dataclass(frozen=True, slots=True)
class Listed:
    """Every value is in this column of a public table; the list is read from there.

    ``bounds`` is the range of the values if they are numbers.
    """

    table: str
    column: str
    bounds: Interval | None = None


@dataclass(frozen=True, slots=True)
class Sized:
    """A text of at most ``most`` characters, or a list of at most so many items, if the declaration holds.

    ``exact``: a list that the query spells out, of so many items.
    """

    most: int
    exact: bool = False


@dataclass(frozen=True, slots=True)
class Anything:
    """Only the type is known."""


Domain: TypeAlias = Interval | Categories | Listed | Sized | Anything

ANYTHING = Anything()
EVERYWHERE = Interval(-math.inf, math.inf)


@dataclass(frozen=True, slots=True)
class Order:
    """Where a value stands among the values of its row, by their names (functions/core/order.py).

    It is at least each of ``least`` and at most each of ``most``, where neither is NULL.
    """

    name: str
    least: frozenset[str] = frozenset()
    most: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Fact:
    """What is known of a value: of a column, or of a scalar computed from columns.

    Facts are equal whatever their ``order``: it only makes ranges of differences narrower.
    """

    type: Type
    domain: Domain = ANYTHING
    nullable: bool = True
    order: Order | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Column:
    """A named column of a relation."""

    name: str
    fact: Fact


Schema: TypeAlias = tuple[Column, ...]


def type_of_all(types: Sequence[Type]) -> Type | None:
    """Return the narrowest type that holds the values of all these types, or None if there is none.

    HUGEINT with UHUGEINT gives None, as DuckDB would make it a DOUBLE; so does BIGINT with UHUGEINT.
    """
    first = types[0]
    if all(sql_type == first for sql_type in types):
        return first
    if any(sql_type.sql not in _INTEGERS for sql_type in types):
        return None
    ends = [_INTEGERS[sql_type.sql] for sql_type in types]
    low, high = min(low for low, _ in ends), max(high for _, high in ends)
    holding = {sql: b - a for sql, (a, b) in _INTEGERS.items() if a <= low and high <= b}
    return Type(Kind.INTEGER, min(holding, key=holding.__getitem__)) if holding else None


_ORDERED = frozenset((Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT, Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ))


def comparable(first: Type, second: Type) -> bool:
    """Whether values of these types have differences, and are compared as they are: no cast rounds one."""
    kinds = {first.kind, second.kind}
    return kinds <= _ORDERED and (len(kinds) == 1 or kinds == {Kind.DATE, Kind.TIMESTAMP})


def type_range(type: Type) -> Interval:
    """Return the range of a type itself: all that a rendered scalar may rely on."""
    if type.sql in _INTEGERS:
        return Interval(*_INTEGERS[type.sql])
    if type.kind is Kind.DECIMAL:
        width, scale = decimal_size(type)
        return Interval(-(10.0 ** (width - scale)), 10.0 ** (width - scale))
    if type.kind is Kind.BOOLEAN:
        return Interval(0, 1)
    return EVERYWHERE


def decimal_size(type: Type) -> tuple[int, int]:
    """Return width and scale of a DECIMAL."""
    width, _, scale = type.sql[len("DECIMAL(") : -1].partition(",")
    return int(width), int(scale or 0)


def sealed_name(sql: str) -> str:
    """Return the type of a column of this type above the release: NULL is text there, and so is no member."""
    return "VARCHAR" if sql in ('"NULL"', "ENUM()") else sql


def answered_name(sql: str) -> str:
    """Return the type of a column in an answer: text for an ENUM, also in a list, and for collated text."""
    return "VARCHAR" if sql.startswith("VARCHAR COLLATE ") else _MEMBERS.sub("VARCHAR", sql)


def enum_members(sql: str) -> tuple[str, ...]:
    """``ENUM('a', 'it''s')`` -> ("a", "it's")."""
    quoted: list[str] = re.findall(r"'((?:[^']|'')*)'", sql[len("ENUM(") : -1])
    return tuple(member.replace("''", "'") for member in quoted)


def unique(values: tuple[Value, ...]) -> tuple[Value, ...]:
    """Remove repeated values, compared as in SQL: 1 and 1.0 are one value, 1 and true are two."""
    return tuple({(isinstance(value, bool), value): value for value in values}.values())


def as_text(end: Number, type: Type) -> str:
    """Format an end of a range for people: dates as dates."""
    if type.kind is Kind.DATE and abs(end) < 700_000:
        return str(datetime.date(1970, 1, 1) + datetime.timedelta(days=int(end)))
    if type.kind in (Kind.TIMESTAMP, Kind.TIMESTAMPTZ) and abs(end) < 6e16:
        return str(datetime.datetime(1970, 1, 1) + datetime.timedelta(microseconds=int(end)))
    return f"{end:,}" if isinstance(end, int) else f"{end:g}"


def range_of(fact: Fact) -> Interval:
    """Return the numeric range of a fact, from its domain or else from its type."""
    match fact.domain:
        case Interval() as interval:
            return interval
        case Listed(bounds=Interval() as interval):
            return interval
        case Categories(values) if values and (kinds := {type(value) for value in values}) <= _NUMBERS:
            numbers = values if kinds == {int} else [_number(value) for value in values]
            return Interval(min(numbers), max(numbers))  # type: ignore[type-var, arg-type]  # they are numbers
        case _:
            return type_range(fact.type)


def said_range(fact: Fact) -> Interval:
    """Return the range that is said of a value: by its domain, or by a type with few values."""
    said = not isinstance(fact.domain, Anything) or fact.type.sql in SMALL
    return range_of(fact) if said else EVERYWHERE


_NUMBERS = {bool, int, float, Decimal}

SMALL = frozenset(("TINYINT", "UTINYINT", "SMALLINT", "USMALLINT", "BOOLEAN"))


def bounded_range(fact: Fact) -> Interval | None:
    """Return the finite range of a number, by its domain or a small type; None if there is none."""
    if isinstance(fact.domain, Interval | Categories) or (
        isinstance(fact.domain, Listed) and fact.domain.bounds is not None
    ):
        bounds = range_of(fact)
    elif fact.domain == ANYTHING and fact.type.sql in SMALL:
        bounds = type_range(fact.type)
    else:
        return None
    return bounds if bounds.finite else None


def _number(value: Value) -> Number:
    assert isinstance(value, bool | int | float | Decimal)
    return int(value) if isinstance(value, bool | int) else float(value)
