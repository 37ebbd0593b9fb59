"""How often do posteriors hold the share that two noisy counts are of, and how long does one take?

Shares are even on [0, 1]; of n persons, as many as chance says are for. Both counts get noise: Laplace of
scale 1, or Gaussian of deviation 4.6, as at epsilon 1 under ``zcdp``. "Ignoring" is the Beta posterior of the
counts as released, raised to 0.
"""

from __future__ import annotations

import time

import numpy as np

from benchmarks.timing import Report, Setting, Table, Verdict
from dpsql.post.exponential_families import Seen, beta, summary
from dpsql.post.posteriors import seen_alone

SIZES = (10, 30, 100, 1_000)
LAWS = (("laplace", 1.0), ("gaussian", 4.6))


def run(setting: Setting) -> Report:
    draws = 40 if setting.quick else 4_000
    table = Table(
        "95 % intervals that hold", ("noise", "scale", "persons", "draws", "ignoring", "aware", "ms")
    )
    for name, scale in LAWS:
        for persons in SIZES:
            table.rows.append((name, scale, persons, draws, *_held(name, scale, persons, draws)))
    verdicts = []
    for name, _, persons, _, _, aware, took in table.rows:
        if not setting.quick:
            verdicts += [
                Verdict(f"{name}, {persons:,} persons: held", aware, 0.935, at_least=True),
                Verdict(f"{name}, {persons:,} persons: held, at most", aware, 0.965),
            ]
        verdicts.append(Verdict(f"{name}, {persons:,} persons: ms of one", took, 1.0))
    return Report((table,), tuple(verdicts))


def _held(name: str, scale: float, persons: int, draws: int) -> tuple[float, float, float]:
    """Return how many intervals hold the share, without and with the noise, and the median milliseconds."""
    generator = np.random.default_rng(persons)
    family, held, took = beta(1, 1), [0, 0], []
    for _ in range(draws):
        share = generator.uniform()
        yes = generator.binomial(persons, share)
        drawn = generator.laplace(0, scale, 2) if name == "laplace" else generator.normal(0, scale, 2)
        counts = np.rint(np.array((yes, persons - yes)) + drawn)
        first, second = np.maximum(counts, 0).tolist()
        deaf = summary(family, Seen((first, second), (0, 0), lambda y, m: 0 * y, 4))
        began = time.perf_counter()
        aware = summary(family, seen_alone(counts, scale, name))
        took.append(time.perf_counter() - began)
        for place, found in enumerate((deaf, aware)):
            assert found is not None
            held[place] += found.low <= share <= found.high
    return held[0] / draws, held[1] / draws, 1000 * float(np.median(took))
