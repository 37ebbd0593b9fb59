"""PostgreSQL's formats of moments.

    TO_CHAR(day, 'YYYY-MM')                                   strftime(day, '%Y-%m')
    TO_TIMESTAMP('2024-01-05 10:00', 'YYYY-MM-DD HH24:MI')    TIMESTAMP '2024-01-05 10:00:00'
    TO_DATE('2024-01-05', 'YYYY-MM-DD')                       DATE '2024-01-05'

A format is translated if every part of it is in ``_PARTS`` or is a sign or quoted text. Left alone, and so
refused by dpsql: padded names (Month), quarters (Q), weeks of the month, ordinals (DDth), numbers (999.9),
and texts of columns, which PostgreSQL reads more loosely than strptime.
Test: tests/server/test_dialect.py compares with what PostgreSQL 15 gave.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterator, Sequence

from sqlglot.tokenizer_core import Token

from dpsql.server.dialect.calls import Call, calls_of, constant, quoted
from dpsql.server.dialect.edits import Edit

_PARTS = {
    "YYYY": "%Y",
    "YY": "%y",
    "IYYY": "%G",
    "MM": "%m",
    "DD": "%d",
    "DDD": "%j",
    "ID": "%u",
    "IW": "%V",
    "HH24": "%H",
    "HH12": "%I",
    "HH": "%I",
    "MI": "%M",
    "SS": "%S",
    "MS": "%g",
    "US": "%f",
    "FMMM": "%-m",
    "FMDD": "%-d",
    "FMDDD": "%-j",
    "FMHH24": "%-H",
    "FMHH12": "%-I",
    "FMHH": "%-I",
    "FMMI": "%-M",
    "FMSS": "%-S",
}
"""Parts that are written in any letter case."""
_CASED = {"AM": "%p", "PM": "%p", "Mon": "%b", "Dy": "%a", "FMMonth": "%B", "FMDay": "%A"}
"""Parts whose letter case is that of the text."""

_KEYWORDS = (
    "A.D. A.M. AD AM B.C. BC CC DAY DDD DD DY D FF1 FF2 FF3 FF4 FF5 FF6 HH24 HH12 HH IDDD ID IW IYYY IYY IY "
    "I J MI MM MONTH MON MS OF P.M. PM Q RM SSSSS SSSS SS TZH TZM TZ US WW W Y,YYY YYYY YYY YY Y"
).split()
_KEYWORD = "|".join(map(re.escape, sorted(_KEYWORDS, key=len, reverse=True)))
_PIECE = re.compile(
    rf'(?P<quoted>"[^"\\]*")|(?P<part>(?:FM)?(?:{_KEYWORD})(?!TH))|(?P<sign>[ \-/.,;:_]+)',
    re.IGNORECASE,
)


def strftime_format(format: str) -> str | None:
    """Return a format of strftime that gives the same text, or None."""
    made, at = "", 0
    while at < len(format):
        piece = _PIECE.match(format, at)
        if piece is None:
            return None
        if piece["part"]:
            part = _CASED.get(piece["part"]) or _PARTS.get(piece["part"].upper())
            if part is None:
                return None
            made += part
        else:
            made += (piece["sign"] or piece["quoted"][1:-1]).replace("%", "%%")
        at = piece.end()
    return made or None


def plain_times(tokens: Sequence[Token]) -> Iterator[Edit]:
    """Rewrite TO_CHAR, TO_DATE and TO_TIMESTAMP where that is exact."""
    for call in calls_of(tokens, "to_char"):
        given = constant(call.arguments[-1]) if len(call.arguments) == 2 else None
        made = None if given is None else strftime_format(given)
        if made is not None:
            written = call.arguments[-1][0]
            yield Edit(call.name.start, call.name.end + 1, "strftime")
            yield Edit(written.start, written.end + 1, quoted(made))
    for call in calls_of(tokens, "to_date", "to_timestamp"):
        literal = _moment(call)
        if literal is not None:
            yield Edit(call.name.start, call.closing.end + 1, literal)


_FIXED = {"YYYY": r"(?P<Y>\d{4})", "MM": r"(?P<m>\d\d)", "DD": r"(?P<d>\d\d)", "HH24": r"(?P<H>\d\d)"}
_FIXED |= {"MI": r"(?P<M>\d\d)", "SS": r"(?P<S>\d\d)", "US": r"(?P<f>\d{6})", "MS": r"(?P<g>\d{3})"}


def _moment(call: Call) -> str | None:
    """Return the literal of to_date('...', '...') or to_timestamp if both are constants that fit exactly."""
    values = [constant(argument) for argument in call.arguments]
    if len(values) != 2 or values[0] is None or values[1] is None:
        return None
    pattern, at = "", 0
    while at < len(values[1]):
        piece = _PIECE.match(values[1], at)
        if piece is None or (piece["part"] and piece["part"].upper() not in _FIXED):
            return None
        at = piece.end()
        pattern += (
            _FIXED[piece["part"].upper()]
            if piece["part"]
            else re.escape(piece["sign"] or piece["quoted"][1:-1])
        )
    try:
        found = re.fullmatch(pattern, values[0], re.ASCII)
        if found is None:
            return None
        given = {name: int(text) for name, text in found.groupdict().items()}
        date = datetime.date(given["Y"], given["m"], given["d"])
        micros = given["f"] if "f" in given else given.get("g", 0) * 1000
        time = datetime.time(given.get("H", 0), given.get("M", 0), given.get("S", 0), micros)
    except (re.error, ValueError, KeyError):  # a part twice, no such day, or no year
        return None
    if call.name.text.casefold() == "to_date":
        return f"DATE '{date}'"
    return f"TIMESTAMP '{date} {time.isoformat()}'"
