"""What a query would cost if it were asked now, and how exact it would be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """How far the noise of one aggregate will reach, with 95 % probability.

    ``name`` is the query's, where it gives one. ``error`` is the half-width of its margin; of an average
    and the like that depends on the number of rows, and this is it at ``at_rows`` rows. Of a median and the
    like only ``places`` is known: how many rows its place among them may be off. None where the plan alone
    does not tell.
    """

    name: str
    aggregate: str
    error: float | None
    at_rows: int | None = None
    places: float | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """``epsilon`` is the query's price, ``cost`` what of it is paid now: nothing if it was answered before.

    ``after`` is what remains then, and ``remaining`` what does now. ``digest`` names the measures, their
    noise and their price. A group with private keys appears when its noisy number of units reaches ``units``.
    ``held`` says whether the budget holds it. Where there are ``steps``, it is the most that they may cost.
    """

    epsilon: float
    cost: float
    remaining: float
    after: float
    repeated: bool
    digest: str
    expected: tuple[Expected, ...]
    units: float | None = None
    held: bool = True
    steps: tuple[float, ...] = ()

    @property
    def share(self) -> float:
        """The part of what remains that this takes."""
        if self.cost == 0:
            return 0.0
        return (self.remaining - self.after) / self.remaining if self.remaining > 0 else 1.0
