"""Normal form of queries: equal up to spaces, comments, letter case and the final semicolon.

SELECT SUM(cost) FROM visits      select sum(cost)  from visits;  -- again
"""

from __future__ import annotations

from functools import lru_cache

from sqlglot.dialects.dialect import Dialect
from sqlglot.tokenizer_core import TokenType

_QUOTED = (TokenType.STRING, TokenType.IDENTIFIER)


@lru_cache(maxsize=16)
def alike(text: str) -> str:
    """Return the normal form of a text. Quoted text keeps its case."""
    tokens = Dialect.get_or_raise("duckdb").tokenize(text)
    return repr(
        [
            (token.token_type.name, token.text if token.token_type in _QUOTED else token.text.casefold())
            for token in tokens
            if token.token_type is not TokenType.SEMICOLON
        ]
    )
