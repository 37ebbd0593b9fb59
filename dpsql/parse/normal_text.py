"""Texts that differ by nothing but their looks: spaces, comments, the case of words, a semicolon at the end.

SELECT SUM(cost) FROM visits      select sum(cost)  from visits;  -- again
"""

from __future__ import annotations

from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import TokenType

_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)


def alike(text: str) -> str:
    """One spelling for all of them. What stands in quotes is kept as it is."""
    tokens = Dialect.get_or_raise("duckdb").tokenize(text)
    return repr(
        [
            (token.token_type.name, token.text if token.token_type in _QUOTED else token.text.casefold())
            for token in tokens
            if token.token_type is not TokenType.SEMICOLON
        ]
    )
