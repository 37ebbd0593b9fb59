"""The statement around the cursor as a tree of items and parenthesized groups.

SELECT AVG(| FROM people      SELECT, AVG, (|, FROM, people)     an unclosed group reaches to the end
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeAlias

from dpsql.lazy_dataclass import dataclass
from dpsql.shell.completion.tokens import Kind, Token, tokens


@dataclass(frozen=True, slots=True)
class Group:
    """The items in a pair of parentheses."""

    items: tuple[Item, ...]


@dataclass(frozen=True, slots=True)
class Cursor:
    """The place of the cursor."""


Item: TypeAlias = Token | Group | Cursor


@dataclass(frozen=True, slots=True)
class Level:
    """The items of one pair of parentheses; item ``at`` is the cursor or the group that contains it."""

    items: tuple[Item, ...]
    at: int

    @property
    def before(self) -> tuple[Item, ...]:
        return self.items[: self.at]


@dataclass(frozen=True, slots=True)
class Typed:
    """The word that is being typed: its start, its text up to the cursor, and its opening quote."""

    start: int
    text: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """The typed word, and the levels from the statement to the innermost parentheses around the cursor."""

    typed: Typed
    levels: tuple[Level, ...]


def place(text: str, at: int) -> Place | None:
    """Return the place of offset ``at``; None inside a comment or a number."""
    before, after = list(tokens(text[:at])), list(tokens(text[at:]))
    typed = Typed(at, "")
    if before:
        last = before[-1]
        prefixed = last.kind is Kind.TEXT and last.text[0] != "'"  # $$a text$$ and E'a text'
        if prefixed or last.kind is Kind.NUMBER or (last.kind is Kind.COMMENT and last.open):
            return None
        if last.kind is Kind.WORD or (last.kind in (Kind.TEXT, Kind.NAME) and last.open):
            before.pop()
            quote = "" if last.kind is Kind.WORD else last.text[0]
            typed = Typed(last.start, last.text.removeprefix(quote), quote)
            if after and after[0].kind is Kind.WORD:
                after.pop(0)  # the rest of the same word
    items = _tree([*_code_tokens(before, last=True), Cursor(), *_code_tokens(after, last=False)])
    return Place(typed, tuple(_levels(items)))


def query_of(items: tuple[Item, ...]) -> bool:
    """Whether these items start a query."""
    return bool(items) and word(items[0]) in ("SELECT", "FROM", "WITH", "VALUES", "PIVOT")


def holds_cursor(group: Group) -> bool:
    return bool(_levels(group.items))


def word(item: Item | None) -> str:
    """Return an item as a keyword; '' if it cannot be one."""
    return item.word if isinstance(item, Token) else ""


def sign(item: Item | None, text: str) -> bool:
    return isinstance(item, Token) and item.kind is Kind.SIGN and item.text == text


def name(item: Item | None) -> str:
    """Return an item as a name in lower case; '' if it cannot be one."""
    return item.name if isinstance(item, Token) else ""


def _code_tokens(statement: list[Token], last: bool) -> list[Token]:
    """Return the tokens of the last or first statement, without spaces and comments."""
    ends = [at for at, token in enumerate(statement) if token.text == ";"]
    if ends:
        statement = statement[ends[-1] + 1 :] if last else statement[: ends[0]]
    return [token for token in statement if token.kind not in (Kind.SPACE, Kind.COMMENT)]


def _tree(leaves: Iterable[Token | Cursor]) -> tuple[Item, ...]:
    """Nest the tokens by their parentheses."""
    stack: list[list[Item]] = [[]]
    for leaf in leaves:
        if sign(leaf, "("):
            stack.append([])
        elif not sign(leaf, ")"):
            stack[-1].append(leaf)
        elif len(stack) > 1:
            group = Group(tuple(stack.pop()))
            stack[-1].append(group)
    while len(stack) > 1:
        group = Group(tuple(stack.pop()))
        stack[-1].append(group)
    return tuple(stack[0])


def _levels(items: tuple[Item, ...]) -> list[Level]:
    """Return the levels down to the cursor; none if these items do not contain it."""
    for at, item in enumerate(items):
        if isinstance(item, Cursor):
            return [Level(items, at)]
        if isinstance(item, Group) and (inner := _levels(item.items)):
            return [Level(items, at), *inner]
    return []
