"""EXPLAIN as a statement: the query is planned, but not run or charged.

EXPLAIN SELECT COUNT(*) FROM patients      the same as ``dpsql explain``
EXPLAIN ANALYZE SELECT ...                 refused: it would run the query and show exact row counts
"""

from __future__ import annotations

from sqlglot.tokenizer_core import Token, TokenType

from dpsql.errors import refuse
from dpsql.ir.source import Span


def without_explain(text: str, first: Token | None) -> str | None:
    """Return the text with EXPLAIN blanked out; None if it does not begin with EXPLAIN."""
    if first is None or first.token_type is not TokenType.COMMAND or first.text.casefold() != "explain":
        return None
    return text[: first.start] + " " * (first.end + 1 - first.start) + text[first.end + 1 :]


def check_explained(tokens: list[Token]) -> None:
    """Refuse ANALYZE and settings after EXPLAIN."""
    first = tokens[0] if tokens else None
    if first is None:
        raise refuse("D101", "there is nothing to explain", help="write EXPLAIN SELECT ...")
    span = Span(first.start, first.end + 1)
    if first.text.casefold() in ("analyze", "analyse"):
        raise refuse(
            "D104",
            "EXPLAIN ANALYZE is not answered",
            span,
            label="it would run the query and show how many private rows each step reads",
            help="write EXPLAIN SELECT ...: it costs nothing",
        )
    settings = (
        first.token_type is TokenType.L_PAREN
        and len(tokens) > 1
        and tokens[1].text.casefold()
        in (
            "analyze",
            "format",
            "verbose",
        )
    )
    if settings or first.text.casefold() in ("verbose", "explain"):
        raise refuse(
            "D104",
            "EXPLAIN takes no settings",
            span,
            help="write EXPLAIN SELECT ...; for programs, explain(...).to_dict() or --format json",
        )
