"""DP_SAMPLE(f(x), low, high) as a node type of its own: an aggregate for any f."""

from __future__ import annotations

from typing import ClassVar

from sqlglot import exp

NAME = "dp_sample"


class Sample(exp.Expression, exp.AggFunc):
    """``this`` is the aggregate over a block, ``expressions`` are the bounds of its result."""

    arg_types: ClassVar[dict[str, bool]] = {"this": False, "expressions": False}
    _sql_names: ClassVar[list[str]] = ["DP_SAMPLE"]


def take_samples(tree: exp.Expr) -> exp.Expr:
    """Replace every call of DP_SAMPLE by a Sample node."""
    for call in list(tree.find_all(exp.Anonymous)):
        if call.name.casefold() == NAME:
            first, rest = call.expressions[:1], call.expressions[1:]
            sample = Sample(this=first[0] if first else None, expressions=rest)
            sample.meta.update(call.meta)
            call.replace(sample)
    return tree
