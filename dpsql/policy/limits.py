"""The owner's [limits] on planning, post-processing and answers, with defaults.

    [limits]
    seconds = 10          # for planning one query, and again for post-processing it
    memory = "512MB"      # for either, and for the rows of an answer
    rows = 1_000_000      # of an answer

They never limit private rows: whether a limit is exceeded depends on the query, the policy, public tables
and released numbers, and reveals nothing about any unit.
"""

from __future__ import annotations

from dpsql.policy.model import LimitsRule
from dpsql.policy.toml_keys import LIMITS, MOST_ANSWER
from dpsql.policy.toml_section import Section
from dpsql.policy.toml_values import optional, regular_values


def read_limits(section: Section) -> LimitsRule:
    """Read the limits; each has a default."""
    section.allow(LIMITS)
    return LimitsRule(**regular_values(section, LIMITS), rows=optional(section, LIMITS["rows"], _rows))


def _rows(section: Section) -> int:
    value = section.number("rows")
    if not value.is_integer() or not 1 <= value <= MOST_ANSWER:
        raise section.wrong("rows", f"rows must be a whole number between 1 and {MOST_ANSWER:,}")
    return int(value)
