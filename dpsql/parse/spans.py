"""Where a node of the syntax tree stands in the text.

sqlglot keeps the place of names, literals and functions' names; a node's span is that of the leaves
below it, and a call's reaches to its closing parenthesis. Spans are taken right after parsing.
"""

from __future__ import annotations

import re

from sqlglot import exp

from dpsql.ir.source import Span


def span_of(node: exp.Expr, text: str) -> Span | None:
    """The characters from the first to the last leaf of a node; None when nothing kept its place."""
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
        called = _CALLED.search(
            text, max(0, start - 80), start
        )  # sqlglot keeps no place for some calls' names
        if called is not None and called.end() == start:
            start, end = called.start(), max(end, _closing(text, called.end(1)))
    return Span(start, end)


_CALLED = re.compile(r"(\b[A-Za-z_]\w*)\s*\(\s*(?:DISTINCT\s+)?\Z", re.IGNORECASE)


def _closing(text: str, at: int) -> int:
    """The place behind the parenthesis that closes the one opened next; ``at`` if none is opened."""
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
