"""HISTOGRAM(x, bins) as a node type of its own. Without bins it would list the values of private rows."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

NAME = "histogram"


class Histogram(exp.Expression, exp.AggFunc):
    """An aggregate: ``this`` is the counted value, ``expressions`` holds the bins."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": True}
    _sql_names: ClassVar[list[str]] = ["HISTOGRAM"]


def take_histograms(tree: exp.Expr) -> exp.Expr:
    """Replace every call of HISTOGRAM with bins by a Histogram node."""
    for call in list(tree.find_all(exp.Anonymous)):
        if call.name.casefold() == NAME and len(call.expressions) == 2:
            histogram = Histogram(this=call.expressions[0], expressions=call.expressions[1:])
            histogram.meta.update(call.meta)
            call.replace(histogram)
    return tree
