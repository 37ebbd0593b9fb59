"""Registry of scalar functions: result types, result ranges, and SQL that never raises.

Every module below this folder that defines ``FUNCTIONS`` is discovered and registered.

    read(node)              the function that a syntax node calls              reading/
    call(name, scalars...)  the checked Call, text literals read as dates...   core/meaning.py
    fact_of(scalar, lookup) its type, its range, whether it can be NULL        core/meaning.py
    sql_of(scalar, ...)     SQL for it that raises on no data                  core/printing.py

Every rendered call is total by itself. Either it widens before it computes and narrows with TRY_CAST,
or it stands in a CASE with an exact condition. TRY is not used: DuckDB 2.0 hoists ``a + b`` out of
``TRY(a + b)`` and ``TRY((a + b) * 2)`` in one SELECT and computes it unguarded. It hoists nothing out of
a branch of a CASE. No function does work or returns output that grows with a value beyond a fixed cap.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import ModuleType
from typing import TypeAlias

from dpsql.ir.column import Fact, Kind, Type
from dpsql.ir.scalar import Literal
from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass
from dpsql.shelf import Shelf


class ArgumentError(Exception):
    """An error in the arguments of a function; the binder turns it into a refusal.

    ``span`` is the place of the failing call in the text, if that is known.
    """

    def __init__(self, title: str, help: str = "", code: str = "D205") -> None:
        super().__init__(title)
        self.title, self.help, self.code = title, help, code
        self.span: Span | None = None


@dataclass(frozen=True, slots=True)
class Argument:
    """What a function knows about one of its arguments; ``literal`` is set for constants."""

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
    """Return no groups: the kinds of the arguments are independent."""
    return ()


def together(count: int) -> Groups:
    """Return one group: all arguments must be of one kind."""
    return (tuple(range(count)),)


@dataclass(frozen=True, slots=True)
class Function:
    """One scalar function under DuckDB's name for it.

    ``result``  (arguments, cast target) -> Fact, or raises ArgumentError; a range excludes NULL and NaN
    ``render``  (the arguments as SQL, arguments, cast target) -> SQL that raises on no data;
                the facts of these arguments follow from their types alone, because rows may violate a
                declared range
    ``arity``   the minimum and maximum number of arguments
    ``alike``   number of arguments -> groups of positions that must be of one kind; a text literal in a
                group is read as the kind of the other arguments
    ``strict``  whether NULL in any argument gives NULL
    ``opens``   whether it takes lists, structs, maps or JSON, and checks which by itself
    ``example`` one call over the columns of the property test's table
    ``names``   the names it is called by, if the parser has no node type for it
    ``negated`` renders NOT of it where SQL has a word for that, which DuckDB tests in less time
    """

    name: str
    result: Result
    render: Render
    example: str
    arity: tuple[int, int] = (1, 1)
    alike: Callable[[int], Groups] = apart
    strict: bool = True
    opens: bool = False
    names: tuple[str, ...] = ()
    negated: Render | None = None


MANY = 1_000
"""The maximum arity of a variadic function."""


@cache
def shelf() -> Shelf[Function]:
    """Return all registered functions by name. Not all of them are loaded for one."""
    return Shelf(__name__, __path__, _named)


def _named(module: ModuleType) -> dict[str, Function]:
    functions: tuple[Function, ...] = getattr(module, "FUNCTIONS", ())
    found = {each.name: each for each in functions}
    assert len(found) == len(functions), f"{module.__name__} has two functions of one name"
    return found
