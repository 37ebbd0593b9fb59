"""A private alert: any number of questions until the first true, for one price.

CREATE PRIVATE ALERT flu WITH (epsilon = 0.5, above = 100, times = 3, max_rows = 2, lower = 0, upper = 1)

above            the threshold, to which noise is added once for each true
times            how often it says true; each costs the price
max_rows, upper  what a unit adds to a number at most: so many rows, each with a value up to ``upper``
lower            below 0, numbers may move both ways, and questions have twice the noise

CREATE PRIVATE HOLDOUT h WITH (epsilon = 1, times = 3, tolerance = 0.04, max_rows = 2, upper = 1)

A holdout is an alert about means: it says true, and the mean with noise, where the mean of private rows is
further than ``tolerance`` from a public number. ``upper`` is how far a value may be from that number, and the
price is for all of it.
"""

from __future__ import annotations

from fractions import Fraction

from dpsql.ir.event import Event
from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Alert:
    """What is said when an alert is created, and never changes."""

    above: float
    times: int = 1
    rows: int = 1
    lower: float = 0.0
    upper: float = 1.0
    tolerance: float | None = None

    @property
    def word(self) -> str:
        """What it is called in words: an alert, or a holdout."""
        return "alert" if self.tolerance is None else "holdout"

    @property
    def prices(self) -> int:
        """How often its price is paid."""
        return self.times if self.tolerance is None else 1

    @property
    def monotone(self) -> bool:
        """Whether a unit that leaves moves every number down, or not at all."""
        return self.lower >= 0 and self.tolerance is None

    @property
    def most(self) -> Fraction:
        """What a unit moves a number at most."""
        if self.tolerance is not None:
            return self.rows * (Fraction(self.upper) + Fraction(repr(self.tolerance)))
        return self.rows * max(abs(Fraction(self.lower)), abs(Fraction(self.upper)))


@dataclass(frozen=True, slots=True)
class AlertPlan:
    """An alert with its noise: ``epsilon0`` is the privacy of one true, and of all questions before it.

    Thresholds have noise of ``scale`` in steps of ``step``. ``epsilon1`` is that of a holdout's noisy mean.
    """

    name: str
    alert: Alert
    epsilon0: float
    step: Fraction
    scale: float
    events: tuple[Event, ...]
    epsilon1: float = 0.0


@dataclass(frozen=True, slots=True)
class Distance:
    """A public mean of values on [low, high], of which a row adds ``most`` steps, and what is tolerated."""

    public: Fraction
    low: Fraction
    high: Fraction
    most: int
    tolerance: Fraction
