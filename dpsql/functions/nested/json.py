"""JSON, in a column of its type or as text: the value at a constant path, what it is, its items, its keys.

    doc ->> '$.a.b'    CAST(doc ->> 'n' AS INTEGER)    json_array_length(doc, '$.tags')    json_keys(doc)

Claim   these are total: a text that is no JSON gives NULL, as does a path that leads nowhere.
Proof   DuckDB raises, and prints the text, only where it cannot read the text; ``json_valid`` reads it in the
        same way. What fails there never reaches the function: its argument is NULL instead, so it does not
        matter in which rows or in which order DuckDB evaluates the call. Paths are constants in a form of
        ours: a root, and then names in quotes and whole numbers, which DuckDB accepts.
Test    tests/unit/test_functions_total.py, grammar_tests/scalars/json.sql

A path has one value; one that ends in [*] has a list of them.
"""

from __future__ import annotations

import math
import re

from dpsql.functions import Argument, ArgumentError, Arguments, Function, Result
from dpsql.functions.core.ranges import truth, within
from dpsql.functions.core.types import named
from dpsql.functions.text.common import UBIGINT
from dpsql.ir.column import ANYTHING, VARCHAR, Fact, Interval, Kind, Type, list_of

JSON = Type(Kind.OPAQUE, "JSON")
_STEP = r'\."[\w $@:/-]+"|\[\d{1,6}\]'
_PATH = re.compile(rf"\$(?:{_STEP})*(?:\[\*\])?")


def _check(arguments: Arguments, name: str) -> None:
    """Refuse what is neither JSON nor plain text, and paths that are not in our form."""
    subject = arguments[0]
    if subject.type not in (JSON, VARCHAR):
        raise ArgumentError(f"{name} takes JSON or text, not {named(subject.type)}", "name a JSON column")
    for path in arguments[1:]:
        _path_of(path)


def _path_of(argument: Argument) -> str:
    """Return the path of a constant argument; the reader has written it in our form."""
    value = None if argument.literal is None else argument.literal.value
    if not isinstance(value, str) or _PATH.fullmatch(value) is None or len(value) > 200:
        raise ArgumentError(
            "a JSON path must be a constant of names and numbers", "write it as '$.name[0].name'"
        )
    return value


def _many(arguments: Arguments) -> bool:
    return len(arguments) == 2 and _path_of(arguments[1]).endswith("[*]")


def _value(name: str, item: Type) -> Function:
    def result(arguments: Arguments, type: Type | None) -> Fact:
        _check(arguments, name)
        return Fact(list_of(item) if _many(arguments) else item, ANYTHING, nullable=True)

    return _function(name, result, f"s {'->>' if item == VARCHAR else '->'} '$.a'", least=2)


def _length_result(arguments: Arguments, type: Type | None) -> Fact:
    _check(arguments, "json_array_length")
    _refuse_many(arguments)
    return within(UBIGINT, Interval(0, math.inf), nullable=True)


def _type_result(arguments: Arguments, type: Type | None) -> Fact:
    _check(arguments, "json_type")
    _refuse_many(arguments)
    return Fact(VARCHAR, ANYTHING, nullable=True)


def _exists_result(arguments: Arguments, type: Type | None) -> Fact:
    _check(arguments, "json_exists")
    _refuse_many(arguments)
    return truth(nullable=True)


def _keys_result(arguments: Arguments, type: Type | None) -> Fact:
    _check(arguments, "json_keys")
    _refuse_many(arguments)
    return Fact(list_of(VARCHAR), ANYTHING, nullable=True)


def _refuse_many(arguments: Arguments) -> None:
    if _many(arguments):
        raise ArgumentError("this function takes a path to one value", "leave [*] out")


def _function(name: str, result: Result, example: str, least: int = 1) -> Function:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        text = texts[0] if arguments[0].type == VARCHAR else f"CAST({texts[0]} AS VARCHAR)"
        readable = f"(CASE WHEN json_valid({text}) THEN {text} END)"
        return f"{name}({', '.join((readable, *texts[1:]))})"

    return Function(name, result, render, example, (least, 2), opens=True)


def _valid_result(arguments: Arguments, type: Type | None) -> Fact:
    _check(arguments, "json_valid")
    return truth(arguments[0].fact.nullable)


def _valid(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    return f"json_valid({texts[0] if arguments[0].type == VARCHAR else f'CAST({texts[0]} AS VARCHAR)'})"


FUNCTIONS = (
    Function("json_valid", _valid_result, _valid, "json_valid(s)", opens=True, names=("json_valid",)),
    _value("json_extract_string", VARCHAR),
    _value("json_extract", JSON),
    _function("json_array_length", _length_result, "json_array_length(s)"),
    _function("json_type", _type_result, "json_type(s)"),
    _function("json_exists", _exists_result, "json_exists(s, '$.a')", least=2),
    _function("json_keys", _keys_result, "json_keys(s)"),
)
