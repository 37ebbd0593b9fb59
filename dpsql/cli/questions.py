"""Questions with defaults, answered at a terminal or by lines from a pipe.

      price of a query [0.1]: 0.2

Enter takes the default. An invalid answer is asked again at a terminal; in a pipe it is an error.
"""

from __future__ import annotations

import csv
import re
import sys
import textwrap
import tomllib
from collections.abc import Callable, Sequence
from typing import TypeVar

from dpsql.errors import InterfaceError
from dpsql.lazy_dataclass import dataclass
from dpsql.policy.columns import MOST_VALUES
from dpsql.policy.model import Bound
from dpsql.policy.names import fold, perhaps
from dpsql.render.digits import printable, wide
from dpsql.terminal.output import flush, put

T = TypeVar("T")


class NotThis(Exception):
    """An invalid answer, and why."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Asks questions; with ``defaults`` it asks nothing and takes every default."""

    defaults: bool

    def ask(self, question: str, default: str, read: Callable[[str], T]) -> T:
        """Ask until ``read`` accepts the answer; return what it reads."""
        while True:
            text = default if self.defaults else self._line(folded(f"  {question} [{default}]:")) or default
            try:
                return read(text)
            except NotThis as wrong:
                if self.defaults or not sys.stdin.isatty():
                    raise InterfaceError(f"{question}: {wrong}", help="give an answer that fits") from None
                put(f"  {wrong}")

    def tell(self, text: str) -> None:
        """Print a paragraph that explains the next questions."""
        if not self.defaults:
            put("\n" + textwrap.fill(text, 78))

    def _line(self, prompt: str) -> str:
        flush()
        try:
            text = input(printable(prompt))
        except EOFError:
            if sys.stdin.isatty():  # Ctrl-D stops, like Ctrl-C
                raise KeyboardInterrupt from None
            put("")
            raise InterfaceError(
                "there are fewer answers than questions",
                help="end each answer with a line break, with an empty line for a default; or use --yes",
            ) from None
        if not sys.stdin.isatty():
            put(text)
        return text.strip()


def folded(line: str, room: int = 78) -> str:
    """Fold a long line, and end it with a blank: an answer follows."""
    if wide(line) <= room:
        return f"{line} "
    indent = " " * (len(line) - len(line.lstrip()) + 4)
    lines = textwrap.wrap(
        line, room, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False
    )
    return "\n".join(lines) + " "


# ---- readers of answers --------------------------------------------------------------------------------


def positive(text: str) -> float:
    """Read a positive number."""
    try:
        number = float(text)
    except ValueError:
        number = 0.0
    if not 0 < number < float("inf"):
        raise NotThis(f"{text} is not a positive number")
    return number


def yes(text: str) -> bool:
    if fold(text) not in ("y", "yes", "n", "no"):
        raise NotThis("yes or no?")
    return fold(text) in ("y", "yes")


def one_of(names: dict[str, T], kind: str) -> Callable[[str], T]:
    """Return a reader of one name, compared as the database compares names."""
    folded = {fold(name): value for name, value in names.items()}

    def read(text: str) -> T:
        if fold(text) in folded:
            return folded[fold(text)]
        hint = perhaps(text, names) or f"there are {', '.join(names)}"
        raise NotThis(f"there is no {kind} {text}: {hint}")

    return read


def several_of(names: tuple[str, ...], kind: str) -> Callable[[str], tuple[str, ...]]:
    """Return a reader of names separated by commas, or ``none``."""
    single = one_of({name: name for name in names}, kind)

    def read(text: str) -> tuple[str, ...]:
        return () if text == "none" else tuple(dict.fromkeys(single(name) for name in listed(text)))

    return read


def listed(text: str) -> list[str]:
    """Split at commas: ``F, M, "a, b"`` -> F | M | a, b."""
    (row,) = csv.reader([text], skipinitialspace=True)
    return [value.strip() for value in row if value.strip()]


def spelled(values: Sequence[object]) -> str:
    """Spell texts as ``listed`` reads them; ``none`` if it would read others."""
    text = ", ".join(
        f'"{quoted}"' if set(',"') & set(quoted) else quoted
        for quoted in (str(value).replace('"', '""') for value in values)
    )
    return text if text.isprintable() and listed(text) == list(values) else "none"


def ends(text: str) -> tuple[Bound, Bound]:
    """Read a range: ``0 110``, ``0, 110`` or ``2024-01-01 2024-12-31``."""
    words = re.split(r"\s*,\s*|\s+|\s*\.\.\s*", text.strip("[]( )"))
    try:
        low, high = tomllib.loads(f"ends = [{', '.join(words)}]")["ends"]
        ordered = low <= high
    except (ValueError, TypeError):
        raise NotThis("a range is two numbers or two dates, such as 0 110 or 2024-01-01 2024-12-31") from None
    if not ordered:
        raise NotThis("the lower bound comes first")
    return low, high


def values(text: str) -> tuple[str, ...]:
    """Read a list of texts, without duplicates."""
    texts = tuple(dict.fromkeys(listed(text)))
    if not 0 < len(texts) <= MOST_VALUES:
        raise NotThis(f"a list holds 1 to {MOST_VALUES:,} values, separated by commas")
    return texts
