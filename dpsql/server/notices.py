"""Refusals and prices as the fields of PostgreSQL's errors and notices.

    ERROR:  [D301] this SUM has no finite bound          NOTICE:  cost epsilon 0.5, remaining 2.5868
    LINE 1: SELECT SUM(cost / age) FROM visits ...       DETAIL:  patients ± 24; age ± 0.9305
                       ^
    DETAIL:  its values can be any number
    HINT:  bound it: SUM(x CLAMPED BETWEEN 0 AND 500)

Test: tests/unit/test_server_statements.py, tests/drivers/test_server.py
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from dpsql.errors import Error
from dpsql.render.answer_fields import AnswerFields
from dpsql.render.box import summary
from dpsql.render.digits import printable

Fields = Mapping[str, str]

_MOST_COLUMNS = 20
_STATES = {
    "D001": "22023",
    "D103": "54001",
    "D104": "0A000",
    "D106": "42P02",
    "D201": "42P01",
    "D202": "42703",
    "D203": "42702",
    "D204": "42883",
    "D205": "42804",
    "D504": "28000",
    "D507": "55000",
    "D603": "57014",
    "D604": "54000",
    "D605": "0A000",
}
_FAMILIES = {
    "D1": "42601",
    "D2": "0A000",
    "D3": "0A000",
    "D4": "42501",
    "D5": "53400",
    "D6": "58000",
    "D8": "F0000",
}


def state_of(error: Error) -> str:
    """Return the sqlstate of a code."""
    return _STATES.get(error.code) or _FAMILIES.get(error.code[:2], "XX000")


def fields(
    severity: str, state: str, message: str, *, detail: str = "", hint: str = "", place: int | None = None
) -> Fields:
    """Return the fields of an error or a notice; ``place`` is one of the client's text, from zero."""
    position = "" if place is None else str(place + 1)
    return {"S": severity, "V": severity, "C": state, "M": message, "D": detail, "H": hint, "P": position}


class Asked(Protocol):
    """A text that was asked, and the way back to places of the text as it was written."""

    @property
    def text(self) -> str: ...
    def original(self, offset: int) -> int: ...


def refused(error: Error, asked: Asked, start: int = 0, state: str = "") -> Fields:
    """Return the fields of a refusal of a text, which starts at a place of the client's text.

    A refusal that points elsewhere, such as into a view of the owner's, shows that place in its detail.
    """
    here = error.start is not None and error.text == asked.text
    lines = [error.label, *error.notes]
    if not here and error.position is not None:
        lines = str(error).split("\n  = help:")[0].split("\n")[1:]
    return fields(
        "ERROR",
        state or state_of(error),
        f"[{error.code}] {printable(error.title)}",
        detail=printable("\n".join(filter(None, lines))),
        hint=printable(error.help),
        place=start + asked.original(error.start) if here and error.start is not None else None,
    )


def paid(answer: AnswerFields) -> Fields | None:
    """Return the notice of an answer: its price, and its widest margins; None if it is only public."""
    if answer.cost == 0 and not (answer.repeated or answer.note or answer.paid_as):
        return None
    *note, price = summary(answer).split("\n")
    detail = "; ".join(
        filter(None, (_margin(answer, at) for at in range(len(answer.columns))[:_MOST_COLUMNS]))
    )
    return fields("NOTICE", "00000", price, detail=printable("\n".join(filter(None, (detail, *note)))))


def _margin(answer: AnswerFields, at: int) -> str:
    """Return the widest margin of a column: age ± 0.93; '' if it has no noise."""
    if not answer.noised(at):
        return ""
    margins = [row[at] for row in answer.margins]
    known = [margin for margin in margins if margin is not None]
    unknown = any(
        margin is None and row[at] is not None for row, margin in zip(answer.rows, margins, strict=True)
    )
    shown = "?" if unknown or not known else f"{max(known):.4g}"
    return f"{answer.columns[at]} ± {shown}"
