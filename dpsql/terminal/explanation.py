"""Explanations, wrapped to the width of a terminal."""

from __future__ import annotations

import textwrap
from typing import Any

from dpsql.ir.explanation import Explanation
from dpsql.render.digits import printable


def wrapped(explanation: Explanation, columns: int, sql: bool = True) -> str:
    """Wrap the sentences of an explanation; SQL stays on its line, or is left out."""
    stages: list[dict[str, Any]] = explanation.to_dict()["stages"]
    statements = {stage["post"] for stage in stages} | {
        measure["sql"] for stage in stages for measure in stage["measures"]
    }
    lines: list[str] = []
    for line in str(explanation).split("\n"):
        if line.strip() in statements:
            lines += [printable(line)] if sql else []
        elif sql or not (line.strip() == "sql" or line.startswith("post ")):
            lines.append(
                textwrap.fill(printable(line), columns, subsequent_indent=" " * 14, break_on_hyphens=False)
            )
    return "\n".join(lines)
