"""Syntax nodes read as calls of registered functions; None for syntax that is not vetted.

    price * 2                 Reading("*", (price, 2))
    x IS NOT NULL             Reading("is_not_null", (x,))
    EXTRACT(year FROM d)      Reading("year", (d,))
    DATE '2020-01-01'         literal_of -> Literal(date(2020, 1, 1), DATE)

The modules here read node types with syntax of their own. A plain call is read by the names of functions.
"""

from __future__ import annotations

from sqlglot import exp

from dpsql.functions.reading import calls, lists, nested, operators, texts, times
from dpsql.functions.reading.constants import cast_target, interval_literal, literal_of
from dpsql.functions.reading.shapes import Readers, Reading

__all__ = ["Reading", "cast_target", "interval_literal", "literal_of", "read"]

_READERS: Readers = {
    **operators.READERS,
    **texts.READERS,
    **times.READERS,
    **lists.READERS,
    **nested.READERS,
    exp.Anonymous: calls.named,
}


def read(node: exp.Expr) -> Reading | None:
    """Return the function that a node calls, with its arguments; None if it is not registered."""
    reader = _READERS.get(type(node))
    return None if reader is None else reader(node)
