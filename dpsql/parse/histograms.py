"""HISTOGRAM(x, bins) as a node of its own: an aggregate. Without bins it would list the values."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

NAME = "histogram"


class Histogram(exp.Expression, exp.AggFunc):
    """``this`` is what is counted, ``expressions`` holds its bins."""

    arg_types: ClassVar[dict[str, bool]] = {"this": True, "expressions": True}
    _sql_names: ClassVar[list[str]] = ["HISTOGRAM"]


def take_histograms(tree: exp.Expr) -> exp.Expr:
    """The tree with every call of HISTOGRAM that names its bins as such a node."""
    for call in list(tree.find_all(exp.Anonymous)):
        if call.name.casefold() == NAME and len(call.expressions) == 2:
            histogram = Histogram(this=call.expressions[0], expressions=call.expressions[1:])
            histogram.meta.update(call.meta)
            call.replace(histogram)
    return tree
