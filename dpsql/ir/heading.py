"""A column of an answer, known before anything is paid."""

from __future__ import annotations

from dpsql.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Heading:
    """The name and the type of a column; ``noised`` if its numbers carry noise."""

    name: str
    type: str
    noised: bool = False
