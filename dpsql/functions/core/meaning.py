"""What a scalar can be: the one place that asks the shelf about types and ranges.

    call("=", (Ref("born"), Literal("1990-01-01", VARCHAR)), lookup)    Call("=", (born, DATE 1990-01-01))
    fact_of(Call("year", (Ref("born"),)), lookup)                       Fact(BIGINT, [1900, 2030])

A range follows from what the policy declares. That a scalar is never NULL follows from types alone:
``lookup``'s own ``nullable`` must be what the database enforces, and no row that breaks a declared range
turns a scalar into NULL that is said to have none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias, assert_never

from dpsql.functions import MANY, Argument, ArgumentError, Arguments, Function, shelf
from dpsql.functions.core.literals import coerce, constant
from dpsql.functions.core.narrowing import narrow, narrow_untrue
from dpsql.functions.core.types import common_type, named
from dpsql.ir.column import ANYTHING, EVERYWHERE, NULL, VARCHAR, Fact, Kind, Type, type_range
from dpsql.ir.scalar import Call, Literal, Ref, Scalar, refs
from dpsql.ir.source import Span

Lookup: TypeAlias = Callable[[str], Fact]
"""From the name of a column to what is known of it."""


def fact_of(scalar: Scalar, lookup: Lookup) -> Fact:
    """What is known of every value that a scalar computes; ArgumentError where types do not go together."""
    return argument_of(scalar, lookup).fact


def argument_of(scalar: Scalar, lookup: Lookup) -> Argument:
    """The fact of a scalar, with the constant that it is."""
    return _meaning(scalar, lookup).declared


def enforced(fact: Fact) -> Fact:
    """What the type alone says of a column: all that SQL may rely on.

    Not even that NULL is missing: DuckDB is free to compute a scalar before the filter that drops it.
    """
    whole = type_range(fact.type)
    return Fact(fact.type, ANYTHING if whole == EVERYWHERE else whole, nullable=True)


def call(
    function: str,
    scalars: Sequence[Scalar],
    lookup: Lookup,
    type: Type | None = None,
    span: Span | None = None,
) -> Call:
    """A call whose arguments fit, its constants of text and NULL read as the kind of their neighbours."""
    _check_arity(shelf()[function], len(scalars))
    groups = shelf()[function].alike(len(scalars))
    fitted = list(scalars)
    if any(_is_loose(scalars[i]) for group in groups for i in group):
        in_group = {i for group in groups for i in group}
        arguments = tuple(
            argument_of(each, lookup) if i in in_group else Argument(Fact(NULL))
            for i, each in enumerate(scalars)
        )
        for i, (old, new) in enumerate(zip(arguments, unify(shelf()[function], arguments), strict=True)):
            if new is not old and new.literal is not None:
                fitted[i] = new.literal
    found = Call(function, tuple(fitted), type, span)
    fact_of(found, lookup)
    return found


def _check_arity(function: Function, count: int) -> None:
    least, most = function.arity
    if not least <= count <= most:
        wanted = str(least) if least == most else f"{least} to {most}" if most < MANY else f"{least} or more"
        raise ArgumentError(f"{function.name} takes {wanted} arguments, not {count}")


def _is_loose(scalar: Scalar) -> bool:
    return isinstance(scalar, Literal) and scalar.type in (VARCHAR, NULL)


def unify(function: Function, arguments: Arguments) -> Arguments:
    """The arguments, with constants of text and NULL read as the kind of their neighbours."""
    fitted = list(arguments)
    for group in function.alike(len(arguments)):
        loose = [i for i in group if _loose(arguments[i])]
        others = [arguments[i] for i in group if i not in loose]
        texts = [arguments[i] for i in loose if arguments[i].type != NULL]
        target = common_type(others or texts)
        if target.kind is Kind.TEXT:
            target = common_type([*others, *texts])
        for i in loose:
            literal = arguments[i].literal
            assert literal is not None
            read = coerce(literal, target) if target != NULL else literal
            if read is None:
                unfit = ArgumentError(f"{str(literal.value)[:40]!r} is not read as {named(target)}")
                unfit.span = literal.span
                raise unfit
            fitted[i] = constant(read)
        common_type([fitted[i] for i in group])
    return tuple(fitted)


def _loose(argument: Argument) -> bool:
    return argument.literal is not None and argument.type in (VARCHAR, NULL)


@dataclass(frozen=True, slots=True)
class _Meaning:
    """A scalar by its declarations, as SQL is written for it, and the latter with NULL as it really is."""

    declared: Argument
    written: Argument
    real: Argument


@dataclass(frozen=True, slots=True, eq=False)
class Remembering:
    """A lookup that remembers each scalar it was asked about: a binder asks anew at every level above it.

    What it knows of a column may narrow meanwhile; the columns' types may not change.
    """

    lookup: Lookup
    found: dict[int, tuple[Scalar, _Meaning]] = field(default_factory=dict)

    def __call__(self, name: str) -> Fact:
        return self.lookup(name)


def _meaning(scalar: Scalar, lookup: Lookup, inside: Lookup | None = None) -> _Meaning:
    """``inside`` knows more of the columns' ranges, where a condition was met on the way here."""
    if inside is not None or not isinstance(lookup, Remembering):
        return _computed(scalar, lookup, inside)
    if id(scalar) not in lookup.found:  # kept beside its meaning, so that the id stays its own
        lookup.found[id(scalar)] = scalar, _computed(scalar, lookup, None)
    return lookup.found[id(scalar)][1]


