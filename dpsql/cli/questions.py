"""Questions with a default each, for a person at a terminal or for lines from a pipe.

      price of a query [0.1]: 0.2

Enter takes the default. What cannot be read is asked again at a terminal; in a pipe it is an error.
"""

from __future__ import annotations

import csv
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from dpsql.errors import InterfaceError
from dpsql.policy.columns import MOST_VALUES
from dpsql.policy.model import Bound
from dpsql.policy.names import fold, perhaps
from dpsql.render.digits import printable
from dpsql.terminal.output import flush, put

T = TypeVar("T")


class NotThis(Exception):
    """An answer that cannot be taken, and why."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Whoever is asked; with ``defaults`` nobody is, and every default is the answer."""

    defaults: bool

    def ask(self, question: str, default: str, read: Callable[[str], T]) -> T:
        """The answer as ``read`` takes it."""
        while True:
            said = default if self.defaults else self._line(f"  {question} [{default}]: ") or default
            try:
                return read(said)
            except NotThis as wrong:
                if self.defaults or not sys.stdin.isatty():
                    raise InterfaceError(f"{question}: {wrong}", help="give an answer that fits") from None
                put(f"  {wrong}")

    def tell(self, text: str) -> None:
        """A paragraph before the questions that it explains."""
        if not self.defaults:
            put("\n" + textwrap.fill(text, 78))

    def _line(self, prompt: str) -> str:
        flush()
        try:
            said = input(printable(prompt))
        except EOFError:
            if sys.stdin.isatty():  # Ctrl-D leaves like Ctrl-C
                raise KeyboardInterrupt from None
            put("")
            raise InterfaceError(
                "there are fewer answers than questions",
                help="end each answer with a line break, empty lines for defaults; or say --yes",
            ) from None
        if not sys.stdin.isatty():
            put(said)
        return said.strip()


# ---- how answers are read ------------------------------------------------------------------------------


def positive(said: str) -> float:
    """A number above zero."""
    try:
        number = float(said)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise NotThis(f"{said} is not a positive number")
    return number


def yes(said: str) -> bool:
    if fold(said) not in ("y", "yes", "n", "no"):
        raise NotThis("yes or no?")
    return fold(said) in ("y", "yes")


def one_of(names: dict[str, T], what: str) -> Callable[[str], T]:
    """One of these, by its name, as the database compares names."""
    folded = {fold(name): each for name, each in names.items()}

    def read(said: str) -> T:
        if fold(said) in folded:
            return folded[fold(said)]
        hint = perhaps(said, names) or f"there are {', '.join(names)}"
        raise NotThis(f"there is no {what} {said}: {hint}")

    return read


def several_of(names: tuple[str, ...], what: str) -> Callable[[str], tuple[str, ...]]:
    """Some of these, with commas between them, or none."""
    single = one_of({each: each for each in names}, what)

    def read(said: str) -> tuple[str, ...]:
        return () if said == "none" else tuple(dict.fromkeys(single(each) for each in listed(said)))

    return read


def listed(said: str) -> list[str]:
    """``F, M, "a, b"`` -> F | M | a, b."""
    (row,) = csv.reader([said], skipinitialspace=True)
    return [each.strip() for each in row if each.strip()]


def ends(said: str) -> tuple[Bound, Bound]:
    """``0 110``, ``0, 110`` or ``2024-01-01 2024-12-31``: two numbers or two dates."""
    words = re.split(r"\s*,\s*|\s+|\s*\.\.\s*", said.strip("[]( )"))
    try:
        low, high = tomllib.loads(f"ends = [{', '.join(words)}]")["ends"]
        ordered = low <= high
    except (ValueError, TypeError):
        raise NotThis("a range is two numbers or two dates, such as 0 110 or 2024-01-01 2024-12-31") from None
    if not ordered:
        raise NotThis("the lower end comes first")
    return low, high


def values(said: str) -> tuple[str, ...]:
    """A list of texts, each once."""
    found = tuple(dict.fromkeys(listed(said)))
    if not 0 < len(found) <= MOST_VALUES:
        raise NotThis(f"a list holds 1 to {MOST_VALUES:,} values, with commas between them")
    return found
