"""Values as text: in full, as JSON, or with no digit that the noise makes meaningless.

rounded(4422.3, 24.3, whole=True)     4422, 25
"""

from __future__ import annotations

import datetime
import json
import math
import unicodedata
from decimal import ROUND_CEILING, ROUND_HALF_EVEN, Decimal, localcontext
from typing import Any


def rounded(value: int | float | Decimal, margin: float, whole: bool) -> tuple[str, str]:
    """The margin rounded up to two digits, and the value to the same place: (4422, 24.3) -> 4422, 25."""
    if not 0 < margin < 1e15:
        return plain(value), f"{margin:.2g}"
    place = math.floor(math.log10(margin)) - 1
    place = max(place, 0) if whole else place
    with localcontext() as context:
        context.prec = 400
        step = Decimal(1).scaleb(place)
        number = (Decimal(value) / step).to_integral_value(ROUND_HALF_EVEN) * step + 0
        width = (Decimal(margin) / step).to_integral_value(ROUND_CEILING) * step
        digits = max(0, -place)
        return f"{number:.{digits}f}", f"{width:.{digits}f}"


def apart(text: str, gap: str) -> str:
    """A number's text with something between its thousands: ("14188.25", " ") -> 14 188.25"""
    whole, dot, rest = text.partition(".")
    sign, digits = ("-", whole[1:]) if whole.startswith("-") else ("", whole)
    if not gap or not digits.isdigit():
        return text
    return sign + f"{int(digits):,}".replace(",", gap) + dot + rest


def below(epsilon: float) -> str:
    """What remains, never more than there is."""
    return f"{math.floor(epsilon * 1e4 + 1e-6) / 1e4:g}"


def above(epsilon: float) -> str:
    """What is spent, never less than it is."""
    return f"{math.ceil(epsilon * 1e4 - 1e-6) / 1e4:g}"


def unlike(number: float, other: float) -> tuple[str, str]:
    """Two numbers in as few digits as tell them apart, six at least."""
    for digits in range(6, 18):
        said, said_of_other = f"{number:.{digits}g}", f"{other:.{digits}g}"
        if said != said_of_other:
            break
    return said, said_of_other


def plain(value: Any) -> str:
    """A value in full, as DuckDB spells it."""
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case Decimal():
            return f"{value:f}"
        case float():
            return repr(value)
        case datetime.datetime():
            return value.isoformat(" ")
        case bytes():
            return "".join(chr(each) if 32 <= each < 127 else f"\\x{each:02X}" for each in value)
        case list() | tuple() | dict():
            return token(value)
        case _:
            return str(value)


def token(value: Any) -> str:
    """A value in full, as JSON; a DECIMAL is a number with all its digits."""
    match value:
        case None | bool() | int() | str():
            return json.dumps(value, ensure_ascii=False)
        case float() if math.isfinite(value):
            return repr(value)
        case Decimal() if value.is_finite():
            return f"{value:f}"
        case list() | tuple():
            return f"[{', '.join(map(token, value))}]"
        case dict():
            return "{" + ", ".join(f"{token(str(key))}: {token(each)}" for key, each in value.items()) + "}"
        case _:
            return json.dumps(plain(value), ensure_ascii=False)


def printable(text: str) -> str:
    """Text whose control characters cannot steer a terminal; lines stay lines."""
    if text.isprintable():
        return text
    return "".join(each if each.isprintable() or each == "\n" else f"\\x{ord(each):02x}" for each in text)


def on_a_line(text: object) -> str:
    """The name of a file, say, which may hold anything: it ends no line and steers no terminal."""
    return printable(str(text)).replace("\n", "\\x0a")


def wide(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    return sum(map(_wide, text))


def _wide(sign: str) -> int:
    """A mark over or below a letter takes no column; the one that makes a picture of a sign widens it."""
    if unicodedata.category(sign) in ("Mn", "Me"):
        return 1 if sign == "\N{VARIATION SELECTOR-16}" else 0
    return 2 if unicodedata.east_asian_width(sign) in "WF" else 1
