"""Estimate the width of a text in any 12-pixel sans-serif font, rather too wide than too narrow.

fitted("a long name of a group", 60)     a long n…
"""

from __future__ import annotations

import unicodedata


def width_of(text: str) -> float:
    """Return the width of a text in pixels."""
    return sum(map(_char_width, text))


def cut_to_width(text: str, room: float) -> str:
    """Cut a text to a width, with … at the end."""
    if not text or width_of(text) <= room:
        return text
    while text and width_of(text) + _char_width("…") > room:
        text = text[:-1]
    return text.rstrip() + "…"


def _char_width(char: str) -> float:
    if unicodedata.combining(char):
        return 0.0
    if char in "ijlI.,:;'|! \N{NARROW NO-BREAK SPACE}":
        return 4.2
    if char in "MWmw@%…—" or unicodedata.east_asian_width(char) in "WF":
        return 12.6
    if char.isupper() or char in "<>=+±#&~^":
        return 10.2
    return 7.8 if char.isascii() else 9.0
