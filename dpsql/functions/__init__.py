"""The shelf of scalar functions: what each does to types and ranges, and how it is made total.

A family is a file below this folder that defines ``FUNCTIONS``; membership is discovered.

    read(node)              which function a piece of the text means           reading.py
    call(name, scalars...)  the checked Call, text constants read as dates...  core/meaning.py
    fact_of(scalar, lookup) its type, its range, whether it can be NULL        core/meaning.py
    sql_of(scalar, ...)     SQL for it that raises on no data whatever         core/printing.py

Every rendered call is total by itself: it widens before it computes and narrows with TRY_CAST, or it
stands in a CASE that is exact. TRY is not used: DuckDB 2.0 lifts ``a + b`` out of ``TRY(a + b)`` and
``TRY((a + b) * 2)`` in one SELECT and computes it unguarded. It lifts nothing out of a branch of a
CASE. The other rule of this shelf: no work and no output that grows with a value beyond a fixed cap.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from dpsql.ir.column import Fact, Kind, Type
from dpsql.ir.scalar import Literal
from dpsql.ir.source import Span
from dpsql.shelf import modules


class ArgumentError(Exception):
    """These arguments do not fit the function; the binder raises it as a refusal.

    ``span`` is the place of the call that does not fit, where the call knows its own.
    """

    def __init__(self, title: str, help: str = "", code: str = "D205") -> None:
        super().__init__(title)
        self.title, self.help, self.code = title, help, code
        self.span: Span | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """What a function knows of one of its arguments; ``literal`` is set for constants."""

    fact: Fact
    literal: Literal | None = None

    @property
    def type(self) -> Type:
        return self.fact.type

    @property
    def kind(self) -> Kind:
        return self.fact.type.kind


Arguments: TypeAlias = tuple[Argument, ...]
Groups: TypeAlias = tuple[tuple[int, ...], ...]
Result: TypeAlias = Callable[[Arguments, "Type | None"], Fact]
Render: TypeAlias = Callable[[tuple[str, ...], Arguments, "Type | None"], str]


def apart(count: int) -> Groups:
    """No argument has to be of another one's kind."""
    return ()


def together(count: int) -> Groups:
    """All arguments are of one kind."""
    return (tuple(range(count)),)


@dataclass(frozen=True, slots=True)
class Function:
    """One scalar function under DuckDB's name for it.

    ``result``  (arguments, cast target) -> Fact, or raises ArgumentError; a range is silent on NULL and NaN
    ``render``  (the arguments as SQL, arguments, cast target) -> SQL that never raises on any data;
                the facts of these arguments follow from their types alone, since a declared range says
                nothing of the rows that break it
    ``arity``   the least and the greatest number of arguments
    ``alike``   number of arguments -> the positions that must be of one kind: text constants there are
                read as the kind of the others
    ``strict``  NULL in any argument gives NULL
    ``example`` one call over the columns of the property test's table
    ``names``   the names it is called by where the parser has no syntax of its own for it
    """

    name: str
    result: Result
    render: Render
    example: str
    arity: tuple[int, int] = (1, 1)
    alike: Callable[[int], Groups] = apart
    strict: bool = True
    names: tuple[str, ...] = ()


MANY = 1_000
"""As many arguments as anyone may write."""


@cache
def shelf() -> dict[str, Function]:
    """Every function of every family, by name."""
    found: dict[str, Function] = {}
    for module in modules(__name__, __path__):
        for function in getattr(module, "FUNCTIONS", ()):
            assert function.name not in found, function.name
            found[function.name] = function
    return found
