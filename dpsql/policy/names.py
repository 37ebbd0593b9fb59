"""Names as the database compares them, and the one that was probably meant.

fold("Étude") == "Étude"      only A to Z lose their case, as in DuckDB: "Étude" and "étude" are two tables
nearest("ordres", ["orders", "parts"]) == "orders"
"""

from __future__ import annotations

import difflib
import string
from collections.abc import Iterable

_LOWER = str.maketrans(string.ascii_uppercase, string.ascii_lowercase)


def fold(name: str) -> str:
    """Two names are one to the database exactly when they fold to the same text."""
    return name.translate(_LOWER)


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name most like this one, or None when nothing is like it."""
    folded = {fold(each): each for each in names}
    found = difflib.get_close_matches(fold(name), folded, n=1, cutoff=0.6)
    return folded[found[0]] if found else None


def perhaps(name: str, names: Iterable[str]) -> str:
    """``nearest`` as a help text, empty when nothing is near."""
    meant = nearest(name, names)
    return "" if meant is None else f"did you mean {meant}?"
