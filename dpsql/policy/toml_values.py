"""Readers of regular keys; the other keys of a section have functions of their own.

regular_values(section, QUERY)                {"find_bounds": True, "min_units": 10}
optional(section, LIMITS["rows"], _rows)      what the function reads, or the default
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any, assert_never

from dpsql.policy.toml_keys import (
    LARGEST_EPSILON,
    LEAST_EPSILON,
    Epsilon,
    Flag,
    Key,
    Keys,
    Number,
    Regular,
    Size,
    Text,
    Whole,
)
from dpsql.policy.toml_section import Section, sort_of
from dpsql.policy.toml_spelling import BYTES, memory_text


def regular_values(section: Section, keys: Keys) -> dict[str, Any]:
    """Read every key without a function of its own, optional ones first."""
    values = {}
    for key in sorted(keys.keys, key=lambda key: bool(key.needed)):
        kind = key.kind
        if isinstance(kind, Regular):
            values[key.name] = optional(section, key, partial(_value, name=key.name, kind=kind))
    return values


def optional(section: Section, key: Key, read: Callable[[Section], Any]) -> Any:
    """Read a key with this function if it is there; else return its default."""
    return read(section) if key.name in section.values else key.default


def _value(section: Section, name: str, kind: Regular) -> object:
    match kind:
        case Number(most):
            return _number(section, name, most)
        case Epsilon():
            return _epsilon(section, name)
        case Whole(most):
            return _whole(section, name, most)
        case Flag():
            return section.boolean(name)
        case Text():
            return section.string(name)
        case Size(least, most):
            return _size(section, name, least, most)
        case _:
            assert_never(kind)


def _epsilon(section: Section, name: str) -> float:
    """Read an epsilon within the range of the ledger's units."""
    epsilon = section.positive(name)
    if not LEAST_EPSILON <= epsilon <= LARGEST_EPSILON:
        raise section.wrong(
            name,
            f"{name} must lie between {LEAST_EPSILON:g} and {LARGEST_EPSILON:g}",
            label="too small to get any answer"
            if epsilon < LEAST_EPSILON
            else "far more than any answer needs",
            help="1 is a strong promise, and above 10 it is a weak one",
        )
    return epsilon


def _number(section: Section, name: str, most: float | None) -> float:
    number = section.positive(name)
    if most is not None and number > most:
        raise section.wrong(name, f"{name} must be at most {most:,.0f}")
    return number


def _whole(section: Section, name: str, most: int) -> int:
    value = section.values[name]
    if type(value) is not int:
        raise section.wrong(name, f"{name} must be a whole number", label=f"this is {sort_of(value)}")
    if not 1 <= value <= most:
        raise section.wrong(name, f"{name} must lie between 1 and {most:,}")
    return value


def _size(section: Section, name: str, least: int, most: int) -> int:
    match = re.fullmatch(r"([1-9][0-9]{0,7}) ?(MB|GB)", section.string(name))
    if match is None:
        raise section.wrong(
            name, f"{name} must be a number of MB or GB", help=f'for example: {name} = "512MB"'
        )
    size = int(match[1]) * BYTES[match[2]]
    if not least <= size <= most:
        raise section.wrong(name, f"{name} must lie between {memory_text(least)} and {memory_text(most)}")
    return size
