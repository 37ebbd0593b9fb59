"""OPTIONS(within = 50, confidence = 0.95): an accuracy instead of a price.

within = 50       every released count and sum is within 50 of its exact value
within = '5%'     within 5 % of it
confidence        the probability of that, for each number by itself; the default is 0.95
"""

from __future__ import annotations

import re

from dpsql.errors import refuse
from dpsql.ir.options import Goal, Option, Options
from dpsql.parse.options_clause import agreed

LEAST, MOST = 0.5, 0.999
"""Limits of confidence: outside of them, a half-width is meaningless or not backed by its simulation."""

_PERCENT = re.compile(r"\s*(\d+(?:\.\d+)?|\.\d+)\s*%\s*")


def goal_of(clauses: tuple[Options, ...]) -> Goal | None:
    """Return the accuracy that the clauses of a query ask for; None if they ask for none."""
    within, confidence = agreed(clauses, "within"), agreed(clauses, "confidence")
    if within is None:
        if confidence is not None:
            raise refuse(
                "D252",
                "confidence has no meaning without within",
                confidence.span,
                label="it is the probability that a number is within a distance, and no distance is set",
                help="set both: OPTIONS(within = 50, confidence = 0.99); margins are for 95 %",
            )
        return None
    price = agreed(clauses, "epsilon")
    if price is not None:
        raise refuse(
            "D503",
            "this query sets both a price and an accuracy",
            price.span,
            label="each determines the other",
            help="set one of them; EXPLAIN shows what the accuracy costs",
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
        "within must be a positive number, or a percentage",
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
        f"confidence must be between {LEAST} and {MOST}",
        option.span,
        label="it is the probability that a number is within the distance",
        help="write confidence = 0.95",
    )
