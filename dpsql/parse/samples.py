"""DP_SAMPLE(f(x), low, high) as a node type of its own: an aggregate for any f."""

from __future__ import annotations

from sqlglot import exp

NAME = "dp_sample"


Sample = exp.ParameterizedAgg
"""``this`` is the aggregate over a block, ``expressions`` are the bounds of its result.

A class of sqlglot that its parser of DuckDB's SQL never makes: a compiled sqlglot allows none of our own.
"""


def take_samples(tree: exp.Expr) -> exp.Expr:
    """Replace every call of DP_SAMPLE by a Sample node."""
    for call in list(tree.find_all(exp.Anonymous)):
        if call.name.casefold() == NAME:
            first, rest = call.expressions[:1], call.expressions[1:]
            sample = Sample(this=first[0] if first else None, expressions=rest)
            sample.meta.update(call.meta)
            call.replace(sample)
    return tree
