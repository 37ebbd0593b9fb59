"""The price of a query before it is run, and its expected error."""

from __future__ import annotations

from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Expected:
    """The reach of one aggregate's noise, with 95 % probability.

    ``name`` is the aggregate's name in the query, if it has one. ``error`` is the half-width of its margin;
    for an average and the like it depends on the number of rows, and is given at ``at_rows`` rows. For a
    median and the like only ``places`` is known: the error of its rank, in rows. None where the plan does not
    determine it.
    """

    name: str
    aggregate: str
    error: float | None
    at_rows: int | None = None
    places: float | None = None


@dataclass(frozen=True, slots=True)
class Price:
    """``epsilon`` is the query's price; ``cost`` is what is paid now, 0 for a repeat.

    ``remaining`` is the budget that is left now, ``after`` what is left after the query. ``digest`` names the
    measures, their noise and their price. A group with private keys appears when its noisy number of units
    reaches ``units``. ``held`` says whether the budget covers the price. With ``steps``, the price is the
    most that they may cost. ``doubts`` say what the answer could not show, or hardly; ``nothing``: it
    would show nothing; ``unmet``: no declared value meets some of its conditions.
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
    doubts: tuple[str, ...] = ()
    nothing: bool = False
    unmet: bool = False

    @property
    def share(self) -> float:
        """The part of the remaining budget that the query takes."""
        if self.cost == 0:
            return 0.0
        return (self.remaining - self.after) / self.remaining if self.remaining > 0 else 1.0
