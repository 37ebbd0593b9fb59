"""Where sqlglot's tree forgets what the text said, the text's tokens are asked.

date_trunc('month', d)    the part is a constant
date_trunc(month, d)      a column, which the tree spells like the constant: refused
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot.tokenizer_core import Token, TokenType

from dpsql.errors import refuse
from dpsql.ir.source import Span

_TAKE_PARTS = {"date_trunc", "datetrunc", "date_diff", "datediff"}


def check_parts(tokens: Sequence[Token]) -> None:
    """Refuse a bare name where these functions take the name of a part of a date."""
    for called, opened, part, behind in zip(tokens, tokens[1:], tokens[2:], tokens[3:], strict=False):
        if called.text.casefold() not in _TAKE_PARTS or opened.token_type is not TokenType.L_PAREN:
            continue
        constant = part.token_type in (TokenType.STRING, TokenType.PLACEHOLDER)
        if called.token_type is TokenType.STRING or constant or behind.token_type is not TokenType.COMMA:
            continue
        raise refuse(
            "D205",
            f"the part of a date that {called.text.lower()} takes must be a constant",
            Span(part.start, part.end + 1),
            label="this is a name, so it would be a column's value",
            help="write it in quotes: 'month', 'day', ...",
        )
