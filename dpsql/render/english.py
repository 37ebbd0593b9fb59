"""English around the owner's word for a unit: a user, an event."""

from __future__ import annotations

import re

_VOWELS = re.compile(r"(?!eu|one\b|uni(?!n)|us[ei]|ut[ei])[aeiou]", re.IGNORECASE)


def one(word: str) -> str:
    """Return a word after its article."""
    return f"{'an' if _VOWELS.match(word) else 'a'} {word}"
