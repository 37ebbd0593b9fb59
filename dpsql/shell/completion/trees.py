"""One statement around the cursor, as items and groups of items in parentheses.

SELECT AVG(| FROM people      SELECT, AVG, (|, FROM, people)     what is not closed reaches to the end
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from dpsql.shell.completion.tokens import Kind, Token, tokens


@dataclass(frozen=True, slots=True)
class Group:
    """What stands in a pair of parentheses."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where something is to be written."""


Item: TypeAlias = Token | Group | Cursor


@dataclass(frozen=True, slots=True)
class Level:
    """The items of one pair of parentheses, and which of them holds the cursor, or is it."""

    items: tuple[Item, ...]
    at: int

    @property
    def before(self) -> tuple[Item, ...]:
        return self.items[: self.at]


@dataclass(frozen=True, slots=True)
class Typed:
    """The piece that is being typed: where it begins, what there is of it, and the quote before that."""

    start: int
    text: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """``levels`` goes from the whole statement to the innermost parentheses around the cursor."""

    typed: Typed
    levels: tuple[Level, ...]


def place(text: str, at: int) -> Place | None:
    """Where the cursor is; None inside a comment, and where a number is being typed."""
    before, after = list(tokens(text[:at])), list(tokens(text[at:]))
    typed = Typed(at, "")
    if before:
        last = before[-1]
        other = last.kind is Kind.TEXT and last.text[0] != "'"  # $$a text$$ and E'a text'
        if other or last.kind is Kind.NUMBER or (last.kind is Kind.COMMENT and last.open):
            return None
        if last.kind is Kind.WORD or (last.kind in (Kind.TEXT, Kind.NAME) and last.open):
            before.pop()
            quote = "" if last.kind is Kind.WORD else last.text[0]
            typed = Typed(last.start, last.text.removeprefix(quote), quote)
            if after and after[0].kind is Kind.WORD:
                after.pop(0)  # the rest of the same word
    items = _tree([*_meant(before, last=True), Cursor(), *_meant(after, last=False)])
    return Place(typed, tuple(_levels(items)))


def query_of(items: tuple[Item, ...]) -> bool:
    """Whether these items begin as a query does."""
    return bool(items) and word(items[0]) in ("SELECT", "FROM", "WITH", "VALUES", "PIVOT")


def holds_cursor(group: Group) -> bool:
    return bool(_levels(group.items))


def word(item: Item | None) -> str:
    """The keyword that an item may be."""
    return item.word if isinstance(item, Token) else ""


def sign(item: Item | None, text: str) -> bool:
    return isinstance(item, Token) and item.kind is Kind.SIGN and item.text == text


def name(item: Item | None) -> str:
    """The name that an item may be, as names are compared."""
    return item.name if isinstance(item, Token) else ""


def _meant(found: list[Token], last: bool) -> list[Token]:
    """The tokens that mean something, of the last or the first statement."""
    ends = [at for at, each in enumerate(found) if each.text == ";"]
    if ends:
        found = found[ends[-1] + 1 :] if last else found[: ends[0]]
    return [each for each in found if each.kind not in (Kind.SPACE, Kind.COMMENT)]


def _tree(found: Iterable[Token | Cursor]) -> tuple[Item, ...]:
    stack: list[list[Item]] = [[]]
    for each in found:
        if sign(each, "("):
            stack.append([])
        elif not sign(each, ")"):
            stack[-1].append(each)
        elif len(stack) > 1:
            group = Group(tuple(stack.pop()))
            stack[-1].append(group)
    while len(stack) > 1:
        group = Group(tuple(stack.pop()))
        stack[-1].append(group)
    return tuple(stack[0])


def _levels(items: tuple[Item, ...]) -> list[Level]:
    for at, each in enumerate(items):
        if isinstance(each, Cursor):
            return [Level(items, at)]
        if isinstance(each, Group) and (inner := _levels(each.items)):
            return [Level(items, at), *inner]
    return []
