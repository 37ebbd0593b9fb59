"""What a rule says -> the lines of a policy: each key that is not left as usual, with a word beside it.

lines(QUERY, rule)                 epsilon = 0.1    # what a query costs that names no price
inline(CSV.keys, rule)             { delim = ";", header = false }
drafted(BUDGET, '"patient"')       epsilon = 1.0    # decide: the smaller, the more private
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, assert_never

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
    Values,
    Whole,
)
from dpsql.policy.toml_spelling import memory_text, quoted, value


def lines(keys: Keys, rule: object) -> Iterator[str]:
    """The lines below a header; what has a header of its own has lines of its own."""
    for key in keys.keys:
        if not isinstance(key.kind, Below):
            yield from line(key, getattr(rule, key.name))


def line(key: Key, said: Any) -> Iterator[str]:
    """One line, or none where it would say what goes without saying."""
    text = spelled(key, said) if _is_said(key, said) else ""
    if text:
        yield f"{key.name} = {text}" + (f"    # {key.remark}" if key.remark else "")


def inline(keys: Iterable[Key], rule: object) -> str:
    """All of a rule between braces; '' where nothing needs to be said."""
    said = [(key, getattr(rule, key.name)) for key in keys]
    pairs = [f"{key.name} = {spelled(key, each)}" for key, each in said if _is_said(key, each)]
    return f"{{ {', '.join(pairs)} }}" if pairs else ""


def drafted(keys: Keys, unit: str) -> list[str]:
    """The lines of a draft, for a unit of this name, which is quoted."""
    return [key.draft.replace("{unit}", unit) for key in keys.keys if key.draft]


def _is_said(key: Key, said: Any) -> bool:
    return key.always or key.default is NO_DEFAULT or said != key.default


def spelled(key: Key, said: Any) -> str:
    """A value as its key is written."""
    kind = key.kind
    match kind:
        case Number() | Epsilon() | Whole() | Flag() | Text() | Own():
            return value(said)
        case Names() | Values():
            return f"[{', '.join(map(value, said))}]"
        case Size():
            return quoted(memory_text(said))
        case Reference():
            return quoted(".".join(said))
        case Below(keys):
            return inline(keys.keys, said)
        case _:
            assert_never(kind)
