"""A tolerant tokenizer for colours and completion: unfinished text has tokens too."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from dpsql.lazy_dataclass import dataclass
from dpsql.parse import scripts


class Kind(Enum):
    WORD = "a keyword, or a name without quotes"
    NAME = "a name in quotes"
    TEXT = "a text in quotes"
    NUMBER = "digits"
    COMMENT = "a comment"
    SPACE = "space"
    SIGN = "one sign"


@dataclass(frozen=True, slots=True)
class Token:
    kind: Kind
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text)

    @property
    def word(self) -> str:
        """The token as a keyword, in upper case; '' if it cannot be one."""
        return self.text.upper() if self.kind is Kind.WORD else ""

    @property
    def name(self) -> str:
        """The token as a name, unquoted and in lower case; '' if it cannot be one."""
        if self.kind is Kind.NAME:
            return self.text.strip('"').replace('""', '"').casefold()
        return self.text.casefold() if self.kind is Kind.WORD else ""

    @property
    def open(self) -> bool:
        """Whether the token is unfinished: a quote or a comment that is not closed."""
        match self.kind:
            case Kind.TEXT | Kind.NAME:
                return self.text.count('"' if self.kind is Kind.NAME else "'") % 2 == 1
            case Kind.COMMENT:
                return not self.text.endswith("*/")
            case _:
                return False


def tokens(text: str) -> Iterator[Token]:
    """Yield all tokens of a text, in order."""
    for start, token in scripts.tokens(text):
        yield Token(_kind(token), token, start)


def _kind(token: str) -> Kind:
    if token.startswith(("--", "/*")):
        return Kind.COMMENT
    if token.startswith('"'):
        return Kind.NAME
    if token.startswith(("'", "e'", "E'")) or (token.startswith("$") and len(token) > 1):
        return Kind.TEXT
    if token.isspace():
        return Kind.SPACE
    if token[0].isdigit():
        return Kind.NUMBER
    return Kind.WORD if token[0].isalpha() or token[0] == "_" else Kind.SIGN
