"""Models that are fitted to the released sums of products of their columns.

    DP_LINEAR((SELECT cost, age, sex FROM ...))       cost on (intercept), age and sex = 'M'
    DP_LOGISTIC((SELECT smoker, age FROM ...))        in steps that read earlier releases

A term z is 1, or a line of a column onto [-1, 1], or 1 where a column has one of its values and 0 elsewhere.
Its sums of products with all terms are ordinary bounded sums, released like any others. All that follows is
computed from these: it costs nothing, and tells nothing more.
"""

from __future__ import annotations

from enum import Enum
from fractions import Fraction

from dpsql.lazy_dataclass import dataclass

TERM = "term"
INTERCEPT = "(intercept)"
COEFFICIENTS = ("coefficient", "std_error", "low", "high", "margin")
LARGEST_WEIGHT = 64.0
"""Weights of terms on [-1, 1] are cut to this; chances are 0 or 1 long before. Each step is bound for it."""


class Fit(Enum):
    """What is made of the sums."""

    LINEAR = "linear"
    COVARIANCE = "covariance"
    LOGISTIC = "logistic"
    WEIGHTS = "weights"
    """Of a step before the last of a logistic fit: the weights that the next one reads."""
    BEGUN = "begun"
    """Of a linear fit that goes on: its weights."""
    LENGTH = "length"
    """The same weights, and the inverse of the length to which rows are cut."""


HANDED_DOWN = (Fit.WEIGHTS, Fit.BEGUN, Fit.LENGTH)
"""What later steps of the same fit read, and nobody else."""

_OCTAVES = (2.0, 1.0, 0.5, *(-place / 4 for place in range(36)))
LONGER_THAN_1 = sum(octaves >= 0 for octaves in _OCTAVES)
"""How many lengths are at least that of a row that is 1 off, where all its terms are 1 or -1."""


def lengths_of(terms: int) -> list[float]:
    """Return the lengths that rows of so many terms may be cut to, the longest first.

    The first are for rows that are more than 1 off, as a linear fit may be; then come quarter octaves.
    """
    return [float(terms) ** 0.5 * 2.0**octaves for octaves in _OCTAVES]


@dataclass(frozen=True, slots=True)
class Term:
    """A term and what its column is called; the column's value is ``middle`` + ``half`` * z."""

    name: str
    middle: float
    half: float


@dataclass(frozen=True, slots=True)
class Model:
    """A fit to sums of products of terms: the first term is 1, the last is what is predicted.

    ``sums`` has a row and a column for each term, with the name of the aggregate that holds the sum of their
    products; None where each row's product is 0. The gradient of a step has one row. ``before`` are the
    names of the measures whose numbers a step of a logistic fit is computed from, in order; each step costs
    its ``share`` of the price of the fit (None: all). The step before the last hands down the ``mean`` of the
    weights. Rows whose vector is ``short`` have a length of at most 1: a unit is clipped to that of its rows.
    """

    fit: Fit
    terms: tuple[Term, ...]
    sums: tuple[tuple[str | None, ...], ...]
    before: tuple[str, ...] = ()
    share: Fraction | None = None
    mean: bool = False
    short: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns with the names of terms."""
        if self.fit in HANDED_DOWN:
            return ()
        return ("row", "column") if self.fit is Fit.COVARIANCE else (TERM,)

    @property
    def numbers(self) -> tuple[str, ...]:
        """The numbers that each row of the result has."""
        if self.fit is Fit.WEIGHTS:
            return tuple(f"w{place}" for place in range(len(self.terms) - 1))
        if self.fit in HANDED_DOWN:
            return (*(f"w{place}" for place in range(len(self.terms) - 1)), "scale")
        return ("value",) if self.fit is Fit.COVARIANCE else COEFFICIENTS

    def groups(self) -> list[tuple[str, ...]]:
        """Return the names of the rows of the result."""
        if self.fit in HANDED_DOWN:
            return [()]
        if self.fit is not Fit.COVARIANCE:
            return [(term.name,) for term in self.terms[:-1]]
        named = [term.name for term in self.terms[1:]]
        return [(name, other) for place, name in enumerate(named) for other in named[place:]]
