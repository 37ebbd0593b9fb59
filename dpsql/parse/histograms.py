"""HISTOGRAM(x, bins) as a node type of its own. Without bins it would list the values of private rows."""

from __future__ import annotations

from sqlglot import exp

NAME = "histogram"


Histogram = exp.AnonymousAggFunc
"""An aggregate of two arguments: the counted value, and the bins.

A class of sqlglot that its parser of DuckDB's SQL never makes: a compiled sqlglot allows none of our own.
"""


def take_histograms(tree: exp.Expr) -> exp.Expr:
    """Replace every call of HISTOGRAM with bins by a Histogram node."""
    for call in list(tree.find_all(exp.Anonymous)):
        if call.name.casefold() == NAME and len(call.expressions) == 2:
            histogram = Histogram(this=NAME, expressions=call.expressions)
            histogram.meta.update(call.meta)
            call.replace(histogram)
    return tree
