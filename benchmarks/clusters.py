"""Would k-means on private rows beat what can be asked today?

Points of some clusters on [-1, 1], one row to a person, a price of 1 with delta 1e-6 under ``zcdp``. Each way
gives the centres of as many clusters; its loss is the mean square of distances to the nearest centre, over
that of k-means without privacy (so 1 is best). Means over data sets:

    noisy Lloyd   a histogram (a sixth of the price) gives the first centres, then 5 rounds of noisy counts
                  and sums of the points that are nearest to each
    bins          a histogram of bins of equal width, for the whole price; the centres are those of k-means on
                  the middles of its bins, weighted by noisy counts: post-processing
    quantiles     the same, of bins between quantiles that cost a third of the price

"Skewed" points are pressed toward one corner, by which bins of equal width lose most.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.accounting import Budget, accountant

Floats = NDArray[np.float64]

ROUNDS, FIRST, QUANTILES = 5, 1 / 6, 1 / 3
CELLS = 1_024
"""Most bins of a histogram in all."""

SHAPES = ((2, 5, False), (2, 5, True), (4, 5, False), (4, 5, True), (8, 8, False))
"""Dimensions, clusters, and whether points are skewed."""


def run(setting: Setting) -> Report:
    sizes = ((1_000, 1),) if setting.quick else ((1_000, 12), (10_000, 8), (100_000, 2))
    table = Table(
        "loss beside k-means without privacy, epsilon 1",
        ("dimensions", "clusters", "skewed", "persons", "data sets", "noisy Lloyd", "bins", "quantiles"),
    )
    for dimensions, clusters, skewed in SHAPES[:1] if setting.quick else SHAPES:
        for persons, sets in sizes:
            found = [_losses(persons, dimensions, clusters, skewed, seed) for seed in range(sets)]
            means = np.mean(found, axis=0).tolist()
            table.rows.append((dimensions, clusters, "yes" if skewed else "no", persons, sets, *means))
    return Report((table,), tuple(map(_verdict, table.rows)))


def _verdict(row: Sequence[Any]) -> Verdict:
    """A method of its own is worth it where its loss is at most four fifths of that of bins."""
    dimensions, _, skewed, persons, _, ours, *bins = row
    said = f"{dimensions} dimensions, {persons:,} persons{', skewed' if skewed == 'yes' else ''}"
    return Verdict(f"{said}: noisy Lloyd beside the better bins", ours / min(bins), 0.8)


def _losses(
    persons: int, dimensions: int, clusters: int, skewed: bool, seed: int
) -> tuple[float, float, float]:
    generator = np.random.default_rng(seed)
    points = _points(persons, dimensions, clusters, skewed, generator)
    every = np.ones(persons)
    best = _loss(points, _k_means(points, every, clusters, generator))
    ways = _lloyd, _bins, _quantiles
    ours, bins, quantiles = (_loss(points, way(points, clusters, generator)) / best for way in ways)
    return ours, bins, quantiles


def _points(
    persons: int, dimensions: int, clusters: int, skewed: bool, generator: np.random.Generator
) -> Floats:
    centres = generator.uniform(-0.8, 0.8, (clusters, dimensions))
    of = generator.choice(clusters, persons, p=generator.dirichlet(np.full(clusters, 4.0)))
    points = np.clip(centres[of] + generator.normal(0, 0.1, (persons, dimensions)), -1, 1)
    return 2 * ((points + 1) / 2) ** 4 - 1 if skewed else points


# ---- the ways ------------------------------------------------------------------------------------------


def _lloyd(points: Floats, clusters: int, generator: np.random.Generator) -> Floats:
    dimensions = points.shape[1]
    centres = _of_histogram(points, _even(dimensions), clusters, FIRST, generator)
    deviation = _deviation((1 - FIRST) / ROUNDS) * math.sqrt(1 + dimensions)
    for _ in range(ROUNDS):
        near = _nearest(points, centres)
        counts = np.bincount(near, minlength=clusters) + generator.normal(0, deviation, clusters)
        sums = np.zeros_like(centres)
        np.add.at(sums, near, points)
        sums += generator.normal(0, deviation, sums.shape)
        moved = np.clip(sums / np.maximum(counts, 1)[:, np.newaxis], -1, 1)
        centres = np.where((counts > 2 * deviation)[:, np.newaxis], moved, centres)
    return centres


def _bins(points: Floats, clusters: int, generator: np.random.Generator) -> Floats:
    return _of_histogram(points, _even(points.shape[1]), clusters, 1.0, generator)


def _quantiles(points: Floats, clusters: int, generator: np.random.Generator) -> Floats:
    """Each cut is an exponential mechanism: its score is how far its rank is from the one that is meant."""
    persons, dimensions = points.shape
    cuts, edges = _of_each(dimensions) - 1, list[Floats]()
    epsilon = math.sqrt(8 * _rho(QUANTILES) / (cuts * dimensions))
    for column in points.T:
        ends = np.concatenate(([-1.0], np.sort(column), [1.0]))
        widths = np.log(np.maximum(np.diff(ends), 1e-12))
        ranks = np.arange(persons + 1)
        found = []
        for cut in range(1, cuts + 1):
            scores = -epsilon * np.abs(ranks - persons * cut / (cuts + 1)) / 2 + widths
            place = int(np.argmax(scores + generator.gumbel(size=len(scores))))
            found.append(generator.uniform(ends[place], ends[place + 1]))
        edges.append(np.array((-1.0, *sorted(found), 1.0)))
    return _of_histogram(points, edges, clusters, 1 - QUANTILES, generator)


def _of_each(dimensions: int) -> int:
    """Return the number of bins of each dimension."""
    return max(2, min(32, int(CELLS ** (1 / dimensions) + 1e-9)))


def _even(dimensions: int) -> list[Floats]:
    return [np.linspace(-1, 1, _of_each(dimensions) + 1)] * dimensions


def _of_histogram(
    points: Floats, edges: Sequence[Floats], clusters: int, share: float, generator: np.random.Generator
) -> Floats:
    """Return the centres of k-means on the middles of bins; those within noise are taken for empty."""
    exact, _ = np.histogramdd(points, edges)
    deviation = _deviation(share)
    noisy = exact + generator.normal(0, deviation, exact.shape)
    weights = np.where(noisy > 2 * deviation, noisy, 0).ravel()
    middles = np.meshgrid(*((each[1:] + each[:-1]) / 2 for each in edges), indexing="ij")
    cells = np.stack([each.ravel() for each in middles], axis=1)
    if np.count_nonzero(weights) < clusters:
        weights = np.maximum(noisy.ravel(), 1e-9)
    return _k_means(cells[weights > 0], weights[weights > 0], clusters, generator)


def _rho(share: float) -> float:
    return 1 / (2 * _deviation(share) ** 2)


def _deviation(share: float) -> float:
    """Return the deviation of noise at this share of the price, for what a person moves by 1."""
    part = Fraction(share).limit_denominator(10_000)
    found = accountant("zcdp").allowance(1.0, Budget(1.0, 1e-6), part, thresholds=False).gaussian
    assert found is not None
    return found


# ---- without privacy -----------------------------------------------------------------------------------


def _k_means(points: Floats, weights: Floats, clusters: int, generator: np.random.Generator) -> Floats:
    """Return the best of five runs of k-means++ and Lloyd's rounds on weighted points."""
    runs = [_run(points, weights, clusters, generator) for _ in range(5)]
    return min(runs, key=lambda centres: float(weights @ _squares(points, centres)))


