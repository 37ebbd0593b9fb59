"""Refuse nestings that the parser would read again and again: its time would double with each of them.

    decimal(decimal(decimal(1)))     sqlglot reads a type with parameters, goes back, and reads a function
    IF [IF [IF [1]]]                 sqlglot reads IF without its THEN, goes back, and reads a name

Claim   the time of parsing grows with the length of the text, times 2 ** MOST at most.
Proof   What sqlglot reads twice begins at a word of a type before a bracket, or at IF before none: a scan of
        all its words, in brackets of each kind, found no other. Of these, MOST are open at once.
Test    tests/unit/test_backtracking.py
"""

from __future__ import annotations

from collections.abc import Iterable

from sqlglot.parser import Parser
from sqlglot.parsers.duckdb import DuckDBParser
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokenizer_core import Token, TokenType

MOST = 4

_TYPES = {*Parser.TYPE_TOKENS, *DuckDBParser.TYPE_TOKENS, *PostgresParser.TYPE_TOKENS}
"""UNION is one of them, so set operations are nested in parentheses on their right side MOST times, too."""

_OPEN = (TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.L_BRACE)
_CLOSE = (TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.R_BRACE)


def too_nested(tokens: Iterable[Token]) -> Token | None:
    """Return the first token that more than MOST such beginnings are open at; None for most statements."""
    brackets: list[bool] = []
    depth = 0
    before: Token | None = None
    for token in tokens:
        kind = token.token_type
        if kind is TokenType.SEMICOLON:
            brackets, depth = [], 0
        elif kind in _OPEN:
            brackets.append(before is not None and before.token_type in _TYPES)
            depth += brackets[-1]
        elif kind in _CLOSE and brackets:
            depth -= brackets.pop()
        if _is_if(before) and kind is not TokenType.L_PAREN:
            depth += 1  # to the end: it is read again with all behind it
        if depth > MOST:
            return token
        before = token
    return None


def _is_if(token: Token | None) -> bool:
    return token is not None and token.token_type is TokenType.VAR and token.text.upper() == "IF"
