"""Models that are fitted to the released sums of products of their columns.

    DP_LINEAR((SELECT cost, age, sex FROM ...))      cost on (intercept), age and sex = 'M'

A term z is 1, or a line of a column onto [-1, 1], or 1 where a column has one of its values and 0 elsewhere.
Its sums of products with all terms are ordinary bounded sums, released like any others. All that follows is
computed from these: it costs nothing, and tells nothing more.
"""

from __future__ import annotations

from enum import Enum

from dpsql.lazy_dataclass import dataclass

TERM = "term"
INTERCEPT = "(intercept)"


class Fit(Enum):
    """What is made of the sums, with the numbers that each row of the result has."""

    LINEAR = ("coefficient", "std_error", "low", "high", "margin")
    COVARIANCE = ("value",)

    @property
    def keys(self) -> tuple[str, ...]:
        """The columns with the names of terms."""
        return (TERM,) if self is Fit.LINEAR else ("row", "column")


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
    products; None where each row's product is 0.
    """

    fit: Fit
    terms: tuple[Term, ...]
    sums: tuple[tuple[str | None, ...], ...]

    def groups(self) -> list[tuple[str, ...]]:
        """Return the names of the rows of the result."""
        if self.fit is Fit.LINEAR:
            return [(term.name,) for term in self.terms[:-1]]
        named = [term.name for term in self.terms[1:]]
        return [(name, other) for place, name in enumerate(named) for other in named[place:]]
