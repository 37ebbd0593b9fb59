"""Noise of numbers that are measured together: sums of the same cells, so that they vary together.

A strategy's noisy sums give the cells by least squares; a number is a sum of cells. All of this is linear, so
the noise of the numbers is the same linear map of the noise that was added.
"""

from __future__ import annotations

import numpy as np

from dpsql.aggregates import Floats
from dpsql.ir.plan import MeasurePlan, PublicKeys
from dpsql.ir.table import ReleasedTable


def spread_of(released: ReleasedTable, planned: MeasurePlan) -> Floats:
    """Return the deviation of each released number for noise of deviation 1: groups by statistics."""
    assert planned.joint is not None
    deviations = planned.joint.deviations().reshape(-1, len(planned.measure.statistics))
    return deviations[_places(released, planned)]


def noise_of_numbers(released: ReleasedTable, planned: MeasurePlan, drawn: Floats) -> Floats:
    """Return the noise of the released numbers: groups by statistics by draws.

    ``drawn`` has the noise of what is measured, a row for each sum.
    """
    assert planned.joint is not None
    cells = planned.joint.applied.strategy.solve(drawn)
    numbers = planned.joint.rows.astype(np.float64) @ cells
    by_group = numbers.reshape(-1, len(planned.measure.statistics), drawn.shape[1])
    return by_group[_places(released, planned)]


def _places(released: ReleasedTable, planned: MeasurePlan) -> list[int]:
    """Return where the released groups are in the list of all groups."""
    assert isinstance(planned.rule, PublicKeys)
    listed = {group: place for place, group in enumerate(planned.rule.groups())}
    return [listed[group] for group in released.groups]
