"""Check the arguments of calls, and turn every failure into an error of dpsql."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias, TypeVar, cast

from dpsql.errors import Error, InterfaceError, InternalError, refuse
from dpsql.ir.source import Source

if TYPE_CHECKING:
    from dpsql.ir.column import Value

T = TypeVar("T")

Parameters: TypeAlias = "Sequence[Value] | Mapping[str, Value]"
"""Values in order, for ``?`` or ``$1``; or by name, for ``$name`` or ``:name``."""


def guarded(step: Callable[[], T]) -> T:
    """Run a step; raise its failure as an error of dpsql, without a cause or frames that could hold data."""
    failure: BaseException
    try:
        return step()
    except KeyboardInterrupt:  # a notebook would show the values in the frames
        failure = KeyboardInterrupt()
    except Error as error:
        failure = error
    except RecursionError:  # depends only on the shape of the query
        failure = refuse(
            "D103", "the query is nested too deeply", help="split it, and write long chains of OR as IN (...)"
        )
    except Exception as error:  # a bug in dpsql: its message may hold data
        failure = InternalError(
            "D901",
            f"an error of dpsql's own ({type(error).__name__})",
            help="what was debited stays debited; please report the query",
        )
    except BaseException as stop:  # a signal's handler raised it, say: it is raised again, without frames
        failure = stop
    failure.__cause__ = failure.__context__ = failure.__traceback__ = None
    raise failure


def text_of(sql: object) -> str:
    if not isinstance(sql, str):
        raise InterfaceError(f"a query is a text, not a {type(sql).__name__}", help="write SQL in a str")
    return _encodable(sql)


def _encodable(text: str) -> str:
    """Return the text if it can be encoded; refuse unpaired surrogates."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InterfaceError("this text is not Unicode", help="remove the unpaired surrogate") from None
    return text


def _no_sequence() -> InterfaceError:
    return InterfaceError(
        "parameters are values in order, or by their names",
        help="write ? for each and give a sequence, (65,); or $age, or :age, and a mapping, {'age': 65}",
    )


def _python_value(value: object) -> object:
    """Convert scalars of numpy and pandas to Python values; return anything else unchanged.

    A module that another thread is importing may lack names; then no value of it can exist yet.
    """
    scalar = getattr(sys.modules.get("numpy"), "generic", None)
    if scalar is not None and isinstance(value, scalar):
        if value.dtype.kind == "M" and value.dtype.name != "datetime64[D]":
            return value.astype("M8[us]").item()  # item() of nanoseconds would be a number
        return value.item() if value.dtype.kind in "biufUM" else value
    moment = getattr(sys.modules.get("pandas"), "Timestamp", None)
    if moment is not None and isinstance(value, moment):
        return value.to_pydatetime(warn=False)
    return value


def own(value: T) -> T:
    """Convert a price or a number of seconds from numpy to Python."""
    return cast(T, _python_value(value))


def path_of(value: object, noun: str) -> Path:
    """Return a path; ``noun`` names the file in errors."""
    try:
        path = os.fspath(value)  # type: ignore[call-overload]  # checked here
    except TypeError:
        path = None
    if not isinstance(path, str):
        raise InterfaceError(
            f"the path of {noun} is a str, not a {type(value).__name__}", help="give a str or a Path"
        )
    if "\0" in path:
        raise InterfaceError(f"the path of {noun} contains a null byte", help="remove the null byte")
    return Path(_encodable(path))


def name_of(name: object, what: str = "an analyst") -> str | None:
    if name is None or isinstance(name, str):
        return None if name is None else _encodable(name)
    example = 'write analyst="ana"' if what == "an analyst" else 'write study="flu"'
    raise InterfaceError(f"{what} is a name, not a {type(name).__name__}", help=example)


def number_of(rows: object) -> int:
    try:
        number = operator.index(rows)  # type: ignore[arg-type]  # checked here
    except TypeError:
        raise InterfaceError(
            f"a number of rows is a whole number, not a {type(rows).__name__}",
            help="fetchall() returns the remaining rows",
        ) from None
    if number < 0:
        raise InterfaceError(
            f"a number of rows is not negative: {number}", help="fetchall() returns the remaining rows"
        )
    return number


def asked(sql: object, parameters: object) -> tuple[Source, tuple[Value, ...]]:
    """Return a query with question marks for all its parameters, and their values in order."""
    text = text_of(sql)
    if isinstance(parameters, Mapping):
        from dpsql.parse.marks import with_names

        names = [_encodable(str(name)) for name in parameters]
        text, values = with_names(text, dict(zip(names, values_of([*parameters.values()]), strict=True)))
    else:
        values = values_of(parameters)
        if values and "$" in text:
            text, values = _numbered(text, values)
    return Source(text), values


def _numbered(text: str, values: tuple[Value, ...]) -> tuple[str, tuple[Value, ...]]:
    """Return a query with question marks for ``$1``, ``$2`` ..., and the values in the order of these."""
    from dpsql.parse.marks import marked

    mark = marked(text)
    if not mark.order:
        return text, values
    if mark.count != len(values):
        given = "1 value was" if len(values) == 1 else f"{len(values)} values were"
        raise refuse(
            "D106",
            f"the last parameter is ${mark.count}, and {given} given",
            help="give one value for each number, in order",
        )
    return mark.text, mark.values(values)


def values_of(parameters: object) -> tuple[Value, ...]:
    if isinstance(parameters, Mapping | str | bytes):
        raise _no_sequence()
    try:
        values: tuple[Value, ...] = tuple(map(_python_value, parameters))  # type: ignore[call-overload]  # checked here
    except TypeError:
        raise _no_sequence() from None
    for value in values:
        if isinstance(value, str):
            _encodable(value)
    return values
