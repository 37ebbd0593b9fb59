"""The shelf of scalar functions: what each does to types and ranges, and how it is made total.

A family is a file of this folder that defines ``FUNCTIONS``; membership is discovered. ``result``
may rely on the declared facts of its arguments; ``render`` may rely on their types alone, since a
declared range says nothing of the rows that break it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from dpsql.ir.column import Fact, Type
from dpsql.ir.scalar import Literal


class Unfit(Exception):
    """These arguments do not fit the function; the binder adds the place and raises it as a refusal."""

    def __init__(self, title: str, help: str = "", code: str = "D205") -> None:
        super().__init__(title)
        self.title, self.help, self.code = title, help, code


@dataclass(frozen=True, slots=True)
class Argument:
    """What a function knows of one of its arguments; ``literal`` is set for constants."""

    fact: Fact
    literal: Literal | None = None


@dataclass(frozen=True, slots=True)
class Function:
    """One scalar function under DuckDB's name for it.

    ``result``  (arguments, cast target) -> Fact, or raises Unfit
    ``render``  (the arguments as SQL, arguments, cast target) -> SQL that never raises on any data
    ``unify``   the arguments must be of one kind: text constants are read as the kind of the others
    ``strict``  NULL in any argument gives NULL
    ``example`` one call over the columns of the property test's table
    """

    name: str
    result: Callable[[tuple[Argument, ...], Type | None], Fact]
    render: Callable[[tuple[str, ...], tuple[Argument, ...], Type | None], str]
    example: str
    unify: bool = False
    strict: bool = True


@cache
def shelf() -> dict[str, Function]:
    """Every function of every family, by name."""
    found: dict[str, Function] = {}
    for module in pkgutil.iter_modules(__path__, __name__ + "."):
        for function in getattr(importlib.import_module(module.name), "FUNCTIONS", ()):
            assert function.name not in found, function.name
            found[function.name] = function
    return found
