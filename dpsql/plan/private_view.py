"""The plan of a private view: one product of strategies, a factor for each of its columns.

    age in ranges    all ranges of its values                    121 values    A_age
    sex, ward        every value and the total of all            3, 6 values   A_sex (x) A_ward

Claim   the noise is that of the counts' sensitivity: the largest norm of a column of the product times the
        L1 norm that a unit's rows have over all combinations.
Proof   A row has one combination of values, so a unit's counts have an L1 norm that the engine clips, as for
        any strategy (plan/joint.py); the product is one (mechanisms/strategies/kronecker.py).
Test    tests/privacy/test_private_views.py
"""

from __future__ import annotations

import hashlib
import math
from functools import lru_cache
from operator import itemgetter

from dpsql.errors import Error, refuse
from dpsql.facts.public_keys import MOST_OF_VIEWS, combinations_of
from dpsql.facts.schema import fact_of, facts_of
from dpsql.ir.column import Kind, Value
from dpsql.ir.plan import MeasurePlan, Norm, PublicKeys
from dpsql.ir.private_view import PrivateView
from dpsql.ir.statistic import Part
from dpsql.ir.strategy import Floats, Strategy
from dpsql.late_numpy import np
from dpsql.mechanisms.strategies import gram
from dpsql.mechanisms.strategies.cache import CellsAlone, version
from dpsql.mechanisms.strategies.dense import identity
from dpsql.mechanisms.strategies.kronecker import Product, whole_numbered_product
from dpsql.mechanisms.strategies.strategy import MOST_CELLS
from dpsql.plan.applied import QUICK, plans_with
from dpsql.plan.joint import strategies
from dpsql.plan.measure_facts import MeasureFacts
from dpsql.plan.noise_choice import LARGEST_SCALE


def planned(facts: MeasureFacts, view: PrivateView) -> MeasurePlan:
    """Return the best plan of a view's counts."""
    check_lists(facts)
    _check_size(facts)
    assert len(facts.measure.statistics) == 1, "one number for each combination, since all are listed"
    keys = facts.listed()
    ranges = {name.casefold() for name in view.ranges}
    ordered = [title.casefold() in ranges for title in facts.measure.titles]
    parts = [
        (places, _in_order(rows) if ordered[places[0]] and len(places) == 1 else rows)
        for places, rows in keys.parts()
    ]
    kinds = tuple((len(rows), len(places) == 1 and ordered[places[0]]) for places, rows in parts)
    for (size, _), (places, _) in zip(kinds, parts, strict=True):
        if size > MOST_CELLS:
            raise _too_many(facts, f"{facts.measure.titles[places[0]]} alone has {size:,} values", MOST_CELLS)
    found = strategies(facts.terms.strategies) if facts.terms.searched else CellsAlone()
    grams = _grams(kinds)

    def chosen(norm: Norm, clip: int, one: float) -> tuple[Strategy, float] | None:
        designs = [found.design(each, norm) for each in grams]
        quick = whole_numbered_product(designs, clip, one, QUICK)
        strategy = quick or whole_numbered_product(designs, clip, one, LARGEST_SCALE)
        return None if strategy is None else (strategy, strategy.error(*grams))

    searched = version(max((size for size, _ in kinds), default=1))
    asked = hashlib.sha256(f"{searched} {kinds}".encode()).hexdigest()
    (statistic,) = facts.measure.statistics
    unit = statistic.most if statistic.part is Part.ROWS else 1  # whole rows, and sums in grid steps
    cells = Product(tuple(identity(size) for size, _ in kinds))
    plans = plans_with(chosen, facts, _places(keys, parts), gram.Factors(grams), cells, unit, asked)
    best = min(plans, key=itemgetter(1), default=None)
    if best is None:
        raise refuse(
            "D503",
            "the price is too small: the noise would not fit the grid",
            facts.measure.span,
            help="pay more for this view",
        )
    return best[0]


Keys = tuple[tuple[int, ...], list[tuple[Value, ...]]]


@lru_cache(maxsize=8)  # a plan is made of the same ones several times
def _grams(kinds: tuple[tuple[int, bool], ...]) -> tuple[Floats, ...]:
    return tuple(gram.all_ranges(size) if ranges else gram.points_and_total(size) for size, ranges in kinds)


def _in_order(rows: list[tuple[Value, ...]]) -> list[tuple[Value, ...]]:
    """Return the values of one column in their order, NULL last."""
    present = [row for row in rows if row[0] is not None]
    return sorted(present, key=lambda row: row[0]) + [row for row in rows if row[0] is None]  # type: ignore[arg-type,return-value]  # of one type


def _places(keys: PublicKeys, parts: list[Keys]) -> tuple[int, ...]:
    """Return the cell of each group: the last part's value runs fastest."""
    places = np.zeros((), dtype=np.int64)
    for (_, before), (_, rows) in zip(keys.parts(), parts, strict=True):
        cells = {row: place for place, row in enumerate(rows)}
        own = np.array([cells[row] for row in before], dtype=np.int64)
        places = np.add.outer(places * len(rows), own)
    return tuple(places.ravel().tolist())


def check_lists(facts: MeasureFacts) -> None:
    """Refuse columns without a public list."""
    measure = facts.measure
    for title, listed, key in zip(measure.titles, measure.lists, measure.keys, strict=True):
        if listed is None:
            kind = fact_of(key.scalar, facts_of(measure.relation)).type.kind
            days = kind in (Kind.DATE, Kind.TIMESTAMP, Kind.TIMESTAMPTZ)
            part = f"date_trunc('month', {title})" if days else f"{title} // 10"
            raise refuse(
                "D407",
                f"the values of {title} are not public, or they are too many",
                measure.span,
                label="a private view has every combination of its columns' values",
                help=f"let the owner declare them ([tables.t.columns.c] values or range), cut a range "
                f"({part}), or leave the column out: dimensions = (...)",
            )
    if any(not rows for _, rows in facts.listed().parts()):
        raise refuse(
            "D407",
            "no value is left in a column of the view",
            measure.span,
            label="its conditions exclude all values that are listed",
            help="leave the condition out: WHERE over the view is free",
        )


def _check_size(facts: MeasureFacts) -> None:
    """Refuse more combinations than one release has."""
    measure = facts.measure
    combinations = combinations_of(measure, facts.known)
    if combinations is None or combinations > MOST_OF_VIEWS:
        parts = [
            (" and ".join(measure.titles[place] for place in places), len(rows))
            for places, rows in facts.listed().parts()
        ]
        told = " x ".join(f"{size:,} of {title}" for title, size in parts)
        whole = math.prod(size for _, size in parts)
        raise _too_many(facts, f"{told}: {whole:,} in all", MOST_OF_VIEWS)


def _too_many(facts: MeasureFacts, told: str, most: int) -> Error:
    return refuse(
        "D408",
        "the view has too many combinations",
        facts.measure.span,
        label=told,
        help=f"at most {most:,}: leave a column out, or make its values coarser (age // 5)",
    )
