"""How many draws of noise per second does one core make, compared with generators that are not private?"""

from __future__ import annotations

import importlib.util
import math
import os
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from benchmarks.timing import Report, Setting, Table, Verdict, alternate
from dpsql.mechanisms import mechanism

Floats = NDArray[np.float64]
SCALES = (2.0**4, 2.0**20, 2.0**32)
OPENDP = 2_000  # draws at a time: it makes some ten thousand a second


def run(setting: Setting) -> Report:
    size = 100_000 if setting.quick else 1_000_000
    generator = np.random.default_rng(0)
    table = Table(
        "million draws a second on one core",
        ("mechanism", "scale", "dpsql", "numpy (not private)", "opendp", "of numpy's"),
    )
    verdicts = []
    for name in ("laplace", "gaussian"):
        numpy_draw = generator.laplace if name == "laplace" else generator.normal
        for scale in SCALES:

            def ours(name: str = name, scale: float = scale) -> object:
                return mechanism(name).draw(scale, size, os.urandom)

            def numpys(draw: Callable[..., Floats] = numpy_draw, scale: float = scale) -> object:
                return np.rint(draw(0, scale, size)).astype(np.int64)

            mine, numpy_time = alternate([ours, numpys], 3 if setting.quick else 9)
            rates = [size / took / 1e3 for took in mine.times]
            rate, theirs = size / mine.median / 1e3, size / numpy_time.median / 1e3
            table.rows.append(
                (name, f"2^{round(math.log2(scale))}", rate, theirs, _opendp(name, scale), rate / theirs)
            )
            if scale == SCALES[1]:
                what = f"{name}, million draws a second"
                verdicts.append(Verdict(what, rate, 1.0, at_least=True, low=min(rates), high=max(rates)))
    return Report((table,), tuple(verdicts))


def _opendp(name: str, scale: float) -> float | None:
    """Time opendp's draws on a vector of zeros, if it is installed."""
    if importlib.util.find_spec("opendp") is None:
        return None
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = (
        dp.vector_domain(dp.atom_domain(T=int)),
        dp.l1_distance(T=int) if name == "laplace" else dp.l2_distance(T=float),
    )
    make = dp.m.make_laplace if name == "laplace" else dp.m.make_gaussian
    measurement = make(*space, scale=scale)
    zeros = [0] * OPENDP
    (runs,) = alternate([lambda: measurement(zeros)], 3)
    return OPENDP / runs.median / 1e3
