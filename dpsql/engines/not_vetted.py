"""What an engine raises while it prints a plan: it has no text for this that is known to raise on no row."""

from __future__ import annotations


class NotVetted(Exception):
    """Nothing is known to print this so that it raises on no row; ``what`` names it."""

    def __init__(self, what: str) -> None:
        super().__init__(what)
        self.what = what
