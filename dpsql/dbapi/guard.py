"""The border: a text and a sequence of values come in, and what goes wrong leaves as one of our errors."""

from __future__ import annotations

import operator
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar, cast

from dpsql.errors import Error, InterfaceError, InternalError, refuse

if TYPE_CHECKING:
    from dpsql.ir.column import Value

T = TypeVar("T")


def guarded(step: Callable[[], T]) -> T:
    """What goes wrong inside leaves as one of our errors, without a cause or frames that hold data."""
    failure: Error | KeyboardInterrupt
    try:
        return step()
    except KeyboardInterrupt:  # a notebook shows what the frames below held
        failure = KeyboardInterrupt()
    except Error as error:
        failure = error
    except RecursionError:  # told by the query's shape alone
        failure = refuse(
            "D103", "the query is nested too deeply", help="split it, and write long chains of OR as IN (...)"
        )
    except Exception as error:  # a bug of ours: its words may hold data
        failure = InternalError(
            "D901",
            f"an error of dpsql's own ({type(error).__name__})",
            help="what was debited stays debited; please report the query",
        )
    failure.__cause__ = failure.__context__ = failure.__traceback__ = None
    raise failure


def text_of(sql: object) -> str:
    if not isinstance(sql, str):
        raise InterfaceError(f"a query is a text, not a {type(sql).__name__}", help="write SQL in a str")
    return _spelled(sql)


def _spelled(text: str) -> str:
    """A text that can be written down at all: half a surrogate pair cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InterfaceError("this text is not Unicode", help="it holds half of a surrogate pair") from None
    return text


def _no_sequence() -> InterfaceError:
    return InterfaceError(
        "parameters are a sequence, one value for each question mark",
        help="write ? in the query for each, and give them in order: (65,)",
    )


def _own(value: object) -> object:
    """Scalars of numpy and pandas, as frames hold them, are Python's own values; all else stays.

    A module that another thread is importing does not have all its names yet, and nobody has values of it.
    """
    scalar = getattr(sys.modules.get("numpy"), "generic", None)
    if scalar is not None and isinstance(value, scalar):
        if value.dtype.kind == "M" and value.dtype.name != "datetime64[D]":
            return value.astype("M8[us]").item()  # of nanoseconds, numpy makes a number
        return value.item() if value.dtype.kind in "biufUM" else value
    moment = getattr(sys.modules.get("pandas"), "Timestamp", None)
    if moment is not None and isinstance(value, moment):
        return value.to_pydatetime(warn=False)
    return value


def own(value: T) -> T:
    """A price or a number of seconds that numpy holds, as Python's own."""
    return cast(T, _own(value))


def path_of(value: object, what: str) -> Path:
    """Where a file is; ``what`` it would be is said where this is no path."""
    try:
        path = os.fspath(value)  # type: ignore[call-overload]  # found out here
    except TypeError:
        path = None
    if not isinstance(path, str):
        raise InterfaceError(f"{what} is named by a path, not by a {type(value).__name__}", help="give a str")
    if "\0" in path:
        raise InterfaceError(f"{what} is named by a path without zeros", help="leave the zero byte out")
    return Path(_spelled(path))


def name_of(analyst: object) -> str | None:
    if analyst is None or isinstance(analyst, str):
        return None if analyst is None else _spelled(analyst)
    raise InterfaceError(f"an analyst has a name, not a {type(analyst).__name__}", help='say analyst="ana"')


def number_of(rows: object) -> int:
    try:
        number = operator.index(rows)  # type: ignore[arg-type]  # found out here
    except TypeError:
        raise InterfaceError(
            f"a number of rows is a whole number, not a {type(rows).__name__}",
            help="fetchall() gives all that are left",
        ) from None
    if number < 0:
        raise InterfaceError(f"there are no {number} rows", help="fetchall() gives all that are left")
    return number


def values_of(parameters: object) -> tuple[Value, ...]:
    if isinstance(parameters, Mapping | str | bytes):
        raise _no_sequence()
    try:
        values: tuple[Value, ...] = tuple(map(_own, parameters))  # type: ignore[call-overload]  # found out here
    except TypeError:
        raise _no_sequence() from None
    for value in values:
        if isinstance(value, str):
            _spelled(value)
    return values
