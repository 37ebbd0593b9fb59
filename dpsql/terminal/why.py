"""What a refusal's code means, why there is such a refusal, and what to write instead.

    why("D301")  ->  "D301: a sum needs a finite bound\\n\\nNothing says how large a row's value may be: ..."

The texts are those of the page ``docs/refusals.md``: written once, and read in a browser or in a terminal.
"""

from __future__ import annotations

import re
import textwrap
from functools import cache
from importlib.resources import files


def why(code: str) -> str | None:
    """The entry of a code, as plain text for a terminal of 80 columns or more; None for an unknown code."""
    entry = entries().get(code.strip().upper())
    if entry is None:
        return None
    text = re.sub(r"^```\w*\n(.*?)^```$", _indented, entry, flags=re.M | re.S)
    return text.replace("`", "").rstrip()


@cache
def entries() -> dict[str, str]:
    """The page by codes, in its order, each entry as it is written, from its title on."""
    page = files("dpsql").joinpath("docs", "refusals.md").read_text(encoding="utf-8")
    parts = re.split(r"^(?:## .*|### (?=D\d{3}:))", page, flags=re.M)
    return {part[:4]: part.strip() for part in parts if re.match(r"D\d{3}:", part)}


def _indented(block: re.Match[str]) -> str:
    return textwrap.indent(block[1].rstrip("\n"), "    ")
