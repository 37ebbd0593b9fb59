"""Rules -> lines of a policy: each key that differs from its default, with a comment.

lines(QUERY, rule)                 epsilon = 0.1    # the price of a query that names none
inline(CSV.keys, rule)             { delim = ";", header = false }
drafted(BUDGET, '"patient"')       epsilon = 1.0    # decide: the smaller, the more private
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

from dpsql.ir.relation import names_of
from dpsql.policy.toml_keys import (
    NO_DEFAULT,
    Below,
    Epsilon,
    Flag,
    Key,
    Keys,
    Names,
    Number,
    Own,
    Reference,
    Size,
    Text,
    Together,
    Values,
    Whole,
)
from dpsql.policy.toml_spelling import memory_text, quoted, spelled_columns, value


def lines(keys: Keys, rule: object) -> Iterator[str]:
    """Yield the lines below a header, without keys that have a header of their own."""
    for key in keys.keys:
        if not isinstance(key.kind, Below):
            yield from line(key, getattr(rule, key.name))


def line(key: Key, setting: Any) -> Iterator[str]:
    """Yield one line, or none for a default value."""
    text = spelled(key, setting) if _is_written(key, setting) else ""
    if text:
        yield f"{key.name} = {text}" + (f"    # {key.remark}" if key.remark else "")


def inline(keys: Iterable[Key], rule: object) -> str:
    """Write a rule between braces; '' if it has only default values."""
    settings = [(key, getattr(rule, key.name)) for key in keys]
    pairs = [
        f"{key.name} = {spelled(key, setting)}" for key, setting in settings if _is_written(key, setting)
    ]
    return f"{{ {', '.join(pairs)} }}" if pairs else ""


def drafted(keys: Keys, unit: str) -> list[str]:
    """Return the lines of a draft; ``unit`` is the unit's quoted name."""
    return [key.draft.replace("{unit}", unit) for key in keys.keys if key.draft]


def _is_written(key: Key, setting: Any) -> bool:
    return key.always or key.default is NO_DEFAULT or setting != key.default


def spelled(key: Key, setting: Any) -> str:
    """Write a value as its key requires."""
    kind = key.kind
    match kind:
        case Number() | Epsilon() | Whole() | Flag() | Text() | Own():
            return value(setting)
        case Names() | Values():
            return f"[{', '.join(map(value, setting))}]"
        case Size():
            return quoted(memory_text(setting))
        case Together():
            return spelled_columns(setting)
        case Reference():
            table, columns = setting
            return spelled_columns([f"{table}.{column}" for column in names_of(columns)])
        case Below(keys):
            return inline(keys.keys, setting)
        case _:
            assert_never(kind)