def _computed(scalar: Scalar, lookup: Lookup, inside: Lookup | None) -> _Meaning:
    match scalar:
        case Ref(name):
            fact = lookup(name)
            written = enforced(fact)
            real = replace(written, nullable=fact.nullable)
            declared = fact if inside is None else replace(fact, domain=inside(name).domain)
            return _Meaning(Argument(declared), Argument(written), Argument(real))
        case Literal():
            argument = constant(scalar)
            return _Meaning(argument, argument, argument)
        case Call(name, scalars, type):
            function = shelf()[name]
            lookups = _in_branches(scalars, lookup, inside) if name == "case" else [inside] * len(scalars)
            parts = [_meaning(each, lookup, known) for each, known in zip(scalars, lookups, strict=True)]
            try:
                written = checked(function, tuple(each.written for each in parts), type)
                nullable = checked(function, tuple(each.real for each in parts), type).nullable
                declared = checked(function, tuple(each.declared for each in parts), type)
            except ArgumentError as unfit:
                unfit.span = unfit.span or scalar.span
                raise
            facts = (replace(declared, nullable=nullable), written, replace(written, nullable=nullable))
            return _Meaning(*map(Argument, facts))
        case _:
            assert_never(scalar)


def _in_branches(scalars: Sequence[Scalar], lookup: Lookup, inside: Lookup | None) -> list[Lookup | None]:
    """For every argument of a CASE what is known there: its own condition is true, those before are not.

    Declared ranges only: what SQL is written by never follows from a condition.
    """
    outside = inside or lookup
    untrue = {name: outside(name) for each in scalars for name in refs(each)}
    found: list[Lookup | None] = []
    for place in range(0, len(scalars) - 1, 2):
        true = dict(untrue)
        found.append(dict(untrue).__getitem__)
        for facts, way in ((true, narrow), (untrue, narrow_untrue)):
            way(facts, scalars[place], partial(_bound, facts=facts))
        found.append(true.__getitem__)
    return found if len(scalars) % 2 == 0 else [*found, untrue.__getitem__]


def _bound(scalar: Scalar, facts: dict[str, Fact]) -> Fact:
    """What is known of the bound in a condition; nothing where a CASE stands in it, which would be taken
    apart anew at every level of nesting."""
    return Fact(NULL) if _chooses(scalar) else fact_of(scalar, facts.__getitem__)


def _chooses(scalar: Scalar) -> bool:
    return isinstance(scalar, Call) and (scalar.function == "case" or any(map(_chooses, scalar.arguments)))


OF_ANY_TYPE = frozenset({"is_null", "is_not_null"})


def checked(function: Function, arguments: Arguments, type: Type | None) -> Fact:
    """The result's fact, after the checks that hold for every function."""
    _check_arity(function, len(arguments))
    if function.name not in OF_ANY_TYPE:
        for each in arguments:
            if each.kind is Kind.OPAQUE:
                raise ArgumentError(
                    f"{each.type.said} columns can be counted and tested for NULL, nothing else yet",
                    "leave the column out, count it, or test it: x IS NULL",
                )
    return function.result(arguments, type)
