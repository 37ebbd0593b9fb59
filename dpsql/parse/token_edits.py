"""A text and its tokens, while the syntax of dpsql is taken out of both.

Tokens keep the positions of the original text, so that carets point at the right place. ``plain`` is the
edited text in DuckDB's syntax, with the same number of characters.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from sqlglot import exp
from sqlglot.tokenizer_core import Token, TokenType

from dpsql.ir.source import Span
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class TokenEdits:
    """A text with edits; ``mark`` is a name that does not occur in the text, for marker calls."""

    text: str
    plain: str
    tokens: list[Token]
    mark: str

    def edited(self, tokens: list[Token], edits: Sequence[tuple[Span, str]]) -> TokenEdits:
        """Return a copy with new tokens; in the plain text, each span is replaced by a padded word."""
        parts: list[str] = []
        at = 0
        for span, word in edits:
            parts += [self.plain[at : span.start], word.rjust(span.end - span.start)]
            at = span.end
        return TokenEdits(self.text, "".join(parts) + self.plain[at:], tokens, self.mark)


def token_edits(text: str, tokens: list[Token]) -> TokenEdits:
    """Return a text without edits."""
    longest = max((len(tail) for tail in re.findall("marked(_*)", text.casefold())), default=0)
    return TokenEdits(text, text, tokens, "marked" + "_" * (longest + 1))


def called(name: str, arguments: list[Token], number: int, near: Token) -> list[Token]:
    """Return the tokens of ``name(number, arguments)``; new tokens get the position of ``near``."""

    def token(kind: TokenType, text: str) -> Token:
        return Token(kind, text, near.line, near.col, near.start, near.end)

    comma = [token(TokenType.COMMA, ",")] if arguments else []
    return [
        token(TokenType.VAR, name),
        token(TokenType.L_PAREN, "("),
        token(TokenType.NUMBER, str(number)),
        *comma,
        *arguments,
        token(TokenType.R_PAREN, ")"),
    ]


def is_call(node: object, name: str) -> bool:
    """Whether a node is a marker call of this name."""
    return isinstance(node, exp.Anonymous) and node.this == name


DEEPER = {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}

NESTED = DEEPER | {
    **dict.fromkeys((TokenType.L_BRACKET, TokenType.L_BRACE), 1),
    **dict.fromkeys((TokenType.R_BRACKET, TokenType.R_BRACE), -1),
}
"""Commas inside of these do not separate arguments."""


def span_between(first: Token, last: Token) -> Span:
    return Span(first.start, last.end + 1)
