"""Functions of ENUMs and UUIDs: positions, first and last values, versions, timestamps.

enum_code(blood)    [0, 3]        enum_first(blood)    'A'
"""

from __future__ import annotations

from dpsql.functions import Argument, ArgumentError, Arguments, Function
from dpsql.functions.core.ranges import within
from dpsql.functions.core.types import named
from dpsql.ir.column import (
    TIMESTAMPTZ,
    VARCHAR,
    Categories,
    Fact,
    Interval,
    Kind,
    Type,
    enum_members,
    type_named,
)


def _members(argument: Argument, name: str) -> tuple[str, ...]:
    if not argument.type.sql.startswith("ENUM("):
        raise ArgumentError(f"{name} takes an ENUM, not {named(argument.type)}", "compare the text itself")
    return tuple(enum_members(argument.type.sql))


def _code_result(arguments: Arguments, type: Type | None) -> Fact:
    (argument,) = arguments
    count = len(_members(argument, "enum_code"))
    result_type = "UTINYINT" if count < 2**8 else "USMALLINT" if count < 2**16 else "UINTEGER"
    return within(type_named(result_type), Interval(0, max(0, count - 1)), argument.fact.nullable)


def _enum_end(name: str, place: int) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        return Fact(VARCHAR, Categories((_members(arguments[0], name)[place],)), nullable=False)

    return Function(
        name, result, lambda t, a, _: f"{name}({t[0]})", f"{name}(e)", strict=False, names=(name,)
    )


def _version_result(arguments: Arguments, type: Type | None) -> Fact:
    (argument,) = arguments
    if argument.kind is not Kind.UUID:
        raise ArgumentError(f"uuid_extract_version takes a UUID, not {named(argument.type)}")
    # DuckDB reads the digits a to f as 49 to 54
    return within(type_named("UINTEGER"), Interval(0, 54), argument.fact.nullable)


def _timestamp_result(arguments: Arguments, type: Type | None) -> Fact:
    _version_result(arguments, None)
    return Fact(TIMESTAMPTZ, nullable=True)


def _timestamp(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    """Render a CASE for version 7: DuckDB raises for versions without a timestamp."""
    return f"(CASE WHEN uuid_extract_version({texts[0]}) = 7 THEN uuid_extract_timestamp({texts[0]}) END)"


FUNCTIONS = (
    Function(
        "enum_code", _code_result, lambda t, a, _: f"enum_code({t[0]})", "enum_code(e)", names=("enum_code",)
    ),
    _enum_end("enum_first", 0),
    _enum_end("enum_last", -1),
    Function(
        "uuid_extract_version",
        _version_result,
        lambda t, a, _: f"uuid_extract_version({t[0]})",
        "uuid_extract_version(u)",
        names=("uuid_extract_version",),
    ),
    Function(
        "uuid_extract_timestamp",
        _timestamp_result,
        _timestamp,
        "uuid_extract_timestamp(u)",
        names=("uuid_extract_timestamp",),
    ),
)