def _run(points: Floats, weights: Floats, clusters: int, generator: np.random.Generator) -> Floats:
    centres = points[generator.choice(len(points), 1, p=weights / weights.sum())]
    while len(centres) < clusters:
        far = weights * _squares(points, centres) + 1e-300
        centres = np.vstack((centres, points[generator.choice(len(points), 1, p=far / far.sum())]))
    for _ in range(30):
        near = _nearest(points, centres)
        total = np.bincount(near, weights, clusters)
        sums = np.stack([np.bincount(near, weights * column, clusters) for column in points.T], axis=1)
        kept = total[:, np.newaxis] > 0
        moved = np.where(kept, sums / np.where(kept, total[:, np.newaxis], 1), centres)
        if np.allclose(moved, centres):
            break
        centres = moved
    return centres


def _distances(points: Floats, centres: Floats) -> Floats:
    found: Floats = np.stack([np.square(points - centre).sum(axis=1) for centre in centres], axis=1)
    return found


def _nearest(points: Floats, centres: Floats) -> NDArray[np.intp]:
    return np.argmin(_distances(points, centres), axis=1)


def _squares(points: Floats, centres: Floats) -> Floats:
    least: Floats = _distances(points, centres).min(axis=1)
    return least


def _loss(points: Floats, centres: Floats) -> float:
    return float(_squares(points, centres).mean())
