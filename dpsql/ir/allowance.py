"""What a price buys one measure: any one noise, and the threshold beside it."""

from __future__ import annotations

from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Allowance:
    """What one measure may use: any one noise, and the threshold delta beside that noise.

    ``laplace``         epsilon0: scale = sensitivity / epsilon0
    ``gaussian``        deviation per unit of L2 sensitivity; None where it is not accounted for
    ``laplace_delta``   for a threshold beside Laplace noise, None where there is none to have
    ``gaussian_delta``  the same beside Gaussian noise
    ``choice``          epsilon of one choice by the exponential mechanism
    ``geometric``       epsilon0 of geometric noise; None where it costs more than Laplace noise
    ``gaussian_epsilon``, ``gaussian_point_delta``   the planned point that the Gaussian event carries
    """

    laplace: float
    choice: float
    gaussian: float | None
    laplace_delta: float | None
    gaussian_delta: float | None
    gaussian_epsilon: float | None = None
    gaussian_point_delta: float | None = None
    geometric: float | None = None
