"""Spans of syntax nodes in the text.

sqlglot keeps the positions of names, literals and function names. The span of a node covers the leaves
below it; the span of a call includes its closing parenthesis. Spans are taken right after parsing.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.ir.source import Span


def span_of(node: exp.Expr, text: str) -> Span | None:
    """Return the span from the first to the last leaf of a node; None if no leaf has a position."""
    start, end = len(text), -1
    for descendant in node.walk():
        meta = descendant.meta
        if "start" in meta:
            low, high = meta["start"], meta["end"] + 1
            if isinstance(descendant, exp.Func):
                high = _closing(text, high)
            start, end = min(start, low), max(end, high)
    if end < 0:
        return None
    if isinstance(node, exp.AggFunc | exp.Func) and "start" not in node.meta:
        called = _CALLED.search(text, max(0, start - 80), start)  # sqlglot drops the position of some names
        if called is not None and called.end() == start:
            start, end = called.start(), max(end, _closing(text, called.end(1)))
    return Span(start, end)


_CALLED = re.compile(r"(\b[A-Za-z_]\w*)\s*\(\s*(?:DISTINCT\s+)?\Z", re.IGNORECASE)


def _closing(text: str, at: int) -> int:
    """Return the position after the parenthesis that closes the next one; ``at`` if none opens."""
    here = at
    while here < len(text) and text[here].isspace():
        here += 1
    if here >= len(text) or text[here] != "(":
        return at
    depth, quote = 0, ""
    for position in range(here, len(text)):
        char = text[position]
        if quote:
            quote = "" if char == quote else quote
        elif char in "'\"":
            quote = char
        elif char == "(":
            depth += 1
        elif char == ")":
            depth -= 1
            if depth == 0:
                return position + 1
    return at
