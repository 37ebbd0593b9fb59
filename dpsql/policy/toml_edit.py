"""Add settings to the text of a policy, which keeps its comments and its order.

income = {}                       income = { range = [0, 1024] }
income = { null = false }         income = { null = false, range = [0, 1024] }
[tables.visits]                   [tables.visits]
                                  rows_per_unit = 8
"""

from __future__ import annotations

from collections.abc import Iterator

from dpsql.policy.toml_positions import Path, document_of
from dpsql.policy.toml_spelling import key


def with_setting(text: str, path: Path, setting: str) -> Iterator[str]:
    """Yield texts with one line more below the table at ``path``: the caller takes the one that says so."""
    document = document_of(text, "")
    spot = document.spot(path)
    start, end = spot.value.start, spot.value.end
    held = text[start:end]
    if held.startswith("{") and held.endswith("}"):
        inside = held[1:-1].strip()
        yield f"{text[:start]}{{ {inside}{', ' if inside else ''}{setting} }}{text[end:]}"
        return
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end
    yield f"{text[:line_end]}\n{setting}{text[line_end:]}"
    header = ".".join(key(str(part)) for part in path)
    yield f"{text[:line_start]}[{header}]\n{setting}\n\n{text[line_start:]}"
