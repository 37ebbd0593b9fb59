"""Parameters by number or by name in a statement: they become question marks, with their values in order.

    WHERE age > $2 AND age < $1      ->   WHERE age > ?  AND age < ?    the second value, then the first
    WHERE age > $least               ->   WHERE age > ?                 of {"least": 65}
    WHERE age > :least               ->   WHERE age > ?

A question mark is padded to the width of what it stands for, so a caret points at the same place in both.
Test: tests/unit/test_marks.py
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dpsql.ir.column import Value
from dpsql.lazy_dataclass import dataclass
from dpsql.parse.scripts import tokens

MOST = 1_000

_BEFORE_COLON = frozenset(" \t\r\n(,<>=+-*/%|!")
"""What stands before the colon of a name; in ``x::int``, ``a[1:n]`` and ``{'a':x}`` it is something else."""


@dataclass(frozen=True, slots=True)
class Marked:
    """A statement with question marks; ``order`` has the number of each."""

    text: str
    order: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """How many values the statement takes."""
        return max(self.order, default=0)

    def values(self, given: Sequence[Value]) -> tuple[Value, ...]:
        return tuple(given[number - 1] for number in self.order)


def marked(sql: str) -> Marked:
    """Replace ``$1``, ``$2`` ... outside of quotes and comments."""
    text, numbers = _replaced(sql, _is_number, by_colon=False)
    return Marked(text, tuple(map(int, numbers)))


def with_names(sql: str, given: Mapping[str, Value]) -> tuple[str, tuple[Value, ...]]:
    """Replace ``$name`` and ``:name`` outside of quotes and comments; return the values in their order."""
    text, names = _replaced(sql, given.__contains__, by_colon=True)
    return text, tuple(given[name] for name in names)


def _replaced(sql: str, is_mark: Callable[[str], bool], by_colon: bool) -> tuple[str, tuple[str, ...]]:
    parts, taken = list[str](), list[str]()
    copied, sign, word = 0, -2, False
    for start, token in tokens(sql):
        if token == "$":
            sign = -2 if word else start  # within a$1 it is a letter
        elif token == ":" and by_colon:
            sign = start if start == 0 or sql[start - 1] in _BEFORE_COLON else -2
        elif sign == start - 1 and is_mark(token):
            parts += [sql[copied:sign], "?".ljust(1 + len(token))]
            copied = start + len(token)
            taken.append(token)
        word = token[0].isalnum() or token[0] == "_"
    return "".join([*parts, sql[copied:]]), tuple(taken)


def _is_number(token: str) -> bool:
    """Whether a token is the number of a parameter: one with more digits would fill the memory."""
    few = token.isascii() and token.isdigit() and len(token) <= len(str(MOST))
    return few and 0 < int(token) <= MOST
