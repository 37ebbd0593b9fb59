"""Margins of means: by formula where there are enough rows, else by a bootstrap of total and rows.

total 90,000, rows 1,200    mean 75.0    from 73.1 to 76.8
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsql.aggregates import Floats
from dpsql.aggregates.avg import mean_of
from dpsql.ir.column import Interval
from dpsql.late_numpy import np
from dpsql.post.closed_margins import quantile_of, quotient_ends
from dpsql.post.margins import DRAWS, Reach, bootstrap, unit_draws

if TYPE_CHECKING:
    from dpsql.ir.plan import Noise


def margins_of_means(
    total: Floats,
    rows: Floats,
    ends: Interval,
    laws: tuple[Floats, Floats],
    noise: Noise,
    spread: Floats,
    confidence: float,
) -> Reach:
    """Return the margins; ``laws`` are the weights of the measured cells in the totals and in the rows."""
    mean, below = mean_of(total, rows, ends), np.full(len(total), np.nan)
    reach = Reach(below, below.copy())
    quantile = quantile_of(noise, len(laws[0]), confidence)
    if quantile is not None:
        low, high = (
            np.clip(end, float(ends.low), float(ends.high))
            for end in quotient_ends(total, rows, *laws, quantile, noise.scale * spread)
        )
        reach = Reach(mean - low, high - mean)
    rest = np.isnan(reach.below)
    if not rest.any():
        return reach
    drawn = noise.scale * unit_draws(noise.mechanism, len(laws[0]))
    of_total, of_rows = drawn @ laws[0], drawn @ laws[1]
    few, here, wider = mean[rest], (total[rest], rows[rest]), spread[rest]

    def moved(part: slice) -> Floats:
        numbers, counts = (each[part, np.newaxis] for each in here)
        scale = wider[part, np.newaxis]
        away = mean_of(numbers - scale * of_total, counts - scale * of_rows, ends)
        return (away - few[part, np.newaxis]).T

    found = bootstrap(moved, len(few), 2 * DRAWS, confidence)
    reach.below[rest], reach.above[rest] = found.below, found.above
    return reach
