"""How much may be used above the release: the owner's [limits], or what they are where nothing is said.

    [limits]
    seconds = 10          # of planning one query, and again of post-processing it
    memory = "512MB"      # of either, and of the rows of an answer
    rows = 1_000_000      # of an answer

They are of planning, post-processing and answers, never of private rows: whether one is met depends on the
query, the policy, public tables and what was released, and tells nothing about anybody.
"""

from __future__ import annotations

from dpsql.policy.model import LimitsRule
from dpsql.policy.toml_keys import LIMITS, MOST_ANSWER
from dpsql.policy.toml_section import Section
from dpsql.policy.toml_values import optional, regular_values


def read_limits(section: Section) -> LimitsRule:
    """Each as it is said, or as usual."""
    section.allow(LIMITS)
    return LimitsRule(**regular_values(section, LIMITS), rows=optional(section, LIMITS["rows"], _rows))


def _rows(section: Section) -> int:
    value = section.number("rows")
    if not value.is_integer() or not 1 <= value <= MOST_ANSWER:
        raise section.wrong("rows", f"rows must be a whole number between 1 and {MOST_ANSWER:,}")
    return int(value)
