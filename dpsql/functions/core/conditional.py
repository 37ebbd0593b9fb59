"""CASE, COALESCE and NULLIF: the result type holds the values of all branches.

    case(c1, v1, c2, v2, else)    CASE WHEN c1 THEN v1 WHEN c2 THEN v2 ELSE else END

The range is the hull of the ranges of the branches. If all branches are constants, it is a list of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsql.functions import MANY, Argument, Arguments, Function, Groups, together
from dpsql.functions.core.comparison import in_one_type
from dpsql.functions.core.conversion import converted, converted_fact
from dpsql.functions.core.literals import coerce
from dpsql.functions.core.logic import check_condition
from dpsql.functions.core.ranges import hull
from dpsql.functions.core.types import common_type
from dpsql.ir.column import Categories, Domain, Fact, Type


def branches(count: int) -> tuple[int, ...]:
    """Return the positions of the values in a CASE: every second argument, and the ELSE."""
    return tuple(i for i in range(count) if i % 2 or i == count - 1)


def _alike(count: int) -> Groups:
    return (branches(count),)


def domain_of(arguments: Sequence[Argument], target: Type) -> Domain:
    """Return a domain that holds the values of all arguments after a cast to the target type."""
    return hull(target, (_domain(argument, target) for argument in arguments))


def _domain(argument: Argument, target: Type) -> Domain:
    if argument.literal is not None:
        read = coerce(argument.literal, target)
        if read is not None:
            return Categories(() if read.value is None else (read.value,))
    return converted_fact(argument, target).domain


def case_result(arguments: Arguments, type: Type | None) -> Fact:
    values = [arguments[i] for i in branches(len(arguments))]
    for argument in arguments[: len(arguments) // 2 * 2 : 2]:
        check_condition(argument)
    target = common_type(values)
    nullable = len(arguments) % 2 == 0 or any(converted_fact(value, target).nullable for value in values)
    return Fact(target, domain_of(values, target), nullable)


def _case(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    target = common_type([arguments[i] for i in branches(len(arguments))])
    parts = [
        converted(text, arguments[i], target) if i in branches(len(arguments)) else text
        for i, text in enumerate(texts)
    ]
    whens = " ".join(f"WHEN {parts[i]} THEN {parts[i + 1]}" for i in range(0, len(parts) - 1, 2))
    otherwise = f" ELSE {parts[-1]}" if len(parts) % 2 else ""
    return f"(CASE {whens}{otherwise} END)"


def first_result(arguments: Arguments, type: Type | None) -> Fact:
    """Return the fact of COALESCE: it is nullable only if every argument is."""
    target = common_type(arguments)
    nullable = all(converted_fact(argument, target).nullable for argument in arguments)
    return Fact(target, domain_of(arguments, target), nullable)


def _coalesce(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    target = common_type(arguments)
    parts = (converted(text, argument, target) for text, argument in zip(texts, arguments, strict=True))
    return f"COALESCE({', '.join(parts)})"


def _nullif_result(arguments: Arguments, type: Type | None) -> Fact:
    common_type(arguments)
    return Fact(arguments[0].type, arguments[0].fact.domain, nullable=True)


def _nullif(texts: tuple[str, ...], arguments: Arguments, type: Type | None) -> str:
    left, right = in_one_type(texts, arguments)
    return f"(CASE WHEN {left} = {right} THEN NULL ELSE {texts[0]} END)"


FUNCTIONS = (
    Function(
        "case", case_result, _case, "CASE WHEN i > 5 THEN 1 ELSE 0 END", (2, MANY), _alike, strict=False
    ),
    Function("coalesce", first_result, _coalesce, "COALESCE(i, 0)", (1, MANY), together, strict=False),
    Function("nullif", _nullif_result, _nullif, "NULLIF(i, 0)", (2, 2), together, strict=False),
)
