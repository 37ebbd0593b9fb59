"""English around the owner's word for a unit: a user, an event."""

from __future__ import annotations

import re

_VOWELS = re.compile(r"(?!eu|one\b|uni(?!n)|us[ei]|ut[ei])[aeiou]", re.IGNORECASE)


def one(word: str) -> str:
    """Return a word after its article."""
    return f"{'an' if _VOWELS.match(word) else 'a'} {word}"


def singular(name: str) -> str:
    """Return the name of one row of a table, a guess: sales.patients -> patient."""
    name = name.rpartition(".")[2] or name
    folded = name.lower()
    if folded == "people":
        return "person"
    if len(name) > 3 and folded.endswith("ies"):
        return name[:-3] + "y"
    if len(name) > 4 and folded.endswith(("sses", "xes", "ches", "shes", "zes")):
        return name[:-2]
    return name[:-1] if len(name) > 1 and folded.endswith("s") and folded[-2] != "s" else name
