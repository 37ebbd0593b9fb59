"""Explanations for a terminal of some width."""

from __future__ import annotations

import textwrap
from typing import Any

from dpsql.ir.explanation import Explanation
from dpsql.render.digits import printable


def wrapped(explanation: Explanation, columns: int, sql: bool = True) -> str:
    """An explanation whose sentences fit the terminal; SQL stays on its line, or is left out."""
    stages: list[dict[str, Any]] = explanation.to_dict()["stages"]
    texts = {stage["post"] for stage in stages} | {
        each["sql"] for stage in stages for each in stage["measures"]
    }
    lines: list[str] = []
    for line in str(explanation).split("\n"):
        if line.strip() in texts:
            lines += [printable(line)] if sql else []
        elif sql or not (line.strip() == "sql" or line.startswith("post ")):
            lines.append(
                textwrap.fill(printable(line), columns, subsequent_indent=" " * 14, break_on_hyphens=False)
            )
    return "\n".join(lines)
