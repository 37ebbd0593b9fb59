"""Names and values as TOML spells them, on one line and fit for a comment too.

it's "B"     "it's \\"B\\""
sales.orders [tables."sales.orders"]
536870912    512MB
"""

from __future__ import annotations

import datetime
import json
import re

from dpsql.ir.column import Value

BYTES = {"MB": 2**20, "GB": 2**30}


def key(name: str) -> str:
    """A name in front of an equals sign, or between brackets."""
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else quoted(name)


def quoted(name: str) -> str:
    """A TOML string: one line, and nothing in it that could steer a terminal."""
    return "".join(
        each if each.isprintable() else f"\\U{ord(each):08X}" for each in json.dumps(name, ensure_ascii=False)
    )


def value(each: Value) -> str:
    """A value of a list, or an end of a range."""
    match each:
        case str():
            return quoted(each)
        case bool():
            return "true" if each else "false"
        case datetime.date():
            return each.isoformat()
        case _:
            return repr(each)


def memory_text(size: int) -> str:
    """So many bytes as the policy writes them: 512MB."""
    megabytes = size // BYTES["MB"]
    return f"{megabytes}MB" if megabytes % 1024 else f"{megabytes // 1024}GB"
