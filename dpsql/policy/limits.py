"""How much may be used above the release: the owner's [limits], or what they are where nothing is said.

    [limits]
    seconds = 10          # of planning one query, and again of post-processing it
    memory = "512MB"      # of either, and of the rows of an answer
    rows = 1_000_000      # of an answer

They are of planning, post-processing and answers, never of private rows: whether one is met depends on the
query, the policy, public tables and what was released, and tells nothing about anybody.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from dpsql.policy.model import LimitsRule
from dpsql.policy.toml_section import Section

LEAST_MEMORY = 64 * 2**20
MOST_MEMORY = 2**44
MOST_SECONDS = 86_400.0
MOST_ROWS = 10**9

_UNITS = {"MB": 2**20, "GB": 2**30}


def read_limits(section: Section) -> LimitsRule:
    """Each as it is said, or as usual."""
    section.allow("seconds", "memory", "rows")
    usual = LimitsRule()
    return LimitsRule(
        _seconds(section) if "seconds" in section.values else usual.seconds,
        _memory(section) if "memory" in section.values else usual.memory,
        _rows(section) if "rows" in section.values else usual.rows,
    )


def limits_lines(limits: LimitsRule) -> Iterator[str]:
    """The lines of a policy that say so; none where all is as usual."""
    usual = LimitsRule()
    said = []
    if limits.seconds != usual.seconds:
        said.append(f"seconds = {limits.seconds!r}")
    if limits.memory != usual.memory:
        said.append(f'memory = "{memory_text(limits.memory)}"')
    if limits.rows != usual.rows:
        said.append(f"rows = {limits.rows}")
    if said:
        yield "\n[limits]    # of planning, post-processing and answers"
        yield from said


def memory_text(size: int) -> str:
    """So many bytes as the policy writes them: 512MB."""
    megabytes = size // _UNITS["MB"]
    return f"{megabytes}MB" if megabytes % 1024 else f"{megabytes // 1024}GB"


def _seconds(section: Section) -> float:
    seconds = section.positive("seconds")
    if seconds > MOST_SECONDS:
        raise section.wrong("seconds", f"seconds must be at most {MOST_SECONDS:,.0f}")
    return seconds


def _memory(section: Section) -> int:
    text = section.string("memory")
    found = re.fullmatch(r"([1-9][0-9]{0,7}) ?(MB|GB)", text)
    if found is None:
        raise section.wrong("memory", "memory is a number of MB or GB", help='memory = "512MB", say')
    size = int(found[1]) * _UNITS[found[2]]
    if not LEAST_MEMORY <= size <= MOST_MEMORY:
        ends = f"{memory_text(LEAST_MEMORY)} and {memory_text(MOST_MEMORY)}"
        raise section.wrong("memory", f"memory must lie between {ends}")
    return size


def _rows(section: Section) -> int:
    value = section.number("rows")
    if not value.is_integer() or not 1 <= value <= MOST_ROWS:
        raise section.wrong("rows", f"rows must be a whole number between 1 and {MOST_ROWS:,}")
    return int(value)
