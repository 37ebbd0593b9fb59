"""The plan of a private view of synthetic rows: marginals that are measured, and choices among them.

    WITH (epsilon = 1, method = 'mwem')    a table of all columns, up to 200,000 combinations
    WITH (epsilon = 1, method = 'mst')     a tree of marginals of two columns, of any number of combinations

Claim   all events are fixed before the first is spent, and cost the price at most.
Proof   they are made of the columns' lists, the clip and the price (mechanisms/synthetic/plan.py); a unit's
        counts have an L1 norm that the engine clips, as in any view (plan/private_view.py).
Test    tests/privacy/test_synthetic_views.py
"""

from __future__ import annotations

import math

from dpsql.errors import Error, refuse
from dpsql.ir.column import Value
from dpsql.ir.plan import MeasurePlan, Noise, Norm
from dpsql.ir.private_view import PrivateView
from dpsql.ir.synthetic import SyntheticRows
from dpsql.mechanisms import gaussian
from dpsql.mechanisms.synthetic.methods import METHODS
from dpsql.mechanisms.synthetic.plan import MOST_CELLS, Shape
from dpsql.plan.clips import clips_of
from dpsql.plan.measure_facts import MeasureFacts
from dpsql.plan.private_view import check_lists

MOST_VALUES = 1_000
"""Values of a column: codes are looked up in lists of this length."""

MOST_NUMBERS = 400_000
"""Noisy numbers that a view is made of: the ledger keeps them."""


def planned(facts: MeasureFacts, view: PrivateView) -> MeasurePlan:
    """Return the plan of a view of synthetic rows."""
    assert view.method is not None
    check_lists(facts)
    assert len(facts.measure.statistics) == 1, "one count for each combination, since all are listed"
    domains = tuple(_null_last(values) for values in facts.listed().domains)
    sizes, method = tuple(map(len, domains)), METHODS[view.method]
    _check_sizes(facts, sizes, method.cells(sizes))
    if facts.bought(facts.share).gaussian is None:
        raise refuse(
            "D304",
            "synthetic rows need a delta",
            facts.measure.span,
            label=f"accountant = '{facts.terms.accountant.name}' in {facts.known.policy_name} has none",
            help="leave method out: WITH (epsilon = 1) counts all combinations; or let the owner choose "
            "another accountant",
        )
    clip, _ = clips_of(facts)
    shape = Shape(sizes, clip.steps, facts.measure.statistics[0].most)
    try:
        spent = method.plan(shape, lambda share: facts.bought(facts.share * share))
    except ValueError:  # sizes and accountant are checked: the noise would be too large to be drawn
        raise refuse(
            "D503",
            "the price is too small: the noise would not fit the grid",
            facts.measure.span,
            help="pay more for this view",
        ) from None
    if len(spent.two_columns) * math.prod(sorted(sizes)[-2:]) + sum(sizes) > MOST_NUMBERS:
        most = math.prod(sorted(sizes)[-2:])
        raise _too_many(facts, f"{len(spent.two_columns)} pairs of columns, of up to {most:,} each")
    total = Noise(gaussian.NAME, Norm.L2, clip.steps, spent.total.scale, spent.total)
    rule = SyntheticRows(domains, spent)
    return MeasurePlan(
        facts.measure, facts.columns, rule, clip.shape, total, rows=facts.rows, rows_from=facts.rows_from
    )


def _null_last(values: tuple[Value, ...]) -> tuple[Value, ...]:
    return (*(value for value in values if value is not None), *(value for value in values if value is None))


def _check_sizes(facts: MeasureFacts, sizes: tuple[int, ...], cells: int) -> None:
    """Refuse columns with many values, and a table that is too large to be held."""
    for title, size in zip(facts.measure.titles, sizes, strict=True):
        if size > MOST_VALUES:
            raise _too_many(facts, f"{title} alone has {size:,} values; at most {MOST_VALUES:,}")
    if cells > MOST_CELLS:
        view = facts.measure.view
        held = "all columns" if view is not None and view.method == "mwem" else "two columns"
        raise _too_many(facts, f"{cells:,} combinations of {held}; at most {MOST_CELLS:,}")


def _too_many(facts: MeasureFacts, told: str) -> Error:
    return refuse(
        "D408",
        "the view has too many combinations",
        facts.measure.span,
        label=told,
        help="leave a column out, or make its values coarser (age // 5); method = 'mst' takes any number of "
        "columns",
    )
