"""Checks of tokens, for differences that the tree of sqlglot loses.

date_trunc('month', d)    the part is a constant
date_trunc(month, d)      a column, which the tree does not distinguish from the constant: refused
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from dpsql.errors import refuse
from dpsql.ir.source import Span

_TAKE_PARTS = {"date_trunc", "datetrunc", "date_diff", "datediff"}


def check_parts(tokens: Sequence[Token]) -> None:
    """Refuse an unquoted name as the date part of these functions."""
    for called, opened, part, behind in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
        if called.text.casefold() not in _TAKE_PARTS or opened.token_type is not TokenType.L_PAREN:
            continue
        constant = part.token_type in (TokenType.STRING, TokenType.PLACEHOLDER)
        if called.token_type is TokenType.STRING or constant or behind.token_type is not TokenType.COMMA:
            continue
        raise refuse(
            "D205",
            f"the date part of {called.text.lower()} must be a constant",
            Span(part.start, part.end + 1),
            label="this is a name, so it would be the value of a column",
            help="write it in quotes: 'month', 'day', ...",
        )
