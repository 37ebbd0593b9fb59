"""AND, OR and NOT in three-valued logic.

NULL AND FALSE is FALSE        NULL OR TRUE is TRUE        NOT NULL is NULL
"""

from __future__ import annotations

from dpsql.functions import MANY, Argument, ArgumentError, Arguments, Function
from dpsql.functions.core.ranges import any_null, truth
from dpsql.functions.core.types import named
from dpsql.ir.column import Fact, Kind, Type


def check_condition(argument: Argument) -> None:
    """Refuse an argument that is not BOOLEAN."""
    if argument.kind not in (Kind.BOOLEAN, Kind.NULL):
        raise ArgumentError(f"expected a condition, not {named(argument.type)}", "write a comparison")


def _result(arguments: Arguments, type: Type | None) -> Fact:
    for argument in arguments:
        check_condition(argument)
    return truth(any_null(arguments))


def _connective(word: str) -> Function:
    def render(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
        return f"({f' {word} '.join(texts)})"

    return Function(word.lower(), _result, render, f"b {word} i > 2", (2, MANY), strict=False)


FUNCTIONS = (
    _connective("AND"),
    _connective("OR"),
    Function("not", _result, lambda t, a, _: f"(NOT {t[0]})", "NOT b"),
)
