"""How wide a text is in letters of 12 pixels, whichever sans-serif a reader has: rather more than less.

fitted("a long name of a group", 60)     a long n…
"""

from __future__ import annotations

import unicodedata


def width_of(text: str) -> float:
    return sum(map(_width, text))


def fitted(text: str, room: float) -> str:
    """The text, or as much of its beginning as fits, and …"""
    if not text or width_of(text) <= room:
        return text
    while text and width_of(text) + _width("…") > room:
        text = text[:-1]
    return text.rstrip() + "…"


def _width(sign: str) -> float:
    if unicodedata.combining(sign):
        return 0.0
    if sign in "ijlI.,:;'|! \N{NARROW NO-BREAK SPACE}":
        return 4.2
    if sign in "MWmw@%…—" or unicodedata.east_asian_width(sign) in "WF":
        return 12.6
    if sign.isupper() or sign in "<>=+±#&~^":
        return 10.2
    return 7.8 if sign.isascii() else 9.0
