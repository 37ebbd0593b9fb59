"""The page of the policy's keys: dpsql/docs/policy.md, written from their table.

    python tests/policy_page.py --write

A test compares the page with ``page()``.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import assert_never

from dpsql.policy import toml_keys
from dpsql.policy.toml_keys import Key, Keys
from dpsql.policy.toml_lines import spelled
from dpsql.policy.toml_spelling import memory_text

PAGE = Path(__file__).parent.parent / "dpsql" / "docs" / "policy.md"

INTRODUCTION = """# The keys of a policy

<!-- Written by `python tests/policy_page.py --write`; a test compares the two. -->

A policy is one TOML file; the README has [an example](../../README.md#the-policy). These are all its
keys: any other is refused with its line, and so is a value of another kind.

A question that was paid for is answered again for nothing, for as long as its plan is the same. Another
value of a key on which answers rest makes those questions new, and paid for anew, whose plans use it; the
others may change without that. (Under `zcdp`, which groups with private keys show depends on the whole
budget too.)
"""

HEADINGS = {
    "the policy": "The sections",
    "unit = { }": "`unit = { }` in `[tables.NAME]`",
    "csv = { }": "`csv = { }` in `[tables.NAME]`",
    "private = { }": "`private = { }` in `[views.NAME]`",
}


def page() -> str:
    return "\n".join([INTRODUCTION, *(line for keys in toml_keys.SECTIONS for line in _section(keys))])


def _section(keys: Keys) -> Iterator[str]:
    yield f"## {HEADINGS.get(keys.title, f'`{keys.title}`')}\n"
    yield "| key | what it says | value | if it is left out | answers rest on it |"
    yield "|---|---|---|---|---|"
    for key in keys.keys:
        rests = f"no: {key.unrelated}" if key.unrelated else "yes" if key.rests else "no"
        cells = (f"`{key.name}`", key.sentence, _value(key), _left_out(key), rests)
        yield f"| {' | '.join(each.replace('|', chr(92) + '|') for each in cells)} |"
    yield ""


def _value(key: Key) -> str:
    kind = key.kind
    match kind:
        case toml_keys.Number(None):
            return "a number above zero"
        case toml_keys.Number(most):
            return f"a number above zero, at most {most:,.0f}"
        case toml_keys.Epsilon():
            return f"a number from {toml_keys.LEAST_EPSILON:g} to {toml_keys.LARGEST_EPSILON:g}"
        case toml_keys.Whole(most):
            return f"a whole number from 1 to {most:,}"
        case toml_keys.Flag():
            return "`true` or `false`"
        case toml_keys.Text():
            return "a text"
        case toml_keys.Size(least, most):
            return f'a text such as `"512MB"`, from {memory_text(least)} to {memory_text(most)}'
        case toml_keys.Own() | toml_keys.Names() | toml_keys.Together() | toml_keys.Values():
            return kind.said
        case toml_keys.Reference():
            return kind.said
        case toml_keys.Below(keys):
            return f"`{keys.title}`"
        case _:
            assert_never(kind)


def _left_out(key: Key) -> str:
    if key.otherwise or key.needed:
        return key.otherwise or "needed"
    if isinstance(key.kind, toml_keys.Below):
        return "there is none" if key.default == () else "as if all in it were left out"
    return f"`{spelled(key, key.default)}`"


if __name__ == "__main__":
    if "--write" in sys.argv:
        PAGE.write_text(page(), encoding="utf-8")
    else:
        print(page(), end="")
