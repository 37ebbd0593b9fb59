"""Names and values in TOML's spelling: on one line, and safe in a comment too.

it's "B"     "it's \\"B\\""
sales.orders [tables."sales.orders"]
536870912    512MB
"""

from __future__ import annotations

import datetime
import json
import re
from collections.abc import Sequence

from dpsql.ir.column import Value

BYTES = {"MB": 2**20, "GB": 2**30}


def key(name: str) -> str:
    """Write a name before an equals sign, or between brackets."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def quoted(name: str) -> str:
    """Write a TOML string on one line, without characters that could control a terminal."""
    return "".join(
        character if character.isprintable() else f"\\U{ord(character):08X}"
        for character in json.dumps(name, ensure_ascii=False)
    )


def spelled_columns(names: Sequence[str]) -> str:
    """Write a column's name, or a list of several."""
    if isinstance(names, str) or len(names) == 1:
        return quoted(names if isinstance(names, str) else names[0])
    return f"[{', '.join(map(quoted, names))}]"


def value(content: Value) -> str:
    """Write a value of a list, or an end of a range."""
    match content:
        case str():
            return quoted(content)
        case bool():
            return "true" if content else "false"
        case datetime.date():
            return content.isoformat()
        case _:
            return repr(content)


def memory_text(size: int) -> str:
    """Write a number of bytes as in the policy: 512MB."""
    megabytes = size // BYTES["MB"]
    return f"{megabytes}MB" if megabytes % 1024 else f"{megabytes // 1024}GB"
