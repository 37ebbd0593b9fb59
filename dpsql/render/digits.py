"""Format values as text: in full, as JSON, or rounded to the digits that the noise leaves.

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
    """Round the margin up to two digits, and the value to the same place: (4422, 24.3) -> 4422, 25."""
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


def group_thousands(text: str, gap: str) -> str:
    """Separate the thousands of a number: ("14188.25", " ") -> 14 188.25"""
    integer, dot, rest = text.partition(".")
    sign, digits = ("-", integer[1:]) if integer.startswith("-") else ("", integer)
    if not gap or not digits.isdigit():
        return text
    return sign + f"{int(digits):,}".replace(",", gap) + dot + rest


def below(epsilon: float) -> str:
    """Format an epsilon rounded down to four decimals, for what remains."""
    return f"{math.floor(epsilon * 1e4 + 1e-6) / 1e4:g}"


def above(epsilon: float) -> str:
    """Format an epsilon rounded up to four decimals, for what is spent."""
    return f"{math.ceil(epsilon * 1e4 - 1e-6) / 1e4:g}"


def unlike(number: float, other: float) -> tuple[str, str]:
    """Format two numbers with as many digits as it takes to make them differ, at least six."""
    for digits in range(6, 18):
        text, other_text = f"{number:.{digits}g}", f"{other:.{digits}g}"
        if text != other_text:
            break
    return text, other_text


def plain(value: Any) -> str:
    """Format a value in full, as DuckDB does."""
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
            return "".join(chr(byte) if 32 <= byte < 127 else f"\\x{byte:02X}" for byte in value)
        case list() | tuple() | dict():
            return token(value)
        case _:
            return str(value)


def token(value: Any) -> str:
    """Format a value in full, as JSON; a DECIMAL becomes a number with all its digits."""
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
            return "{" + ", ".join(f"{token(str(key))}: {token(item)}" for key, item in value.items()) + "}"
        case _:
            return json.dumps(plain(value), ensure_ascii=False)


def printable(text: str) -> str:
    """Escape the control characters of a text, except line ends."""
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() or char == "\n" else f"\\x{ord(char):02x}" for char in text)


def on_a_line(text: object) -> str:
    """Escape the control characters and line ends of a text, such as a file name."""
    return printable(str(text)).replace("\n", "\\x0a")


def wide(text: str) -> int:
    """Return the width of a text in terminal columns."""
    if text.isascii():
        return len(text)
    return sum(map(_char_width, text))


def _char_width(char: str) -> int:
    """Return the columns of a character: combining marks take none; the emoji selector adds one."""
    if unicodedata.category(char) in ("Mn", "Me"):
        return 1 if char == "\N{VARIATION SELECTOR-16}" else 0
    return 2 if unicodedata.east_asian_width(char) in "WF" else 1
