"""Explanations of refusal codes, read from the page ``docs/refusals.md``.

why("D301")  ->  "D301: a sum needs a finite bound\\n\\nNothing says how large a row's value may be: ..."
"""

from __future__ import annotations

import re
import textwrap
from functools import cache
from importlib.resources import files


def why(code: str) -> str | None:
    """Return the entry of a code as plain text for at least 80 columns; None for an unknown code."""
    entry = entries().get(code.strip().upper())
    if entry is None:
        return None
    text = re.sub(r"^```\w*\n(.*?)^```$", _indented, entry, flags=re.M | re.S)
    return text.replace("`", "").rstrip()


@cache
def entries() -> dict[str, str]:
    """Return the entries of the page by code, in their order, as Markdown with their titles."""
    page = files("dpsql").joinpath("docs", "refusals.md").read_text(encoding="utf-8")
    parts = re.split(r"^(?:## .*|### (?=D\d{3}:))", page, flags=re.M)
    return {part[:4]: part.strip() for part in parts if re.match(r"D\d{3}:", part)}


def _indented(block: re.Match[str]) -> str:
    return textwrap.indent(block[1].rstrip("\n"), "    ")
