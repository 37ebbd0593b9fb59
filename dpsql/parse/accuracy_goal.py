"""OPTIONS(within = 50, confidence = 0.95): an accuracy in the place of a price.

within = 50       every released count and sum lies within 50 of the truth
within = '5%'     within 5 % of it
confidence        in so many cases, each number by itself; 0.95 if it is not said
"""

from __future__ import annotations

import re

from dpsql.errors import refuse
from dpsql.ir.options import Goal, Option, Options
from dpsql.parse.options_clause import agreed

LEAST, MOST = 0.5, 0.999
"""Confidences: a half-width beyond them says nothing, or more than its simulation knows."""

_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*%\s*")


def goal_of(clauses: tuple[Options, ...]) -> Goal | None:
    """What the clauses of a query say of its accuracy; None where they say nothing."""
    within, confidence = agreed(clauses, "within"), agreed(clauses, "confidence")
    if within is None:
        if confidence is not None:
            raise refuse(
                "D252",
                "confidence means nothing here",
                confidence.span,
                label="it says how often a number is within its reach, and no reach is said",
                help="say both: OPTIONS(within = 50, confidence = 0.99); margins are for 95 %",
            )
        return None
    price = agreed(clauses, "epsilon")
    if price is not None:
        raise refuse(
            "D503",
            "this query says its price and its accuracy",
            price.span,
            label="each follows from the other",
            help="say one of them; EXPLAIN tells what the accuracy costs",
        )
    half_width, relative = _half_width(within)
    return Goal(half_width, relative, _confidence(confidence), within.span)


def _half_width(within: Option) -> tuple[float, bool]:
    match = _PERCENT.fullmatch(within.value) if isinstance(within.value, str) else None
    if match is not None and 0 < float(match[1]) < 100:
        return float(match[1]) / 100, True
    if isinstance(within.value, int | float) and 0 < within.value <= 1e300:
        return float(within.value), False
    raise refuse(
        "D205",
        "within is a positive number, or a part of the number",
        within.span,
        help="write within = 50, or within = '5%'",
    )


def _confidence(option: Option | None) -> float:
    if option is None:
        return 0.95
    if isinstance(option.value, int | float) and LEAST <= option.value <= MOST:
        return float(option.value)
    raise refuse(
        "D205",
        f"a confidence lies between {LEAST} and {MOST}",
        option.span,
        label="it is the part of all answers that lie within",
        help="write confidence = 0.95",
    )
