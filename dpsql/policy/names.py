"""Comparison of names as in the database, and suggestions for misspelled names.

fold("Étude") == "Étude"      only A to Z lose their case, as in DuckDB: "Étude" and "étude" are two tables
nearest("ordres", ["orders", "parts"]) == "orders"
"""

from __future__ import annotations

import difflib
import string
from collections.abc import Iterable

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold(name: str) -> str:
    """Fold a name: two names are equal to the database exactly if they fold to the same text."""
    return name.translate(_LOWER)


def nearest(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar name, or None if none is similar."""
    folded = {fold(candidate): candidate for candidate in names}
    matches = difflib.get_close_matches(fold(name), folded, n=1, cutoff=0.67)
    return folded[matches[0]] if matches else None


def perhaps(name: str, names: Iterable[str]) -> str:
    """Return ``nearest`` as a help text, or '' if none is similar."""
    meant = nearest(name, names)
    return "" if meant is None else f"did you mean {meant}?"
