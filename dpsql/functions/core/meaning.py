"""Types, ranges and nullability of scalars, from the registered functions.

    call("=", (Ref("born"), Literal("1990-01-01", VARCHAR)), lookup)    Call("=", (born, DATE 1990-01-01))
    fact_of(Call("year", (Ref("born"),)), lookup)                       Fact(BIGINT, [1900, 2030])

A range follows from the ranges that the policy declares. Nullability follows from types alone: the
``nullable`` of ``lookup`` must be what the database enforces. A row that violates a declared range
cannot turn a non-nullable scalar into NULL.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field, replace
from functools import lru_cache, partial
from typing import TypeAlias, assert_never

from dpsql.functions import MANY, Argument, ArgumentError, Arguments, Function, shelf
from dpsql.functions.core.literals import coerce, constant
from dpsql.functions.core.narrowing import narrow, narrow_untrue
from dpsql.functions.core.order import ordered
from dpsql.functions.core.types import common_type, named
from dpsql.ir.column import (
    ANYTHING,
    EVERYWHERE,
    NULL,
    VARCHAR,
    Fact,
    Kind,
    Type,
    entry_types,
    field_types,
    item_type,
    type_range,
)
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass

Lookup: TypeAlias = Callable[[str], Fact]
"""From the name of a column to its fact."""


def fact_of(scalar: Scalar, lookup: Lookup) -> Fact:
    """Return the fact of a scalar; raise ArgumentError if its types do not match."""
    return argument_of(scalar, lookup).fact


def argument_of(scalar: Scalar, lookup: Lookup) -> Argument:
    """Return the fact of a scalar, with its literal if it is a constant."""
    return _meaning(scalar, lookup).declared


def enforced(fact: Fact) -> Fact:
    """Return the fact that follows from the type alone: all that generated SQL may rely on.

    It is nullable: DuckDB may compute a scalar before the filter that drops NULL.
    """
    return _by_type(fact.type).fact


@lru_cache(maxsize=1024)
def _by_type(type: Type) -> Argument:
    domain = type_range(type)
    return Argument(Fact(type, ANYTHING if domain == EVERYWHERE else domain, nullable=True))


@lru_cache(maxsize=1024)
def _never_null(type: Type) -> Argument:
    return Argument(replace(_by_type(type).fact, nullable=False))


def _shared(fact: Fact) -> Argument:
    """Return the argument of a fact; all that say no more than their type does are one object."""
    by_type = _by_type(fact.type)
    if fact.order is not None or fact.domain is not by_type.fact.domain:
        return Argument(fact)
    return by_type if fact.nullable else _never_null(fact.type)


def call(
    function: str,
    scalars: Sequence[Scalar],
    lookup: Lookup,
    type: Type | None = None,
    span: Span | None = None,
) -> Call:
    """Return a checked call; literals of text and NULL are read as the kind of their neighbours."""
    _check_arity(shelf()[function], len(scalars))
    groups = shelf()[function].alike(len(scalars))
    fitted = list(scalars)
    if any(_is_loose(scalars[i]) for group in groups for i in group):
        in_group = {i for group in groups for i in group}
        arguments = tuple(
            argument_of(scalar, lookup) if i in in_group else Argument(Fact(NULL))
            for i, scalar in enumerate(scalars)
        )
        for i, (old, new) in enumerate(zip(arguments, unify(shelf()[function], arguments), strict=True)):
            if new is not old and new.literal is not None:
                fitted[i] = new.literal
    result = Call(function, tuple(fitted), type, span)
    fact_of(result, lookup)
    return result


def _check_arity(function: Function, count: int) -> None:
    least, most = function.arity
    if not least <= count <= most:
        wanted = str(least) if least == most else f"{least} to {most}" if most < MANY else f"{least} or more"
        raise ArgumentError(f"{function.name} takes {wanted} arguments, not {count}")


def _is_loose(scalar: Scalar) -> bool:
    return isinstance(scalar, Literal) and scalar.type in (VARCHAR, NULL)


def unify(function: Function, arguments: Arguments) -> Arguments:
    """Read literals of text and NULL as the kind of their neighbours."""
    fitted = list(arguments)
    for group in function.alike(len(arguments)):
        loose = [i for i in group if _loose(arguments[i])]
        typed = [arguments[i] for i in group if i not in loose]
        texts = [arguments[i] for i in loose if arguments[i].type != NULL]
        target = common_type(typed or texts)
        if target.kind is Kind.TEXT:
            target = common_type([*typed, *texts])
        for i in loose:
            literal = arguments[i].literal
            assert literal is not None
            read = coerce(literal, target) if target != NULL else literal
            if read is None:
                what = f"{str(literal.value)[:40]!r} cannot be read as {named(target)}"
                error = ArgumentError(what, SHAPES.get(target.kind, ""))
                error.span = literal.span
                raise error
            fitted[i] = constant(read)
        common_type([fitted[i] for i in group])
    return tuple(fitted)


SHAPES = {
    **dict.fromkeys((Kind.INTEGER, Kind.DECIMAL, Kind.FLOAT), "write a number: 20"),
    Kind.DATE: "write a day like '2024-01-31'",
    Kind.TIMESTAMP: "write a day or a moment without offset: '2024-01-31', '2024-01-31 10:30'",
    Kind.TIMESTAMPTZ: "write a day or a moment: '2024-01-31', '2024-01-31 10:30', '2024-01-31 10:30+01'",
}
"""How texts are written that are read as these kinds."""


def _loose(argument: Argument) -> bool:
    return argument.literal is not None and argument.type in (VARCHAR, NULL)


@dataclass(frozen=True, slots=True)
class _Meaning:
    """Three facts of a scalar: by declaration, by type (for SQL), and by type with true nullability."""

    declared: Argument
    written: Argument
    real: Argument


@dataclass(frozen=True, slots=True, eq=False)
class Remembering:
    """A lookup that caches the meaning of scalars: binder, planner and printer ask again at every level.

    Facts of columns may narrow in the meantime; their types may not change. What follows from the very same
    arguments is kept too: thousands of products are of a few types.
    """

    lookup: Lookup
    found: dict[int, tuple[Scalar, _Meaning]] = field(default_factory=dict)
    checked: dict[tuple[object, ...], tuple[Arguments, Argument]] = field(default_factory=dict)

    def __call__(self, name: str) -> Fact:
        return self.lookup(name)


def _meaning(scalar: Scalar, lookup: Lookup, inside: Lookup | None = None) -> _Meaning:
    """Return the meaning of a scalar; ``inside`` has ranges narrowed by conditions of enclosing CASEs."""
    if inside is not None or not isinstance(lookup, Remembering):
        return _computed(scalar, lookup, inside)
    if id(scalar) not in lookup.found:  # the scalar is kept alive, so that its id is not reused
        lookup.found[id(scalar)] = scalar, _computed(scalar, lookup, None)
    return lookup.found[id(scalar)][1]


def written(scalar: Scalar, lookup: Lookup) -> Argument | None:
    """Return what generated SQL may rely on of a scalar, where the lookup remembers it."""
    remembered = lookup.found.get(id(scalar)) if isinstance(lookup, Remembering) else None
    return None if remembered is None else remembered[1].written


def _computed(scalar: Scalar, lookup: Lookup, inside: Lookup | None) -> _Meaning:
    """Check the calls of a scalar; facts with the same arguments are one object, and checked once."""
    match scalar:
        case Ref(name):
            fact = lookup(name)
            by_type = _by_type(fact.type)
            real = by_type if fact.nullable else _never_null(fact.type)
            if inside is not None:
                narrowed = inside(name)
                fact = replace(fact, domain=narrowed.domain, order=narrowed.order)
            plain = fact.nullable and fact.order is None and fact.domain is by_type.fact.domain
            return _Meaning(by_type if plain else Argument(fact), by_type, real)
        case Literal():
            argument = constant(scalar)
            return _Meaning(argument, argument, argument)
        case Call(name, scalars, type):
            function = shelf()[name]
            lookups = _in_branches(scalars, lookup, inside) if name == "case" else [inside] * len(scalars)
            parts = [_meaning(scalar, lookup, known) for scalar, known in zip(scalars, lookups, strict=True)]
            try:
                by_type = _followed(lookup, function, tuple(part.written for part in parts), type)
                real = declared = by_type
                if any(part.real is not part.written for part in parts):
                    nullable = _followed(
                        lookup, function, tuple(part.real for part in parts), type
                    ).fact.nullable
                    real = by_type
                    if nullable != by_type.fact.nullable:
                        real = _shared(replace(by_type.fact, nullable=nullable))
                if any(part.declared is not part.written for part in parts):
                    fact = checked(function, tuple(part.declared for part in parts), type)
                    declared = Argument(replace(fact, nullable=real.fact.nullable))
                elif real is not by_type:
                    declared = real
            except ArgumentError as error:
                error.span = error.span or scalar.span
                raise
            return _Meaning(declared, by_type, real)
        case _:
            assert_never(scalar)


def _followed(lookup: Lookup, function: Function, arguments: Arguments, type: Type | None) -> Argument:
    """Return what follows from these arguments, which are kept alive, so that their ids are not reused."""
    if not isinstance(lookup, Remembering):
        return _shared(checked(function, arguments, type))
    key = function.name, type, *map(id, arguments)
    if key not in lookup.checked:
        lookup.checked[key] = arguments, _shared(checked(function, arguments, type))
    return lookup.checked[key][1]


def _in_branches(scalars: Sequence[Scalar], lookup: Lookup, inside: Lookup | None) -> list[Lookup | None]:
    """Return a lookup for every argument of a CASE: its condition is true, earlier conditions are not.

    Only declared ranges are narrowed: generated SQL never relies on a condition.
    """
    outside = inside or lookup
    untrue = {name: outside(name) for scalar in scalars for name in refs(scalar)}
    lookups: list[Lookup | None] = []
    for position in range(0, len(scalars) - 1, 2):
        true = dict(untrue)
        lookups.append(dict(untrue).__getitem__)
        for facts, narrowing in ((true, narrow), (untrue, narrow_untrue)):
            narrowing(facts, scalars[position], partial(_bound_fact, facts=facts))
        lookups.append(true.__getitem__)
    return lookups if len(scalars) % 2 == 0 else [*lookups, untrue.__getitem__]


def _bound_fact(scalar: Scalar, facts: dict[str, Fact]) -> Fact:
    """Return the fact of the bound in a condition.

    A bound with a CASE in it has no fact: it would be analyzed again at every level of nesting.
    """
    return Fact(NULL) if _contains_case(scalar) else fact_of(scalar, facts.__getitem__)


def _contains_case(scalar: Scalar) -> bool:
    return isinstance(scalar, Call) and (
        scalar.function == "case" or any(map(_contains_case, scalar.arguments))
    )


def _opened(type: Type) -> str:
    """Return how to take a value of a nested type apart."""
    if item_type(type) is not None:
        return (
            "make a row of each item, FROM t, unnest(x) AS u(item); or take one, x[1]; or count them, len(x)"
        )
    if type.sql == "JSON":
        return "take a text out of it, x->>'$.key', and cast that; or test it: x IS NULL"
    if entry_types(type) is not None:
        return "make rows of its keys: FROM t, unnest(map_keys(x)) AS u(key); or test it: x IS NULL"
    if fields := field_types(type):
        return f"take a field, x['{next(iter(fields))}']; or test it: x IS NULL"
    return "leave the column out, count it, or test it: x IS NULL"


OF_ANY_TYPE = frozenset({"is_null", "is_not_null"})


def checked(function: Function, arguments: Arguments, type: Type | None) -> Fact:
    """Check the arguments by the rules for all functions and return the fact of the result."""
    _check_arity(function, len(arguments))
    if function.name not in OF_ANY_TYPE and not function.opens:
        for argument in arguments:
            if argument.kind is Kind.OPAQUE:
                raise ArgumentError(
                    f"{function.name} does not take {argument.type.said}",
                    _opened(argument.type),
                )
    return ordered(function.name, arguments, type, function.result(arguments, type))
